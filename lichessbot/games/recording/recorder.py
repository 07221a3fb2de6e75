"""Records a game while it is played: the recorder writes one note to the store for each move of ours."""

import time
from dataclasses import dataclass, replace
from typing import Final

from engine.facade import InvalidMove
from lichessbot.games.actions import GameOver
from lichessbot.games.move_search import ChosenMove
from lichessbot.games.recording.archive import ArchivedGame
from lichessbot.inbox import Report
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.models import STANDARD_START, ChatLine, GameFull, GameState
from lichessbot.lichess.positions import plies_in_common
from lichessbot.lichess.streams import StreamEvent
from lichessbot.storage import game_records
from lichessbot.storage.database import Statement
from lichessbot.storage.game_records import ChatRecord, GameRecord, MoveRecord, Result
from lichessbot.storage.store import Store
from lichessbot.uci.search import centipawns

_MOST_CHAT_LINES: Final = 200


@dataclass(frozen=True, slots=True)
class _Sent:
    """A move of ours as it was sent first, at the monotonic second `at`; the stream has yet to show it."""

    chosen: ChosenMove
    reaction_ms: int
    at: float

    def is_shown(self, move: str) -> bool:
        """Return whether the stream shows this move: castling may be written in another way."""
        try:
            return self.chosen.board.normalise(move) == self.chosen.move
        except InvalidMove:
            return False


class GameRecorder:
    """Records one game."""

    def __init__(self, our_id: str, store: Store) -> None:
        self._our_id = our_id
        self._store = store
        self._full: GameFull | None = None
        self._record: GameRecord | None = None
        self._level_is_recorded = False
        self._moves: dict[int, MoveRecord] = {}
        """By ply; the newest may be unwritten."""
        self._unwritten: list[MoveRecord] = []
        self._sent: dict[int, _Sent] = {}
        self._chat_lines_left = _MOST_CHAT_LINES

    def handle(self, report: Report) -> None:
        """Record what a report tells."""
        match report:
            case StreamEvent(event=GameFull() as full, received_at=received_at):
                self._open(full)
                self._read(full, full.state, received_at, fresh=True)
            case StreamEvent(event=GameState() as state, received_at=received_at) if self._full is not None:
                self._read(self._full, state, received_at, fresh=False)
            case StreamEvent(event=ChatLine() as line, game_id=str() as game_id):
                if self._chat_lines_left and not line.is_copy:
                    self._chat_lines_left -= 1
                    said = ChatRecord(time.time(), line.room, line.username, line.text)
                    self._store.record(game_records.said(game_id, said))

    def note_level(self, level: int | None) -> None:
        """Record the level at which we play from now on."""
        record = self._record
        if record is not None and (record.level != level or not self._level_is_recorded):
            self._record, self._level_is_recorded = replace(record, level=level), True
            self._store.record(game_records.changed(record.id, level=level))

    def note_sent(self, chosen: ChosenMove, reaction_ms: float, now: float) -> None:
        """Note that our move is being sent, perhaps again, after that much time of our own."""
        earlier = self._sent.get(chosen.ply)
        if earlier is None or earlier.chosen.move != chosen.move:
            self._sent[chosen.ply] = _Sent(chosen, round(reaction_ms), now)

    def finish(self, over: GameOver) -> ArchivedGame | None:
        """Record the end; return the game if Lichess reported that end and the stream ever showed the game."""
        record = self._record
        if record is None:
            return None
        if not over.told:
            self._write()
            return None
        record = replace(record, ended_at=time.time(), status=str(over.status), plies=over.plies)
        if over.has_result:
            won = over.winner == record.colour
            result = Result.DRAWN if over.winner is None else Result.WON if won else Result.LOST
            record = replace(record, result=result)
            self._store.note_result(record, result)
        for ply, move in enumerate(over.missing, len(self._moves) + 1):
            self._note_move(ply, move)
        self._write(game_records.ended(record))
        return ArchivedGame(record, tuple(self._moves.values()))

    def _open(self, full: GameFull) -> None:
        is_first, self._full = self._full is None, full
        colour = full.colour_of(self._our_id)
        if is_first and colour is not None:
            self._record = _record(full, colour)
            # Moves may have been taken back while no process of ours was there.
            taken_back = game_records.taken_back(full.id, len(full.state.moves.split()))
            self._store.record(game_records.begun(self._record), taken_back)

    def _read(self, full: GameFull, state: GameState, received_at: float, *, fresh: bool) -> None:
        """Take over a state; one that does not continue the known moves may be an old line, unless it is `fresh`."""
        moves, known = state.moves.split(), len(self._moves)
        same = plies_in_common((it.move for it in self._moves.values()), moves)
        if self._record is None or (same < known and not fresh):
            return
        if same < known:
            self._sent.clear()     # a move that was never shown was refused
        for ply in range(same + 1, known + 1):
            del self._moves[ply]
        for ply in range(same + 1, len(moves)):
            self._note_move(ply, moves[ply - 1])
        if same < len(moves):
            self._note_move(len(moves), moves[-1], _clock_ms(full, state, len(moves)), received_at)
        if same < known:
            self._write(game_records.taken_back(self._record.id, len(moves)))
        elif self._unwritten and self._record.is_ours(len(moves)):
            self._write()

    def _note_move(self, ply: int, move: str, clock_ms: int | None = None, shown_at: float | None = None) -> None:
        """Take over a move that the stream shows, at the monotonic second `shown_at` if it has just been played."""
        assert self._record is not None, "moves follow the first full state"
        noted = MoveRecord(ply, move, clock_ms)
        if self._record.is_ours(ply):
            sent = self._sent.pop(ply, None)
            if sent is None or not sent.is_shown(move):
                noted = replace(noted, source="")
            else:
                delivery_ms = None if shown_at is None else round((shown_at - sent.at) * 1000)
                facts = _facts(sent.chosen, sent.reaction_ms)
                noted = replace(facts, move=move, clock_ms=clock_ms, delivery_ms=delivery_ms)
        self._moves[ply] = noted
        self._unwritten.append(noted)

    def _write(self, *more: Statement) -> None:
        assert self._record is not None, "nothing is written before the first full state"
        self._store.record(game_records.played(self._record.id, self._unwritten), *more)
        self._unwritten = []


def _facts(chosen: ChosenMove, reaction_ms: int) -> MoveRecord:
    """Return what is known of a move that is sent."""
    facts = MoveRecord(chosen.ply, chosen.move, source=chosen.source, reaction_ms=reaction_ms)
    if chosen.answer is None:
        return facts
    it = chosen.summary
    search_ms = round(chosen.answer.took_s * 1000)
    return replace(facts, score_cp=centipawns(it.score), depth=it.depth, nodes=it.nodes, search_ms=search_ms)


def _record(full: GameFull, colour: Colour) -> GameRecord:
    us, them = full.player(colour), full.player(colour.other)
    clock = None if full.clock is None else full.clock.exact
    return GameRecord(
        id=full.id,
        joined_at=time.time(),
        opponent=f"{them.title} {them}".strip(),
        has_clock=clock is not None,
        opponent_id=them.id or (str(them) if them.ai_level is not None else ""),
        opponent_title=them.title,
        opponent_rating=them.rating,
        our_name=str(us),
        our_title=us.title,
        our_rating=us.rating,
        variant=full.variant.key,
        speed=full.speed,
        rated=full.rated,
        colour=colour,
        initial_fen="" if full.initial_fen == STANDARD_START else full.initial_fen,
        base_s=None if clock is None else clock.base_s,
        increment_s=None if clock is None else clock.increment_s,
        days_per_turn=full.days_per_turn,
        tournament_id=full.tournament_id or "",
        started_at=full.created_at_ms / 1000 or None,
    )


def _clock_ms(full: GameFull, state: GameState, ply: int) -> int | None:
    """Return the mover's clock after the last ply."""
    if full.clock is None:
        return None
    begins_white = full.initial_fen.split()[1:2] != ["b"]
    clock_ms = state.wtime if (ply % 2 == 1) == begins_white else state.btime
    return clock_ms or None  # Lichess may send zeros in a first state
