"""Tables of endings on the operator's disk: what a position is worth, and which moves keep it.

A folder or file that cannot be used is said once, and then passed over.
"""

from typing import Final

from engine.facade import Tablebase, TableReport, Tables
from lichessbot.config.sources import SyzygyConfig, TableQuality
from lichessbot.journal import Journal
from lichessbot.messages import Question
from lichessbot.sources.finding import Finding

_DRAW: Final = 0


class SyzygyTables:
    """Opened when first asked."""

    name: Final = "syzygy"

    def __init__(self, config: SyzygyConfig, journal: Journal) -> None:
        self._config = config
        self._journal = journal
        self._tables: Tables | None = None

    def find(self, question: Question, until: float) -> Finding | None:
        """Where files are missing or only outcomes are known, nothing: the engine then plays as well as any guess."""
        if self._tables is None:
            self._tables = Tables(Tablebase(self._config.paths), self._config.max_pieces)
        report = self._tables.report(question.board)
        for problem in self._tables.base.new_problems():
            self._journal.warning("table.unusable", problem=problem)
        return None if report is None or not report.has_distances else self._choose(report)

    def _choose(self, report: TableReport) -> Finding:
        """The engine chooses among draws, which tables do not tell apart, and wherever it may by `move_quality`."""
        if report.wdl == _DRAW or self._config.move_quality is TableQuality.SUGGEST:
            return Finding(tuple(report.keeping()), wdl=report.wdl, choice=True)
        return Finding(tuple(report.best()), wdl=report.wdl)
