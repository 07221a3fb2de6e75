"""What the chat says: the texts of answers and greetings, made of facts about the game and the bot."""

from engine.facade import Board, InvalidMove
from lichessbot.config import LONGEST_CHAT_LINE, Config, EngineConfig, GreetingConfig
from lichessbot.lichess.enums import Colour
from lichessbot.lichess.models import Player
from lichessbot.storage.evaluations import mate_in
from lichessbot.storage.game_records import Score
from lichessbot.uci.search import SearchInfo, centipawns
from lichessbot.uci.strength import LevelSuggestion, at_level


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
    """Return `text` on one line, cut after the last whole word that Lichess accepts."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_CHAT_LINE:
        return line
    return line[: LONGEST_CHAT_LINE + 1].rpartition(" ")[0] or line[:LONGEST_CHAT_LINE]


def evaluation(summary: SearchInfo) -> str:
    """Return the score of a search with its depth and principal variation, from our view."""
    score_cp = centipawns(summary.score)
    if score_cp is None:
        return "I have not searched yet."
    verdict = f"{score_cp / 100:+.2f}" if mate_in(score_cp) is None else summary.score
    return f"{verdict} for me at depth {summary.depth}, {summary.nodes} positions: {summary.pv}"


def variation(board: Board, pv: str) -> str:
    """Return the rest of a principal variation that was found one or more plies ago, in algebraic notation."""
    moves, after = pv.split(), board.copy()
    played = next((n for n in range(min(len(moves), len(board.moves)), 0, -1) if board.moves[-n:] == moves[:n]), 0)
    words: list[str] = []
    try:
        for move in moves[played:]:
            if after.turn == Colour.WHITE or not words:
                words.append(f"{after.fullmove_number}{'.' if after.turn == Colour.WHITE else '...'}")
            words.append(after.san(move))
            after.push(move)
    except InvalidMove:
        return pv
    return " ".join(words)


def takebacks(config: Config, opponent: Player, granted: int) -> str:
    """Return how many takebacks the opponent may have, of which `granted` are used."""
    most = config.max_takebacks_accepted
    if not most or (opponent.is_bot and not config.takebacks_from_bots):
        return "I do not grant takebacks."
    return f"I grant up to {most} takebacks in a game; {min(granted, most)} of them used."
