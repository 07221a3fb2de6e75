"""PGN in both directions, compared with python-chess, and broken files."""

import io
import random
import re
import time
import tracemalloc

import chess
import chess.engine
import chess.pgn
import pytest

from engine.board import Board
from engine.pgn import pgn, tokens
from engine.pgn.pgn import MAX_ERRORS, MAX_NESTED, game_text, pgn_text, read_games
from engine.pgn.tokens import MAX_COMMENT, MAX_HEADER, MAX_LINE
from tests.engine.pgn.games import only, parse_games, random_game

DIRT = (b"", b"{", b"}", b"(", b")", b"\n\n", b"[", b'"', b"\xff", b"$")


# --- Writing ---------------------------------------------------------------------------------------------------------


def test_a_boards_game_is_read_back_by_python_chess() -> None:
    rng = random.Random(51)
    board = Board()
    while len(board.moves) < 120 and board.legal_moves():
        board.push(rng.choice(board.legal_moves()))
    headers = {"Event": "A casual game", "White": "one", "Black": "two"}
    text = pgn_text(headers, board, "1/2-1/2", [60.0 - ply for ply in range(len(board.moves))])
    assert all(len(line) <= 80 for line in text.splitlines() if not line.startswith("["))
    game = chess.pgn.read_game(io.StringIO(text))
    assert game.errors == []
    assert game.headers["Event"] == headers["Event"]
    assert game.headers["Result"] == "1/2-1/2"
    assert game.end().board().fen() == board.fen()
    assert game.next().clock() == 60.0


def test_a_chess960_game_names_its_variant_and_its_beginning() -> None:
    board = Board("1k6/8/8/8/8/8/8/RKR5 w CA - 0 1", chess960=True).after("b1c1")
    game = chess.pgn.read_game(io.StringIO(pgn_text({}, board, "*")))
    assert game.headers["Variant"] == "Chess960"
    assert game.end().board().fen() == "1k6/8/8/8/8/8/8/R4RK1 b - - 1 1"
    assert game.errors == []


def test_quotes_backslashes_and_line_breaks_in_headers_are_escaped() -> None:
    text = pgn_text({"Event": 'a\r\n"b" \\'}, Board(), "*")
    assert text.splitlines()[0] == '[Event "a \\"b\\" \\\\"]'
    assert only(text).headers["Event"] == 'a "b" \\'


def test_clocks_and_evaluations_are_comments_and_may_be_missing() -> None:
    board = Board().after("e2e4", "e7e5", "g1f3")
    text = pgn_text({"White": "one"}, board, "*", [None, 59.0, 58.0], ["0.31,12", None, "#-3"])
    game = chess.pgn.read_game(io.StringIO(text))
    first, second, third = game.mainline()
    assert first.eval() == chess.engine.PovScore(chess.engine.Cp(31), chess.WHITE)
    assert (first.eval_depth(), first.clock()) == (12, None)
    assert (second.eval(), second.clock()) == (None, 59.0)
    assert third.eval() == chess.engine.PovScore(chess.engine.Mate(-3), chess.WHITE)
    assert third.clock() == 58.0


def test_the_seven_headers_are_always_written_and_come_first() -> None:
    lines = pgn_text({"Opening": "none", "Black": "somebody"}, Board(), "*").splitlines()
    names = [line[1:].split()[0] for line in lines if line.startswith("[")]
    assert names == ["Event", "Site", "Date", "Round", "White", "Black", "Result", "Opening"]


def test_braces_and_line_breaks_in_comments() -> None:
    game = only("1. e4 e5 *")
    game.root.variations[0].comment = "a } b\n\n[Event"
    assert [node.comment for node in only(game_text(game)).root.mainline()] == ["a ) b [Event", ""]


# --- What comments say to programs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0:01:02", 62), ("1:00:00", 3600), ("0:00:09.5", 9.5), ("3:05", 185), ("soon", None), ("1:2:3:4", None)],
)
def test_clocks_in_comments(text: str, seconds: float | None) -> None:
    [node] = only(f"1. e4 {{ well [%eval 0.17] [%clk {text}] played }} *").root.mainline()
    assert node.clock_s == seconds
    assert node.text == "well played"


def test_python_chess_reads_our_comment_commands() -> None:
    game = only("1. e4 { fine [%clk 0:00:01] } e5 *")
    node = game.root.variations[0]
    node.set_command("eval", "-0.31,12")
    node.set_clock(3725)
    again = chess.pgn.read_game(io.StringIO(game_text(game)))
    following = again.next()
    assert following.clock() == 3725
    assert following.eval() == chess.engine.PovScore(chess.engine.Cp(-31), chess.WHITE)
    assert following.eval_depth() == 12
    assert node.text == "fine"


# --- Files as they are -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252"])
def test_file_encodings(encoding: str) -> None:
    file = io.BytesIO('[White "Réti, Müller"]\r\n\r\n1. Nf3 *\r\n'.encode(encoding))
    [game] = read_games(file)
    assert game.headers["White"] == "Réti, Müller"
    assert game.moves == ["g1f3"]
    assert not file.closed


def test_a_line_in_latin_1_among_utf_8() -> None:
    [game] = read_games(io.BytesIO('[White "Müller"]\n'.encode() + '[Black "Réti"]\n\n*\n'.encode("latin-1")))
    assert (game.headers["White"], game.headers["Black"]) == ("Müller", "Réti")


def test_a_byte_that_no_western_code_page_has_is_kept() -> None:
    [game] = read_games(io.BytesIO(b'[White "M\x81"]\n\n*\n'))
    assert game.headers["White"] == "M\x81"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_all_line_ends_are_line_ends(ending: str) -> None:
    text = '[Event "1"]\n\n1. e4 {two\nlines} *\n\n[Event "2"]\n\n1. d4 *'.replace("\n", ending)
    games = list(read_games(io.BytesIO(text.encode())))
    assert [game.moves for game in games] == [["e2e4"], ["d2d4"]]
    assert games[0].root.variations[0].comment == "two lines"


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ('[White "The "Great" One"]', "White", 'The "Great" One'),
        ("[White Kasparov]", "White", "Kasparov"),
        ('[White "Kasparov]', "White", "Kasparov"),
        ('[White "Kasparov"', "White", "Kasparov"),
        ('  [ White   "Kasparov" ]  ', "White", "Kasparov"),
        ('[White ""]', "White", ""),
        ('[White "a ] b"]', "White", "a ] b"),
    ],
)
def test_broken_headers_are_read(line: str, name: str, value: str) -> None:
    game = only(f'[Event "x"]\n{line}\n\n1. e4 *')
    assert game.headers[name] == value
    assert game.moves == ["e2e4"]


@pytest.mark.parametrize(("line", "quoted"), [("[?]", "[?]"), ('[White "a"] [', "[")])
def test_a_line_that_is_no_header_is_named(line: str, quoted: str) -> None:
    game = only(f"{line}\n\n1. e4 *")
    assert game.errors == [f"line 1: expected a header such as [White \"Name\"], found '{quoted}'"]
    assert game.moves == ["e2e4"]


def test_a_header_that_is_given_twice_begins_no_game() -> None:
    assert only('\n[White "a"]\n[White "b"]\n\n1. e4 *').headers["White"] == "b"


def test_comments_to_the_end_of_the_line_and_over_several_lines() -> None:
    game = only('1. e4 ; best by test\n1... e5 {as in\n[Event "Paris"]\n} 2. Nf3 *')
    assert [node.comment for node in game.root.mainline()] == ["best by test", 'as in [Event "Paris"]', ""]


def test_headers_may_share_a_line_with_each_other_and_with_moves() -> None:
    game = only('[Event "x"] [White "y"] 1. e4 e5 1-0')
    assert game.headers == {"Event": "x", "White": "y", "Result": "1-0"}
    assert game.moves == ["e2e4", "e7e5"]


@pytest.mark.parametrize(
    "moves",
    [
        "1.e4 e5 2.Nf3 Nc6 3.Bb5 Nf6 4.O-O",
        "1. e2-e4 e7-e5 2. Ng1-f3 Nb8-c6 3. Bf1-b5 Ng8-f6 4. 0-0",
        "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1",
        "1 e4 e5 2 Ngf3 Nbc6 3 Bb5 Nf6 4 o-o",
        "1.♙e4 ♟e5 2.♘f3 ♞c6 3.♗b5 ♞f6 4.O-O",
        "1. e4! e5? 2. Nf3!! Nc6?? 3. Bb5!? Nf6?! 4. O-O $10",
        "1. e4 1... e5 2. Nf3 2... Nc6 3. Bb5 ... Nf6 4. O-O",
        "1.e4,e5, 2.Nf3,Nc6, 3.Bb5,Nf6, 4.O-O",
        "1. e4 += e5 = 2. Nf3 +- Nc6 -/+ 3. Bb5 \u00b1 N Nf6 (3... f5 \u221e) D 4. O-O draw",
        "1. e4 {c} e5 ; to the end of the line 2. d4\n% and this is for nobody\n2. Nf3 Nc6\n\n3. Bb5 Nf6 4. O-O",
    ],
)
def test_moves_are_written_in_many_ways(moves: str) -> None:
    game = only(f"{moves} *")
    assert game.errors == []
    assert game.moves == ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "g8f6", "e1g1"]


def test_marks_of_quality_have_the_numbers_of_python_chess() -> None:
    text = "1. e4! e5? 2. Nf3!! Nc6?? 3. Bb5!? Nf6?! *"
    game = chess.pgn.read_game(io.StringIO(text))
    assert [set(node.nags) for node in only(text).root.mainline()] == [node.nags for node in game.mainline()]


@pytest.mark.parametrize("promotion", ["e8=Q+", "e8Q", "e8/Q", "e8(Q)", "e7e8q", "e7-e8=q"])
def test_promotions_are_written_in_many_ways(promotion: str) -> None:
    assert only(f'[FEN "7k/4P3/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. {promotion} *').moves == ["e7e8q"]


@pytest.mark.parametrize("capture", ["exd6 e.p.", "exd6e.p.", "exd6ep", "exd6 ep"])
def test_en_passant_may_be_named(capture: str) -> None:
    game = only(f'[FEN "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"]\n\n1. {capture} Kd7 *')
    assert game.errors == []
    assert game.moves == ["e5d6", "e8d7"]


@pytest.mark.parametrize(
    "text",
    [
        "1. e4 e5 *\n\n1. d4 d5 *",
        "1. e4 e5 * 1. d4 d5 *",
        "1. e4 e5\n\n1. d4 d5",
        '[Event "1"]\n\n1. e4 e5\n[Event "2"]\n1. d4 d5',
        '[Event "1"]\n1. e4 e5\n\n[Event "2"]\n1. d4 d5',
        '[Event "1"]\n\n1. e4 e5 {never closed\n\n[Event "2"]\n\n1. d4 d5 *',
        '[Event "1"]\n\n1. e4 e5 (1... c5\n\n[Event "2"]\n\n1. d4 d5 *',
    ],
)
def test_where_a_game_ends_and_the_next_begins(text: str) -> None:
    assert [game.moves for game in parse_games(text)] == [["e2e4", "e7e5"], ["d2d4", "d7d5"]]


def test_empty_lines_are_no_game() -> None:
    assert list(parse_games("\n\n")) == []


@pytest.mark.parametrize("variations", [True, False])
def test_a_variation_that_is_not_closed_is_named(variations: bool) -> None:
    (game,) = parse_games("1. e4 e5 (1... c5 *", variations=variations)
    (error,) = game.errors
    assert "a variation is not closed" in error


def test_a_parenthesis_too_many_is_named() -> None:
    game = only("1. e4) e5 *")
    assert game.moves == ["e2e4", "e7e5"]
    assert game.errors == ["line 1: expected a move, found ')' without '('"]


def test_a_variation_before_any_move_is_left_out() -> None:
    game = only("(1. d4) 1. e4 e5 *")
    assert game.moves == ["e2e4", "e7e5"]
    assert "a variation stands before any move" in game.errors[0]


def test_headers_alone_are_a_game() -> None:
    games = list(parse_games('[Event "1"]\n\n[Event "2"]\n\n[Event "3"]\n\n1. e4 *'))
    assert [game.headers["Event"] for game in games] == ["1", "2", "3"]
    assert [len(game.moves) for game in games] == [0, 0, 1]


@pytest.mark.parametrize("draw", ["1/2-1/2", "1/2", "½-½", "½"])
def test_a_draw_is_written_in_many_ways(draw: str) -> None:
    assert only(f"1. e4 e5 {draw}").result == "1/2-1/2"


def test_a_result_in_words_is_none() -> None:
    game = only('[Result "White won"]\n\n1. e4')
    assert game.result == "*"
    assert game_text(game).endswith("\n1. e4 *\n\n")


def test_an_illegal_move_ends_its_line_and_is_named_with_its_place() -> None:
    game = only("1. e4 e5\n2. Ke3 Nc6 (2... d6) 3. Nf3 1-0")
    assert game.moves == ["e2e4", "e7e5"]
    assert game.result == "1-0"
    [error] = game.errors
    assert error.startswith("line 2: 'Ke3'")


def test_an_illegal_move_in_a_variation_spares_the_main_line() -> None:
    game = only("1. e4 (1. d4 d4 2. c4 (2. Nf3)) 1... e5 {still} (1... c5) *")
    assert game.moves == ["e2e4", "e7e5"]
    assert [reply.move for reply in game.root.variations] == ["e2e4", "d2d4"]
    assert [reply.move for reply in game.root.variations[0].variations] == ["e7e5", "c7c5"]
    assert len(game.errors) == 1


def test_an_ambiguous_move_names_the_choices() -> None:
    [error] = only('[FEN "4k3/8/8/8/8/8/8/N3K1N1 w - - 0 1"]\n\n1. Nc2 Kd8 2. Nf3 Kc8 3. Nd4 *').errors
    assert "could be Ncd4 or Nfd4" in error


@pytest.mark.parametrize("move", ["--", "Z0", "0000"])
def test_null_moves_are_no_moves(move: str) -> None:
    game = only(f"1. e4 {move} 2. d4 *")
    assert game.moves == ["e2e4"]
    assert "null move" in game.errors[0]


@pytest.mark.parametrize(
    ("headers", "problem"),
    [('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]', "king"), ('[Variant "Tiddlywinks"]', "Tiddlywinks")],
)
def test_a_game_with_an_invalid_start_keeps_headers_and_result(headers: str, problem: str) -> None:
    game = only(f'[White "w"]\n{headers}\n\n1. e4 e5 0-1')
    assert problem in game.errors[0]
    assert game.moves == []
    assert game.headers["White"] == "w"
    assert game.result == "0-1"


def test_errors_do_not_grow_with_the_file() -> None:
    assert len(only("1. e4 " + "§ " * 5000).errors) == MAX_ERRORS


def test_moves_do_not_grow_with_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn, "MAX_NODES", 3)
    game = only("1. e4 e5 (1... c5) 2. Nf3 Nc6 *")
    assert game.moves == ["e2e4", "e7e5"]
    assert game.errors == ["line 1: the game has more than 3 moves"]


def test_a_whole_game_on_one_line_keeps_all_its_moves() -> None:
    shuffle = "1. Nf3 Nf6 2. Ng1 Ng8 "
    game = only('[Event "x"] [White "y"] ' + shuffle * 300 + "*")
    assert game.errors == []
    assert len(game.moves) == 1200


@pytest.mark.parametrize(
    ("line", "name"),
    [('[White "' + "x" * 100_000 + '"]', "x" * MAX_HEADER), ("[White " + " " * 100_000 + "x]", "")],
)
def test_headers_do_not_grow_with_the_file(line: str, name: str) -> None:
    game = only(f"{line}\n\n1. e4 *")
    assert game.headers.get("White", "") == name
    assert game.moves == ["e2e4"]


@pytest.mark.parametrize(
    "text",
    [
        f"[Event a{' ' * 100_000}x\n\n*\n",
        "1. e4 " + "{}" * 100_000 + " *\n",
        "1. e4 {" + " " * 1_000_000 + "x} *\n",
        "1. e4 {" + "[%clk " * 20_000 + "} *\n",
        "1. e4 {[%clk" + " " * 1_000_000 + "} *\n",
    ],
    ids=["header", "comments", "spaces", "commands", "a command without end"],
)
def test_no_text_takes_long_for_its_length(text: str) -> None:
    began = time.process_time()
    for game in parse_games(text):
        for node in game.root.mainline():
            assert node.clock_s is None
            assert len(node.text) < len(text)
    assert time.process_time() - began < 2


def test_comments_before_a_variation_do_not_grow_with_the_file() -> None:
    comment = "{" + "word " * 1000 + "}"
    game = only(f"1. e4 e5 ({comment * (MAX_COMMENT // 1000)} 1... d5) 2. Nf3 *")
    (variation,) = game.root.variations[0].variations[1:]
    assert variation.starting_comment.startswith("word word")
    assert len(variation.starting_comment) <= MAX_COMMENT


def test_a_comment_does_not_grow_with_the_file() -> None:
    game = only("1. e4 {" + "word\n" * MAX_COMMENT + "} e5 *")
    assert game.root.variations[0].comment == ("word " * (MAX_COMMENT // 5)).strip()
    assert game.moves == ["e2e4", "e7e5"]


def test_deep_nesting_is_cut_and_the_main_line_continues() -> None:
    deep = 3 * MAX_NESTED
    game = only("1. e4 " + "(1. d4 " * deep + ")" * deep + " e5 *")
    assert game.moves == ["e2e4", "e7e5"]
    assert "nested" in game.errors[0]
    assert chess.pgn.read_game(io.StringIO(game_text(game))).errors == []


def test_a_line_longer_than_the_read_buffer_is_cut_between_words() -> None:
    comment = " ".join(["word"] * 15000)
    moves = ["Nf3", "Nf6", "Ng1", "Ng8"] * 5
    text = " ".join(f"{move} {{{comment}}}" for move in moves)
    assert len(text) > MAX_LINE
    game = only(text)
    assert game.errors == []
    assert [node.comment for node in game.root.mainline()] == [comment] * len(moves)


def test_a_file_that_ends_with_a_full_read_buffer_keeps_its_last_move(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "1. e4 e5"
    monkeypatch.setattr(tokens, "MAX_LINE", len(text))
    assert only(text).moves == ["e2e4", "e7e5"]


@pytest.mark.parametrize("seed", range(20))
def test_damaged_files_never_raise(seed: int) -> None:
    rng = random.Random(seed)
    raw = bytearray("\n\n".join(str(random_game(seed + game, 30)) for game in range(4)).encode())
    for _ in range(rng.randrange(1, 80)):
        spot = rng.randrange(len(raw))
        raw[spot : spot + rng.randrange(6)] = rng.choice(DIRT)
    for game in read_games(io.BytesIO(bytes(raw))):
        if not any("FEN" in error or "variant" in error for error in game.errors):
            assert re.fullmatch(r"(?s).*\S\n\n", game_text(game))
            board = game.board()
            for move in game.moves:
                board.push(move)               # raises for an illegal move


def test_a_stream_of_any_length_needs_little_memory() -> None:
    one = str(random_game(1, 40)) + "\n\n"
    games = 60
    reader = read_games(io.BytesIO(one.encode() * games), variations=False)
    next(reader)
    tracemalloc.start()
    try:
        assert sum(1 for _ in reader) == games - 1
        assert tracemalloc.get_traced_memory()[1] < 300_000       # twice as much if it kept the games
    finally:
        tracemalloc.stop()


def test_a_file_may_be_closed_before_all_games_are_read() -> None:
    with io.BytesIO(b"1. e4 *\n\n1. d4 *\n\n1. c4 *\n") as file:
        reader = read_games(file)
        assert next(reader).moves == ["e2e4"]
    reader.close()                     # Python calls this, too, and prints what it raises
