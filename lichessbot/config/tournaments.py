"""The list `tournaments`: arenas the bot takes part in."""

from typing import Annotated

from pydantic import Field, SecretStr

from lichessbot.config.fields import Section, Text

TournamentId = Annotated[Text, Field(pattern=r"^[A-Za-z0-9]{8}$")]


class TournamentConfig(Section):
    """One arena; `team` in a battle of teams, `password` if it is private."""

    id: TournamentId
    team: Text | None = None
    password: SecretStr | None = None
