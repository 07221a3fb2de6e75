"""Challenging other bots: whom, when and how often.

Knows what to propose (`selection`), how often (`quota`), whom it met and who declined what (`known_bots`), which
rematches to offer (`rematch`), what the operator may repeat (`rechallenge`), why a single challenge is not sent
(`objections`), the one challenge that is open (`outgoing_challenge`), and what comes next, in words (`next_step`).
Must not know: how games are played, and how challenges to us are answered.
Offers: `bot_report` (what another bot accepts, in sentences), `matchmaker`, and `rechallenge` (the latest challenges).
"""

__all__ = ["bot_report", "matchmaker", "rechallenge"]
