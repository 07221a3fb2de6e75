"""Games in progress, from a line of the stream to the move and the PGN.

Knows: the state machine of a game (`game`) and its parts, its `chat`, the session that performs its actions
(`session`), and all sessions together (`manager`).
Must not know: the daemon; and challenges and matchmaking only through the lobby, which `recovery` asks.
Offers: `manager`, `session` (the context that all games share), `recovery` (games of an earlier process, and when to
read the list of games), `recording` (the record of a game and its PGN), `review` (of games that are over), and
`time_budget` (an object that all games share).
"""

__all__ = ["manager", "recording", "recovery", "review", "session", "time_budget"]
