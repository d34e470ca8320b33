"""The languages of the window: their catalogues, and the choice among them."""
