"""Where the token comes from, and that it is never shown."""

import pwd
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from lichessbot.config.credentials import TOKEN_VARIABLE, token_problem, without_password
from tests.lichessbot.config.conftest import TOKEN, WITH_TOKEN, load, problems


def test_the_token_comes_from_the_environment_then_the_file_then_the_key(file: Path) -> None:
    (file.parent / "secret").write_text("from_file\nsecond line\n")
    text = "token: from_key\ntoken_file: secret\n"
    assert load(file, text).token.get_secret_value() == TOKEN
    assert load(file, text, {}).token.get_secret_value() == "from_file"
    assert load(file, "token: from_key\n", {}).token.get_secret_value() == "from_key"


def test_a_token_file_may_be_written_on_windows(file: Path) -> None:
    (file.parent / "secret").write_bytes(b"\xef\xbb\xbffrom_file\r\n")
    assert load(file, "token_file: secret\n", {}).token.get_secret_value() == "from_file"


def test_no_token_anywhere_is_a_problem(file: Path) -> None:
    (problem,) = problems(file, "", {})
    assert f"token: no token: set {TOKEN_VARIABLE}" in problem
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    assert problem.rpartition(" ")[2] in readme, "both make a token with the same scopes"


def test_an_empty_token_file_is_a_problem(file: Path) -> None:
    (file.parent / "empty").write_text("\nlip_abc\n")
    (problem,) = problems(file, "token_file: empty\n", {})
    assert problem == f"1: token_file: the first line of {file.parent / 'empty'} is empty; it must hold the token"


def test_a_missing_token_file_is_a_problem(file: Path) -> None:
    (problem,) = problems(file, "token_file: nowhere\n", {})
    assert problem == f"1: token_file: cannot be read: {file.parent / 'nowhere'}: No such file or directory"


@pytest.mark.parametrize(
    ("text", "key"),
    [("token_file: secret\n", "token_file"), ("status: {password_file: secret}\n", "status.password_file")],
)
def test_a_secret_that_is_no_text_is_a_problem(file: Path, text: str, key: str) -> None:
    secret = file.parent / "secret"
    secret.write_bytes(b"\xff\xfe")
    assert problems(file, text, {} if key == "token_file" else WITH_TOKEN) == [f"1: {key}: {secret} is not UTF-8 text"]


def test_a_token_given_as_token_file_is_not_shown(file: Path) -> None:
    (problem,) = problems(file, f"token_file: {TOKEN}\n", {})
    assert problem == "1: token_file: expected the name of a file, found what looks like the token itself"


@pytest.mark.parametrize(
    ("token", "found"),
    [
        ("lip_abc def", "space"),
        ("lip-abc", "hyphen-minus"),
        ("Bearer lip-abc", "hyphen-minus, space"),
        ("lip_ä", "latin small letter a with diaeresis"),
        ("a" * 1025, "more"),
    ],
)
def test_a_malformed_token_is_refused_without_being_shown(file: Path, token: str, found: str) -> None:
    for text, environment in ((f"token: {token}\n", {}), ("", {TOKEN_VARIABLE: token})):
        (problem,) = problems(file, text, environment)
        assert problem.endswith(f": expected up to 1024 letters, digits and _, found {found}")
        assert token not in problem


def test_a_wrong_token_type_is_not_shown(file: Path) -> None:
    (found,) = problems(file, "token: [lip_secret]\n", {})
    assert found == "1: token: expected text: put it in quotes if it begins with { or ["


@pytest.mark.parametrize("token", ["!!int lip_secret", "!!timestamp lip_secret", '"lip_secret\\0"'])
def test_a_token_that_yaml_cannot_read_is_not_shown(file: Path, token: str) -> None:
    (found,) = problems(file, f"token: {token}\n", {})
    assert found.startswith("1: token: expected a plain value, found [hidden]")
    assert "lip_secret" not in found


def test_a_token_of_a_wrong_type_is_not_called_missing_too(file: Path) -> None:
    wrong = "token_file: expected text, found the number 5: put it in quotes"
    assert problems(file, "token_file: 5\n", {}) == [f"1: {wrong}"]
    malformed, other = problems(file, "token: lip a\ntoken_file: 5\n", {})
    assert malformed.startswith("1: token: expected up to 1024 letters, digits and _, found")
    assert other == f"2: {wrong}"


# Where things are kept, and who else can read them


@pytest.mark.parametrize(
    ("text", "environment", "place"),
    [
        ("state_dir: records\n", {"STATE_DIRECTORY": "/var/lib/other"}, "{folder}/records"),
        ("state_dir: /srv/bot\n", {}, "/srv/bot"),
        ("", {"STATE_DIRECTORY": "/var/lib/lichessbot:/var/lib/more", "XDG_STATE_HOME": "/x"}, "/var/lib/lichessbot"),
        ("", {"XDG_STATE_HOME": "/x", "HOME": "/home/me"}, "/x/lichessbot"),
        ("", {"HOME": "/home/me"}, "/home/me/.local/state/lichessbot"),
        ("", {}, "/home/bot/.local/state/lichessbot"),
    ],
)
def test_the_state_folder_comes_from_config_systemd_xdg_or_the_user(
    file: Path, monkeypatch: pytest.MonkeyPatch, text: str, environment: dict[str, str], place: str
) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_dir="/home/bot"))
    assert str(load(file, text, WITH_TOKEN | environment).state_dir) == place.format(folder=file.parent)


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o666])
def test_a_readable_token_file_gives_a_warning_with_the_command_that_helps(file: Path, mode: int) -> None:
    token_file = file.parent / "token"
    token_file.write_text(TOKEN)
    token_file.chmod(mode)
    (warning,) = load(file, "token_file: token\n", {}).warnings
    assert warning == f"{token_file} holds the token, and others can read it: chmod 600 {token_file}"
    token_file.chmod(0o600)
    assert load(file, "token_file: token\n", {}).warnings == ()


def test_a_token_file_of_another_user_may_be_read_by_its_group(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token_file = file.parent / "token"
    token_file.write_text(TOKEN)
    monkeypatch.setattr("os.geteuid", lambda: token_file.stat().st_uid + 1)
    token_file.chmod(0o640)
    assert load(file, "token_file: token\n", {}).warnings == ()
    token_file.chmod(0o644)
    (warning,) = load(file, "token_file: token\n", {}).warnings
    assert warning.endswith(f"others can read it: chmod o= {token_file}")


def test_a_readable_config_with_an_unused_token_gives_a_warning(file: Path) -> None:
    file.touch(0o644)
    (warning,) = load(file, f"token: {TOKEN}\n", WITH_TOKEN).warnings
    assert warning.endswith(f"chmod 600 {file}")


def test_a_config_without_a_token_may_be_readable(file: Path) -> None:
    file.touch(0o644)
    assert load(file, "abort_time: 30\n").warnings == ()


@pytest.mark.parametrize(("url", "warned"), [
    ("http://lichess.org", True), ("https://lichess.org", False), ("http://127.0.0.1:9663", False),
])  # fmt: skip
def test_an_unencrypted_address_gives_a_warning(file: Path, url: str, warned: bool) -> None:
    warnings = load(file, f"url: {url}\n").warnings
    assert [warning for warning in warnings if "use https" in warning] == list(warnings)
    assert bool(warnings) is warned


@pytest.mark.parametrize("word", ["TokenGoesHere", "INSERT_TOKEN", "***", "NotHere", "REDACTED", "changeme", "none"])
def test_the_words_that_operators_publish_instead_of_a_token_are_placeholders(word: str) -> None:
    assert (token_problem(word) or "").startswith("is a placeholder")


@pytest.mark.parametrize("word", ["a" * 500_000, "a:" * 250_000, "://" * 150_000, "@" + "a:" * 250_000])
def test_long_words_are_searched_for_passwords_at_once(word: str) -> None:
    begun_at = time.monotonic()
    assert without_password(f"{word} https://me:secret@host") == f"{word} https://[hidden]@host"
    assert time.monotonic() - begun_at < 30
