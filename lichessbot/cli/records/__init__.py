"""The commands that look back at the games in the records, while the daemon runs or not.

Knows how the records are shown in a terminal. Must not know how the daemon plays. `lichessbot.cli.main` loads each
command from its module: `stats`, `games` and `pgn` from `games`, and `review` and `postmortem`, which are about one
game (`one_game`). All find games by `records`, and write them by `text`.
"""
