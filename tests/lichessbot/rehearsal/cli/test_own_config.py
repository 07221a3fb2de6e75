"""The operator's own configuration in a rehearsal."""

from pathlib import Path

from lichessbot.rehearsal.cli.own_config import own_config


def test_paths_are_relative_to_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text("""\
engine:
  command: [engines/mine, -x]
  working_dir: nets
  polyglot: {book: {standard: mine.bin, 3check: [a.bin, /opt/b.bin]}}
  lichess_bot_tbs: {syzygy: {paths: 3}}
profiles:
  - {when: {speed: bullet}, engine: {command: [stockfish]}}
  - {when: {speed: blitz}, engine: {command: [/opt/mine], working_dir: ""}}
  - {when: {speed: rapid}, engine: {command: [~nobody-of-this-name/mine], dir: ~/engines}}
challenge: {concurrency: 1, block_list_files: [bad.txt, /etc/bad.txt]}
matchmaking: {block_list_files: bots.txt}
""")
    settings = own_config(config)
    assert settings["engine"] == {
        "command": [f"{tmp_path}/engines/mine", "-x"],
        "working_dir": f"{tmp_path}/nets",
        "polyglot": {"book": {"standard": f"{tmp_path}/mine.bin", "3check": [f"{tmp_path}/a.bin", "/opt/b.bin"]}},
        "lichess_bot_tbs": {"syzygy": {"paths": 3}},
    }
    assert settings["profiles"][0]["engine"] == {"command": ["stockfish"]}
    assert settings["profiles"][1]["engine"] == {"command": ["/opt/mine"], "working_dir": ""}
    assert settings["profiles"][2]["engine"] == {
        "command": [f"{tmp_path}/~nobody-of-this-name/mine"], "dir": f"{Path.home()}/engines",
    }  # fmt: skip
    assert settings["challenge"] == {"concurrency": 1, "block_list_files": [f"{tmp_path}/bad.txt", "/etc/bad.txt"]}
    assert settings["matchmaking"] == {"block_list_files": f"{tmp_path}/bots.txt"}


def test_paths_of_lichess_bots_file_are_relative_to_it(tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text("""\
engine:
  dir: engines
  name: mine.py
  interpreter: venv/bin/python
  polyglot: {book: {standard: mine.bin, selection: best_move, min_weight: 2}}
""")
    assert own_config(config)["engine"] == {
        "dir": f"{tmp_path}/engines",
        "name": "mine.py",
        "interpreter": f"{tmp_path}/venv/bin/python",
        "polyglot": {"book": {"standard": f"{tmp_path}/mine.bin", "selection": "best_move", "min_weight": 2}},
    }
    config.write_text("engine: {name: mine.py, interpreter: python3}\n")
    assert own_config(config) == {"engine": {"name": "mine.py", "interpreter": "python3"}}
