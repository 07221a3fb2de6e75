"""Parse parameters of requests; an error names its field.

Both body encodings arrive as one flat mapping of texts, without nulls.
"""

from collections.abc import Mapping
from typing import TypeVar

from lichessbot.rehearsal.rules.arenas import Application
from lichessbot.rehearsal.rules.challenges import Terms
from lichessbot.rehearsal.rules.clock import Correspondence, RealTime, TimeControl, Unlimited
from lichessbot.rehearsal.rules.enums import ChatRoom, ColorChoice, Rule, Variant
from lichessbot.rehearsal.rules.errors import InvalidForm
from lichessbot.rehearsal.server.export import Parts

Form = Mapping[str, str]
Word = TypeVar("Word", ChatRoom, ColorChoice)

OFFERED_DAYS = (1, 2, 3, 5, 7, 10, 14)
SHORTEST_MESSAGE = 30
LONGEST_MESSAGE = 2000

_TRUE = frozenset({"true", "yes", "on", "1"})


def is_true(text: str | None) -> bool:
    """Return whether the text is `yes`, `true`, `1` or `on`."""
    return text is not None and text.lower() in _TRUE


def exported_parts(query: Form) -> Parts:
    """Return the parts of an export that a query asks for, by default those of `Parts`."""
    fields = {"moves": "moves", "tags": "tags", "clocks": "clocks", "pgn_in_json": "pgnInJson"}
    return Parts(**{name: is_true(query[field]) for name, field in fields.items() if field in query})


def whole_number(form: Form, field: str, default: int | None = None) -> int:
    """Return the value of `field`, which is required if there is no default."""
    text = form.get(field)
    if text is None:
        if default is None:
            raise InvalidForm({field: "This field is required"})
        return default
    try:
        return int(text)
    except ValueError as error:
        raise InvalidForm({field: "Numeric value expected"}) from error


def terms(form: Form) -> Terms:
    """Return the terms of a challenge, each field checked by itself."""
    return Terms(
        variant=_variant(form),
        time_control=_time_control(form),
        rated=is_true(form.get("rated")),
        color=_word(form, "color", ColorChoice, default=ColorChoice.RANDOM),
        fen=form.get("fen") or None,
        rules=_rules(form),
    )


def application(form: Form) -> Application:
    """Return the parameters of a request to join an arena."""
    return Application(form.get("password"), form.get("team"), is_true(form.get("pairMeAsap")))


def message(form: Form) -> str | None:
    """Return the message to the leaders of a team that a player wants to join."""
    text = form.get("message")
    if text is not None and not SHORTEST_MESSAGE <= len(text) <= LONGEST_MESSAGE:
        raise InvalidForm({"message": f"Between {SHORTEST_MESSAGE} and {LONGEST_MESSAGE} characters"})
    return text


def chat_line(form: Form) -> tuple[ChatRoom, str]:
    """Return the room and the text of a chat line."""
    if "text" not in form:
        raise InvalidForm({"text": "This field is required"})
    return _word(form, "room", ChatRoom), form["text"]


def _word(form: Form, field: str, kind: type[Word], default: str | None = None) -> Word:
    """Return a member of an enumeration, which is required if there is no default."""
    text = form.get(field, default)
    if text is None:
        raise InvalidForm({field: "This field is required"})
    try:
        return kind(text)
    except ValueError as error:
        raise InvalidForm({field: "Invalid value"}) from error


def _variant(form: Form) -> Variant:
    variant = Variant.of_key(form.get("variant", Variant.STANDARD.key))
    if variant is None:
        raise InvalidForm({"variant": "Invalid variant"})
    return variant


def _time_control(form: Form) -> TimeControl:
    if "clock.limit" in form or "clock.increment" in form:
        clock = RealTime(whole_number(form, "clock.limit"), whole_number(form, "clock.increment"))
        if not clock.is_offered:
            raise InvalidForm({"clock.limit": "Invalid clock"})
        return clock
    if "days" in form:
        days = whole_number(form, "days")
        if days not in OFFERED_DAYS:
            raise InvalidForm({"days": "Invalid number of days"})
        return Correspondence(days)
    return Unlimited()


def _rules(form: Form) -> frozenset[Rule]:
    names = [name.strip() for name in form.get("rules", "").split(",") if name.strip()]
    try:
        return frozenset(Rule(name) for name in names)
    except ValueError as error:
        raise InvalidForm({"rules": "Invalid rules"}) from error
