"""The person at the page: an ordinary account of the site, its challenge, its games, and the analysis after each.

Lives on the event loop. Acts through the site and the sessions of its games like any caller. Open pages hear by topic
what has changed. Must not know: requests and streams.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from engine.facade import Board, InvalidMove
from lichessbot.rehearsal.browser.analysis import Analysis
from lichessbot.rehearsal.browser.challenge_form import LEVELS, proposal
from lichessbot.rehearsal.browser.views import ANSWERS, Json, analysis_view, board_view, game_view
from lichessbot.rehearsal.browser.words import clock_in_words, strength_name
from lichessbot.rehearsal.rules.accounts import Account
from lichessbot.rehearsal.rules.challenges import Challenge
from lichessbot.rehearsal.rules.enums import ChallengeStatus, ChatRoom, Color, Status
from lichessbot.rehearsal.rules.errors import NotFound, Refused
from lichessbot.rehearsal.rules.game import Game
from lichessbot.rehearsal.rules.timing import monotonic_ms
from lichessbot.rehearsal.server.game_session import GameSession
from lichessbot.rehearsal.server.site import (
    ChallengeMade,
    ChallengeSettled,
    EventStreamOpened,
    GameChanged,
    GameEnded,
    GameStarted,
    Site,
    SiteEvent,
)

NAME: Final = "You"
RATING: Final = 1501        # no house bot has it, so that a profile in the bot's configuration can mean the person
FINISHED_SHOWN: Final = 4   # of the finished games of others

LOBBY, BOARDS, GAME, ANALYSIS = "lobby", "boards", "game", "analysis"
TOPICS: Final = (LOBBY, BOARDS, GAME, ANALYSIS)


class CannotSetStrength(Exception):
    """The bot did not take over the strength."""


class Person:
    """A person who plays against the bot `opponent`, and watches its other games."""

    def __init__(
        self,
        site: Site,
        opponent: Account,
        set_level: Callable[[int | None], None],
        number_of: Callable[[str], int | None],
    ) -> None:
        """`set_level` has the bot play new casual games against the person at a level, or as configured (None).

        It returns once that is in use, and raises CannotSetStrength if it cannot be. `number_of`: the number of a game
        in the series that is rehearsed beside; None for other games.
        """
        self.account = site.accounts.add(Account(NAME, opponent.created_at_ms, rating=RATING))
        self.site = site
        self.sessions: list[GameSession] = []       # the person's own games, oldest first
        self._opponent = opponent
        self._set_level = set_level
        self._level: int | None = None              # of the bot in casual games; None: as configured
        self._levels: dict[str, int] = {}           # those chosen, by game
        self._number_of = number_of
        self._others: dict[str, GameSession] = {}
        self._challenge: Challenge | None = None
        self._is_preparing = False                  # the bot takes over another strength
        self._is_cancelled = False                  # and the person has cancelled the game
        self._incoming: Challenge | None = None
        self._notice = ""
        self._analysis: Analysis | None = None
        self._hearers: list[Callable[[str, str | None], None]] = []
        site.observe(self._on)

    def end_analysis(self) -> None:
        if self._analysis is not None:
            self._analysis.cancel()
            self._analysis = None

    def listen(self, hearer: Callable[[str, str | None], None]) -> Callable[[], None]:
        """Call `hearer` with each topic that changed, and its game if it is about one; return what ends this."""
        self._hearers.append(hearer)
        return lambda: self._hearers.remove(hearer)

    # What the page shows.

    @property
    def running(self) -> GameSession | None:
        """The person's game in progress."""
        return next((session for session in self.sessions if not session.game.is_over), None)

    @property
    def latest(self) -> GameSession | None:
        return self.sessions[-1] if self.sessions else None

    def session(self, game_id: str) -> GameSession:
        """Return a game. Raises NotFound."""
        return self.site.session(game_id)

    def has_game(self, game_id: str) -> bool:
        """Return whether there is such a game, of whomever."""
        return game_id in self._others or any(it.game.id == game_id for it in self.sessions)

    def color_in(self, game: Game) -> Color | None:
        return game.setup.color_of(self.account)

    def lobby(self) -> Json:
        """Return the state outside the games."""
        running = self.running
        return {
            "bot": {"name": self._opponent.name, "isOnline": self.site.is_online(self._opponent)},
            "strengths": [{"key": key, "name": strength_name(level)} for key, level in LEVELS.items()],
            "isWaiting": self._is_preparing or self._open_challenge() is not None,
            "notice": self._notice,
            "offer": None if self._incoming is None else self._offer(self._incoming),
            "playing": None if running is None else running.game.id,
        }

    def game(self, game_id: str) -> Json:
        session, level = self.session(game_id), self._levels.get(game_id)
        me = self.color_in(session.game)
        claim_in_s = None if me is None else session.claim_in_s(me)
        name = "" if level is None else strength_name(level).lower()
        return game_view(session.game, me, monotonic_ms(), claim_in_s, name, self._bot_color(session.game))

    def boards(self) -> list[Json]:
        """Return the bot's games against others: those in progress, then the last that ended."""
        running = [it.game for it in self._others.values() if not it.game.is_over]
        ended = [it.game for it in self._others.values() if it.game.is_over][-FINISHED_SHOWN:]
        now_ms = monotonic_ms()
        return [board_view(game, self._number_of(game.id), self._bot_color(game), now_ms) for game in running + ended]

    def analysis(self) -> Json | None:
        """Return the analysis of the person's last game; None while a game runs, or without one."""
        latest = self.latest
        if self._analysis is None or latest is None or not latest.game.is_over:
            return None
        return analysis_view(latest.game, self._analysis)

    # What the person does. All of it raises ApiError if it is not possible.

    async def challenge(self, form: Mapping[str, object]) -> None:
        """Challenge the bot, after it has taken over the strength of the form."""
        proposed = proposal(form)
        self._refuse_second_game()
        if not self.site.is_online(self._opponent):
            raise Refused(f"{self._opponent.name} is not connected yet: try again in a moment")
        if await self._take_over(proposed.level):
            self._challenge = self.site.challenge(self.account, self._opponent.name, proposed.terms)
            self._tell(LOBBY)

    def cancel_challenge(self) -> None:
        """Cancel the open challenge, or the one that follows once the bot has taken over a strength."""
        if self._is_preparing:
            self._is_cancelled, self._notice = True, "Cancelled. The bot finishes its preparation first."
            self._tell(LOBBY)
            return
        challenge = self._open_challenge()
        if challenge is None:
            raise Refused("there is no open challenge")
        self.site.cancel(challenge.id, self.account)

    async def answer_challenge(self, *, accept: bool) -> None:
        """Accept or decline the bot's challenge; a rematch is played with the strength of the game before."""
        challenge = self._incoming
        if challenge is None:
            raise Refused("there is no open challenge")
        if accept:
            self._refuse_second_game()
            if challenge.rematch_of is not None and not await self._take_over(self._levels.get(challenge.rematch_of)):
                return
        (self.site.accept if accept else self.site.cancel)(challenge.id, self.account)

    async def offer_rematch(self, game_id: str) -> None:
        """Offer a rematch with the strength of that game, or accept the bot's."""
        session, _ = self._own(game_id)
        if not session.game.is_over:
            raise Refused("the game is not over")
        self._refuse_second_game()
        if self._incoming is not None and self._incoming.rematch_of == game_id:
            await self.answer_challenge(accept=True)
            return
        if await self._take_over(self._levels.get(game_id)):
            self._challenge = self.site.offer_rematch(session.game, self.account)
            self._tell(LOBBY)

    async def command(self, game_id: str, name: str, form: Mapping[str, object]) -> None:
        """Move, or do something else in a game."""
        session, color = self._own(game_id)
        accept = form.get("accept") is not False
        match name:
            case "move":
                self._move(session, color, str(form.get("move", "")))
            case "draw":
                self._effect(session, lambda: session.answer_draw(color, accept=accept), "offer")
            case "takeback":
                self._effect(session, lambda: session.answer_takeback(color, accept=accept), "request")
            case "resign":
                session.resign(color)
            case "abort":
                session.abort()
            case "claim-victory" if accept:
                session.claim_victory(color)
            case "chat":
                session.say(color, ChatRoom.PLAYER, str(form.get("text", "")).strip())
            case "rematch":
                await self.offer_rematch(game_id)
            case _:
                raise NotFound("there is no such command")
        self._tell(GAME, game_id)

    # Parts.

    def _own(self, game_id: str) -> tuple[GameSession, Color]:
        session = self.session(game_id)
        color = self.color_in(session.game)
        if color is None:
            raise Refused("this is not your game")
        return session, color

    def _move(self, session: GameSession, color: Color, text: str) -> None:
        """Play a move in UCI notation or SAN."""
        if session.game.is_over or session.game.turn is not color:
            raise Refused("it is not your turn")
        session.play(color, read_move(session.game.board(), text))

    def _effect(self, session: GameSession, act: Callable[[], None], what: str) -> None:
        """Act, and raise Refused if the site ignored it, as it does without an error."""
        def state() -> object:
            now = session.game.state(0)
            return now.draw_offer, now.takeback_offer, now.status, now.moves

        before = state()
        act()
        if state() == before:
            raise Refused(f"the {what} is not possible now: both must have moved, and the last one be a while ago")

    def _refuse_second_game(self) -> None:
        if self.running is not None:
            raise Refused("finish or resign your game first")
        if self._is_preparing or self._open_challenge() is not None:
            raise Refused("your challenge is not answered yet: wait, or cancel it")

    def _open_challenge(self) -> Challenge | None:
        challenge = self._challenge
        return challenge if challenge is not None and challenge.is_active else None

    async def _take_over(self, level: int | None) -> bool:
        """Let the bot play the next casual game at a level; return whether the person still wants that game.

        Meanwhile no other game is proposed.
        """
        self._notice = ""
        if level == self._level:
            return True
        self._is_preparing, self._is_cancelled = True, False
        self._tell(LOBBY)
        try:
            await asyncio.to_thread(self._set_level, level)
            self._level = level
        except CannotSetStrength as error:
            raise Refused(f"strength: {error}") from error
        finally:
            self._is_preparing = False
            self._tell(LOBBY)
        return not self._is_cancelled

    def _on(self, happening: SiteEvent) -> None:
        match happening:
            case EventStreamOpened(account) if account is self._opponent:
                self._tell(LOBBY)
            case ChallengeMade(challenge) if challenge.target is self.account:
                self._incoming = challenge
                self._tell(LOBBY)
            case ChallengeSettled(challenge) if challenge in (self._challenge, self._incoming):
                self._settled(challenge)
            case GameStarted(session) if self.color_in(session.game) is not None:
                self.end_analysis()
                self.sessions.append(session)
                self._notice = ""
                if self._level is not None and not session.game.setup.rated:
                    self._levels[session.game.id] = self._level
                self._tell(ANALYSIS)
                self._tell(LOBBY)
                self._tell(GAME, session.game.id)
            case GameEnded(session) if self.color_in(session.game) is not None:
                self._tell(LOBBY)
                self._tell(GAME, session.game.id)
                self._analyse(session.game)
            case GameStarted(session) | GameChanged(session) | GameEnded(session):
                if self.color_in(session.game) is None:
                    self._others[session.game.id] = session
                    self._tell(BOARDS)
                self._tell(GAME, session.game.id)

    def _settled(self, challenge: Challenge) -> None:
        if challenge is self._challenge and challenge.settled is ChallengeStatus.DECLINED:
            reason = challenge.decline_reason
            self._notice = f"{self._opponent.name} declined: {reason.sentence if reason else 'no reason given'}"
        self._challenge = None if challenge is self._challenge else self._challenge
        self._incoming = None if challenge is self._incoming else self._incoming
        self._tell(LOBBY)

    def _analyse(self, game: Game) -> None:
        if game.ply and game.status is not Status.ABORTED:
            self._analysis = Analysis(game.board_after(0), game.moves, lambda: self._tell(ANALYSIS))
            self._tell(ANALYSIS)

    def _bot_color(self, game: Game) -> Color:
        return game.setup.color_of(self._opponent) or Color.WHITE

    def _offer(self, challenge: Challenge) -> Json:
        """Return the bot's challenge in words, the answers and where they go."""
        terms = challenge.terms
        mode = "rated" if terms.rated else "casual"
        what = "a rematch" if challenge.rematch_of else "a game"
        clock = clock_in_words(terms.time_control)
        text = f"{challenge.challenger.name} offers {what}: {clock}, {mode}, {terms.variant.display_name}."
        return {"text": text, "path": "challenge/answer", "answers": ANSWERS}

    def _tell(self, topic: str, game_id: str | None = None) -> None:
        for hearer in list(self._hearers):
            hearer(topic, game_id)


def read_move(board: Board, text: str) -> str:
    """Return the UCI notation of a legal move in UCI notation or SAN, also in the wrong case. Raises Refused."""
    text = text.strip()
    with suppress(InvalidMove):
        return board.normalise(text.lower())
    try:
        return board.parse_san(text)
    except InvalidMove as error:
        meant = _in_other_case(board, text)
        if len(meant) == 1:
            return meant.pop()
        problem, _, _ = str(error).rpartition(": ")
        examples = " or ".join(_examples(board, text))
        raise Refused(f"{problem or error}; type a move such as {examples}") from error


def _in_other_case(board: Board, text: str) -> set[str]:
    """Return the moves that a text means as a pawn's and as a piece's: `BXC3` can be both, `E4` and `nf3` cannot."""
    meant = set()
    for spelling in (text.lower(), text.capitalize()):
        with suppress(InvalidMove):
            meant.add(board.parse_san(spelling))
    return meant


def _examples(board: Board, text: str) -> Iterator[str]:
    """Yield a legal move in both notations; for a promotion whose piece is missing, that to a queen."""
    moves = {board.san(move): move for move in board.legal_moves()}
    queens = (san for san, move in moves.items() if san.startswith(f"{text}=Q") or move == f"{text.lower()}q")
    san = next(queens, next(iter(moves)))
    yield san
    yield moves[san]
