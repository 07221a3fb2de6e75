"""The page over HTTP, without the daemon: an account of the house plays in its place."""

import http.client
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from lichessbot.rehearsal.players.house_bots import AnswerPolicy
from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import RealTime
from lichessbot.rehearsal.rules.enums import ChatRoom, Color, DeclineReason, Variant
from lichessbot.rehearsal.server.server import RehearsalServer

from .page_client import PageClient
from .scene import NAME, Scene

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"


@pytest.fixture
def scene(own_lichess: RehearsalServer) -> Iterator[Scene]:
    scene = Scene(own_lichess)
    yield scene
    scene.close()


def raw(url: str, method: str, path: str, headers: Mapping[str, str], body: str = "") -> tuple[int, str]:
    """A request with exactly these headers."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
    connection.putrequest(method, path, skip_host=True)
    for name, value in {**headers, "Content-Length": str(len(body))}.items():
        connection.putheader(name, value)
    connection.endheaders(body.encode())
    response = connection.getresponse()
    answer = response.status, response.read().decode()
    connection.close()
    return answer


def test_a_game_to_mate_is_analysed_and_its_pgn_is_whole(scene: Scene) -> None:
    page = scene.open()
    assert page.wait("lobby", lambda it: it["bot"]["isOnline"])["playing"] is None
    game = page.start(variant="fromPosition", fen=MATE_IN_ONE)
    assert page.told["lobby"]["bot"]["name"] == NAME
    page.move(game["id"], "Ra8#")
    ended = page.wait("game", lambda it: it["isOver"])
    assert (ended["title"], ended["reason"], ended["legal"]) == ("You won", "Checkmate.", {})
    analysis = page.wait("analysis", lambda it: it and it["isOver"])
    assert [it["text"] for it in analysis["scores"]] == ["#1", "checkmate"]
    pgn = page.get(f"/play/game/{game['id']}/pgn").text
    assert "1. Ra8# " in pgn
    assert pgn.rstrip().endswith("1-0")
    assert '[White "You"]' in pgn


def test_every_answer_has_the_headers_that_keep_foreign_code_out(scene: Scene) -> None:
    page = scene.open()
    for path in ("/", "/static/play/main.js", "/static/none", "/play/game/none/pgn", "/play/none", "/play/challenge"):
        headers = page.get(path).headers
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-cache"
    assert page.get("/").headers["content-type"].startswith("text/html")
    assert page.get("/static/play/main.js").headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "path", ["/static/../rehearsal/server/site.py", "/static/%2e%2e/config/example.yml", "/static//etc/passwd",
             "/static/operator/index.html", "/static/play", "/static/"],
)
def test_only_the_files_of_the_page_are_served(scene: Scene, path: str) -> None:
    url = scene.server.site.url
    assert raw(url, "GET", path, {"Host": "127.0.0.1"})[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::1", "localhost.evil:80"])
def test_a_name_that_only_leads_here_is_refused(scene: Scene, host: str) -> None:
    status, text = raw(scene.server.site.url, "GET", "/", {"Host": host})
    assert (status, "this page is only at" in text.lower()) == (403, True)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example", "Content-Type": "application/json"},
        {"Origin": "null", "Content-Type": "application/json"},
        {"Sec-Fetch-Site": "cross-site", "Content-Type": "application/json"},
        {"Sec-Fetch-Site": "same-site", "Content-Type": "application/json"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
    ],
)
def test_other_web_pages_cannot_play(scene: Scene, headers: dict[str, str]) -> None:
    body = '{"limit": 180, "increment": 0}'
    status, _ = raw(scene.server.site.url, "POST", "/play/challenge", {"Host": "127.0.0.1", **headers}, body)
    assert status == 403
    assert scene.person.latest is None


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("{", "The request is not valid JSON."),
        ("[]", "The request is not a JSON object."),
        ("[" * 3000, "The request is not valid JSON."),
        ("x" * 5000, "The request is longer than 4096 bytes."),
        ('{"limit": 7, "increment": 0}', "the nearest is 0"),
    ],
)
def test_a_bad_body_is_one_clear_line(scene: Scene, body: str, problem: str) -> None:
    headers = {"Host": "127.0.0.1", "Content-Type": "application/json"}
    status, text = raw(scene.server.site.url, "POST", "/play/challenge", headers, body)
    assert status == 400
    assert problem in text


def test_a_browser_that_leaves_in_the_middle_of_a_request_is_no_failure_of_the_server(scene: Scene) -> None:
    address = urlsplit(scene.server.site.url)
    head = "POST /play/challenge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=60) as client:
        client.sendall(f"{head}Content-Length: 9\r\n\r\n{{".encode())
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1000) == b""         # the server has seen it,
    for _ in range(3):
        scene.server.call(lambda: None)         # and has gone on
    assert scene.server.failures == []


def test_a_wrong_method_is_told_those_that_are_right(scene: Scene) -> None:
    answer = scene.open().get("/play/challenge")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json() == {"error": "Method not allowed."}


def test_what_is_impossible_is_refused_with_the_reason(scene: Scene) -> None:
    page = scene.open()
    assert "There is no open challenge" in page.refusal("challenge/cancel")
    assert page.refusal("game/none/move", move="e4") == "No such game."
    game = page.start()
    path = f"game/{game['id']}"
    assert "Finish or resign your game first" in page.refusal("challenge", limit=60, increment=0)
    assert "'Nf9' is not a legal move here; type a move such as" in page.refusal(f"{path}/move", move="Nf9")
    assert "The offer is not possible now" in page.refusal(f"{path}/draw")
    assert "The request is not possible now" in page.refusal(f"{path}/takeback")
    assert "The game is not over" in page.refusal(f"{path}/rematch")
    assert page.refusal(f"{path}/dance") == "There is no such command."
    for text in ("", " \n "):
        assert "Text: Must be between 1 and 140" in page.refusal(f"{path}/chat", text=text)
    page.do(f"{path}/abort")
    assert page.wait("game", lambda it: it["isOver"])["title"] == "Game aborted"
    assert page.told.get("analysis") is None


def test_a_decline_is_told_in_the_words_of_lichess(scene: Scene) -> None:
    scene.server.call(lambda: scene.hire(AnswerPolicy(declines=DeclineReason.TOO_FAST)))
    page = scene.open()
    page.do("challenge", limit=60, increment=0)
    lobby = page.wait("lobby", lambda it: it["notice"])
    assert lobby["notice"] == f"{NAME} declined: {DeclineReason.TOO_FAST.sentence}"
    assert not lobby["isWaiting"]


def test_an_unanswered_challenge_can_be_cancelled(scene: Scene) -> None:
    scene.server.call(lambda: scene.hire(AnswerPolicy(ignores=True)))
    page = scene.open()
    page.do("challenge", limit=60, increment=0)
    page.wait("lobby", lambda it: it["isWaiting"])
    assert "not answered yet" in page.refusal("challenge", limit=60, increment=0)
    page.do("challenge/cancel")
    page.wait("lobby", lambda it: not it["isWaiting"])


def test_the_bot_takes_over_a_strength_once_before_the_challenge(scene: Scene) -> None:
    page = scene.open()
    for strength, shown in (("level-800", ", level 800"), ("level-800", ", level 800"), ("full", "")):
        game = page.start(strength=strength)
        assert game["terms"].endswith(f"casual, Standard{shown}")
        page.do(f"game/{game['id']}/abort")
        page.wait("lobby", lambda it: it["playing"] is None)
    assert scene.bot.levels == [800, None]
    scene.bot.refuses = True
    assert page.refusal("challenge", limit=60, increment=0, strength="level-1400") == (
        "Strength: the bot refused its new configuration."
    )
    assert not page.wait("lobby", lambda it: not it["isWaiting"])["notice"]


def test_a_challenge_can_be_cancelled_while_the_bot_takes_over_its_strength(scene: Scene) -> None:
    def cancelled(path: str, **form: Any) -> None:
        """Ask for a game, and cancel it before the bot is ready."""
        scene.bot.is_free.clear()
        with ThreadPoolExecutor() as threads:
            asked = threads.submit(page.ask, path, **form)
            page.wait("lobby", lambda it: it["isWaiting"])
            try:
                page.do("challenge/cancel")
            finally:
                scene.bot.is_free.set()
            assert asked.result().status_code == 200
        page.wait("lobby", lambda it: not it["isWaiting"])

    page = scene.open()
    cancelled("challenge", limit=180, increment=0, strength="level-800")
    assert scene.person.latest is None
    game = page.start()
    page.move(game["id"], "e4")
    page.do(f"game/{game['id']}/resign")
    page.wait("lobby", lambda it: it["playing"] is None)
    weak = page.start(strength="level-800")
    page.do(f"game/{weak['id']}/abort")
    page.wait("lobby", lambda it: it["playing"] is None)
    cancelled(f"game/{game['id']}/rematch")
    site = scene.server.site
    scene.server.call(lambda: site.offer_rematch(site.session(weak["id"]).game, scene.account))
    offer = page.wait("lobby", lambda it: it["offer"])["offer"]
    cancelled(offer["path"], accept=True)
    assert page.told["lobby"]["offer"] == offer
    assert len(scene.person.sessions) == 2


def test_a_game_is_repeated_with_its_own_strength(scene: Scene) -> None:
    def abort(game: dict[str, Any]) -> dict[str, Any]:
        page.do(f"game/{game['id']}/abort")
        page.wait("lobby", lambda it: it["playing"] is None)
        return game

    page, site = scene.open(), scene.server.site
    weak, full = abort(page.start(strength="level-800")), abort(page.start(strength="full"))
    page.do(f"game/{weak['id']}/rematch")
    again = abort(page.wait("game", lambda it: it["id"] != full["id"]))
    assert again["terms"] == "3+0, casual, Standard, level 800"
    scene.server.call(lambda: site.offer_rematch(site.session(full["id"]).game, scene.account))
    offer = page.wait("lobby", lambda it: it["offer"])["offer"]
    page.do(offer["path"], accept=True)
    assert page.wait("game", lambda it: it["id"] != again["id"])["terms"] == "3+0, casual, Standard"
    assert scene.bot.levels == [800, None, 800, None]


def test_a_rated_game_shows_no_strength_that_a_declined_challenge_has_left(scene: Scene) -> None:
    page = scene.open()
    rated = page.start(rated=True)
    page.do(f"game/{rated['id']}/abort")
    page.wait("lobby", lambda it: it["playing"] is None)
    scene.server.call(lambda: scene.hire(AnswerPolicy(declines=DeclineReason.LATER)))
    page.do("challenge", limit=60, increment=0, strength="level-800")
    page.wait("lobby", lambda it: it["notice"])
    scene.server.call(scene.hire)
    terms = Terms(Variant.STANDARD, RealTime(180, 0), rated=True)
    scene.server.call(lambda: scene.server.site.challenge(scene.account, "You", terms))
    offer = page.wait("lobby", lambda it: it["offer"])["offer"]
    page.do(offer["path"], accept=True)
    game = page.wait("game", lambda it: it["id"] != rated["id"])
    assert game["terms"] == "3+0, rated, Standard"


def test_a_rematch_swaps_the_colours_and_ends_the_analysis(scene: Scene) -> None:
    page = scene.open()
    game = page.start(variant="fromPosition", fen=MATE_IN_ONE)
    page.move(game["id"], "a1a8")
    page.wait("analysis", lambda it: it)
    page.do(f"game/{game['id']}/rematch")
    again = page.wait("game", lambda it: it["id"] != game["id"])
    assert (again["me"], again["initialFen"]) == ("black", MATE_IN_ONE)
    page.wait("analysis", lambda it: it is None or it["id"] == again["id"])


def offered_rematch(scene: Scene) -> tuple[PageClient, str, dict[str, Any]]:
    """Return a page, the id of the game that was played there, and the bot's offer of a rematch."""
    page = scene.open()
    game = page.start(variant="fromPosition", fen=MATE_IN_ONE)
    page.move(game["id"], "a1a8")
    page.wait("game", lambda it: it["isOver"])
    site = scene.server.site
    scene.server.call(lambda: site.offer_rematch(site.session(game["id"]).game, scene.account))
    return page, game["id"], page.wait("lobby", lambda it: it["offer"])["offer"]


def test_the_bots_offer_of_a_rematch_waits_for_an_answer(scene: Scene) -> None:
    page, game_id, offer = offered_rematch(scene)
    assert offer["text"] == f"{NAME} offers a rematch: 3+0, casual, From Position."
    page.do(offer["path"], accept=offer["answers"]["Accept"])
    page.wait("game", lambda it: it["id"] != game_id)


def test_an_offer_cannot_be_accepted_beside_another_game_or_challenge(scene: Scene) -> None:
    page, _, offer = offered_rematch(scene)
    again = page.start()
    assert "Finish or resign your game first" in page.refusal(offer["path"], accept=True)
    page.do(f"game/{again['id']}/abort")
    scene.server.call(lambda: scene.hire(AnswerPolicy(ignores=True)))
    page.do("challenge", limit=60, increment=0)
    assert "not answered yet" in page.refusal(offer["path"], accept=True)
    page.do(offer["path"], accept=False)


def test_draw_offer_takeback_and_chat_go_through_the_site(scene: Scene) -> None:
    page = scene.open()
    game = page.start()
    path = f"game/{game['id']}"
    page.move(game["id"], "e4")
    page.move(game["id"], "d4")
    page.wait("game", lambda it: len(it["moves"]) == 4)
    page.do(f"{path}/draw")
    assert page.wait("game", lambda it: it["hasOfferedDraw"])["offer"] is None
    session = scene.server.site.session(game["id"])
    color = session.game.setup.color_of(scene.account)
    assert color is not None
    page.do(f"{path}/takeback")
    page.wait("game", lambda it: it["hasAskedTakeback"])
    scene.server.call(lambda: session.answer_takeback(color, accept=True))
    assert page.wait("game", lambda it: len(it["moves"]) == 2)["turn"] == "white"
    page.do(f"{path}/chat", text="<b>hello</b> \ud800")
    chat = page.wait("game", lambda it: it["chat"][-1]["name"] == "You")["chat"]
    assert chat[-1]["text"].startswith("<b>hello</b>")
    page.do(f"{path}/resign")
    assert page.wait("game", lambda it: it["isOver"])["reason"] == "You resigned."
    scene.server.call(lambda: session.game.say(color, ChatRoom.PLAYER, "after the end"))
    page.wait("game", lambda it: it["chat"][-1]["text"] == "after the end")


def test_two_pages_show_the_same_game_and_one_can_go(scene: Scene) -> None:
    page, second = scene.open(), scene.open()
    game = page.start()
    second.wait("game", lambda it: it and it["id"] == game["id"])
    second.move(game["id"], "e4")
    page.wait("game", lambda it: it["moves"])
    scene.clients.remove(second)
    second.close()
    session = scene.server.site.session(game["id"])
    color = session.game.setup.color_of(scene.person.account)
    assert color is not None
    assert not session.is_left_by(color)
    page.move(game["id"], "d4")


def test_a_page_that_comes_back_is_told_the_whole_game(scene: Scene) -> None:
    page = scene.open()
    game = page.start()
    session = scene.server.site.session(game["id"])
    color = session.game.setup.color_of(scene.person.account)
    assert color is not None
    scene.clients.remove(page)
    page.close()
    again = scene.open()
    assert again.wait("game", lambda it: it)["me"] == "white"
    again.move(game["id"], "e4")
    assert not session.is_left_by(color)


def test_a_page_hears_after_a_restart_of_the_site_that_the_bot_has_left(scene: Scene) -> None:
    page = scene.open()
    game = page.start()
    page.move(game["id"], "e4")
    page.wait("game", lambda it: len(it["moves"]) == 2)
    session = scene.server.site.session(game["id"])
    scene.server.call(scene.server.site.restart)
    scene.server.call(lambda: session.leave(Color.BLACK))
    offer = page.wait("game", lambda it: it["offer"])["offer"]
    assert offer["text"].startswith(f"{NAME} has left the game.")


def test_a_page_that_comes_back_can_claim_the_game_that_the_bot_has_left(scene: Scene) -> None:
    def offered(page: PageClient) -> dict[str, Any]:
        offer: dict[str, Any] = page.wait("game", lambda it: it and (it["offer"] or {}).get("answers"))["offer"]
        return offer

    page = scene.open()
    game = page.start()
    page.move(game["id"], "e4")
    page.wait("game", lambda it: len(it["moves"]) == 2)
    session = scene.server.site.session(game["id"])
    scene.server.call(lambda: session.leave(Color.BLACK))
    page.wait("game", lambda it: it["offer"])
    scene.server.call(lambda: session.play(Color.WHITE, "d2d4"))
    offer = offered(page)
    assert offer["answers"] == {"Claim": True}
    scene.clients.remove(page)
    page.close()
    again = scene.open()
    assert offered(again) == offer
    again.do(offer["path"], accept=True)
    assert again.wait("game", lambda it: it["isOver"])["winner"] == "white"


def test_a_game_of_others_can_be_watched_but_not_played(scene: Scene) -> None:
    page = scene.open()
    game_id = scene.start_another()
    board = page.wait("boards", lambda it: it)[0]
    assert board["id"] == game_id
    watched = scene.open(game_id)
    assert watched.wait("game", lambda it: it and it["moves"])["me"] is None
    assert watched.told["game"]["legal"] == {}
    assert watched.refusal(f"game/{game_id}/move", move="e4") == "This is not your game."
    watched.wait("game", lambda it: it["isOver"] or len(it["moves"]) > 10)


def test_the_token_and_the_full_ids_never_reach_a_page(scene: Scene) -> None:
    page = scene.open()
    game = page.start()
    page.wait("game", lambda it: it["id"] == game["id"])
    setup = scene.server.site.session(game["id"]).game.setup
    shown = str(page.told)
    assert not any(secret in shown for secret in setup.secrets.values())
