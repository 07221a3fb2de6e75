"""The training loop: the best evaluation plays, a network learns from its games and replaces it by winning a match.

One folder holds everything, and an interrupted loop continues from it:

    loop.json                 the state, written after every shard and every pair of games
    LOG.md                    cost and gain of each generation
    shards/                   the games, named by generation; shards added by the user are used as well
    nets/gen-001.net          each network with its card and curve, promoted or not

(chessprogramming wiki: Reinforcement Learning)
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.evaluation.eval_file import HAND_WRITTEN, KEYWORDS, STANDARD
from engine.progress import ProgressDisplay
from engine.selfplay import match, records, selfplay
from engine.selfplay.match import Match
from engine.selfplay.records import InvalidRecord
from engine.selfplay.selfplay import SelfplayPlan
from engine.selfplay.sprt import MatchScore
from engine.selfplay.worker_pool import Workers
from engine.training import data
from engine.training.export import SECONDS_PER_HOUR, card_path, train_network
from engine.training.trainer import TrainingSettings
from engine.whole_file import write_whole

PREFIX = "gen-"                    # of the shards: those of `selfplay`, which may be added, are named by seed alone


class Verdict(StrEnum):
    """What became of a network."""

    PROMOTED = "promoted"          # it plays the next games
    REFUSED = "refused"            # the best one before it plays on


@dataclass(frozen=True)
class LoopPlan:
    """The options of the loop; all but `teacher` and `variant` may change between runs."""

    folder: Path
    generations: int               # in all, finished ones included
    minutes: float                 # of self-play per generation
    settings: TrainingSettings = field(default_factory=TrainingSettings)
    nodes: int = SelfplayPlan.nodes    # per move of self-play
    tree: int = SelfplayPlan.tree      # most positions kept of the tree of each search
    newest: int = 40_000_000       # positions to train on
    games: int = 300               # per match
    match_nodes: int = 5000        # per move of a match
    confidence: float = 0.9        # probability of being better that promotes a network
    workers: Workers = 2
    teacher: str | None = None     # of the first generation, as for EvalFile; None: as begun, or HAND_WRITTEN
    games_per_shard: int = SelfplayPlan.games_per_shard
    variant: str = STANDARD


@dataclass
class Generation:
    """The state of a generation, as in loop.json; the steps fill the fields in their order."""

    number: int
    teacher: str                   # the evaluation that plays: a file name in nets/, or as for EvalFile
    play_s: float = 0.0
    positions: int = 0             # of self-play
    card: dict[str, Any] | None = None
    match_nodes: int = 0           # per move of the match, which keeps those it began with
    pairs: dict[str, int] = field(default_factory=dict)        # half points of the network per pair
    match_s: float = 0.0
    verdict: Verdict | None = None

    def score(self) -> MatchScore:
        """Return the score of the match."""
        score = MatchScore()
        for half_points in self.pairs.values():
            score.add(half_points)
        return score


class TrainingLoop:
    """The training loop in a folder."""

    def __init__(self, plan: LoopPlan) -> None:
        """Continue what is in the folder. Raises InvalidRecord, also for another teacher or variant than it has."""
        self._plan = plan
        self._path = plan.folder / "loop.json"
        selfplay.refuse_other_rules(plan.folder / "shards", plan.variant)      # a match would not notice
        self.generations = self._read_generations() if self._path.exists() else []
        first = self.generations[0].teacher if self.generations else plan.teacher
        first = HAND_WRITTEN if first is None else first
        self._first_teacher = first if first in KEYWORDS else str(Path(first).resolve())
        if plan.teacher not in (None, self._first_teacher):
            raise InvalidRecord(
                f"{plan.folder} was begun with --teacher {self._first_teacher}: give no other, or use another folder"
            )

    def _read_generations(self) -> list[Generation]:
        """Return what an earlier run has done. Raises InvalidRecord or OSError."""
        try:
            return [
                Generation(**saved | {"verdict": Verdict(saved["verdict"]) if saved["verdict"] else None})
                for saved in json.loads(self._path.read_text(errors="replace"))
            ]
        except (ValueError, TypeError, KeyError):
            raise InvalidRecord(f"{self._path} is damaged: restore a copy, or begin in another folder") from None

    @property
    def best(self) -> str:
        """The evaluation that plays: the last network promoted, or the first teacher."""
        promoted = [self.net_path(one.number).name for one in self.generations if one.verdict is Verdict.PROMOTED]
        return [self._first_teacher, *promoted][-1]

    def net_path(self, number: int) -> Path:
        return self._plan.folder / "nets" / f"gen-{number:03}.net"

    def evaluation(self, teacher: str) -> str:
        """Return a teacher as for EvalFile; the folder may have moved."""
        ours = self._plan.folder / "nets" / teacher
        return str(ours) if ours.is_file() else teacher

    def run(self) -> None:
        """Run until all generations are finished."""
        if self._is_finished():
            count = len(self.generations)
            print(f"{self._plan.folder} already has {count} generation{'s' * (count != 1)}; raise --generations")
        (self._plan.folder / "nets").mkdir(parents=True, exist_ok=True)
        while not self._is_finished():
            if not self.generations or self.generations[-1].verdict is not None:
                self.generations.append(Generation(len(self.generations) + 1, self.best))
            generation = self.generations[-1]
            self._play(generation)
            self._train(generation)
            self._compare(generation)
            self._judge(generation)

    def _is_finished(self) -> bool:
        """Return whether all generations that were asked for have a verdict."""
        return len(self.generations) >= self._plan.generations and self.generations[-1].verdict is not None

    # --- The steps of a generation -----------------------------------------------------------------------------------

    def _play(self, generation: Generation) -> None:
        plan = self._plan
        wanted_s = 60 * plan.minutes
        if generation.card is not None or generation.play_s >= wanted_s:
            return
        games = SelfplayPlan(
            plan.folder / "shards",
            seed=generation.number,
            games_per_shard=plan.games_per_shard,
            prefix=PREFIX,
            nodes=plan.nodes,
            evaluation=self.evaluation(generation.teacher),
            variant=plan.variant,
            tree=plan.tree,
        )
        before_s, positions = generation.play_s, generation.positions
        deadline = time.monotonic() + wanted_s - before_s
        with ProgressDisplay(f"generation {generation.number}: self-play", round(wanted_s), "seconds") as display:
            display.log(f"generation {generation.number}: {Path(generation.teacher).name} plays")
            for progress in selfplay.run_until(games, deadline, plan.workers):
                generation.play_s = before_s + progress.seconds
                generation.positions = positions + progress.positions
                self._save()
                display.advance_to(min(round(generation.play_s), round(wanted_s)))
            display.log(f"{progress}")

    def _train(self, generation: Generation) -> None:
        if generation.card is not None:
            return
        plan = self._plan
        paths = records.shards(plan.folder / "shards")
        positions = data.load(paths, plan.newest, plan.settings.hindsight, plan.settings.unit_cp)
        path = self.net_path(generation.number)
        generation.card = train_network(positions, plan.settings, path, replace=True)
        self._save()

    def _compare(self, generation: Generation) -> None:
        """Play a match against the teacher."""
        plan = self._plan
        generation.match_nodes = generation.match_nodes or plan.match_nodes
        missing = [number for number in range(-(-plan.games // 2)) if str(number) not in generation.pairs]
        if not missing:
            return
        net, teacher = str(self.net_path(generation.number)), self.evaluation(generation.teacher)
        pairing = Match(net, teacher, generation.match_nodes, seed=generation.number, variant=plan.variant)
        before_s, started = generation.match_s, time.monotonic()
        pairs = len(generation.pairs) + len(missing)
        with ProgressDisplay(f"generation {generation.number}: match", pairs, "pairs") as display:
            for number, half_points in match.play(pairing, missing, plan.workers):
                generation.pairs[str(number)] = half_points
                generation.match_s = before_s + time.monotonic() - started
                self._save()
                display.advance_to(len(generation.pairs))
            display.log(f"against {Path(generation.teacher).name}: {generation.score()}")

    def _judge(self, generation: Generation) -> None:
        better = generation.score().likelihood_of_superiority() >= self._plan.confidence
        generation.verdict = Verdict.PROMOTED if better else Verdict.REFUSED
        assert generation.card is not None
        card = json.dumps(generation.card | self._results(generation), indent=2)
        write_whole(card_path(self.net_path(generation.number)), [card.encode(), b"\n"])
        write_whole(self._plan.folder / "LOG.md", [log_text(self.generations).encode()])
        self._save()
        print(f"generation {generation.number}: {generation.verdict}", flush=True)

    def _results(self, generation: Generation) -> dict[str, Any]:
        """Return what the match adds to the card."""
        score = generation.score()
        elo, low, high = score.elo()
        return {
            "verdict": generation.verdict,
            "match": {
                "against": Path(generation.teacher).name,
                "nodes": generation.match_nodes,
                "games": score.games,
                "pairs": score.counts,
                "elo": round(elo, 1),
                "elo_95_percent": [round(low, 1), round(high, 1)],
                "superiority": round(score.likelihood_of_superiority(), 4),
            },
            "play_hours": round(generation.play_s / SECONDS_PER_HOUR, 3),
            "match_hours": round(generation.match_s / SECONDS_PER_HOUR, 3),
        }

    # --- Files -------------------------------------------------------------------------------------------------------

    def _save(self) -> None:
        state = json.dumps([asdict(generation) for generation in self.generations])
        write_whole(self._path, [state.encode()])


LOG_HEAD = """# Generations

Each network is trained on games of the best evaluation before it, plays a match against it, and is promoted if it is
probably better. Losses are mean squared errors on held-out games; the hand-written evaluation's is for comparison. Elo
is against the evaluation before, with 95 % bounds.

| gen | taught by | played | learnt from | loss | hand-written | games | Elo | verdict | hours: play, train, match |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def log_text(generations: list[Generation]) -> str:
    """Return the log of all finished generations."""
    return LOG_HEAD + "".join(_log_line(one) for one in generations if one.verdict is not None)


def _log_line(generation: Generation) -> str:
    assert generation.card is not None
    score, losses = generation.score(), generation.card["losses"]
    elo, low, high = score.elo()
    hours = (
        generation.play_s / SECONDS_PER_HOUR,
        generation.card["training_hours"],
        generation.match_s / SECONDS_PER_HOUR,
    )
    fields = (
        generation.number,
        Path(generation.teacher).stem,
        f"{generation.positions:,}",
        f"{generation.card['positions']:,}",
        f"{losses['as_written']:.6f}",
        "" if losses["hand_written"] is None else f"{losses['hand_written']:.6f}",
        score.games,
        f"{elo:+.0f} ({low:+.0f} to {high:+.0f})",
        generation.verdict,
        ", ".join(f"{part:.2f}" for part in hours),
    )
    return f"| {' | '.join(map(str, fields))} |\n"
