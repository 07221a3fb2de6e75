"""The configuration: what an operator may set in one YAML file, section by section, with defaults that run as they are.

Knows the keys, their ranges and defaults; knows nothing of what they are used for. Keys shared with lichess-bot keep
their names and meaning. With no file at all the defaults and the environment are enough to run.
"""

from lichessbot.config.challenge import ChallengeConfig
from lichessbot.config.engine import EngineConfig
from lichessbot.config.model import Config, dotted_values
from lichessbot.config.reading import LoadedConfig, load_config

__all__ = ["ChallengeConfig", "Config", "EngineConfig", "LoadedConfig", "dotted_values", "load_config"]
