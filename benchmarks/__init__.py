"""Compares Safelight with its peers: the same work, in the same run, taking turns.

`python -m benchmarks` prints tables and checks them against the targets in `sections`; see
`__main__` for the options. Each peer (`peers`) is loaded in a process of its own and answers
requests one at a time (`child`); the app is timed from outside, as a user runs it (`command`).
`checkpoints` makes full-size checkpoints of random weights, because speed does not depend on the
values. To add a peer or a section, write its module and add a line to `peers.PEERS` or
`sections.SECTIONS`.
"""
