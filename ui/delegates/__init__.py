"""Delegates that draw the items of lists."""
