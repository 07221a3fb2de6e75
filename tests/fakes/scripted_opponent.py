"""An opponent of the bot whose moves, offers, takebacks and chat are those of the test."""

from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.enums import ChatRoom, Color, ColorChoice, Variant
from lichessbot.rehearsal.server.game_session import GameSession
from tests.fakes.arena import Arena


class ScriptedOpponent:
    """An opponent controlled by the test, in a game that has begun."""

    def __init__(
        self,
        arena: Arena,
        color: Color,
        *,
        name: str | None = None,
        rating: int = 1500,
        fen: str | None = None,
        present: bool = True,
        base_s: int = 180,
    ) -> None:
        self._arena = arena
        self.color = color
        self.account: Account = arena.player(name or f"Human{len(arena.started)}", None, rating=rating)
        self.account.is_house = present
        arena.bot.allows_takebacks = True
        before = len(arena.started)
        arena.challenge(
            self.account,
            color=ColorChoice(color.value),
            variant=Variant.STANDARD if fen is None else Variant.FROM_POSITION,
            fen=fen,
            base_s=base_s,
        )
        arena.until(lambda: len(arena.started) > before)
        self.session: GameSession = arena.started[-1]
        self.game = self.session.game
        # Chat lines from before the bot's stream opens are not repeated there.
        arena.until(lambda: f"game.state game={self.game.id}" in arena.log())

    def plays(self, *moves: str) -> None:
        """Play each move on our turn, then wait for the reply."""
        for move in moves:
            self._arena.until(lambda: self.game.turn is self.color)
            self._arena.server.call(lambda move=move: self.session.play(self.color, move))  # type: ignore[misc]
        self._arena.until(lambda: self.game.turn is self.color or self.game.is_over)

    def waits_for_turn(self) -> None:
        self._arena.until(lambda: self.game.turn is self.color or self.game.is_over)

    def offers_a_draw_with(self, move: str) -> None:
        self._arena.server.call(lambda: self.session.play(self.color, move, offering_draw=True))

    def answers_draw(self, *, accept: bool) -> None:
        self._arena.server.call(lambda: self.session.answer_draw(self.color, accept=accept))

    def is_undisturbed(self) -> bool:
        """Return whether it is our turn and no takeback is requested."""
        return self.game.turn is self.color and self.game.state(0).takeback_offer is None

    def requests_takeback(self) -> None:
        self._arena.server.call(lambda: self.session.answer_takeback(self.color, accept=True))

    def says(self, text: str, room: ChatRoom = ChatRoom.PLAYER) -> None:
        self._arena.server.call(lambda: self.session.say(self.color, room, text))

    def waits_for_line(self, start: str, times: int = 1) -> None:
        self._arena.until(lambda: len(self.lines(start)) >= times)

    def lines(self, start: str = "") -> list[str]:
        """Return the lines of both chat rooms that begin with `start`."""
        return [line.text for line in self.game.chat if line.text.startswith(start)]

    def leaves_the_game(self) -> None:
        self._arena.server.call(lambda: self.session.resign(self.color))
        self._arena.until(lambda: "game.over" in self._arena.log())
