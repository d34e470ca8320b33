"""The look of the window: two sets of colours, a spacing grid, a stylesheet, a set of icons."""
