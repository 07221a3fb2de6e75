"""Configurations of other bots, as shipped and as operators edit them: they are migrated and play a rehearsal.

The long tests also take the files that the projects ship, if LICHESS_BOT_CONFIG and BOTLI_CONFIG name them.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from engine.facade import OWN_BOOK
from lichessbot.cli.main import cli
from lichessbot.rehearsal.cli import bot_process
from tests.fakes.forked import AsCopies
from tests.lichessbot.config.migration.old_files import BOTLI, LICHESS_BOT

Values = dict[str, Any]
Edit = Callable[[Values], None]


def as_it_is(values: Values) -> None:
    pass


# What operators of lichess-bot change


def club_bot(values: Values) -> None:
    """A bot for a club: weak, with a book, friendly, for humans only."""
    values["engine"]["uci_options"] = {"Hash": 16, "go_commands": {"depth": 2}}
    values["engine"]["polyglot"] |= {"enabled": True, "book": {"standard": [str(OWN_BOOK)]}, "max_depth": 6}
    values["challenge"] |= {"accept_bot": True, "preference": "human", "max_increment": 0, "min_increment": 0}
    values["challenge"]["bullet_requires_increment"] = False
    values["max_takebacks_accepted"] = 5
    values["greeting"]["hello"] = "Hello {opponent}, I am {me} of the club {club}."


def ladder_bot(values: Values) -> None:
    """A bot that challenges others, in several kinds of games, and resigns."""
    values["engine"]["uci_options"] = {"Threads": 1, "Hash": 16, "go_commands": {"nodes": 3000}}
    values["engine"]["draw_or_resign"]["resign_enabled"] = True
    values["challenge"] |= {"concurrency": 3, "modes": ["rated"], "min_base": 0, "min_increment": 0}
    values["challenge"]["bullet_requires_increment"] = False
    values["matchmaking"] |= {"allow_matchmaking": True, "challenge_timeout": 60, "challenge_filter": "fine"}
    slow, wild = {"challenge_initial_time": [600]}, {"challenge_variant": "atomic"}
    values["matchmaking"]["overrides"] = {"slow": slow, "wild": wild}


def all_round_bot(values: Values) -> None:
    """A bot for Chess960 and correspondence, with lists, PGN files and an engine with an interpreter."""
    engine = values["engine"]
    engine |= {"interpreter": "sh", "interpreter_options": ["-e"], "uci_options": {"Hash": 16}, "ponder": False}
    values["challenge"] |= {"variants": ["standard", "chess960", "horde"], "max_days": None, "min_increment": 0}
    values["challenge"] |= {"time_controls": ["bullet", "blitz", "correspondence"], "block_list": ["Cheat", "Rude"]}
    values["challenge"]["bullet_requires_increment"] = False
    values |= {"pgn_directory": "games", "pgn_file_grouping": "all", "abort_time": 60}


# What operators of BotLi change


def engine_park(values: Values) -> None:
    """Engines by speed, colour and opponent."""
    standard = values["engines"]["standard"]
    standard |= {"limits": {"depth": 3}, "uci_options": {"Hash": 16}}
    for key, depth in (("bullet", 1), ("bullet_black", 2), ("0.5+0_bot", 3), ("chess960", 4)):
        values["engines"][key] = standard | {"limits": {"depth": depth}, "uci_options": {"Style Mobility": 90 + depth}}
    _let_in(values)


def with_sources(values: Values) -> None:
    """A book for White and the cloud's evaluations."""
    values["engines"]["standard"] |= {"limits": {"nodes": 3000}, "uci_options": None}
    values["books"] = {"Own": str(OWN_BOOK)}
    book = {"selection": "best_move", "names": ["Own"], "max_moves": 2, "max_depth": 8}
    values["opening_books"] |= {"enabled": True, "books": {"standard_white": book}}
    values["online_moves"]["lichess_cloud"] |= {"enabled": True, "only_without_book": True, "max_moves": 3}
    _let_in(values)


def bots_only(values: Values) -> None:
    """A bot for bots, with several kinds of games to propose."""
    values["engines"]["standard"] |= {"limits": {"time": 0.05}, "uci_options": {"Threads": 1, "Ponder": True}}
    values["matchmaking"]["types"] = {
        "bullet": {"tc": "1+1", "weight": 20, "multiplier": 5, "max_rating_diff": 200},
        "casual": {"tc": "3+0", "rated": False, "variant": "chess960"},
        "crazy": {"tc": "3+0", "variant": "crazyhouse"},
    }
    values["resign"]["enabled"] = True
    _let_in(values)
    values["challenge"]["concurrency"] = 3


def _let_in(values: Values) -> None:
    """Let the rehearsal's opponents in."""
    for kind in ("human", "bot"):
        rules = values["challenge"][kind]
        rules |= {"min_increment": 0, "min_initial": 0, "bullet_with_increment_only": False}
        rules |= {"time_controls": ["bullet", "0.5+0"], "modes": ["casual", "rated"]}


# Old files, with the clock of the rehearsal.

LICHESS_BOTS = (as_it_is, club_bot, ladder_bot, all_round_bot)
BOTLIS = (as_it_is, engine_park, with_sources, bots_only)


def shipped(program: str) -> str:
    """Return the file that the project ships, which the operator of this test names."""
    variable = {"lichess-bot": "LICHESS_BOT_CONFIG", "BotLi": "BOTLI_CONFIG"}[program]
    if not os.environ.get(variable):
        pytest.skip(f"{variable} names no configuration that {program} ships")
    return Path(os.environ[variable]).read_text(encoding="utf-8")


def ours(program: str) -> str:
    """Return a small file of the same shape, with a quick engine that exists."""
    text = {"lichess-bot": LICHESS_BOT, "BotLi": BOTLI}[program]
    text = text.replace("/opt/engines", "./engines")
    return text.replace("depth: 12", "depth: 3").replace("movetime: 700", "movetime: 50")


def put_engines(folder: Path, values: Values) -> None:
    """Put our engine under the name of each engine of the file."""
    engines = [values["engine"]] if "engine" in values else list(values["engines"].values())
    for engine in engines:
        file = folder / engine["dir"] / engine["name"]
        file.parent.mkdir(exist_ok=True)
        file.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m engine uci "$@"\n')
        file.chmod(0o755)


def run(*words: str) -> str:
    done = CliRunner(catch_exceptions=False).invoke(cli, words, standalone_mode=False)
    assert not done.return_value, f"{words}: {done.output}"
    return done.output


def moves_over_and_plays(folder: Path, text: str, edit: Edit, clock: str) -> None:
    values = yaml.safe_load(text)
    edit(values)
    put_engines(folder, values)
    (folder / "old.yml").write_text(yaml.safe_dump(values, sort_keys=False))
    run("config", "migrate", "old.yml")
    told = run("rehearse", "--config", "config.yml", "--games", "2", "--concurrency", "1", "--clock", clock)
    result = told.splitlines()[-1]
    assert result.startswith("2 games: ")
    assert result.endswith(" 0 failed"), "nothing about our engine follows, as the file names one"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands run in this process and in the test's folder, and the daemon is a copy."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bot_process, "subprocess", AsCopies)


@pytest.mark.parametrize(("program", "clock"), [("lichess-bot", "60+1"), ("BotLi", "120+2")])
def test_the_file_of_another_bot_is_migrated_and_plays(tmp_path: Path, program: str, clock: str) -> None:
    moves_over_and_plays(tmp_path, ours(program), as_it_is, clock)


@pytest.mark.long
@pytest.mark.parametrize(
    ("program", "edit"),
    [*(("lichess-bot", edit) for edit in LICHESS_BOTS), *(("BotLi", edit) for edit in BOTLIS)],
)
@pytest.mark.parametrize("source", [ours, shipped])
def test_as_shipped_and_as_operators_edit_them(
    tmp_path: Path, program: str, edit: Edit, source: Callable[[str], str]
) -> None:
    strict = source is ours and edit is as_it_is
    clock = {"lichess-bot": "60+1", "BotLi": "120+2"}[program] if strict else "30+0"
    moves_over_and_plays(tmp_path, source(program), edit, clock)
