"""Keys about what the bot tells its operator and its opponents."""

from pathlib import Path

import pytest

from lichessbot.config import fill_in, host_and_port, load_config
from tests.lichessbot.config.conftest import load, problems


def test_an_unknown_name_in_the_braces_of_a_greeting_is_named(file: Path) -> None:
    loaded = load(file, "greeting: {hello: 'Hi {opponent}, {cpu}{me}', goodbye: '{ram}'}\n")
    assert loaded.config.greeting.hello == "Hi {opponent}, {cpu}{me}"
    assert [note.removeprefix(f"{file}:") for note in loaded.warnings] == [
        "1: greeting.hello: {cpu} is left out; known are {me}, {opponent}, {engine}, {rating}, {crosstable}, {name}",
        "1: greeting.goodbye: {ram} is left out; known are {me}, {opponent}, {engine}, {rating}, {crosstable}, {name}",
    ]


def test_doubled_braces_of_a_greeting_are_braces(file: Path) -> None:
    loaded = load(file, "greeting: {hello: 'Hi {{x}} {{{me}}} }}{{'}\n")
    assert loaded.warnings == ()
    assert fill_in(loaded.config.greeting.hello or "", {"me": "{{Bot}}"}) == "Hi {x} {{{Bot}}} }{"


@pytest.mark.parametrize(
    "link", ["http://a.b", "HTTPS://example.de/x", "see lichess.org!", "www.chess.com/me", "(My.Page.edu)"]
)
def test_a_greeting_with_a_link_is_noted_as_lichess_drops_it(file: Path, link: str) -> None:
    loaded = load(file, f"greeting:\n  hello: 'Hi {{opponent}} {link}'\n  goodbye_spectators: {link}\n")
    assert [note.removeprefix(f"{file}:") for note in loaded.warnings] == [
        "2: greeting.hello: Lichess drops chat lines of bots that contain links",
        "3: greeting.goodbye_spectators: Lichess drops chat lines of bots that contain links",
    ]


@pytest.mark.parametrize("text", ["Hi! .com on", "I run on github.io", "mail me@lichess.org", "e4... organ.", "http://"])
def test_a_greeting_without_a_link_is_not_noted(file: Path, text: str) -> None:
    assert load(file, f"greeting: {{hello: '{text}'}}\n").warnings == ()


def test_a_notifier_beside_the_config_gets_its_whole_path(file: Path) -> None:
    text = "notify: {command: [bin/tell, --urgent], on: [game_lost]}\n"
    assert load(file, text).config.notify.command == (str(file.parent / "bin/tell"), "--urgent")
    assert load(file, "notify: {command: [notify-send]}\n").config.notify.command == ("notify-send",)


def test_an_event_that_is_not_told_is_refused_with_those_that_are(file: Path) -> None:
    (problem,) = problems(file, "notify: {command: [x], on: [update]}\n")
    assert problem.startswith("1: notify.on #1: expected 'offline', 'online', 'game_started'")
    assert problem.endswith("found 'update'")


@pytest.mark.parametrize(
    ("notify", "problem"),
    [
        ("curl https://a.b/bot5:swordfish", "notify: expected keys and values"),
        ("{command: curl https://a.b/bot5}", "notify.command: expected a list"),
        ("{command: [curl, 5557]}", "notify.command #2: expected text, found a number: put it in quotes"),
        ("{timeout: 99}", "notify.timeout: expected at most 60, found 99"),
    ],
)
def test_no_problem_shows_the_command_that_is_told(file: Path, notify: str, problem: str) -> None:
    assert problems(file, f"notify: {notify}\n") == [f"1: {problem}"]


def test_a_player_who_is_listed_twice_counts_once(file: Path) -> None:
    text = "challenge: {block_list: [Magnus, Bore, magnus], online_block_list: ['https://a.b/c', 'https://a.b/c']}\n"
    challenge = load(file, text).config.challenge
    assert challenge.block_list == ("magnus", "bore")
    assert challenge.online_block_list == ("https://a.b/c",)


def test_block_lists_in_files_are_beside_the_config(file: Path) -> None:
    text = "challenge: {block_list_files: shared.txt}\nmatchmaking: {block_list_files: [/srv/bots]}\n"
    config = load(file, text).config
    assert config.challenge.block_lists == (str(file.parent / "shared.txt"),)
    assert config.matchmaking.block_lists == ("/srv/bots",)


# The operator's page


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("127.0.0.1:8080", ("127.0.0.1", 8080)),
        ("localhost:0", ("localhost", 0)),
        ("[::1]:65535", ("::1", 65535)),
        ("127.9.9.9:1", ("127.9.9.9", 1)),
    ],
)
def test_the_page_may_be_at_any_address_of_this_machine(file: Path, address: str, parts: tuple[str, int]) -> None:
    config = load(file, f"status: {{listen: '{address}'}}\n").config
    assert config.status.listen == address
    assert host_and_port(address) == parts


@pytest.mark.parametrize(
    "address", ["8080", "127.0.0.1", ":8080", "::1:8080", "[::1]", "[127.0.0.1]:80", "example.org:80", "1.2.3.4:65536",
                "127.0.0.1:+8", "127.0.0.1:8_0", "127.0.0.1: 80", "http://127.0.0.1:80", ""],
)  # fmt: skip
def test_an_address_to_listen_at_has_a_number_and_a_port(file: Path, address: str) -> None:
    (problem,) = problems(file, f"abort_time: 30\nstatus:\n  listen: '{address}'\n")
    expected = "expected an address and a port such as 127.0.0.1:8080 or [::1]:8080"
    assert problem == f"3: status.listen: {expected}, found {address!r}"


def test_an_address_that_others_can_reach_needs_a_password(file: Path) -> None:
    for address in ("0.0.0.0:8080", "[::]:8080", "192.168.1.2:80"):
        assert problems(file, f"status: {{listen: '{address}'}}\n") == [
            f"1: status.listen: expected 127.0.0.1 or [::1], or a password_file beside it, found '{address}'"
        ]
    password = file.parent / "page-password"
    password.touch(0o600)
    password.write_text("open sesame\nsecond line\n")
    loaded = load(file, "status: {listen: '0.0.0.0:8080', password_file: page-password}\n")
    assert loaded.status_password.get_secret_value() == "open sesame"
    assert "sesame" not in repr(loaded)
    assert load(file, "").status_password is None


def test_a_password_file_holds_a_password_that_others_cannot_read(file: Path) -> None:
    path, text = file.parent / "page-password", "status: {password_file: page-password}\n"
    assert problems(file, text) == [f"1: status.password_file: cannot be read: {path}: No such file or directory"]
    path.touch(0o600)
    path.write_text(" \nsesame\n")
    expected = f"expected a password in the first line of {path}, found nothing"
    assert problems(file, text) == [f"1: status.password_file: {expected}"]
    path.write_text("sesame")
    expected = "expected 8 characters or more, such as from `openssl rand -hex 16`"
    assert problems(file, text) == [f"1: status.password_file: {expected}, in the first line of {path}, found 6"]
    path.write_text("8 digits")
    assert load(file, text).status_password is not None
    path.chmod(0o640)
    told = f"{path} holds a password, and others can read it: chmod 600 {path}"
    assert problems(file, text) == [f"1: status.password_file: {told}"]


def test_a_password_file_of_the_service_may_be_missing_while_that_is_stopped(file: Path) -> None:
    missing = "/run/credentials/no-such.service/password"
    loaded = load(file, f"status:\n  password_file: {missing}\n")
    assert loaded.status_password is None
    assert loaded.warnings == (f"{file}:2: status.password_file: {missing} exists only while the service runs",)


def test_commands_that_need_no_token_need_no_password_either(file: Path) -> None:
    file.write_text("status: {password_file: nowhere}\n")
    assert load_config(file, {}, needs_token=False).status_password is None
