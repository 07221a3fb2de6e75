"""Challenges for tests of the rules."""


from tests.lichessbot.rehearsal.client import Client

CHALLENGE_KEYS = {
    "id", "url", "status", "challenger", "destUser", "variant", "rated", "speed", "timeControl",
    "color", "finalColor", "perf",
}


def create(challenger: Client, target: Client, **form: object) -> tuple[int, dict[str, object]]:
    response = challenger.post(f"/api/challenge/{target.name}", data=form)
    return response.status_code, response.json()
