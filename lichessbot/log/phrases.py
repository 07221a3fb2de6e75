"""The phrase for each event: what happened, in plain words for people.

`{field}` stands for the value of a field, `{field:kind}` for the value written as one of `KINDS`; `:<7` or `:>3` after
either sets a width. A part in brackets is left out if a field in it is missing. The game's id stands before the phrase.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from lichessbot.log.event_log import Event, counted, cut, inert

_CHALLENGE: Final = "[{title} ]{challenger}[ ({rating})], [{rated:mode} ]{speed}[ {clock}][, {variant:words}]"
_GAME: Final = (
    "[{title} ]{opponent}[ ({rating})], {rated:mode}[ {speed}] {clock}, {variant:words}, we play {colour}"
    "[ at level {level}]"
    "[, tournament {tournament}]: {url}"
)

PHRASES: Final[Mapping[str, str]] = {
    # The daemon
    "start": "lichessbot {version} starting: Python {python}, engine {engine}, config {config}",
    "account": "signed in to {url} as {name}",
    "account.changed": "the token belongs to another account than before ({was}), games left there: {games_left}",
    "config": "config: {note}",
    "memory": "memory: {note}",
    "root": "{note}",
    "log.lost": "lines of the log lost, as nobody read them or the disk was full: {lines}",
    "state": "the records cannot be used: {error}",
    "refused": "cannot play: {reason}",
    "reload": "config reloaded, changed keys: {changes}",
    "reload.key": "{key} is now {new} (was {old}), in use {effect}",
    "reload.in_use": "the new config is in use[, with the {engines} engines until the new ones are checked]",
    "reload.refused": "the new config is not used: {problem}",
    "reload.engines_refused": "the new values of {kept} are not used, but the other changes are: {problem}",
    "control": "operator command {command}[ {argument}]: {answer}",
    "control.unavailable": "no control socket: {error}; {meaning}",
    "control.accept": "cannot accept control connections for a moment: {error}",
    "control.crashed": "bug in the answer to an operator, {times:nth}",
    "web.open": "the operator's page is at {url}",
    "web.unavailable": "no page at {address}: {error}; {meaning}",
    "web.no_status": "the page gets no status: {error}",
    "web.failed": "a connection to the page failed: {error}",
    "web.crashed": "bug in the operator's page, {times:nth}",
    "stop.asked": "{signal}: taking no new games; games to finish: {games_to_finish}"
    "[; correspondence games that go on at the next start: {correspondence_left}][; {hint}]",
    "stop.later": "taking no new games; games to finish, with our own engine if another fails: {games_to_finish}",
    "stop.now": "stopping at once ({why}); unfinished games: {games_left}",
    "stop": "stopped[, exit code {exit_code}]",
    "daemon.crashed": "bug in the main loop, {times:nth}",
    "standstill": "the daemon did nothing for {lasted_s:seconds}, as while the machine is suspended; "
    "reading its games again: {games}",
    "thread.not_started": "cannot start the thread {thread}, trying again: {error}",
    "thread.died": "bug that ended the thread {thread}, {times:nth}",
    # The connection
    "events.open": "listening for challenges and games",
    "events.lost": "lost the event stream ({reason}); retrying in {retry_in_s:seconds}",
    "event.ignored": "ignored an event of type {type}",
    "token.denied": "Lichess denied the token ({reason}); retrying for {patience_s:seconds} before giving up",
    "token.scope_missing": "the token lacks the scope {scope}; {remedy}",
    "token.expires": "the token expires on {day}, {days_left:days}; {remedy}",
    "quota": "a limit of Lichess is reached: {text}[; {status}]",
    "stream.lost": "lost the game's stream ({reason}); retrying in {retry_in_s:seconds}",
    "stream.restored": "the game's stream is open again after {plies:moves}",
    "stream.refused": "Lichess refused the game's stream, {status}: {text}",
    "stream.reopen": "reopening the game's stream: {reason}",
    "stream.evicted": "Lichess closed the event stream early {times_in_a_row} times in a row: {meaning}",
    "stream.unreadable": "ignored a line that cannot be read: {line}",
    "stream.crashed": "bug in the reader of a stream, {times:nth}",
    "command.failed": "{command} failed: {error}",
    "command.crashed": "bug in the command {command}, {times:nth}",
    # Challenges
    "challenge.accepting": f"accepting the challenge of {_CHALLENGE}",
    "challenge.accept": "accepted the challenge[ of {challenger}][, {speed}]",
    "challenge.decline": f"declined the challenge of {_CHALLENGE}: {{reason}} ({{because}})",
    "challenge.wait": f"the challenge of {_CHALLENGE} waits for a free slot",
    "challenge.ignore": f"ignored the challenge of {_CHALLENGE}: {{because}}",
    "challenge.missed": f"missed the challenge of {_CHALLENGE}: {{because}}",
    "challenge.canceled": "the challenge {challenge} is withdrawn",
    "challenge.closed": "the challenge {challenge} is closed: {answer}, {because}",
    "challenge.no_game": "no game came of the challenge {challenge}",
    "list.fetched": "fetched the list at {address}, players: {players}",
    "list.failed": "the list at {address} cannot be fetched ({error}): {meaning}",
    "list.unreadable_lines": "the list at {address} has lines that are ignored ({lines}); expected {expected}",
    "list.crashed": "bug while reading the list at {address}, {times:nth}",
    # Matchmaking
    "match.challenge": "challenging {opponent}: {terms}, our colour {colour}",
    "match.accepted": "{opponent} accepted our challenge",
    "match.declined": "{opponent} declined our challenge ({reason})[; not challenging it until {rests_until}]",
    "match.unanswered": "our challenge to {opponent} had no answer[; not challenging it until {rests_until}]",
    "match.left_open": "our correspondence challenge to {opponent} stays open until it is answered",
    "match.withdrawn": "withdrew our challenge to {opponent}",
    "match.lost": "lost track of our challenge to {opponent}",
    "match.refused": "Lichess refused our challenge to {opponent}: {text}[; not challenging it until {rests_until}]",
    "match.capped": "{opponent} has used up its quota of bot games; not challenging it until {rests_until}",
    "match.none": "not challenging anybody: {reason}",
    "rematch.not_offered": "not offering {opponent} a rematch: {reason}",
    # Tournaments
    "tournament": "tournament {name} ({tournament})[, starts in {starts_in_s:seconds}][, ends in {ends_in_s:seconds}]",
    "tournament.found": "playing in tournament {tournament}, which was joined elsewhere",
    "tournament.joined": "joined tournament {tournament}",
    "tournament.waits": "no slot is free for tournament {tournament}: staying out of it until one is",
    "tournament.refused": "tournament {tournament} cannot be joined: {error}",
    "tournament.delayed": "a request for tournament {tournament} failed ({error}); retrying in {again_in_s:seconds}",
    "tournament.over": "tournament {tournament} is over",
    "tournament.left": "left tournament {tournament}",
    "tournament.not_left": "tournament {tournament} was not left: {error}",
    # Games
    "game.join": "joining the game against {opponent}; games in progress: {games}",
    "game.start": f"started against {_GAME}",
    "game.resume": f"continued after {{plies:moves}} against {_GAME}",
    "game.state": "the stream shows {white} - {black}, {variant:words}, {plies} plies",
    "game.move": (
        "{number:>3}{colour:dots:<3} {san:<7}[  us {our_clock_s:clock:>6}][  them {their_clock_s:clock:>6}]"
        "[  {score:pawns:>6}][  depth {depth:>2}][  {nps:speed}][  {source:words}]"
    ),
    "game.level": "playing at {level} from the next move on, as the opponent chose",
    "game.over": "{result} against {opponent}: {how}, {plies:moves}",
    "game.rating": "our rating changed by {change:signed}[ to {rating}]",
    "game.abort": "aborting the game: {reason}",
    "game.resign": "resigning: {reason}",
    "game.claim": "claiming the {victory:victory}, as the opponent has left",
    "game.visit": "visiting the correspondence game[, {seconds_left:seconds} left]",
    "game.left_alone": "cannot play this game: variant {variant:words}, open to bots: {bot_api}",
    "game.untold": "joining a game that Lichess does not list yet",
    "game.given_up": "gave up on the game after joining it {returns} times",
    "game.crashed": "bug in the game, {times:nth}",
    "games.remembered": "continuing the games of {account} in the records: {games}",
    "doubt": "checking the list of games in progress: {reason}",
    "chat": "{room:room}, {name}: {text}",
    "draw.offered": "{by:side} a draw",
    "draw.accepted": "we accept the draw",
    "takeback.granted": "granting the takeback",
    "takeback.denied": "denying the takeback",
    "opponent.gone": "the opponent has left",
    "opponent.back": "the opponent is back",
    "review.done": "reviewed {plies:moves}, {after_s:seconds} after the end[; says: {said}]",
    "review.failed": "the game could not be reviewed: {error}",
    "review.dropped": "the game is not reviewed: {waiting} others wait already",
    "review.crashed": "bug while reviewing the game, {times:nth}",
    "move.send": "sending {move}",
    "move.done": "round trip {round_trip_ms:ms}, our part {reaction_ms:ms}",
    "pgn.written": "wrote the game to {file}",
    "pgn.lost": "the game was not written as PGN: [{reason}][{error}][; {remedy}]",
    "pgn.crashed": "bug while writing the game as PGN, {times:nth}",
    # Engines and move sources
    "engine.good": "every engine works; variants: {variants}",
    "engine.unfit": "an engine cannot be used: {reason}",
    "engine.fails": "no new games until the engines work again: {reason}",
    "engine.not_started": "the engine did not start: {reason}",
    "engine.died": "the engine died: {reason}",
    "engine.gone": "the engine had ended before it was killed",
    "engine.rested": "the engine is ready for another game",
    "engine.replaced": "replacing the engine: {reason}",
    "engine.fallback": "choosing a move without the engine, within {time_s:seconds}",
    "engine.no_ponder": "{engine} does not offer the option Ponder and thinks on its own time only",
    "engine.option": "the engine rejects an option: {complaint}",
    "engine.sent": "to the engine: {line}",
    "engine.received": "from the engine: {line}",
    "engine.stderr": "the engine says: {line}",
    "engine.crashed": "bug while reading the engine's output, {times:nth}",
    "fallback.crashed": "the search in place of an engine failed, {times:nth}; playing any legal move",
    "variety.crashed": "bug in the choice among the engine's moves, {times:nth}; playing its best move",
    "engine.ponder_hit": "the opponent played the move we pondered on",
    "engine.move": "found {move}[  {score:pawns}]  depth {depth}  {nodes:nodes}[  {nps:speed}][  {pv}]",
    "engine.unused": "an answer of the engine is not needed",
    "source.move": "{source:words} knows {moves}, after {took_s:seconds}",
    "source.unplayable": "no move of {source:words} can be played: {moves}",
    "source.refused": "{source:words} refused: {reason}",
    "source.failed": "{source:words} failed: {reason}",
    "source.rests": "not asking {host} for {pause_s:seconds}: {reason}",
    "source.crashed": "bug in the source {source:words}, {times:nth}",
    "book.unusable": "the book {file} cannot be used: {reason}",
    "table.unusable": "a tablebase cannot be used: {problem}",
    # The notifier
    "notify.failed": "notify.command failed for {notice:words}: {problem}",
    "notify.dropped": "notify.command is not run for {notice:words}: [{waiting} events wait already][{reason}]",
    "notify.works_again": "notify.command works again",
    "notify.crashed": "bug while running notify.command for {notice:words}, {times:nth}",
    # The records
    "store.migrate": "converted the records from format {schema} to {to}; a copy stays in {copy}",
    "store.migrate_without_copy": "converted the records in {file} from format {schema} to {to}; no room for a copy",
    "store.damaged": "the records are damaged ({error}) and now in {kept_as}: {meaning}[; tables lost: {lost}]",
    "store.deleted": "the records {file} were deleted: {meaning}",
    "store.failed": "the records cannot be read or written ({error}): {meaning}",
    "store.works_again": "the records can be written again[; writes lost: {lost}]",
    "store.no_lock": "the state folder cannot be locked ({error}): {meaning}",
    "store.too_slow": "the disk is slow: the last records may be lost, as they were not written in {waited_s:seconds}",
    "store.crashed": "bug while writing the records, {times:nth}; writes lost: {lost}",
}
_PART: Final = re.compile(r"\[([^]]*)\]")
_FIELD: Final = re.compile(r"{(\w+)(?::([a-z]+))?(?::([<>]\d+))?}")


def phrase(event: Event) -> str:
    """Return what happened as one harmless line; an event without a fitting phrase as its name and fields."""
    template, fields = PHRASES.get(event.name, ""), event.fields
    whole = _PART.sub(lambda part: part[1] if _has_all(part[1], fields) else "", template)
    if not (template and _has_all(whole, fields)):
        return str(event)
    return _FIELD.sub(lambda field: _written(fields[field[1]], field[2], field[3]), whole).rstrip()


def _has_all(text: str, fields: Mapping[str, object]) -> bool:
    """Return whether the fields have a value for each placeholder in the text."""
    return all(field[1] in fields for field in _FIELD.finditer(text))


def _written(value: object, kind: str | None, width: str | None) -> str:
    text = str(value)
    if kind is not None:
        with suppress(ValueError, OverflowError):  # a value that the kind does not expect is shown as it is
            text = KINDS[kind](text)
    return format(inert(cut(text)), width or "")


def _clock(seconds: str) -> str:
    """Return a clock such as 0:09.3, 4:12, 1:02:03 or 2d 04:12."""
    tenths = max(0, int(float(seconds) * 10))
    minutes, tenths = divmod(tenths, 600)
    if minutes < 1:
        return f"0:{tenths / 10:04.1f}"
    hours, minutes = divmod(minutes, 60)
    if hours < 1:
        return f"{minutes}:{tenths // 10:02}"
    days, hours = divmod(hours, 24)
    return f"{days}d {hours:02}:{minutes:02}" if days else f"{hours}:{minutes:02}:{tenths // 10:02}"


def _seconds(value: str) -> str:
    seconds = float(value)
    if 0.0005 < seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 36_000 else f"{seconds / 3600:.0f} h"


def _pawns(score: str) -> str:
    """Return a UCI score in pawns, or the moves to mate."""
    unit, _, number = score.partition(" ")
    return f"#{int(number)}" if unit == "mate" else f"{int(number) / 100:+.2f}"


def _count(number: str, unit: str) -> str:
    value = int(number)
    for limit, prefix in ((1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")):
        if value >= 0.9995 * limit:      # in three digits at least one of them
            return f"{value / limit:.3g}{prefix} {unit}"
    return f"{value} {unit}"


def _words(name: str) -> str:
    """Return a name such as fromPosition or own_book as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()


KINDS: Final[Mapping[str, Callable[[str], str]]] = {
    "clock": _clock,
    "days": lambda number: f"in {counted(int(number), 'day')}",
    "dots": lambda colour: "." if colour == "white" else "...",
    "mode": lambda rated: "rated" if rated == "True" else "casual",
    "moves": lambda plies: counted((int(plies) + 1) // 2, "move"),
    "ms": lambda value: f"{float(value):.1f} ms",
    "nodes": lambda number: _count(number, "nodes"),
    "nth": lambda times: "first occurrence" if times == "1" else f"occurrence {times}",
    "pawns": _pawns,
    "room": lambda room: "chat" if room == "player" else "spectators' chat",
    "seconds": _seconds,
    "side": lambda by: "we offer" if by == "us" else "the opponent offers",
    "signed": lambda value: f"{int(value):+d}",
    "speed": lambda number: _count(number, "n/s"),
    "victory": lambda victory: "win" if victory == "True" else "draw",
    "words": _words,
}
