"""What the chat says: the texts of answers and greetings, made of facts about the game and the bot."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from engine.facade import Board, InvalidMove
from lichessbot.config import LONGEST_CHAT_LINE, Config, EngineConfig, GreetingConfig, chat_length
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.models import Player
from lichessbot.log import counted
from lichessbot.storage.evaluations import mate_in
from lichessbot.storage.game_records import Score
from lichessbot.uci.search import SearchInfo, centipawns
from lichessbot.uci.strength import LevelSuggestion, at_level

_NOT_SEARCHED: Final = "I have not searched yet."


def strength(engine: EngineConfig, level: int | None) -> str:
    """Return how strongly `engine` plays at a level; without one, not more than is certain."""
    if level:
        return f"level {level}"
    return "full strength" if at_level(engine, None).is_unlimited else "my usual strength"


def proposal(it: LevelSuggestion) -> str:
    """Return the proposal to play at another level, from the opponent's view."""
    numbers = ((it.score.lost, "win", "wins"), (it.score.drawn, "draw", "draws"), (it.score.won, "loss", "losses"))
    counts = " and ".join(f"{number} {one if number == 1 else many}" for number, one, many in numbers if number)
    aim = "for more" if it.level > it.played else "for an easier game"
    return f"Your last {it.score.games} games against level {it.played} were {counts}. Type !level {it.level} {aim}."


def goodbye(greeting: GreetingConfig, won: bool | None) -> str | None:
    """Return the line for the opponent after a game that we won, lost (False) or drew (None)."""
    by_result = {True: greeting.goodbye_won, False: greeting.goodbye_lost, None: greeting.goodbye_drawn}
    return greeting.goodbye if by_result[won] is None else by_result[won]


def crosstable(score: Score) -> str:
    """Return the score so far as a clause, from the opponent's view."""
    if not score.games:
        return "we have not met before"
    met = "once" if score.games == 1 else f"{score.games} times"
    theirs = score.games - score.points
    if theirs == score.points:
        return f"we have met {met}, the score is {theirs:g}-{theirs:g}"
    leader = "you lead" if theirs > score.points else "I lead"
    return f"we have met {met}, {leader} {max(theirs, score.points):g}-{min(theirs, score.points):g}"


def results(score: Score) -> str:
    """Return how many games were won, drawn and lost, from our view."""
    return f"{score.won} won, {score.drawn} drawn, {score.lost} lost" if score.games else "none yet"


def cut(text: str) -> str:
    """Return `text` on one line, cut after the last whole word that Lichess accepts, without a comma at its end."""
    line = " ".join(text.split())
    if chat_length(line) <= LONGEST_CHAT_LINE:
        return line
    end = LONGEST_CHAT_LINE
    while chat_length(line[:end]) > LONGEST_CHAT_LINE:
        end -= 1
    return line[: end + 1].rpartition(" ")[0].removesuffix(",") or line[:end]


def evaluation(summary: SearchInfo, searched: Board) -> str:
    """Return the score of a search of the position `searched`, with its depth and principal variation."""
    score_cp = centipawns(summary.score)
    if score_cp is None:
        return _NOT_SEARCHED
    mate = mate_in(score_cp)
    if mate is None:
        verdict = f"{score_cp / 100:+.2f} for me"
    else:
        verdict = f"Mate in {abs(mate)} for {'me' if mate > 0 else 'my opponent'}"
    line = _in_san(searched, summary.pv.split())
    return f"{verdict} at depth {summary.depth}, {summary.nodes} positions: {line}"


def variation(summary: SearchInfo, searched: Board, now: Board) -> str:
    """Return what is left of a principal variation; all of it if the game went another way."""
    moves, before = summary.pv.split(), len(searched.moves)
    if not moves:
        return _NOT_SEARCHED
    played = now.moves[before:]
    follows = now.moves[:before] == searched.moves and played == moves[: len(played)]
    return _in_san(searched, moves, len(played) if follows else 0) or "My latest variation has been played."


def _in_san(start: Board, moves: Sequence[str], skipped: int = 0) -> str:
    """Return numbered moves in algebraic notation without the first ones; they end at an illegal move."""
    board, words = start.copy(), list[str]()
    with suppress(InvalidMove):
        for number, move in enumerate(moves):
            san = board.san(move)
            if number >= skipped:
                if board.turn == Colour.WHITE or not words:
                    words.append(f"{board.fullmove_number}{'.' if board.turn == Colour.WHITE else '...'}")
                words.append(san)
            board.push(move)
    return " ".join(words)


def takebacks(config: Config, opponent: Player, granted: int) -> str:
    """Return how many takebacks the opponent may have, of which `granted` are used."""
    most = config.max_takebacks_accepted
    if not most or (opponent.is_bot and not config.takebacks_from_bots):
        return "I do not grant takebacks."
    return f"I grant up to {counted(most, 'takeback')} in a game; used so far: {min(granted, most)}."
