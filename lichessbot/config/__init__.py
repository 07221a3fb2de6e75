"""The configuration: one YAML file, section by section, whose defaults and the environment are enough to run.

Knows the keys, their ranges, defaults and meaning, and when a changed value takes effect; keys shared with lichess-bot
keep their names and meaning. Must not know: what the keys are used for.
Offers the models of the sections, `load_config`, `reload`, how a token looks (`credentials`), what is said of each key
(`explanations`, `schema`), the values in force (`effective`), values as YAML (`in_yaml`, `dumped`), and translations of
other bots' files (`migration`).
"""

from lichessbot.config.base import LOOPBACK, dotted_values, host_and_port, in_yaml, is_loopback, listen_address
from lichessbot.config.challenge import BlockLists, ChallengeConfig, Rules
from lichessbot.config.engine import (
    ELO,
    LIMIT_STRENGTH,
    STYLE_OPTION,
    Conditions,
    DrawOrResignConfig,
    EngineConfig,
    EngineKeys,
    Profile,
    Strength,
    StyleName,
)
from lichessbot.config.loader import LoadedConfig, load_config, personalities
from lichessbot.config.matchmaking import MatchmakingConfig, TournamentConfig
from lichessbot.config.root import (
    LONGEST_CHAT_LINE,
    Config,
    GreetingConfig,
    PgnGrouping,
    ReviewMode,
    chat_length,
    fill_in,
)
from lichessbot.config.yaml_file import dumped

__all__ = [
    "ELO",
    "LIMIT_STRENGTH",
    "LONGEST_CHAT_LINE",
    "LOOPBACK",
    "STYLE_OPTION",
    "BlockLists",
    "ChallengeConfig",
    "Conditions",
    "Config",
    "DrawOrResignConfig",
    "EngineConfig",
    "EngineKeys",
    "GreetingConfig",
    "LoadedConfig",
    "MatchmakingConfig",
    "PgnGrouping",
    "Profile",
    "ReviewMode",
    "Rules",
    "Strength",
    "StyleName",
    "TournamentConfig",
    "chat_length",
    "credentials",
    "dotted_values",
    "dumped",
    "effective",
    "explanations",
    "fill_in",
    "host_and_port",
    "in_yaml",
    "is_loopback",
    "listen_address",
    "load_config",
    "matchmaking",
    "migration",
    "notify",
    "personalities",
    "reload",
    "schema",
    "sources",
]
