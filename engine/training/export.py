"""From data to a net in a file, with its card and the picture of its losses beside it.

    NAME.net             what the engine plays with
    NAME.json            the card: what it was made of and how, how well it does
    NAME.svg             its losses on the way
    NAME.net.checkpoint  while it is being made: a training that was cut off goes on from there
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine.nnue import net_file
from engine.nnue.net_file import Net
from engine.progress import ProgressDisplay
from engine.training.data import Data
from engine.training.plot import Curve, svg
from engine.training.trainer import Check, Settings, Training, dequantise, hand_written_loss, quantise

SECONDS_AN_HOUR = 3600


@dataclass(frozen=True)
class Losses:
    """Mean squared errors on the held-out games, and the lowest of the training on its own positions."""

    learnt: float
    held_out: float
    as_written: float              # of the integers in the file
    hand_written: float            # of the evaluation without a net, at the scale that suits it best


@dataclass(frozen=True)
class Card:
    """What there is to know of a net."""

    name: str
    made: str
    begun_with: str | None         # the net whose weights it began with, if not with random ones
    settings: Settings
    games: int
    positions: int
    held_out: int
    origin: str                    # of the data, see `data.py`
    steps: int
    losses: Losses
    training_hours: float

    def content(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def card_path(net: Path) -> Path:
    return net.with_suffix(".json")


def train_network(data: Data, settings: Settings, output: Path, first: Net | None = None) -> Card:
    """Train a net, or go on with it, and write it with all that belongs to it; says on the way how it gets on.

    `first` is what it begins with. Raises InvalidNet if that is of another shape, or the file's name too long for one.
    """
    net_file.check_name(output.stem)
    training = Training(data, settings, first)
    checkpoint = output.with_name(f"{output.name}.checkpoint")
    hand_written, unit = hand_written_loss(data, settings)
    with ProgressDisplay(output.stem, training.steps, "steps") as display:
        display.log(f"{data.training_count:,} positions to learn from, {data.held_out_count:,} held out")
        display.log(f"held out, the hand-written evaluation at {unit} centipawns a unit: {hand_written:.6f}")
        if first is not None:
            display.log(f"held out, {first.name}, with whose weights it begins: {training.loss(training.best):.6f}")
        if training.resume(checkpoint):
            display.log(f"goes on after step {training.step}")
        for check in training.run(lambda: display.advance_to(training.step)):
            training.save(checkpoint)
            display.log(_line(training, check))
        net = quantise(training.best, settings, output.stem)
        losses = Losses(
            learnt=training.checks[-1].learnt,
            held_out=min(check.held_out for check in training.checks),
            as_written=training.loss(dequantise(net)),
            hand_written=hand_written,
        )
        display.log(f"held out, as written: {losses.as_written:.6f}")
    card = _card(training, losses, output.stem)
    net_file.write(net, output)
    card_path(output).write_text(json.dumps(card.content(), indent=2) + "\n")
    output.with_suffix(".svg").write_text(_picture(training, card))
    checkpoint.unlink()
    return card


def _line(training: Training, check: Check) -> str:
    rate = training.seen(check.step) / training.seconds
    return (
        f"step {check.step}/{training.steps}: loss {check.learnt:.6f}, held out {check.held_out:.6f}, "
        f"{rate:,.0f} positions/s"
    )


def _card(training: Training, losses: Losses, name: str) -> Card:
    return Card(
        name=name,
        made=f"{datetime.now(UTC):%Y-%m-%d}",
        begun_with=training.first.name if training.first is not None else None,
        settings=training.settings,
        games=training.data.games,
        positions=training.data.training_count,
        held_out=training.data.held_out_count,
        origin=training.data.origin,
        steps=training.step,
        losses=losses,
        training_hours=round(training.seconds / SECONDS_AN_HOUR, 3),
    )


def _picture(training: Training, card: Card) -> str:
    places = [float(training.seen(check.step)) for check in training.checks]
    learnt = [check.learnt for check in training.checks]
    held_out = [check.held_out for check in training.checks]
    curves = [
        Curve("learnt", "#1f77b4", list(zip(places, learnt, strict=True))),
        Curve("held out", "#d62728", list(zip(places, held_out, strict=True))),
        Curve("hand-written", "#555555", [(places[-1], card.losses.hand_written)]),
    ]
    return svg(f"{card.name}: {card.positions:,} positions, mean squared error", curves)
