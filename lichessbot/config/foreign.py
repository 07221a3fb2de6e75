"""Keys of lichess-bot that have no counterpart here (yet), and what to do instead."""

from typing import Final

NOT_OURS: Final = {
    "fake_think_time": "the engine always uses its clock; remove the key",
    "rate_limiting_delay": "requests are paced by what Lichess asks for; remove the key",
    "move_overhead": "set engine.move_overhead_ms",
    "quit_after_all_games_finish": "the first SIGINT or SIGTERM always finishes the games; remove the key",
    "log": "logs go to standard error; redirect them or use the journal of systemd",
    "correspondence": "correspondence games are declined; remove the section",
    "matchmaking.challenge_decliner_file_name": "who declined what is remembered in state_dir; remove the key",
    "matchmaking.delay_after_decline": "set matchmaking.challenge_filter",
    "engine.dir": "the bot brings its own engine; remove the key",
    "engine.name": "the bot brings its own engine; remove the key",
    "engine.protocol": "the bot brings its own engine; remove the key",
    "engine.interpreter": "the bot brings its own engine; remove the key",
    "engine.interpreter_options": "the bot brings its own engine; remove the key",
    "engine.working_dir": "the bot brings its own engine; remove the key",
    "engine.engine_options": "the bot brings its own engine; remove the key",
    "engine.homemade_options": "the bot brings its own engine; remove the key",
    "engine.xboard_options": "the bot brings its own engine; remove the key",
    "engine.uci_options": "set engine.hash_mb, engine.threads and engine.move_overhead_ms",
    "engine.debug": "run with --verbose",
    "engine.silence_stderr": "the engine's error output goes to the log; remove the key",
    "engine.ponder": "the engine does not think on the opponent's time; remove the key",
    "engine.polyglot": "the engine plays without a book; remove the section",
    "engine.draw_or_resign.offer_draw_for_egtb_zero": "no tablebase is asked; remove the key",
    "engine.draw_or_resign.resign_for_egtb_minus_two": "no tablebase is asked; remove the key",
    "engine.online_moves": "every move is the engine's own; remove the section",
    "engine.lichess_bot_tbs": "every move is the engine's own; remove the section",
}
