"""What `lichessbot rechallenge` makes again."""

from lichessbot.config import Config
from lichessbot.lichess.models import Challenge
from lichessbot.matchmaking.rechallenge import proposal_of
from lichessbot.matchmaking.selection import match_type_of

CHALLENGE = {
    "id": "abcd1234",
    "status": "created",
    "challenger": {"id": "us"},
    "destUser": {"id": "rival"},
    "variant": {"key": "standard"},
    "speed": "blitz",
    "timeControl": {"type": "clock", "limit": 180, "increment": 2},
}


def test_a_rechallenge_belongs_to_no_match_type_whatever_those_are_named() -> None:
    proposal = proposal_of(Challenge.model_validate(CHALLENGE), "us")
    assert proposal is not None
    for name in ("rechallenge", "rematch"):
        config = Config.model_validate({"matchmaking": {"overrides": {name: {"challenge_color": "pairs"}}}})
        assert match_type_of(proposal, config) is None
