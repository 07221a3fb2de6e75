"""The commands that measure limited strength: `calibrate` and `humanness`.

    lichessbot-engine calibrate ladder.jsonl --stockfish stockfish --least 600 --most 2850 --step 150
    lichessbot-engine calibrate skills.jsonl --stockfish stockfish --skills --write calibration.py
    lichessbot-engine humanness "level 1500" "stockfish 'Skill Level=2' depth=3"

`engine/search/levels/README.md` explains what they measure, and has the results.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from engine.cli.exclusive import exclusive
from engine.cli.parameters import FILE, POSITIVE, parsed, processes_option, refuse_given, refuse_output
from engine.facade import RATINGS
from engine.pgn.time_control import TimeControl, parse_seconds
from engine.progress import ProgressDisplay
from engine.selfplay import humanness as humans
from engine.selfplay.calibration import Plan, Report, anchor_ratings, calibration_text
from engine.selfplay.ladder import OWN_NUMBERS, Pair, Results, make_player, play_pair, stockfish_anchors
from engine.selfplay.people import FIRST_PLY, CannotUnpack, LossFit, MoveMatcher, opened, played_moves
from engine.selfplay.worker_pool import run_parallel
from engine.whole_file import write_whole

GAMES_PER_LINE = 100               # of progress
LEAST_BANDS = 2                    # of people's ratings that make a scale
LADDER_ONLY = (                    # parameters of `calibrate`
    "results", "least", "most", "step", "skills", "anchors", "stockfish", "reach", "pairs", "clock", "processes",
)  # fmt: skip


@click.command(short_help="Play a ladder of the levels and fit their ratings.")
@click.argument("results", type=FILE, required=False)
@click.option("--least", type=POSITIVE, default=RATINGS[0], help="Lowest rating of the ladder.")
@click.option("--most", type=POSITIVE, default=RATINGS[-1], help="Highest rating of the ladder.")
@click.option("--step", type=POSITIVE, default=150, help="Rating difference between neighbouring levels.")
@click.option("--skills", is_flag=True, help="Play skills of the model instead of ratings.")
@click.option("--anchor", "anchors", multiple=True, metavar="TEXT", help="A rated engine: COMMAND NAME=VALUE ...")
@click.option("--stockfish", metavar="COMMAND", help="Command of Stockfish: its skill levels 0 to 10 are anchors.")
@click.option("--reach", type=POSITIVE, default=250, help="Levels play the anchors within this many points.")
@click.option("--pairs", type=POSITIVE, default=20, help="Openings of each pairing, played with both colours.")
@click.option("--clock", type=parsed(parse_seconds), metavar="S+S", help="Seconds per game and move; none without it.")
@click.option("--write", type=FILE, metavar="FILE", help="Write the skill of each rating to this new file.")
@click.option("--games", type=FILE, metavar="PGN", help="Instead compare the levels with people's games: .pgn, .zst.")
@click.option("--every", type=POSITIVE, default=1, help="Use only every Nth game.")
@processes_option
def calibrate(
    results: Path | None, least: int, most: int, step: int, skills: bool, anchors: Sequence[str], stockfish: str | None,
    reach: int, pairs: int, clock: TimeControl | None, write: Path | None, games: Path | None, every: int,
    processes: int,
) -> None:  # fmt: skip
    """Play a ladder of the levels, keep the games' results in RESULTS, and fit the ratings of all.

    An anchor is the text of a foreign engine: its command, UCI options, perhaps depth=, nodes= or movetime= for its
    moves, and rating= unless that is its UCI_Elo. An engine that crashes loses the game and is started again. The last
    lines count games lost by crashes, illegal moves and on time. The same command continues an interrupted ladder, and
    with more pairs a finished one. Another --clock needs other RESULTS.

    With --games no games are played: the command prints how often each level chooses what people of its rating played.
    With --write as well it finds the skills whose moves lose as much as people's, and writes those.
    """
    if write is not None:
        refuse_output(write, False)
    if games is not None:
        refuse_given(LADDER_ONLY, "with --games, which plays none")
        if write is None:
            _compare_with_people(games, every)
        else:
            _fit_to_people(games, every, write)
        return
    refuse_given(["every"], "without --games")
    if results is None:
        raise click.ClickException("expected a file for the results: `lichessbot-engine calibrate ladder.jsonl ...`")
    refuse_output(results, True)       # one that exists gets more lines
    kind = "skill" if skills else "level"
    numbers = OWN_NUMBERS[kind]
    if least not in numbers or most not in numbers or least >= most:
        raise click.ClickException(f"expected --least below --most, from {numbers[0]} to {numbers[-1]}")
    if write is not None and not skills:
        raise click.ClickException("--write needs --skills or --games: it writes the skill of each rating")
    rated = anchor_ratings([*anchors, *(stockfish_anchors(stockfish) if stockfish else [])])
    plan = Plan([f"{kind} {number}" for number in range(least, most + 1, step)], rated, reach)
    if write is not None and not (rated and len(plan.levels) > 1):
        raise click.ClickException("--write needs two skills or more, and an anchor, which gives them ratings")
    click.get_current_context().with_resource(exclusive(results))
    known = Results(results, clock)
    pairings = plan.pairings(known.pairings())
    opponents = {second for _, second in pairings} | {played.second for played in known.pairings()}
    if rated and not opponents & rated.keys():
        raise click.ClickException("no level is within --reach of an anchor: raise it, or choose other ones")
    work = [
        Pair(first, second, number, clock)
        for first, second in pairings
        for number in known.missing(first, second, pairs)
    ]
    work.sort(key=lambda pair: pair.number)
    with ProgressDisplay("ladder", len(work), "pairs") as display:
        for done, (_, played) in enumerate(run_parallel(play_pair, work, processes), 1):
            known.add(played)
            display.advance_to(done)
    report = Report(plan, known.pairings(), known.forfeits)
    worthless = report.games_without_worth()
    if write is not None and not worthless:
        write_whole(write, [report.calibration().encode()])
    for line in report.lines():
        print(line)
    if write is not None:
        if worthless:
            raise click.ClickException(
                f"{write} is not written: {worthless} games were lost by an illegal move or a crash; without their "
                f"lines in {results} they are played again"
            )
        print(f"wrote {write}")


def _compare_with_people(games: Path, every: int) -> None:
    """Print how often each level chooses what people of its rating played."""
    matcher = MoveMatcher()
    _add_moves(matcher, games, every)
    for line in matcher.lines():
        print(line)


def _fit_to_people(games: Path, every: int, write: Path) -> None:
    """Write the skills whose moves lose as much as people's."""
    fit = LossFit(humans.Judge(humans.JUDGE_NODES))
    _add_moves(fit, games, every)
    points = [(it.skill, it.rating) for it in fit.fitted().values()]
    if len(points) >= LEAST_BANDS:
        moves = sum(len(band.ratings) for band in fit.bands.values())
        text = calibration_text(points, f"# From {moves:,} moves of people in {games.name}.\n")
        write_whole(write, [text.encode()])
    for line in fit.lines():
        print(line)
    if len(points) < LEAST_BANDS:
        raise click.ClickException(f"expected {LEAST_BANDS} bands of ratings with a skill, found {len(points)}")
    print(f"wrote {write}")


def _add_moves(comparison: MoveMatcher | LossFit, games: Path, every: int) -> None:
    """Compare the moves of a file of games, until its end or Ctrl-C."""
    try:
        with opened(games) as stream:
            told = 0
            for played in played_moves(stream, every):
                comparison.add(played)
                if played.game >= told + GAMES_PER_LINE:
                    told = played.game
                    print(f"{told} games", file=sys.stderr)
        if not comparison.bands:
            chosen = "" if every == 1 else f" among every {every}th game"
            raise click.ClickException(
                f"no game of standard chess with ratings and more than {FIRST_PLY} plies{chosen} in {games}"
            )
    except CannotUnpack as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt:
        print("interrupted: these are the games read so far", file=sys.stderr)


@click.command(short_help="Judge how human the errors of players are.")
@click.argument("players", nargs=-1, required=True)
@click.option("--games", type=POSITIVE, default=20, help="Games of each player against itself.")
@click.option("--nodes", type=POSITIVE, default=humans.JUDGE_NODES, help="Nodes of each search that judges a move.")
@processes_option
def humanness(players: Sequence[str], games: int, nodes: int, processes: int) -> None:
    """Judge the moves of PLAYERS, and print how human their errors are.

    A player is `level RATING`, `skill NUMBER`, `nodes NUMBER`, `random`, or the text of a foreign engine.
    """
    players = tuple(dict.fromkeys(players))
    tallies = {text: humans.Tally() for text in players}
    for text in players:
        make_player(text)          # reports an error once, not in every process
    with ProgressDisplay("games", games * len(players), "games") as display:
        for done, (text, tally) in enumerate(humans.observe_games(players, games, processes, nodes), 1):
            tallies[text].add(tally)
            display.advance_to(done)
    for line in humans.table(tallies):
        print(line)
