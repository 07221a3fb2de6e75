"""What the page gets: games, small boards and analyses as JSON. Legal moves and SAN come from here, so that the browser
needs no rules of chess. Functions from state to dict.
"""

from typing import Any, Final

from engine.facade import Board, Ending, accuracy
from lichessbot.rehearsal.browser.analysis import Analysis, Position
from lichessbot.rehearsal.browser.words import clock_in_words, move_in_words, reason_of_end, title
from lichessbot.rehearsal.rules.clock import Unlimited
from lichessbot.rehearsal.rules.enums import Color, Variant
from lichessbot.rehearsal.rules.game import Game, holdings

Json = dict[str, Any]

ANSWERS: Final = {"Accept": True, "Decline": False}     # what a button says, and what its answer is


def legal_moves(board: Board) -> dict[str, list[str]]:
    """Return the legal moves in UCI notation by their origin; castling also as king takes rook, for either gesture."""
    by_origin: dict[str, list[str]] = {}
    ordinary = board.copy(moves=False)
    ordinary.chess960 = False       # a game from a position also castles by e1g1 where that is the ordinary move
    for move in ordinary.legal_moves():
        for text in dict.fromkeys((move, ordinary.king_takes_rook(move))):
            by_origin.setdefault(text[:2], []).append(text)
    return by_origin


def game_view(
    game: Game,
    me: Color | None,
    now_ms: int,
    claim_in_s: int | None = None,
    strength: str = "",
    below: Color = Color.WHITE,
) -> Json:
    """Return everything about a game that the page shows, without an evaluation.

    `claim_in_s`: the opponent of `me` has left, and the game can be claimed in this time. `strength`: the bot's, in
    words, if a person chose it for this game. `below`: the side at the bottom if the game is only watched.
    """
    setup, state, board = game.setup, game.state(now_ms), game.board()
    moves = _moves(game, me)
    return {
        "id": game.id,
        "me": me,
        "below": me or below,
        "orientation": _orientation(game, me or below),
        "players": {color: _player(game, color) for color in Color},
        "terms": _terms(game) + (f", {strength}" if strength else ""),
        "initialFen": setup.initial_fen,
        "turn": board.turn,
        "check": board.is_check(),
        "moves": moves,
        "pocket": "" if me is None else board.pocket(me).lower(),
        "legal": legal_moves(board) if me is game.turn and not game.is_over else {},
        "clocks": _clocks(game, now_ms),
        "isOver": game.is_over,
        "winner": game.winner,
        "title": title(game, me),
        "reason": reason_of_end(game, me) if game.is_over else "",
        "isAbortable": game.is_abortable,
        "hasOfferedDraw": me is not None and state.draw_offer is me,
        "hasAskedTakeback": me is not None and state.takeback_offer is me,
        "offer": None if me is None else _offer(game, me, claim_in_s),
        "chat": [{"name": line.username, "text": line.text, "room": line.room} for line in game.chat],
    }


def _offer(game: Game, me: Color, claim_in_s: int | None) -> Json | None:
    """Return what waits for an answer of `me`: a text, the answers and where they go."""
    state, name = game.state(0), game.setup.account(me.other).name
    if game.is_over:
        return None
    if state.draw_offer is me.other:
        return {"text": f"{name} offers a draw.", "path": f"game/{game.id}/draw", "answers": ANSWERS}
    if state.takeback_offer is me.other:
        text, path = f"{name} asks to take a move back.", f"game/{game.id}/takeback"
        return {"text": text, "path": path, "answers": ANSWERS}
    if claim_in_s is None:
        return None
    if game.turn is me:
        return {"text": f"{name} has left the game. Once you have moved, you can claim the win."}
    if claim_in_s > 0:
        return {"text": f"{name} has left the game. You can claim it in {claim_in_s} s."}
    text, path = f"{name} has left the game. You can claim the win.", f"game/{game.id}/claim-victory"
    return {"text": text, "path": path, "answers": {"Claim": True}}


def board_view(game: Game, number: int | None, below: Color, now_ms: int) -> Json:
    """Return a small board, with `below` at the bottom."""
    return {
        "id": game.id,
        "title": f"Game {number}" if number is not None else "Other game",
        "below": below,
        "orientation": _orientation(game, below),
        "players": {color: _player(game, color) for color in Color},
        "fen": game.fen(),
        "lastMove": game.moves[-1] if game.moves else None,
        "clocks": _clocks(game, now_ms),
        "result": f"{title(game, None)}. {reason_of_end(game, None)}" if game.is_over else "",
    }


def analysis_view(game: Game, analysis: Analysis) -> Json:
    """Return the scores of a finished game so far, and the mistakes."""
    found = analysis.mistakes()
    scores = [position.score for position in analysis.positions]
    first = game.first_to_move
    movers = [first if ply % 2 == 0 else first.other for ply in range(len(analysis.moves))]
    kinds = {color: [it.judgement for it in found if movers[it.ply - 1] is color] for color in Color}
    return {
        "id": game.id,
        "isOver": analysis.is_over,
        "fault": analysis.fault,
        "positions": len(analysis.moves) + 1,
        "scores": [
            {"ply": ply, "score_cp": it.score.cp, "mate_in": it.score.mate, "text": _score_text(it)}
            for ply, it in enumerate(analysis.positions)
        ],
        "mistakes": [
            {
                "ply": it.ply,
                "kind": it.judgement.word,
                "glyph": it.judgement.glyph,
                "better": it.better,
                "text": f"{it.judgement.word.capitalize()}. {it.better_san} was better.",
            }
            for it in found
        ],
        "counts": {
            color: {kind.word: kinds[color].count(kind) for kind in accuracy.Judgement}
            for color in Color
        },
        "averageLoss": {color: accuracy.average_loss_cp(scores, movers, color) for color in Color},
    }


def _orientation(game: Game, below: Color) -> Color:
    """Return from whose side the board is seen. In Racing Kings both players race up, as on Lichess."""
    return Color.WHITE if game.setup.variant is Variant.RACING_KINGS else below


def _score_text(position: Position) -> str:
    """Return a score such as `+0.35` or `#-2`; where the game is over on the board, how."""
    if position.ending is None:
        return str(position.score)
    if position.ending is Ending.CHECKMATE:
        return "checkmate"
    mate = position.score.mate
    return "draw" if mate is None else "White won" if mate > 0 else "Black won"


def _moves(game: Game, me: Color | None) -> list[Json]:
    """Return every move with its notations and the position after it."""
    board, moves = game.board_after(0), []
    for uci in game.moves:
        san, number, color = board.san(uci), board.fullmove_number, board.turn
        board.push(uci)
        moves.append({
            "uci": uci,
            "san": san,
            "words": move_in_words(game, board, san, me),
            "number": number,
            "color": color,
            "fen": board.fen(),
            "check": board.is_check(),
        })
    return moves


def _terms(game: Game) -> str:
    setup = game.setup
    mode = "rated" if setup.rated else "casual"
    return f"{clock_in_words(setup.time_control)}, {mode}, {setup.variant.display_name}"


def _player(game: Game, color: Color) -> Json:
    """Return what the page shows of a player; behind the rating, the pocket or the checks given."""
    account, beside = game.setup.account(color), holdings(game.board(), color)
    rating = f"{account.rating} · {beside}" if beside else account.rating
    return {"name": account.name, "title": account.title, "rating": rating}


def _clocks(game: Game, now_ms: int) -> Json | None:
    """Return the remaining milliseconds of both sides, and whose clock runs; None without clocks."""
    if isinstance(game.setup.time_control, Unlimited):
        return None
    return {
        "white": game.clock.remaining_ms(Color.WHITE, now_ms),
        "black": game.clock.remaining_ms(Color.BLACK, now_ms),
        "running": game.clock.running,
    }
