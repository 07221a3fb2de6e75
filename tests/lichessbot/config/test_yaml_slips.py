"""What is said of YAML that is read as something else than the operator meant, and of keys in the wrong section."""

from pathlib import Path

import pytest

from tests.lichessbot.config.conftest import problems


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("engine: {concurrency: 2}", "engine.concurrency: unknown key; concurrency belongs to challenge or "
         "correspondence"),
        ("resign_enabled: true", "resign_enabled: unknown key; resign_enabled belongs to engine.draw_or_resign"),
        ("engine: {polyglot: {standard: a.bin}}",
         "engine.polyglot.standard: unknown key; standard belongs to engine.polyglot.book"),
        ("matchmaking: {min_rating: 1500}", "matchmaking.min_rating: unknown key; nearest valid key: "
         "opponent_min_rating; min_rating belongs to challenge"),
        ("engine: {Skill Level: 5}", "engine.Skill Level: unknown key; UCI options belong to engine.uci_options"),
        ("profiles: [{when: {speed: blitz}, engine: {max_move_overhead_ms: 500}}]",
         "profiles #1.engine.max_move_overhead_ms: unknown key; it belongs to engine, as all games share it"),
        ("engine: {enabled: true}", "engine.enabled: unknown key; nearest valid key: threads"),
    ],
)
def test_a_key_in_the_wrong_section_is_told_its_own(file: Path, text: str, hint: str) -> None:
    assert problems(file, f"{text}\n") == [f"1: {hint}"]
