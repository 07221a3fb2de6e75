"""Authorisation and parameters of requests.

Knows Starlette's request and the accounts. Must not know: endpoints.
"""

import json
import re
from urllib.parse import parse_qsl

from starlette.requests import Request

from lichessbot.rehearsal.rules.accounts import Account, Accounts, Grant
from lichessbot.rehearsal.rules.enums import Scope
from lichessbot.rehearsal.rules.errors import GLOBAL_FIELD, InvalidForm, MissingScope, Unauthorized

ANY_SCOPE: tuple[Scope, ...] = ()

_BEARER = re.compile(r"Bearer\s+(\w+)", re.IGNORECASE | re.ASCII)
_FORM = "application/x-www-form-urlencoded"
_NAMED_USER = re.compile(r"\b(?:user|as):\s*([\w-]{3,31})", re.IGNORECASE | re.ASCII)


class Call:
    """An authorised request: its caller and parameters."""

    def __init__(self, request: Request, grant: Grant) -> None:
        self.request = request
        self.grant = grant

    @property
    def account(self) -> Account:
        return self.grant.account

    @property
    def user_agent(self) -> str:
        return self.request.headers.get("user-agent", "")

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    async def form(self) -> dict[str, str]:
        """Return the parameters of the body, form-encoded or a flat JSON object; null is absent. Raises InvalidForm."""
        body = await self.request.body()
        if not body:
            return {}
        content_type = self.request.headers.get("content-type", _FORM).lower()
        if content_type.startswith(_FORM):
            return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
        if "json" not in content_type:
            raise InvalidForm({GLOBAL_FIELD: "Expected a form or JSON"})
        try:
            fields = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise InvalidForm({GLOBAL_FIELD: "Invalid JSON"}) from error
        if not isinstance(fields, dict):
            raise InvalidForm({GLOBAL_FIELD: "Expected a JSON object"})
        return {key: _text(value) for key, value in fields.items() if value is not None}


def authorise(request: Request, accounts: Accounts, accepted: tuple[Scope, ...]) -> Grant:
    """Return the grant of the request's token, which needs one of the `accepted` scopes, if any. Raises ApiError."""
    header = request.headers.get("authorization")
    bearer = None if header is None else _BEARER.fullmatch(header.strip())
    if bearer is None:
        raise Unauthorized("Missing authorization header")
    grant = accounts.grant(bearer[1])
    if grant is None:
        raise Unauthorized("No such token")
    named = _NAMED_USER.search(request.headers.get("user-agent", ""))
    if named is not None and named[1].lower() != grant.account.id:
        raise Unauthorized("The user in the user-agent doesn't match the token bearer")
    if accepted and grant.scopes.isdisjoint(accepted):
        raise MissingScope(accepted, grant.scopes)
    return grant


async def read_list(request: Request) -> list[str]:
    """Return the comma-separated words of a text/plain body."""
    body = await request.body()
    return [word.strip() for word in body.decode(errors="replace").split(",") if word.strip()]


def _text(value: object) -> str:
    """Return a value as text, without half characters, which JSON can spell but no answer can contain."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text.encode(errors="replace").decode()
