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
