"""How items of lists are drawn."""
