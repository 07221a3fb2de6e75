"""The node signature: fixed positions, fixed depth, one thread, a cleared table, no clock.

The total changes exactly when the search or the evaluation changes its behaviour.
"""

from time import perf_counter

from engine.facade import Board, Engine, Limits, describe_build

DEFAULT_DEPTH = 12
HASH_MB = 16

# From games of the engine against itself: openings, middlegames, endgames.
POSITIONS = (
    "r1b1kb1r/ppppqppp/2n2n2/4p3/4P3/P1P2N2/1PQP1PPP/RNB1KB1R w KQkq - 2 2",
    "r1bq1rk1/ppp2pp1/4p2p/3pn3/Pb2P2P/2NB2P1/1PPP1P2/R1BQ1RK1 w - - 0 7",
    "2rq1rk1/2pbbp1p/4pn2/p2pN1p1/P2p2P1/2P4P/1P2PPB1/R1BQ1RK1 w - - 0 12",
    "r4r2/p2b1pk1/2p1pn1p/1p2B3/Pb2PP2/2NB3P/2PK2P1/3R3R w - - 0 16",
    "1k1rr3/1b3p2/p1p5/P2p4/2PPp1p1/4P1P1/5PB1/3RR1K1 w - - 0 21",
    "r4r2/4k2p/8/p2b1pP1/4p3/1P2PP2/8/3R1RK1 w - - 0 26",
    "2b5/r2p1k2/pR1R1P2/4P3/6r1/8/PP4BK/8 w - - 4 31",
    "7k/2pB2p1/1p1p4/5P2/PKP5/3Prq2/8/8 b - - 4 38",
    "8/r7/8/3P2k1/3KR2p/P6P/2P5/8 w - - 11 46",
    "3k4/7R/1r2B2p/4K3/6P1/8/8/8 w - - 29 56",
    "rn1qkb1r/1ppbpppp/3p3n/8/p1P1P3/P1N2P2/1P1P2PP/R1BQKBNR w KQkq - 2 2",
    "r2q1rk1/1pp1npb1/2n1p2p/pN1p2P1/5Pb1/P4N2/1PPPP1B1/R1BQ1RK1 w - - 4 7",
    "r4r2/pp1kq2p/3pbn2/4p1p1/3pP3/P4QPP/1PPP2B1/R1B2RK1 w - - 0 12",
    "rk5r/1pp1b3/3qb2p/Bn4p1/P2Pp1P1/4P2P/1PP1QP2/R5KR w - - 0 16",
    "3rk3/5p2/4n3/p1ppPRp1/Pb5r/2N1P3/1PPB3P/4R1K1 w - - 0 21",
    "4r1kr/7p/3b1p2/1R1Pp2p/p3B1P1/P7/2P1KP2/R7 w - - 0 26",
    "2r3k1/5pb1/P5p1/4p3/4P3/3Q1P1p/1r1B1q2/R5RK w - - 2 31",
    "1k6/1P2R3/4P3/8/4R2p/2PK4/8/1r6 b - - 2 38",
    "8/6p1/3K1k2/7p/7r/8/8/8 w - - 0 46",
    "8/8/1p6/p1pp4/P2p2kp/1P1P4/6K1/8 w - - 2 56",
    "r1bqkb1r/pppp2pp/2n1p3/3n1p2/3P4/P4N2/RPPBPPPP/1N1QKB1R w Kkq - 2 2",
    "r2qkb1r/1p2ppp1/2p5/p2pNb1p/Pn1P2nP/2N1B3/1PP1PPP1/2RQKB1R w Kkq - 0 7",
    "r4rk1/ppp3p1/3bp2p/8/Pn1Pp3/4B3/1PPQP1Pq/R2K1B1R w - - 0 12",
    "1r3rk1/2p5/p1p2np1/1P2pp1p/P2P3P/qbN1P3/2P2PP1/3QKB1R w K - 0 16",
    "3r2k1/r4p2/p6p/5b2/P2p4/5P2/6PP/R3R1K1 w - - 0 21",
    "8/r1p3B1/6R1/p3n3/Pp3k1P/1PP2P2/3P4/2K5 w - - 3 26",
    "7r/1p6/p3pk2/P1p4p/1PP5/3NP3/2Kn3r/3R4 w - - 0 31",
    "3r4/p4pk1/P4b1p/7P/4BpP1/5P2/3p1K2/3R4 b - - 3 38",
    "5Q2/1k1b4/p1r5/8/8/P4P1p/7P/4R2K w - - 3 46",
    "4R3/1p6/1Bp4k/P1P4p/5n1P/1r5P/8/5K2 w - - 2 56",
    "rnbqkbnr/2pp1pp1/4p3/p6p/4P3/2P3P1/P2P1P1P/RNBQKBNR w KQkq - 0 2",
    "1r1q1rk1/p1p1ppb1/2n1bnpp/1p1p4/1P1P2P1/P1N1BN1P/2P1PPB1/R2Q1RK1 w - - 0 7",
    "r1b2rk1/1p1p1p1p/6p1/p1pPqnP1/4P3/2NB3P/PP1B1P1b/R2QK3 w Q - 0 12",
    "4rrk1/1p1nqppp/3p4/p5P1/4P3/3PB3/P5PP/R2Q1RK1 w - - 0 16",
    "1r2kb1r/p2bp3/3q3p/3p2pR/1PPPB1P1/P3BP2/8/1R1QK3 w - - 0 21",
    "1r4k1/p5p1/8/Pprpp3/8/3P4/6PP/R4RK1 w - - 0 26",
    "6R1/2r1kr1p/2P5/p7/P1B1p3/6p1/1P4P1/6KR w - - 9 31",
    "8/p2r3p/5Kp1/2k5/8/4Bn2/8/8 b - - 7 38",
    "8/2r5/2P3p1/8/k2pp1PP/3P2K1/8/1R6 w - - 0 46",
    "8/8/8/1kNQ4/3K4/8/8/8 w - - 11 56",
    "r1bqkbnr/ppp1pppp/8/5n2/5P2/4P2P/PP1P2P1/RNBQKBNR w KQkq - 1 2",
    "r1bqk2r/1pp4p/p1n1p3/3p1p2/3Pn1PR/P2BPN2/P1P2P2/R1BQK3 w Qkq - 1 7",
    "r3k2r/1ppb1p1p/p1n1p1p1/4P3/P5PP/2N2N2/1PP5/R1K2R2 w kq - 1 12",
    "5rk1/2qnp1b1/1pp1b2p/2P1Pppn/1P1P4/2NB1N2/1B1Q2PP/4R1K1 w - - 0 16",
    "1k1r4/1q2p1b1/1p2b1rp/pBpNP3/P1PpPBn1/8/1P2Q1P1/1K1R3R w - - 2 21",
    "4rk2/1R1Q3p/3p1prP/3qb1p1/1B4P1/4P3/P4P2/5RK1 w - - 3 26",
    "r7/p1k2p2/6p1/2P4p/8/3r4/6P1/R5KR w - - 3 31",
    "7r/3RR3/1kp5/7p/1P4n1/2P5/4N3/4K3 b - - 3 38",
    "8/6p1/R7/2p1k2P/4P1B1/5PK1/2r1n3/8 w - - 3 46",
    "8/4Q3/kP6/P2b4/5K2/8/8/8 w - - 3 56",
)


def count_nodes(engine: Engine, fen: str, depth: int) -> int:
    """Return the nodes of a search to this depth with an empty table."""
    engine.new_game()
    engine.set_position(Board(fen))
    report = engine.go(Limits(depth=depth)).report
    return report.nodes if report is not None else 0


def bench(depth: int, evaluation: str = "") -> None:
    """Search every position and print its nodes, the total last. Raises InvalidNet.

    `evaluation` is a value of the UCI option EvalFile.
    """
    engine = Engine(HASH_MB)
    engine.set_evaluation(evaluation)
    started = perf_counter()
    total = 0
    for fen in POSITIONS:
        nodes = count_nodes(engine, fen, depth)
        total += nodes
        print(f"{nodes:>10}  {fen}")
    seconds = perf_counter() - started
    print(f"engine {describe_build()}; evaluation: {engine.describe_evaluation()}")
    print(f"depth {depth}: {seconds:.2f} s, {total / seconds:,.0f} nodes/s")
    print(f"Nodes searched: {total}")
