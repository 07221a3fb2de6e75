"""The style of the bot's own engine: from the config to the engine, through profiles, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from annotated_types import Ge, Le

from engine.facade import GROUP_PERCENTS, NAMED_STYLES, STARTING_FEN, Limits
from lichessbot.config import Config, load_config
from lichessbot.config.credentials import TOKEN_VARIABLE
from lichessbot.config.engine import StyleConfig, StyleName
from lichessbot.errors import ConfigError
from lichessbot.inbox import Inbox
from lichessbot.lichess.enums import Colour, Odds, OpponentKind
from lichessbot.lichess.models import GameFull
from lichessbot.timeouts import Timeouts
from lichessbot.uci.engine import UciEngine
from lichessbot.uci.profiles import GameFacts, describe_engine, fitted_engine_config, pieces_given
from lichessbot.uci.search import Search
from tests.lichessbot.machines import UNKNOWN_MACHINE
from tests.lichessbot.uci.helpers import best_move

HUMAN = GameFacts("blitz", "standard", OpponentKind.HUMAN, 1500, True, False, Colour.WHITE)


def load(folder: Path, text: str) -> Config:
    file = folder / "config.yml"
    file.write_text(text)
    return load_config(file, {TOKEN_VARIABLE: "lip_abc"}).config


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    return [problem.removeprefix(f"{folder / 'config.yml'}:") for problem in caught.value.problems]


def test_the_keys_and_ranges_are_those_of_the_engine() -> None:
    ranges = {}
    for name, field in StyleConfig.model_fields.items():
        if name == "name":
            continue
        (least,) = (it.ge for it in field.metadata if isinstance(it, Ge))
        (most,) = (it.le for it in field.metadata if isinstance(it, Le))
        ranges[name] = (least, most)
    assert ranges == {name: (percents[0], percents[-1]) for name, percents in GROUP_PERCENTS.items()}
    assert (*StyleName,) == ("none", *NAMED_STYLES), {*StyleName} ^ {"none", *NAMED_STYLES}


def test_our_engine_takes_every_style(inbox: Inbox, tmp_path: Path) -> None:
    keys = ", ".join(["name: attacker", *(f"{name}: 90" for name in GROUP_PERCENTS)])
    engine = UciEngine("abcd1234", load(tmp_path, f"engine: {{style: {{{keys}}}}}").engine, inbox.put, Timeouts())
    try:
        engine.search(Search(1, STARTING_FEN, False, (), Limits(depth=2)))
        best_move(inbox)
        assert engine.complaints == ()
        assert len(engine.config.uci_options) == 1 + len(GROUP_PERCENTS)
    finally:
        engine.close()


def test_a_neutral_style_sets_no_option(tmp_path: Path) -> None:
    assert load(tmp_path, "engine: {style: {mobility: 100}, command: [stockfish]}").engine.uci_options == {}


def test_a_profile_changes_the_style_key_by_key_and_back_to_neutral(tmp_path: Path) -> None:
    config = load(tmp_path, """\
engine: {style: {mobility: 150, king_attack: 200}}
profiles:
  - {when: {opponent: human}, engine: {style: {mobility: 100, material: -50}}}
""")
    engine = fitted_engine_config(HUMAN, config, UNKNOWN_MACHINE)
    assert engine.uci_options == {"Style Mobility": 100, "Style King Attack": 200, "Style Material": -50}
    assert "Style Material: -50" in describe_engine(HUMAN, config, UNKNOWN_MACHINE)


def test_a_name_alone_is_a_style(tmp_path: Path) -> None:
    assert load(tmp_path, "engine: {style: gambler}").engine.uci_options == {"Style": "gambler"}
    assert load(tmp_path, "engine: {style: none}").engine.uci_options == {}
    mixed = "engine: {style: {name: solid, tempo: 50}}\nprofiles:\n  - {when: {speed: blitz}, engine: {style: none}}\n"
    config = load(tmp_path, mixed)
    assert config.engine.uci_options == {"Style": "solid", "Style Tempo": 50}
    assert fitted_engine_config(HUMAN, config, UNKNOWN_MACHINE).uci_options == {"Style": "none", "Style Tempo": 50}
    assert problems(tmp_path, "engine:\n  style: gambit\n") == [
        "2: engine.style.name: expected 'none', 'attacker', 'solid', 'gambler', 'endgame', 'swindler' or 'classical', "
        "found 'gambit'; nearest: gambler"
    ]


def test_wrong_style_keys_and_values_are_reported(tmp_path: Path) -> None:
    text = """\
engine:
  style: {mobilty: 150}
  command: [stockfish]
profiles:
  - {when: {speed: bullet}, engine: {style: {material: 201}}}
  - {when: {speed: blitz}, engine: {style: {king_atack: 10}}}
"""
    assert problems(tmp_path, text) == [
        "2: engine.style.mobilty: unknown key; nearest valid key: mobility",
        "5: profiles #1.engine.style.material: expected at most 200, found 201",
        "6: profiles #2.engine.style.king_atack: unknown key; nearest valid key: king_attack",
    ]


def test_another_program_has_no_style(tmp_path: Path) -> None:
    text = "engine:\n  style: {mobility: 150}\n  command: [stockfish]\n"
    assert problems(tmp_path, text) == [
        "2: engine.style: is for the bot's own engine only; remove it or command"
    ]


def test_a_losing_style_does_not_resign_won_games(tmp_path: Path) -> None:
    text = """\
engine: {draw_or_resign: {resign_enabled: true}}
profiles:
  - {when: {speed: bullet}, engine: {style: {material: -1}}}
"""
    assert problems(tmp_path, text) == [
        "1: engine.draw_or_resign.resign_enabled: expected false, as profiles #1.engine.style.material is below 0"
        " and good scores are bad news"
    ]
    assert load(tmp_path, text.replace("-1", "0")).engine.draw_or_resign.resign_enabled
    never = "style: {material: -1}, draw_or_resign: {resign_enabled: false}"
    config = load(tmp_path, text.replace("style: {material: -1}", never))
    assert not config.engine.changed_by(config.profiles[0]).draw_or_resign.resign_enabled
    later = text.replace("style: {material: -1}", never) + (
        "  - {when: {rated: true}, engine: {draw_or_resign: {resign_enabled: true}}}\n"
    )
    assert problems(tmp_path, later) == [
        "4: profiles #2.engine.draw_or_resign.resign_enabled: expected false, as profiles #1.engine.style.material is"
        " below 0 and good scores are bad news"
    ]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("{}", {"Style": "swindler"}),
        ("engine: {style: solid}", {"Style": "solid"}),
        ("engine: {style: {mobility: 150}}", {"Style Mobility": 150, "Style": "swindler"}),
        ("profiles: [{when: {opponent: human}, engine: {style: none}}]", {"Style": "none"}),
        ("engine: {command: [stockfish]}", {}),
    ],
)
def test_a_side_that_gives_odds_avoids_trades(tmp_path: Path, text: str, options: dict[str, object]) -> None:
    config = load(tmp_path, text)
    giver = replace(HUMAN, pieces_given=(Odds.QUEEN,))
    assert fitted_engine_config(giver, config, UNKNOWN_MACHINE).uci_options == options
    assert "swindler" not in fitted_engine_config(HUMAN, config, UNKNOWN_MACHINE).uci_options.values()


@pytest.mark.parametrize(
    ("resign_score", "given", "lowered"),
    [
        (-900, (Odds.QUEEN,), -2100),
        (-1500, (Odds.ROOK, Odds.KNIGHT, Odds.PAWN), -2650),
        (-900, (), -900),
        (-19_500, (Odds.QUEEN,), -20_000),
    ],
)
@pytest.mark.parametrize("command", ["", "command: [stockfish], "])
def test_the_pieces_given_are_no_reason_to_resign(
    tmp_path: Path, command: str, resign_score: int, given: tuple[Odds, ...], lowered: int
) -> None:
    rules_text = f"{{resign_enabled: true, resign_score: {resign_score}}}"
    config = load(tmp_path, f"engine: {{{command}draw_or_resign: {rules_text}}}")
    facts = replace(HUMAN, pieces_given=given)
    rules = fitted_engine_config(facts, config, UNKNOWN_MACHINE).draw_or_resign
    assert (rules.resign_enabled, rules.resign_score) == (True, lowered)
    assert f"; may resign at a score of {lowered}" in describe_engine(facts, config, UNKNOWN_MACHINE)


def test_who_gives_odds_is_known_from_the_game() -> None:
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"
    state = {"moves": "", "status": "started", "wtime": 1, "btime": 1}
    game = GameFull.model_validate(
        {"id": "abcd1234", "variant": {"key": "fromPosition"}, "initialFen": fen, "state": state}
    )
    assert [GameFacts.from_full(game, colour).pieces_given for colour in Colour] == [(Odds.QUEEN,), ()]
    second = fen.replace("RNB1KBNR w", "RNBQKBNR b")
    assert not pieces_given(second, Colour.WHITE)
