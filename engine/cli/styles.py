"""The command `styles`: plays named styles against the default, and measures what each shows and costs.

    lichessbot-engine styles                       # every style, 200 games each
    lichessbot-engine styles attacker --games 400 --nodes 10000
    lichessbot-engine styles attacker --level 1500

`engine/evaluation/STYLES.md` defines the measures.
"""

import click

from engine.cli.parameters import POSITIVE, RATING, workers_option
from engine.evaluation.style import StyleName
from engine.progress import ProgressDisplay
from engine.selfplay.sprt import MatchScore
from engine.selfplay.styles.match import StyleMatch, play
from engine.selfplay.styles.measures import MEASURES, NAMED_MEASURE, WatchedGame, compare
from engine.selfplay.worker_pool import Workers

HALF_POINTS = 2                    # of a won game


@click.command(short_help="Play named styles against the default and compare them.")
@click.argument("names", nargs=-1, metavar="[STYLE]...", type=click.Choice(tuple(map(str, StyleName))))
@click.option("--games", type=POSITIVE, default=200, help="Games of each style, two of each opening.")
@click.option("--nodes", type=POSITIVE, default=2000, help="Nodes per move, or of the judge.")
@click.option("--level", type=RATING, help="Let both players have this rating.  [default: full strength]")
@click.option("--seed", type=int, default=StyleMatch.seed, help="Seed of the choice of openings.")
@workers_option
def styles(
    names: tuple[str, ...], games: int, nodes: int, level: int | None, seed: int, workers: Workers
) -> None:
    """Play named styles against the default, and compare what they show with the default against itself.

    Without STYLE it plays all of them. A star marks the measure by which a style is named.
    """
    default, _ = _played(StyleMatch(None, nodes, seed, level=level), games, workers)
    for name in map(StyleName, names or StyleName):
        styled, score = _played(StyleMatch(name, nodes, seed, level=level), games, workers)
        print(f"{name}: {score}")
        print(f"  {'':<20}{'style':>9}{'default':>9}{'ratio':>7}{'p':>9}")
        for title, measure in MEASURES.items():
            found = compare(measure, styled, default)
            star = "*" if NAMED_MEASURE[name] == title else " "
            if found is not None:
                p = "-" if found.p is None else f"{found.p:.1g}"
                numbers = f"{found.styled:>9.3f}{found.default:>9.3f}{found.ratio:>7.2f}{p:>9}"
                print(f"{star} {title:<20}{numbers}  of {found.styled_games} and {found.default_games} games")


def _played(match: StyleMatch, games: int, workers: Workers) -> tuple[list[WatchedGame], MatchScore]:
    """Return the games, and the score of those that were played in pairs."""
    played: list[WatchedGame] = []
    score = MatchScore()
    with ProgressDisplay(str(match.style or "default"), games, "games") as display:
        for watched in play(match, games, workers):
            played += watched
            if match.style is not None:
                score.add(round(HALF_POINTS * sum(game.points for game in watched)))
            display.advance_to(len(played))
    if len(played) < games:
        print(f"{match.style or 'default'}: {len(played)} games instead of {games}: too few balanced openings")
    return played, score
