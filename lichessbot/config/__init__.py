"""The configuration: what an operator may set in one YAML file, section by section, with defaults that run as they are.

Knows the keys, their ranges and defaults; knows nothing of what they are used for. Keys shared with lichess-bot keep
their names and meaning. With no file at all the defaults and the environment are enough to run.

Knows the keys, their ranges and defaults. Must not know: what the keys are used for.
"""

from lichessbot.config.base import Config, PgnGrouping, dotted_values
from lichessbot.config.challenge import ChallengeConfig, Rules
from lichessbot.config.correspondence import CorrespondenceConfig
from lichessbot.config.draw_or_resign import DrawOrResignConfig
from lichessbot.config.engine import Conditions, EngineConfig, EngineKeys, Profile
from lichessbot.config.fields import LOOPBACK
from lichessbot.config.greeting import LONGEST_CHAT_LINE, PLACEHOLDERS, GreetingConfig
from lichessbot.config.loader import LoadedConfig, load_config
from lichessbot.config.matchmaking import MatchmakingConfig
from lichessbot.config.tournaments import TournamentConfig

__all__ = [
    "LONGEST_CHAT_LINE",
    "LOOPBACK",
    "PLACEHOLDERS",
    "ChallengeConfig",
    "Conditions",
    "Config",
    "CorrespondenceConfig",
    "DrawOrResignConfig",
    "EngineConfig",
    "EngineKeys",
    "GreetingConfig",
    "LoadedConfig",
    "MatchmakingConfig",
    "PgnGrouping",
    "Profile",
    "Rules",
    "TournamentConfig",
    "credentials",
    "dotted_values",
    "load_config",
    "matchmaking",
    "reload",
    "sources",
]
