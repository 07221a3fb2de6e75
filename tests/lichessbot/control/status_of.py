"""A status for tests, as a daemon with two games would send it."""

from dataclasses import replace

from lichessbot.control.status import (
    Activity,
    ConnectionStatus,
    EngineStatus,
    Evaluation,
    Faults,
    Limit,
    LobbyStatus,
    MatchmakingStatus,
    OpenChallengeStatus,
    PlayerStatus,
    RunningGame,
    Status,
    StreamStatus,
    WaitingChallenge,
)

NOW = 1_800_000_000.0
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

GAME = RunningGame(
    game_id="abcd1234",
    url="https://lichess.org/abcd1234",
    white=PlayerStatus("TestBot", "BOT", 2000, 61.9),
    black=PlayerStatus("Ferdinand", "GM", 2412, 3725.0),
    our_colour="white",
    variant="standard",
    speed="blitz",
    time_control="3+2",
    rated=True,
    tournament_id=None,
    fen="rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    initial_fen=START,
    is_chess960=False,
    moves=("e2e4", "e7e5"),
    to_move="white",
    clock_runs=True,
    evaluation=Evaluation("e2e4", "engine", 35, None, 12, 1_000_000, 1_234_567, ("e2e4", "e7e5")),
    stream=StreamStatus(is_open=True, open_for_s=125.0, silent_for_s=3.0),
    joined_for_s=126.0,
)
STATUS = Status(
    version="0.1.0",
    process_id=4711,
    at_epoch_s=NOW,
    up_for_s=7500.0,
    activity=Activity.PLAYING,
    ends_in_s=None,
    connection=ConnectionStatus(
        server_url="https://lichess.org",
        account="TestBot",
        summary="listening",
        events=StreamStatus(is_open=True, open_for_s=7200.0, silent_for_s=4.0),
        held_back_s=0.0,
    ),
    games=(GAME, replace(GAME, game_id="wxyz9876", our_colour="black", white=GAME.black, black=GAME.white)),
    correspondence_games=3,
    lobby=LobbyStatus(
        is_paused=False,
        slots=4,
        starting=1,
        queue=(WaitingChallenge("qqqq1111", "Ann", "", 1500, "5+3", "chess960", False, 4.0, 8.0),),
        matchmaking=MatchmakingStatus(
            is_on=True,
            is_on_in_config=False,
            next_attempt_epoch_s=None,
            open_challenge=OpenChallengeStatus(None, "rival", "1+0 rated standard"),
            last_opponent="rival",
        ),
        limits=(Limit("bot games", 100, 100, NOW + 60.0, is_used_up=True), Limit("challenges", 12, 180)),
        blocked=("pest",),
        tournaments=("hL7vMrFQ",),
    ),
    engine=EngineStatus("our engine", 1_250_000, 20),
    faults=Faults(event_streams_lost=2, engines_died=1),
    began_epoch_s=NOW - 7500.0,
)
