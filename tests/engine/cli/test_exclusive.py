from pathlib import Path

import pytest

from engine.cli.exclusive import InUse, exclusive


@pytest.mark.parametrize("name", ["folder", "results.jsonl"])
def test_one_command_at_a_time_works_in_a_place(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    place = tmp_path / name
    with exclusive(place), pytest.raises(InUse, match=f"another command works in {place}"), exclusive(place):
        pass
    with exclusive(place):
        pass


def test_a_file_keeps_its_content(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("kept")
    with exclusive(path):
        assert path.read_text() == "kept"
