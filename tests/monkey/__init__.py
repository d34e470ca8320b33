"""A monkey at the application: real events at random, by a seed, and a watch over what they do.

    python -m tests.monkey --seed 7 --minutes 30

The window is the real one, on a display that nobody looks at, with the starter and the real engine.
The monkey stays in a folder of its own: `bounds` refuses the application every other folder, every
other program and the network. `watch` looks from within at the window's thread and at the memory,
`hand` has the mouse and the keys, `judge` says what was wrong.
"""
