"""The configuration of another bot, lichess-bot or BotLi, translated into ours.

Offers `translate_file`, which reads an old file, and `write`, which explains the result: every key of the old file has
its counterpart, or stands in the list of those left out, with the reason.
"""

from lichessbot.config.migration.translate import translate, translate_file
from lichessbot.config.migration.translation import Translation
from lichessbot.config.migration.writer import write

__all__ = ["Translation", "translate", "translate_file", "write"]
