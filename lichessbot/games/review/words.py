"""A review as the bot says it in the chat: plain, kind, and within Lichess's 140 characters a line."""

from collections.abc import Sequence

from lichessbot.config import LONGEST_CHAT_LINE
from lichessbot.games.review.review import Mistake, Review
from lichessbot.lichess.enums import Colour


def chat_lines(review: Review, ours: Colour) -> Sequence[str]:
    """Return what to say to the opponent of the side that was ours: one line, or two if it would be too long."""
    match review.turning_points:
        case [first, second]:
            start = f"Turning points: {_told(first, ours, 'my chances fell', 'your chances fell')}"
            end = f"and {_told(second, ours, 'mine fell', 'yours fell')}."
            line = f"{start} {end}"
            return [line] if len(line) <= LONGEST_CHAT_LINE else [start, end]
        case [only]:
            return [f"The turning point: {_told(only, ours, 'my chances fell', 'your chances fell')}."]
    return ["I see no turning point: none of our moves lost much. Well played!"]


def _told(point: Mistake, ours: Colour, mine: str, yours: str) -> str:
    fell = mine if point.side is ours else yours
    better = f", better {point.better}" if point.better else ""
    return f"{point.number} {point.san} ({fell} from {point.before:.0f} % to {point.after:.0f} %{better})"
