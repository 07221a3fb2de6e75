"""The token goes only to Lichess, no secret gets into the log, and answers are limited in size."""

import json
import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from pydantic import SecretStr

from lichessbot.config import load_config
from lichessbot.config.credentials import TOKEN_VARIABLE
from lichessbot.errors import ApiError, Unreachable, UnreadableLine
from lichessbot.lichess.client import Access, LichessClient
from lichessbot.lichess.parsing import parse_account_event, parse_game_event
from lichessbot.timeouts import Timeouts
from tests.fakes.http_server import LocalServer
from tests.fakes.scripted_lichess import End, Reply, ScriptedLichess

TOKEN = "lip_secret0123456789"
PATIENCE = timedelta(seconds=60)
ACCOUNT = {"id": "testbot", "username": "TestBot", "title": "BOT"}


@pytest.fixture
def stranger() -> Iterator[ScriptedLichess]:
    """A server that is not Lichess."""
    server = ScriptedLichess()
    for path in ("/api/account", "/api/token/test"):
        server.answer(path, Reply(body=ACCOUNT))
    yield server
    server.close()


def api_of(url: str, proxy: str | None = None) -> LichessClient:
    return LichessClient(Access(url, SecretStr(TOKEN), Timeouts(), proxy=proxy), PATIENCE)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("path", "ask"),
    [("/api/account", LichessClient.account), ("/api/token/test", LichessClient.token_info)],
    ids=["header", "body"],
)
def test_no_redirection_is_followed(
    lichess: ScriptedLichess, stranger: ScriptedLichess, status: int, path: str, ask: Callable[[LichessClient], object]
) -> None:
    lichess.answer(path, Reply(status, {}, headers=[("Location", f"{stranger.url}{path}")]))
    with pytest.raises(ApiError, match=f"^the server redirects to {stranger.url}, which is not followed$"):
        ask(api_of(lichess.url))
    assert stranger.requests == []


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"])
def test_a_proxy_in_the_environment_is_not_used(
    lichess: ScriptedLichess, stranger: ScriptedLichess, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, stranger.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    api_of(lichess.url).account()
    assert stranger.requests == []


def test_a_proxy_in_the_configuration_is_used(lichess: ScriptedLichess, stranger: ScriptedLichess) -> None:
    api_of("http://lichess.example", proxy=stranger.url)
    stranger.answer("http://lichess.example/api/account", Reply(body=ACCOUNT))
    assert api_of("http://lichess.example", proxy=stranger.url).account().username == "TestBot"
    assert lichess.requests == []


def test_netrc_does_not_replace_the_token(
    lichess: ScriptedLichess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    lichess.answer("/api/account", Reply(body=ACCOUNT))
    api_of(lichess.url).account()
    assert lichess.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("status", "words"), [(200, "a body of more than"), (400, "400: Bad Request"), (500, "500: Internal Server Error")]
)
def test_an_endless_body_is_an_error(lichess: ScriptedLichess, status: int, words: str) -> None:
    lichess.answer("/api/account", Reply(status, lines=[b"x" * (1 << 16)] * 20, end=End.STALL))
    with pytest.raises(ApiError, match=f"^{words}"):
        api_of(lichess.url).account()


def test_no_repr_and_no_error_shows_the_token(lichess: ScriptedLichess, tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text(f"token: {TOKEN}\nurl: {lichess.url}\n")
    config.chmod(0o600)
    loaded = load_config(config, {TOKEN_VARIABLE: TOKEN})
    access = Access(lichess.url, loaded.token, Timeouts())
    api = LichessClient(access, PATIENCE)
    things: list[object] = [loaded, loaded.config, loaded.config.model_dump_json(), access, api]
    for reply in (Reply(body="<html>"), Reply(401, {"error": "No such token"}), Reply(502, "<html>"), Reply(429, "")):
        lichess.answer("/api/token/test", reply)
        with pytest.raises(ApiError) as caught:
            api.token_info()
        things += [caught.value, caught.value.__cause__]
    for thing in things:
        assert TOKEN not in f"{thing!r} {thing}"


@pytest.mark.parametrize("parse", [parse_account_event, parse_game_event])
@pytest.mark.parametrize("damaged", [
    b'{"type":"gameStart","game":{"fullId":"Hk29dLmqX1y2","gameId":"Hk29dLmq"',
    b'{"game":{"fullId" : "Hk29dLmqX1y2',
    b'[{"fullId":"Hk29dLmqX1y2"}]',
    b'{"game":{"fullId":"Hk29dL\xffmqX1y2","gameId":"Hk29dLmq"',
])
def test_the_secret_of_a_game_is_not_shown(parse: Callable[[bytes], object], damaged: bytes) -> None:
    """With it, anybody may play our moves."""
    with pytest.raises(UnreadableLine, match="Hk29dL") as refusal:
        parse(damaged)
    assert "X1y2" not in str(refusal.value)


@pytest.mark.skipif(not shutil.which("openssl"), reason="makes a certificate with openssl")
def test_an_untrusted_certificate_is_refused_whatever_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["Authorization"])
            body = json.dumps(ACCOUNT).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = LocalServer(Handler, context)
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(variable, str(certificate))
    try:
        with pytest.raises(Unreachable, match=r"^the server's certificate is not trusted: self.signed certificate$"):
            api_of(server.url).account()
    finally:
        server.close()
    assert seen == []
