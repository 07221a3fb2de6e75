"""A Lichess bot daemon: accepts challenges, plays whole games, and loses none of them to the network."""
