"""Networks that turn a picture into a map for a ControlNet: edges, lines and depth.

They are small, run once per picture, and are written on planes with standard operators alone.
Inputs are one picture, outputs one plane of float32 [1, 1, height, width].
"""
