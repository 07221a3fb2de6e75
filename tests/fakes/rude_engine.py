"""A misbehaving UCI engine; the first argument says how. It knows no chess.

polite      answers every search with the first of the moves given as further arguments, expecting the second
nameless    the same, and does not tell its name
echoing     like polite, and repeats its input on its error output; has options, but no Move Overhead
levelled    like echoing, with the levels 1320 to 3190 as its only options
roomy       like polite, with a hash table of 16 MiB or more as its only option
narrow      the same, of 32 MiB or less
hasty       like polite, but answers a ponder search at once
absorbed    ponders without end: ignores ponderhit, and stop as well
repeating   ponders, and answers twice if it is stopped
curt        names no move if it is stopped while it ponders
slow        thinks until told to stop
deaf        answers uci and isready, never a search, and ignores stop
mute        answers nothing at all
unready     answers uci, never isready
dies        ends in the middle of its first search
leaves      ends after its first answer
survived    the same, but a child process keeps its output open
shut        closes its output instead of its first answer, and lives on
unhearing   closes its input after its first answer, and lives on
learning    like polite, and writes the file `learnt` into its folder when it is told to quit
illegal     answers with a move that no position allows
chatty      writes 3,000 lines to its error output, then answers politely
noisy       writes nonsense to both outputs and introduces itself again, then answers politely
babbling    writes without end once asked for a move
scolding    the same, on its error output
clogged     never reads its input
clinging    ignores the end of its input, and has a child process
"""

import os
import sys
import time

# Starts it in 10 ms: without packages, and with modules that only some manners need loaded by these. Ours takes 90 ms.
QUICK_PYTHON = (sys.executable, "-I", "-S")
# For what is not about the engine.
POLITE_ENGINE = (*QUICK_PYTHON, __file__, "polite")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def sleeping_child(**inputs: int) -> int:
    """Start a process that does nothing, and return its id."""
    import subprocess

    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], **inputs).pid


def main(manner: str, *moves: str) -> None:
    if manner == "clinging":
        say(f"info string child {sleeping_child()}")
    if manner == "clogged":
        time.sleep(600)
    pondering = False
    for line in sys.stdin:
        command = line.split()[0]
        if manner in ("echoing", "levelled"):
            sys.stderr.write(line)
            sys.stderr.flush()
        if manner == "mute":
            continue
        if command == "uci":
            if manner != "nameless":
                say("id name rude")
            if manner == "echoing":
                say("option name Style type combo default Calm var Calm var Very Wild")
                say("option name UCI_Chess960 type check default false")
                say("option name UCI_Opponent type string default <empty>")
            if manner in ("echoing", "absorbed", "curt", "repeating"):
                say("option name Ponder type check default false")
            if manner == "roomy":
                say("option name Hash type spin default 16 min 16 max 1024")
            if manner == "narrow":
                say("option name Hash type spin default 16 min 1 max 32")
            if manner == "levelled":
                say("option name UCI_LimitStrength type check default false")
                say("option name UCI_Elo type spin default 1350 min 1320 max 3190")
            say("uciok")
        elif command == "isready" and manner != "unready":
            if manner == "noisy":
                say("info string error: nothing is wrong\nbestmove a2a3")
            say("readyok")
        elif command == "go" and " ponder" in line and manner != "hasty":
            pondering = True
        elif command == "go" and manner not in ("slow", "deaf"):
            search(manner, *moves)
        elif command in ("ponderhit", "stop") and pondering and manner == "absorbed":
            continue
        elif command == "stop" and pondering and manner == "curt":
            pondering = False
            say("bestmove")
        elif command in ("ponderhit", "stop") and pondering:
            pondering = False
            search(manner, *moves)
            if manner == "repeating" and command == "stop":
                say("bestmove " + moves[0])
        elif command == "stop" and manner == "slow":
            say("info depth 3 nodes 70 score mate 2 pv " + moves[0])
            say("bestmove " + moves[0])
        elif command == "quit":
            if manner == "learning":
                open("learnt", "w").close()
            break
    if manner in ("clinging", "deaf", "mute"):
        time.sleep(600)


def search(manner: str, move: str = "e2e4", reply: str = "e7e5") -> None:
    if manner == "dies":
        sys.exit(7)
    if manner == "chatty":
        sys.stderr.write("a line\n" * 3000)
        sys.stderr.flush()
    if manner == "noisy":
        sys.stderr.write("something is odd\n")
        sys.stderr.flush()
        sys.stdout.buffer.write(b"\xff\xfe\x00 info depth\ninfo depth x score cp pv\n\n")
        sys.stdout.flush()
        say("id name another\nuciok")
    while manner == "babbling":
        sys.stdout.write("info string and another thing\n" * 1000)
    while manner == "scolding":
        sys.stderr.write("and another thing\n" * 1000)
    if manner == "shut":
        os.close(1)
        time.sleep(600)
    if manner == "illegal":
        move = "a1h7"  # no piece moves like that, in any position
    say(f"info depth 5 seldepth 9 score cp 31 nodes 1234 nps 1 pv {move} {reply}")
    if manner == "noisy":
        say("info string pv table: depth 1 score cp 9999")
        say("info depth 9 multipv 0 score cp 9999 pv a2a3")
        say("info depth 9 multipv 3 score cp 9999 pv a2a3")
    say(f"bestmove {move} ponder {reply}")
    if manner == "unhearing":
        os.close(0)
        time.sleep(600)
    if manner == "survived":
        sleeping_child(stdin=os.open(os.devnull, os.O_RDONLY))
    if manner in ("leaves", "survived"):
        sys.exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
