"""Safelight beside its peers: the same work, in the same run, taking turns.

`python -m benchmarks` prints tables and judges them against the targets in `sections`; see
`__main__` for the options. Each peer (`peers`) is loaded in a process of its own and answers
requests one at a time (`child`); the app is timed from outside, as a person meets it (`command`).
`checkpoints` makes full-size checkpoints of random weights, since speed does not depend on what
the numbers are. To add a peer or a section: write its module and add its line to `peers.PEERS` or
`sections.SECTIONS`.
"""
