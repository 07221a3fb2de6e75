"""What the training commands refuse before hours of work."""

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path

import pytest

from engine.cli import training as cli_training
from engine.cli.exclusive import exclusive
from engine.cli.main import run
from engine.evaluation import net_file, weights
from engine.evaluation.eval_file import shipped_file
from engine.evaluation.net_file import InvalidNet
from engine.selfplay.records import rules_of
from engine.selfplay.selfplay import SelfplayPlan
from engine.training.data import last_words, load, read_words
from engine.training.export import train_network
from engine.training.trainer import Training, TrainingSettings
from tests.engine.nets import random_net
from tests.engine.shards import write_shards

TRAIN = ("train", "shards", "-o", "a.net")
LEARN = ("learn", "loop", "--generations", "1")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, which is empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ((*TRAIN, "--hindsight", "2"), "'--hindsight': expected a number from 0 to 1, found '2'"),
        ((*TRAIN, "--trust", "-0.1"), "'--trust': expected a number from 0 to 1, found '-0.1'"),
        ((*TRAIN, "--epochs", "nan"), "'--epochs': expected a number from 0 to 1000, found 'nan'"),
        ((*TRAIN, "--rate", "fast"), "'--rate': expected a number from 0 to 1, found 'fast'"),
        ((*TRAIN, "--batch", "0"), "'--batch': expected a whole number from 1, found 0"),
        (("tune", "shards", "--trust", "40"), "'--trust': expected a number from 0 to 1, found '40'"),
        ((*LEARN, "--minutes", "inf"), "'--minutes': expected a number from 0 to 100000, found 'inf'"),
        (
            (*LEARN, "--minutes", "9", "--confidence", "90"),
            "'--confidence': expected a number from 0.5 to 1, found '90'",
        ),
    ],
)
def test_a_number_out_of_bounds_is_refused(
    line: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line) == 2
    expected = f"{complaint} (see `lichessbot-engine {line[0]} --help`)"
    assert capsys.readouterr().err.splitlines()[-1].endswith(expected)


@pytest.mark.parametrize("command", [TRAIN, (*LEARN, "--minutes", "9")])
def test_an_impossible_shape_is_refused_at_once(
    command: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for line, complaint in (
        ((*command, "--hidden", "7"), "7 hidden values, expected a multiple of 32 from 32 to 1024\n"),
        ((*command, "--buckets", "3"), "3 output buckets, expected 1 or 8\n"),
    ):
        assert run(line) == 2
        assert capsys.readouterr().err == complaint
    assert not list(here.iterdir())
    assert run((command[0], "--help")) == 0
    help_text = capsys.readouterr().out
    for name in ("--hidden", "--buckets"):
        assert "x>=1" not in help_text[help_text.index(name) :].split("--")[1]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (("tune", "shards"), "tuned.py"),
        (("tune", "shards", "-o", "other.py"), "other.py"),
        (TRAIN, "a.net"),
        (TRAIN, "a.json"),
        (TRAIN, "a.svg"),
        (("records", "shards", "--wdl", "curve.svg"), "curve.svg"),
        (("book", "grow", "games"), "own_book.bin"),
        (("book", "build", "games.pgn", "-o", "book.bin"), "book.bin"),
        (("calibrate", "skills.jsonl", "--skills", "--write", "skills.py"), "skills.py"),
    ],
)
def test_no_file_is_replaced_without_force(
    command: tuple[str, ...], output: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_shards(Path("shards"), 1, games=1)
    Path(output).write_text("precious")
    assert run(command) == 2
    ways = {"calibrate": "choose another name", "records": "`--force` replaces it"}
    way = ways.get(command[0], "`--force` replaces it, `--output` writes elsewhere")
    assert capsys.readouterr().err == f"{output} exists; {way}\n"
    assert Path(output).read_text() == "precious"


def test_a_training_without_shards_leaves_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(("train", "empty", "-o", "new/a.net")) == 2
    assert capsys.readouterr().err.startswith("no shards in empty: ")
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    "command",
    [
        ("selfplay", "there"),
        ("tune", "there"),
        ("spsa", "there"),
        (*LEARN[:1], "there", *LEARN[2:], "--minutes", "9"),
        ("book", "grow", "there"),
        ("calibrate", "there/ladder.jsonl"),
    ],
)
def test_a_second_command_in_a_folder_is_refused(
    command: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_shards(Path("there"), 1, games=1)
    place = Path("there/ladder.jsonl" if command[0] == "calibrate" else "there")
    with exclusive(place):
        assert run(command) == 2
    assert capsys.readouterr().err == f"another command works in {place}\n"


def test_two_trainings_of_one_network_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each would replace the checkpoint of the other."""
    write_shards(tmp_path, 1, games=1)
    lock = tmp_path / ".one.net.lock"
    with exclusive(lock):
        assert run(("train", str(tmp_path), "-o", str(tmp_path / "one.net"))) == 2
    assert capsys.readouterr().err == f"another command works in {lock}\n"


@pytest.mark.parametrize("command", [("train", "shards"), ("book", "build", os.devnull)])
def test_an_output_without_a_default_is_missing(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command) == 2
    assert "Missing option '-o' / '--output'." in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a.json", "a.svg"])
def test_a_network_has_another_name_than_its_card_and_curve(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(("train", "shards", "-o", name, "--force")) == 2
    assert capsys.readouterr().err == f"{name} is the name of the card or the curve; expected a.net\n"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (("match", "none", "none", "--openings", "a.epd", "--seed", "2"), "--seed cannot be used with --openings"),
        (("calibrate", "a.jsonl", "--games", "a.pgn"), "RESULTS cannot be used with --games"),
        (("calibrate", "--clock", "1+1", "--games", "a.pgn"), "--clock cannot be used with --games"),
        (("calibrate", "a.jsonl", "--every", "2"), "--every cannot be used without --games"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(
    line: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_folder_is_no_file_to_write(force: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("there").mkdir()
    assert run(("book", "build", "games.pgn", "-o", "there", *force)) == 2
    assert capsys.readouterr().err == "cannot write there: it is a folder; name a file in it\n"


@pytest.mark.parametrize("command", [("selfplay",), ("records",), ("tune",), ("spsa",), ("book", "grow")])
def test_a_file_is_no_folder_to_work_in(
    command: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("games.pgn").touch()
    assert run((*command, "games.pgn")) == 2
    assert ": Invalid value for 'FOLDER': Directory 'games.pgn' is a file. (see `" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write everywhere
    assert run(("tune", "shards", "-o", "/usr/tuned.py")) == 2
    assert capsys.readouterr().err == "cannot write /usr/tuned.py: permission denied\n"


def test_too_few_games_to_hold_out_some_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_shards(Path("shards"), 1, games=1)
    assert run(["tune", "shards", "--epochs", "1"]) == 2
    assert capsys.readouterr().err == "too few games to train on some and hold out others (1): play more\n"
    assert not Path("tuned.py").exists()


def test_tuned_weights_go_to_the_working_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shipped = Path(weights.__file__).with_name("tuned.py")
    before = shipped.read_bytes()
    write_shards(Path("shards"), 1, games=60)
    code = run(["tune", "shards", "--epochs", "1"])
    assert Path("tuned.py").exists() is (code == 0)
    assert shipped.read_bytes() == before
    assert "; held-out loss at the start 0." in capsys.readouterr().out
    run(["tune", "shards", "--epochs", "1", "--force"])
    assert "; held-out loss after epoch 1 0." in capsys.readouterr().out


def test_tune_leaves_the_old_weights_if_the_disk_is_full(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half a module in engine/evaluation/ would leave no engine to tune again."""
    Path("tuned.py").write_text("old")
    write_shards(Path("shards"), 1, games=60)
    monkeypatch.setattr(cli_training.FitProgress, "best_epoch", property(lambda progress: 1, lambda *_: None))
    monkeypatch.setattr(cli_training, "module_text", lambda values, origin: "new" * 10**6)
    with full_disk():
        assert run(["tune", "shards", "--epochs", "1", "--force"]) == 2
    assert capsys.readouterr().err.endswith("File too large\n")
    assert Path("tuned.py").read_text() == "old"


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow beyond a mebibyte."""
    signal_before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, signal_before)


def test_a_training_has_the_shape_of_the_network_it_begins_with(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net_file.write(random_net(seed=3, hidden=32, buckets=1), Path("first.net"))
    begin = (*TRAIN, "--begin", "first.net")
    for line, complaint in (
        ((*begin, "--hidden", "64"), "it has --hidden 32, expected 64"),
        ((*begin, "--buckets", "8"), "it has --buckets 1, expected 8"),
    ):
        assert run(line) == 2  # although there are no shards yet
        assert complaint in capsys.readouterr().err
    write_shards(here / "shards", 1, games=60)
    assert run((*begin, "--epochs", "1", "--batch", "64")) == 0
    second = net_file.read(Path("a.net"))
    assert (second.hidden, second.buckets) == (32, 1)


def test_a_training_begins_with_the_shipped_network(capsys: pytest.CaptureFixture[str]) -> None:
    shipped = shipped_file()
    hidden = net_file.read(shipped).hidden
    assert run((*TRAIN, "--begin", "<shipped>", "--hidden", str(hidden + 32))) == 2
    assert f"it has --hidden {hidden}, expected {hidden + 32}" in capsys.readouterr().err


def test_a_long_name_is_refused_before_the_training(tmp_path: Path) -> None:
    learnt = load(write_shards(tmp_path / "shards", 1, games=60), 10**6)
    with pytest.raises(InvalidNet, match="the name has 65 bytes, expected at most 64"):
        train_network(learnt, TrainingSettings(), tmp_path / f"{'n' * 65}.net")
    assert [path.name for path in tmp_path.iterdir()] == ["shards"]


def test_an_unfinished_training_is_replaced_only_if_asked_to(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = TrainingSettings(hidden=32, epochs=1, batch=64)
    training = Training(load(write_shards(Path("shards"), 1, games=60), 10**6), settings)
    training.save(Path("a.net.checkpoint"))
    command = (*TRAIN, "--hidden", "32", "--epochs", "1", "--batch", "64", "--seed", "9")
    assert run(command) == 2
    assert "a.net.checkpoint is of a training with other settings or positions: give the" in capsys.readouterr().err
    assert run((*command, "--force")) == 0
    assert not Path("a.net.checkpoint").exists()


def test_a_lack_of_memory_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(path: Path) -> None:
        raise MemoryError

    monkeypatch.setattr(cli_training, "_shards", fail)
    assert run(("records", "shards")) == 2
    assert capsys.readouterr().err == "not enough memory\n"


def test_on_a_full_disk_the_user_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(path: Path) -> None:
        raise OSError(ENOSPC, "No space left on device", "a.shard")

    monkeypatch.setattr(cli_training, "_shards", fail)
    assert run(("records", "shards")) == 2
    assert capsys.readouterr().err == "a.shard: No space left on device; make room, and repeat the command\n"


def test_a_variant_is_played_learnt_and_compared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play = ("selfplay", "shards", "--games", "100", "--nodes", "20", "--processes", "1")
    assert run((*play, "--variant", "king of the hill")) == 0
    assert set(map(rules_of, last_words(read_words(Path("shards/0001-000000.shard"))))) == {"kingOfTheHill"}
    assert run((*play, "--variant", "atomic", "--seed", "2")) == 2
    assert "games of other rules, expected atomic: choose another folder" in capsys.readouterr().err
    assert run(("records", "shards", "--wdl", "curve.svg")) == 2
    assert "--wdl fits a model of standard chess" in capsys.readouterr().err
    assert run((*TRAIN, "--hidden", "32", "--epochs", "1", "--batch", "64")) == 0
    compare = ("match", "a.net", "none", "--games", "2", "--nodes", "20", "--processes", "1")
    assert run((*compare, "--variant", "kingOfTheHill")) == 0
    assert "a.net against none: 2 games" in capsys.readouterr().out


def test_a_folder_that_has_enough_games_is_said_to_be_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    SelfplayPlan(tmp_path).write(0, 3, b"")
    assert run(("selfplay", str(tmp_path), "--games", "2", "--nodes", "77", "--processes", "1")) == 0
    assert capsys.readouterr().out == (
        f"{tmp_path} already has 2 games with seed 1, perhaps of other --nodes or --net: nothing is played. "
        "For more games raise --games; for other ones choose another --seed or folder.\n"
    )


def test_shards_that_are_kept_beside_new_ones_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = SelfplayPlan(tmp_path)
    plan.write(0, 100, b"")
    assert run(("selfplay", str(tmp_path), "--games", "101", "--nodes", "20", "--processes", "1")) == 0
    assert plan.missing(101) == []
    assert capsys.readouterr().out.splitlines()[0] == (
        f"{tmp_path} already has 1 of the shards, perhaps of other --nodes, --net or --tree; they are kept"
    )
