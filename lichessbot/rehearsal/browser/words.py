"""What the page says in words: moves for screen readers, how a game ended, and clocks. Pure."""

from typing import Final

from engine.facade import Board, Ending
from lichessbot.rehearsal.rules.clock import RealTime, TimeControl, Unlimited
from lichessbot.rehearsal.rules.enums import Color, Status, Variant
from lichessbot.rehearsal.rules.game import MAX_PLIES, Game

_PIECES: Final = {"K": "king", "Q": "queen", "R": "rook", "B": "bishop", "N": "knight"}
_CASTLING: Final = {"O-O": "castles short", "O-O-O": "castles long"}
_VARIANT_ENDS: Final = {
    Variant.ANTICHESS: "{winner} ran out of moves, which wins in antichess.",
    Variant.ATOMIC: "{losers} king exploded.",
    Variant.HORDE: "The horde was captured.",
    Variant.KING_OF_THE_HILL: "{winners} king reached the centre.",
    Variant.RACING_KINGS: "{winners} king won the race.",
    Variant.THREE_CHECK: "{winner} gave the third check.",
}


def spoken(san: str, decision: str = "checkmate") -> str:
    """Return a move in words, such as "knight b takes d7, check" for `Nbxd7+`. `decision`: what `#` says."""
    body, mark = san.rstrip("+#"), {"+": ", check", "#": f", {decision}"}.get(san[-1:], "")
    if body in _CASTLING:
        return _CASTLING[body] + mark
    if "@" in body:
        dropped, target = body.split("@")
        return f"{_PIECES.get(dropped, 'pawn')} dropped on {target}{mark}"
    body, _, promoted = body.partition("=")
    piece = _PIECES.get(body[0])
    origin, target = body[1 if piece else 0 : -2].removesuffix("x"), body[-2:]
    words = [piece or "", origin, "takes" if "x" in body else "", target]
    promotion = f", promoting to a {_PIECES[promoted]}" if promoted else ""
    return " ".join(filter(None, words)) + promotion + mark


def title(game: Game, me: Color | None) -> str:
    """Return whose turn it is or the result, for the reader: a player, or a spectator."""
    if not game.is_over:
        return "Watching" if me is None else "Your turn" if game.turn is me else "Waiting"
    if game.status is Status.ABORTED:
        return "Game aborted"
    if game.winner is None:
        return "Draw"
    if me is None:
        return f"{game.winner.capitalize()} won"
    return "You won" if game.winner is me else "You lost"


def reason_of_end(game: Game, me: Color | None) -> str:
    """Return why a game ended, as a sentence."""
    loser = _name(game, game.winner.other, me) if game.winner is not None else ""
    match game.status:
        case Status.MATE:
            return "Checkmate."
        case Status.RESIGN:
            return f"{loser} resigned."
        case Status.STALEMATE:
            are = "are" if game.turn is me else "is"
            return f"{_name(game, game.turn, me)} cannot move and {are} not in check: stalemate."
        case Status.OUT_OF_TIME if game.winner is None:
            return f"{_whose(game, game.turn, me)} time ran out, but the other side cannot mate."
        case Status.OUT_OF_TIME:
            return f"{_whose(game, game.turn, me)} time ran out."
        case Status.TIMEOUT:
            return f"{_name(game, game.turn, me)} left the game."
        case Status.NO_START:
            return f"{loser} did not make the first move in time."
        case Status.ABORTED:
            return "It was aborted before both sides had moved."
        case Status.INSUFFICIENT_MATERIAL_CLAIM:
            return "The side that did not offer the draw cannot mate."
        case Status.DRAW:
            return _reason_of_draw(game, me)
        case Status.VARIANT_END if game.winner is not None and game.setup.variant in _VARIANT_ENDS:
            winners, losers = _whose(game, game.winner, me), _whose(game, game.winner.other, me)
            sentence = _VARIANT_ENDS[game.setup.variant]
            return sentence.format(winner=_name(game, game.winner, me), winners=winners, losers=losers)
    return f"It ended: {game.status.wire_name}."


def _reason_of_draw(game: Game, me: Color | None) -> str:
    board = game.board()
    outcome = board.outcome()
    if game.flag_was_drawn:
        return f"{_whose(game, game.turn, me)} time ran out, but the other side was offering a draw."
    if board.is_insufficient_material():
        return "Neither side can mate."
    if board.repetition_count() >= 3:
        return "The position was repeated three times."
    if outcome is not None and outcome.ending is Ending.FIFTY_MOVES:
        return "Fifty moves without a capture or a pawn move."
    if outcome is not None and outcome.ending is Ending.VARIANT_DRAW:
        return "Both kings reached the last rank."
    if game.ply > MAX_PLIES:
        return f"The game reached {MAX_PLIES // 2} moves."
    return "Both sides agreed."


def _name(game: Game, color: Color, me: Color | None) -> str:
    return "You" if color is me else game.setup.account(color).name


def _whose(game: Game, color: Color, me: Color | None) -> str:
    return "Your" if color is me else f"{game.setup.account(color).name}'s"


def strength_name(level: int | None) -> str:
    """Return what the page calls a level of the bot; None: as configured."""
    return "As configured" if level is None else f"Level {level}"


def clock_in_words(control: TimeControl) -> str:
    """Return a time control in minutes and seconds, such as `3+2`."""
    match control:
        case RealTime(limit_s, increment_s):
            return f"{limit_s / 60:g}+{increment_s}"
        case Unlimited():
            return "unlimited"
    return f"{control.days} day{'s' * (control.days != 1)} a move"


def move_in_words(game: Game, after: Board, san: str, me: Color | None) -> str:
    """Return who played what, such as "RehearsedBot plays knight f3"; `after` is the board after the move."""
    color = Color(after.turn).other
    words = spoken(san, _decision(after, color)) if san.endswith("#") else spoken(san)
    return f"You play {words}" if color is me else f"{game.setup.account(color).name} plays {words}"


def _decision(after: Board, mover: Color) -> str:
    """Return how a decisive last move is spoken: as a mate, or whether the mover wins or loses by a variant's rule."""
    if after.is_checkmate():
        return "checkmate"
    outcome = after.outcome()
    return "which wins" if outcome is not None and outcome.winner == mover else "which loses"
