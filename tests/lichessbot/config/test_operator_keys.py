"""Keys about what the bot tells its operator and its opponents."""

from pathlib import Path

from tests.lichessbot.config.conftest import load


def test_an_unknown_name_in_the_braces_of_a_greeting_is_named(file: Path) -> None:
    loaded = load(file, "greeting: {hello: 'Hi {opponent}, {cpu}{me}', goodbye: '{ram}'}\n")
    assert loaded.config.greeting.hello == "Hi {opponent}, {cpu}{me}"
    assert [note.removeprefix(f"{file}:") for note in loaded.warnings] == [
        "1: greeting.hello: {cpu} is left out; known are {me}, {opponent}, {engine}, {rating}",
        "1: greeting.goodbye: {ram} is left out; known are {me}, {opponent}, {engine}, {rating}",
    ]


def test_block_lists_in_files_are_beside_the_config(file: Path) -> None:
    text = "challenge: {block_list_files: shared.txt}\nmatchmaking: {block_list_files: [/srv/bots]}\n"
    config = load(file, text).config
    assert config.challenge.block_lists == (str(file.parent / "shared.txt"),)
    assert config.matchmaking.block_lists == ("/srv/bots",)
