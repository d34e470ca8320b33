"""How it looks: two sets of colours, one spacing grid, one stylesheet, one set of icons."""
