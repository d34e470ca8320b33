"""The place where pictures are made: the form, the canvas and the strip."""
