"""Tasks on other machines: a Dask cluster, reached through its scheduler.

Knows how to connect (`client`), and what a worker must have in common with us before it gets work (`worker`); both need
the extra `cluster`, and `address` does not. `engine/training/README.md` says how to run one.
"""
