"""Challenging other bots: whom, when and how often.

Must not know: how games are played.
"""

__all__ = ["matchmaker"]
