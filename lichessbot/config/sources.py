"""The move sources in the section `engine`: `polyglot`, `lichess_bot_tbs` and `online_moves`."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from lichessbot.config.base import (
    Flag,
    Number,
    OrNoLimit,
    Paths,
    Section,
    Text,
    infinity_as,
    player_name,
    server_address,
)
from lichessbot.lichess.enums import LONGEST_BASE_S, Variant

EVERY_VARIANT: Final[frozenset[str]] = frozenset(Variant)
STANDARD_RULES: Final[frozenset[str]] = frozenset(variant for variant in Variant if variant.has_standard_rules)


class Selection(StrEnum):
    """How a move is chosen from a book."""

    WEIGHTED_RANDOM = "weighted_random"
    UNIFORM_RANDOM = "uniform_random"
    BEST_MOVE = "best_move"


class Normalization(StrEnum):
    """How a weight is compared with `min_weight`: as it is, or as a percentage of the sum or of the largest."""

    NONE = "none"
    SUM = "sum"
    MAX = "max"


class ChessdbQuality(StrEnum):
    ALL = "all"
    GOOD = "good"
    BEST = "best"


class CloudQuality(StrEnum):
    GOOD = "good"
    BEST = "best"


class TableQuality(StrEnum):
    BEST = "best"
    SUGGEST = "suggest"


class ExplorerSource(StrEnum):
    MASTERS = "masters"
    LICHESS = "lichess"
    PLAYER = "player"


class ExplorerSort(StrEnum):
    WIN_RATE = "winrate"
    GAMES_PLAYED = "games_played"


class TableSource(StrEnum):
    LICHESS = "lichess"
    CHESSDB = "chessdb"


_MOST_MOVES: Final = 500
_WHOLE_PERCENT: Final = 100
_Moves = Annotated[Number, Field(ge=0, le=_MOST_MOVES)]
_StartingClock = Annotated[Number, Field(ge=0, le=LONGEST_BASE_S)]


class BookFiles(Section):
    """Polyglot books of each variant in the order in which they are read."""

    standard: Paths = ()
    chess960: Paths = ()
    crazyhouse: Paths = ()
    kingOfTheHill: Paths = ()     # noqa: N815 - as Lichess and `challenge.variants` spell it
    threeCheck: Paths = ()        # noqa: N815
    antichess: Paths = ()
    atomic: Paths = ()
    horde: Paths = ()
    racingKings: Paths = ()       # noqa: N815

    def shelves(self) -> Iterator[tuple[frozenset[str], tuple[Path, ...]]]:
        """Yield the books and the variants that they are for: From Position uses those of `standard`."""
        for variant in Variant:
            if files := getattr(self, variant, ()):
                yield frozenset({variant, Variant.FROM_POSITION} if variant is Variant.STANDARD else {variant}), files


class PolyglotConfig(Section):
    """The operator's own books. `max_depth` counts our own moves, `max_moves` those from the books; None: no limit."""

    enabled: Flag = False
    book: BookFiles = BookFiles()
    min_weight: Annotated[Number, Field(ge=0, le=65535)] = 1
    selection: Selection = Selection.WEIGHTED_RANDOM
    max_depth: Annotated[_Moves, infinity_as(_MOST_MOVES)] = 20
    normalization: Normalization = Normalization.NONE
    max_moves: OrNoLimit[_Moves] = None
    allow_repetitions: Flag = False

    def notes(self) -> Iterator[tuple[str, str]]:
        yield from super().notes()
        if self.normalization is not Normalization.NONE and self.min_weight > _WHOLE_PERCENT:
            yield "min_weight", f"no move has more than 100 percent (normalization: {self.normalization}): set less"

    @property
    def variants(self) -> frozenset[str]:
        """The variants that have a book."""
        return frozenset().union(*(variants for variants, _ in self.book.shelves()))

    @property
    def files(self) -> tuple[Path, ...]:
        """Every enabled file, once."""
        shelves = self.book.shelves() if self.enabled else ()
        return tuple(dict.fromkeys(file for _, files in shelves for file in files))


class SyzygyConfig(Section):
    """The operator's endgame tablebases."""

    enabled: Flag = False
    paths: Paths = ()
    max_pieces: Annotated[Number, Field(ge=3, le=7)] = 7
    move_quality: TableQuality = TableQuality.BEST


class LocalTablesConfig(Section):
    """Endgame tablebases on the disk."""

    syzygy: SyzygyConfig = SyzygyConfig()


class OnlineSource(Section):
    """The keys of every online source: it needs `min_time` s on the clock, and at most `max_time` s at the start."""

    enabled: Flag = False
    min_time: _StartingClock = 20
    max_time: _StartingClock = LONGEST_BASE_S

    @property
    def variants(self) -> frozenset[str]:
        """The variants that the server knows."""
        return STANDARD_RULES


class OpeningSource(OnlineSource):
    """The keys of every online source of opening moves. None: no limit.

    `max_depth` counts our own moves from the start, `max_moves` those from this source.
    """

    max_depth: OrNoLimit[_Moves] = None
    max_moves: OrNoLimit[_Moves] = None
    only_without_book: Flag = False
    allow_repetitions: Flag = False


class ChessdbConfig(OpeningSource):
    move_quality: ChessdbQuality = ChessdbQuality.GOOD
    min_depth: Annotated[Number, Field(ge=0, le=255)] = 20


class CloudConfig(OpeningSource):
    move_quality: CloudQuality = CloudQuality.BEST
    max_score_difference: Annotated[Number, Field(ge=0, le=1000)] = 50
    min_depth: Annotated[Number, Field(ge=0, le=255)] = 20
    min_knodes: Annotated[Number, Field(ge=0)] = 0

    @property
    def variants(self) -> frozenset[str]:
        return EVERY_VARIANT


class ExplorerConfig(OpeningSource):
    source: ExplorerSource = ExplorerSource.MASTERS
    player_name: Annotated[Text, AfterValidator(lambda name: name and player_name(name))] = ""
    sort: ExplorerSort = ExplorerSort.WIN_RATE
    min_games: Annotated[Number, Field(ge=1)] = 10
    only_with_wins: Flag = False

    @property
    def variants(self) -> frozenset[str]:
        masters = frozenset((Variant.STANDARD, Variant.FROM_POSITION))
        return masters if self.source is ExplorerSource.MASTERS else EVERY_VARIANT


class OnlineTableConfig(OnlineSource):
    max_pieces: Annotated[Number, Field(ge=3, le=8)] = 8
    source: TableSource = TableSource.LICHESS
    move_quality: TableQuality = TableQuality.BEST

    @property
    def variants(self) -> frozenset[str]:
        others = (Variant.ATOMIC, Variant.ANTICHESS) if self.source is TableSource.LICHESS else ()
        return STANDARD_RULES.union(others)


class OnlineMovesConfig(Section):
    """Servers that give moves, asked in the order of their keys. `max_depth` counts our own moves; None: no limit."""

    max_out_of_book_moves: Annotated[Number, Field(ge=1, le=500)] = 10
    max_retries: Annotated[Number, Field(ge=0, le=10)] = 2
    max_depth: OrNoLimit[_Moves] = None
    explorer_url: Annotated[Text, AfterValidator(server_address)] = "https://explorer.lichess.org"
    tablebase_url: Annotated[Text, AfterValidator(server_address)] = "https://tablebase.lichess.org"
    chessdb_url: Annotated[Text, AfterValidator(server_address)] = "https://www.chessdb.cn"
    online_egtb: OnlineTableConfig = OnlineTableConfig()
    chessdb_book: ChessdbConfig = ChessdbConfig()
    lichess_cloud_analysis: CloudConfig = CloudConfig()
    lichess_opening_explorer: ExplorerConfig = ExplorerConfig()

    @property
    def sources(self) -> dict[str, OnlineSource]:
        """The sections of the enabled servers by their keys, in the order in which they are asked."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: it for name, it in values.items() if isinstance(it, OnlineSource) and it.enabled}
