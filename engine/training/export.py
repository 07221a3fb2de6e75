"""Trains a network and writes it with its card and loss curve.

    NAME.net             the network
    NAME.json            the card: data, settings, losses
    NAME.svg             the loss curve
    NAME.net.checkpoint  during training: an interrupted training continues from it
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine.evaluation import net_file
from engine.evaluation.net_file import Net
from engine.progress import ProgressDisplay
from engine.selfplay.records import InvalidRecord
from engine.training.data import Data
from engine.training.plot import Curve, svg
from engine.training.trainer import Check, Training, TrainingSettings, dequantise, hand_written_loss, quantise
from engine.whole_file import write_whole

SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class Losses:
    """Mean squared errors: of the last training batches, and on the held-out games."""

    learnt: float
    held_out: float                # the lowest
    as_written: float              # of the integers in the file
    hand_written: float | None     # of the hand-written evaluation, at its best scale; None for a variant


def card_path(net: Path) -> Path:
    return net.with_suffix(".json")


def curve_path(net: Path) -> Path:
    return net.with_suffix(".svg")


def train_network(
    data: Data, settings: TrainingSettings, output: Path, first: Net | None = None, *, replace: bool = False
) -> dict[str, Any]:
    """Train a network, or continue its training, write it with its files, print the progress, and return its card.

    Training starts from `first`, if given. Raises InvalidNet if that has another shape, or if the name is too long, and
    InvalidRecord if there is a checkpoint of another training, unless this one may `replace` it.
    """
    net_file.check_name(output.stem)
    training = Training(data, settings, first)
    checkpoint = output.with_name(f"{output.name}.checkpoint")
    hand_written = None
    with ProgressDisplay(output.stem, training.steps, "steps") as display:
        display.log(f"{data.training_count:,} positions to learn from, {data.held_out_count:,} held out")
        if not data.is_of_variant:
            hand_written, unit = hand_written_loss(data, settings)
            display.log(f"held out, the hand-written evaluation at {unit} centipawns per unit: {hand_written:.6f}")
        if first is not None:
            display.log(f"held out, {first.name}, with whose weights it begins: {training.loss(training.best):.6f}")
        if training.resume(checkpoint):
            display.log(f"continues after step {training.step}")
        elif checkpoint.exists():
            if not replace:
                raise InvalidRecord(
                    f"{checkpoint} is of a training with other settings or positions: give the same ones to continue "
                    "it; `--force` begins anew"
                )
            display.log("begins anew: the checkpoint is of other settings or positions")
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
    write_whole(card_path(output), [json.dumps(card, indent=2).encode(), b"\n"])
    write_whole(curve_path(output), [_loss_curve(training, losses, output.stem).encode()])
    checkpoint.unlink()
    return card


def _line(training: Training, check: Check) -> str:
    rate = training.seen(check.step) / training.seconds
    return (
        f"step {check.step}/{training.steps}: loss {check.learnt:.6f}, held out {check.held_out:.6f}, "
        f"{rate:,.0f} positions/s"
    )


def _card(training: Training, losses: Losses, name: str) -> dict[str, Any]:
    """Return the origin and the losses of a network."""
    return {
        "name": name,
        "made": f"{datetime.now(UTC):%Y-%m-%d}",
        "begun_with": training.first.name if training.first is not None else None,     # null: random weights
        "settings": asdict(training.settings),
        "games": training.data.games,
        "positions": training.data.training_count,
        "held_out": training.data.held_out_count,
        "origin": training.data.origin,
        "steps": training.step,
        "losses": asdict(losses),
        "training_hours": round(training.seconds / SECONDS_PER_HOUR, 3),
    }


def _loss_curve(training: Training, losses: Losses, name: str) -> str:
    seen = [float(training.seen(check.step)) for check in training.checks]
    curves = [
        Curve("training", "#1f77b4", [(x, check.learnt) for x, check in zip(seen, training.checks, strict=True)]),
        Curve("held out", "#d62728", [(x, check.held_out) for x, check in zip(seen, training.checks, strict=True)]),
    ]
    if losses.hand_written is not None:
        curves.append(Curve("hand-written", "#555555", [(seen[-1], losses.hand_written)]))
    title = f"{name}: {training.data.training_count:,} positions, mean squared error"
    return svg(title, curves, "positions seen", logarithmic=True)
