"""Configurations of other bots, of the same shape as those that they ship, with every key that they read."""

LICHESS_BOT = """\
token: "lip_0123456789abcdef"
url: "https://lichess.org/"

engine:
  dir: "./engines/"
  name: "fish"
  debug: True
  working_dir: ""
  protocol: "uci"
  ponder: true
  polyglot:
    enabled: false
    book:
      standard:
        - engines/book1.bin
        - engines/book2.bin
      atomic:
        - engines/atomic.bin
    min_weight: 2
    selection: "best_move"
    max_depth: 12
    normalization: "max"
  draw_or_resign:
    resign_enabled: true
    resign_score: -900
    resign_for_egtb_minus_two: false
    resign_moves: 4
    offer_draw_enabled: true
    offer_draw_score: 5
    offer_draw_for_egtb_zero: false
    offer_draw_moves: 7
    offer_draw_pieces: 12
  online_moves:
    max_out_of_book_moves: 8
    max_retries: 3
    max_depth: 10
    chessdb_book: {enabled: false, min_time: 21, max_time: 10000, move_quality: "best", min_depth: 22}
    lichess_cloud_analysis:
      enabled: false
      min_time: 22
      max_time: 9000
      move_quality: "good"
      max_score_difference: 30
      min_depth: 18
      min_knodes: 5
    lichess_opening_explorer:
      enabled: false
      min_time: 23
      max_time: 8000
      source: "player"
      player_name: "Ferdinand"
      sort: "games_played"
      min_games: 4
    online_egtb:
      enabled: false
      min_time: 24
      max_time: 7000
      max_pieces: 8
      source: "chessdb"
      move_quality: "suggest"
  lichess_bot_tbs:
    syzygy: {enabled: false, paths: ["engines/syzygy"], max_pieces: 6, move_quality: "suggest"}
    gaviota: {enabled: false, paths: ["engines/gaviota"], max_pieces: 5}
  homemade_options:
  uci_options:
    Move Overhead: 90
    Threads: 2
    Hash: 32
    SyzygyPath: "./syzygy/"
    UCI_ShowWDL: true
    go_commands:
      nodes: 5000
      depth: 9
      movetime: 700
  silence_stderr: true

abort_time: 25
fake_think_time: false
rate_limiting_delay: 1
move_overhead: 2000
max_takebacks_accepted: 2
quit_after_all_games_finish: false

correspondence:
  move_time: 50
  checkin_period: 400
  disconnect_time: 160
  ponder: true

challenge:
  concurrency: 2
  games_reserved_for_humans: 1
  sort_by: "first"
  preference: "human"
  accept_bot: true
  only_bot: false
  max_increment: 30
  min_increment: 1
  max_base: 3600
  min_base: 10
  max_days: .inf
  min_days: 2
  variants:
    - standard
    - chess960
    - atomic
  time_controls:
    - bullet
    - blitz
    - correspondence
  modes:
    - casual
    - rated
  block_list:
    - Cheat
  recent_bot_challenge_age: 60
  max_recent_bot_challenges: 2
  min_rating: 100
  max_rating: 3900
  rating_difference: 500
  bullet_requires_increment: true
  max_simultaneous_games_per_user: 3

greeting:
  hello: "Hi! I'm {me}, on {cpu}. Good luck, {opponent}!"
  goodbye: "Good game!"
  hello_spectators: "Hi! I'm {me}."
  goodbye_spectators: "Thanks!"

pgn_directory: "game_records"
pgn_file_grouping: "opponent"

matchmaking:
  allow_matchmaking: false
  allow_during_games: true
  challenge_variant: "standard"
  challenge_timeout: 40
  challenge_initial_time:
    - 60
    - 240
  challenge_increment:
    - 0
    - 2
  opponent_rating_difference: 250
  rating_preference: "high"
  challenge_mode: "casual"
  challenge_filter: coarse
  block_list:
    - Rude
  include_challenge_block_list: true
  challenge_decliner_file_name:
  overrides:
    only_horde:
      challenge_variant: "horde"
    easy_960:
      challenge_variant: "chess960"
      opponent_min_rating: 400
      opponent_max_rating: 1200
      opponent_rating_difference:
      challenge_mode: casual
    by_days:
      challenge_initial_time:
      challenge_increment:
      challenge_days:
        - 2
        - 3
"""

BOTLI = """\
token: "lip_0123456789abcdef"

engines:
  standard:
    dir: "./engines"
    name: "fish"
    ponder: true
    silence_stderr: true
    move_overhead_multiplier: 1.5
    uci_options:
      Threads: 2
      Hash: 32
      Move Overhead: 90
    limits:
      depth: 12
  chess960:
    dir: "./engines"
    name: "randomfish"
    ponder: false
    silence_stderr: false
    move_overhead_multiplier: 1.0
    uci_options:
      Threads: 1
    limits:
      time: 2.5
      nodes: 100000
  3+2_white_human:
    dir: "/opt/engines"
    name: "coach"
    ponder: false
    silence_stderr: false
    move_overhead_multiplier: 1.0
    uci_options:
    limits:

syzygy:
  standard:
    enabled: false
    paths:
      - "tables/standard"
    max_pieces: 6
    instant_play: true
  antichess:
    enabled: false
    paths:
      - "tables/antichess"
    max_pieces: 6
    instant_play: true

gaviota:
  enabled: false
  paths:
    - "tables/gaviota"
  max_pieces: 5

opening_books:
  enabled: false
  priority: 400
  books:
    blitz:
      selection: best_move
      names:
        - Sharp
        - Solid
    standard:
      selection: weighted_random
      max_depth: 15
      max_moves: 4
      allow_repetitions: true
      names:
        - Solid

online_moves:
  opening_explorer:
    enabled: false
    priority: 300
    player: Ferdinand
    only_without_book: true
    use_for_variants: false
    allow_repetitions: true
    min_time: 11
    timeout: 5
    min_games: 6
    only_with_wins: true
    selection: "performance"
    anti: false
    max_depth: 16
    max_moves: 3
  lichess_cloud:
    enabled: false
    priority: 200
    only_without_book: true
    use_for_variants: false
    allow_repetitions: true
    trust_eval: false
    min_eval_depth: 14
    min_time: 12
    timeout: 5
    max_depth: 20
    max_moves: 5
  chessdb:
    enabled: false
    priority: 100
    only_without_book: true
    allow_repetitions: true
    trust_eval: false
    min_time: 13
    timeout: 5
    best_move: true
    max_depth: 22
    max_moves: 6
  online_egtb:
    enabled: false
    min_time: 6
    timeout: 3

offer_draw:
  enabled: true
  score: 12
  consecutive_moves: 6
  min_game_length: 35
  against_humans: false
  min_rating: 2300

resign:
  enabled: true
  score: -800
  consecutive_moves: 4
  against_humans: false
  min_rating: 2200

challenge:
  concurrency: 2
  max_takebacks: 3
  human:
    bullet_with_increment_only: true
    min_increment: 1
    max_increment: 60
    min_initial: 30
    max_initial: 900
    max_estimated_game_duration: 30
    variants:
      - standard
      - chess960
      - atomic
    time_controls:
      - blitz
      - 25+0
    modes:
      - casual
      - rated
  bot:
    bullet_with_increment_only: false
    min_initial: 30
    variants:
      - standard
      - chess960
    time_controls:
      - bullet
      - blitz
    modes:
      - rated

matchmaking:
  delay: 490
  timeout: 5
  selection: cyclic
  types:
    blitz:
      tc: 3+2
      multiplier: 15
      min_rating_diff: 20
      max_rating_diff: 300
      target_rating_diff: 50
    casual_chess960:
      tc: 1+0
      rated: false
      variant: chess960
    horde:
      tc: 3+0
      variant: horde

messages:
  greeting: "Hey, I'm {me}, running on {ram}. Good luck!"
  goodbye: "Good game, {opponent}."
  greeting_spectators: "Hey!"
  goodbye_spectators: "Thanks."

whitelist:
  - Friend

blacklist:
  - Cheat

online_blacklists:
  - https://example.com/blocklist

books:
  Sharp: "/path/to/sharp.bin"
  Solid: "books/solid.bin"
"""

# Of BotLi, in older layouts.
UNTIL_AUGUST_2023 = """\
engine:
  dir: ./engines
  name: fish
  ponder: true
  uci_options: {Hash: 64}
  syzygy: {enabled: true, paths: [tables], max_pieces: 5, instant_play: true}
  variants: {enabled: true, dir: ./engines, name: fairy, uci_options: {Hash: 32}}
  opening_books:
    enabled: true
    books:
      white: [White]
      standard: [Solid]
      atomic: [Solid]
    selection: best_move
    max_depth: 16
  online_moves:
    chessdb: {enabled: true, min_eval_depth: 12, min_time: 40, timeout: 5, selection: all}
  offer_draw: {enabled: true, score: 10, consecutive_moves: 10, min_game_length: 35}
  resign: {enabled: true, score: -900, consecutive_moves: 5}
move_overhead_multiplier: 1.0
challenge: {concurrency: 1, variants: [standard], time_controls: [bullet], bot_modes: [rated], human_modes: [casual]}
matchmaking:
  initial_time: 90
  increment: 1
  rated: false
  timeout: 20
  variants: [standard, atomic]
  max_rating_diff: 250
books: {Solid: solid.bin, White: white.bin}
"""

UNTIL_MAY_2026 = """\
engines: {}
books: {}
challenge:
  concurrency: 1
  max_takebacks: 3
  bullet_with_increment_only: true
  min_increment: 1
# max_increment: 180
  max_initial: 300
  variants:
    - standard
    - chess960
    - bughouse
  bot_time_controls:
    - bullet
    - 3+1
  human_time_controls:
    - blitz
  bot_modes:
    - rated
  human_modes:
    - casual
    - rated
"""
