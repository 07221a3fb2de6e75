"""Keys about what the bot tells its operator and its opponents."""

from pathlib import Path

from tests.lichessbot.config.conftest import load, problems


def test_an_unknown_name_in_the_braces_of_a_greeting_is_named(file: Path) -> None:
    loaded = load(file, "greeting: {hello: 'Hi {opponent}, {cpu}{me}', goodbye: '{ram}'}\n")
    assert loaded.config.greeting.hello == "Hi {opponent}, {cpu}{me}"
    assert [note.removeprefix(f"{file}:") for note in loaded.warnings] == [
        "1: greeting.hello: {cpu} is left out; known are {me}, {opponent}, {engine}, {rating}, {crosstable}",
        "1: greeting.goodbye: {ram} is left out; known are {me}, {opponent}, {engine}, {rating}, {crosstable}",
    ]


def test_a_notifier_beside_the_config_gets_its_whole_path(file: Path) -> None:
    text = "notify: {command: [bin/tell, --urgent], on: [game_lost]}\n"
    assert load(file, text).config.notify.command == (str(file.parent / "bin/tell"), "--urgent")
    assert load(file, "notify: {command: [notify-send]}\n").config.notify.command == ("notify-send",)


def test_an_event_that_is_not_told_is_refused_with_those_that_are(file: Path) -> None:
    (problem,) = problems(file, "notify: {command: [x], on: [update]}\n")
    assert problem.startswith("1: notify.on.0: expected 'offline', 'online', 'game_started'")
    assert problem.endswith("found 'update'")


def test_block_lists_in_files_are_beside_the_config(file: Path) -> None:
    text = "challenge: {block_list_files: shared.txt}\nmatchmaking: {block_list_files: [/srv/bots]}\n"
    config = load(file, text).config
    assert config.challenge.block_lists == (str(file.parent / "shared.txt"),)
    assert config.matchmaking.block_lists == ("/srv/bots",)
