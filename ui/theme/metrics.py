"""The spacing grid, in device-independent pixels. Every margin and gap is one of these."""

XS, S, M, L = 4, 8, 16, 24

RADIUS = 6
ICON = 18
CONTROL_HEIGHT = 32
SIDE_PANEL_WIDTH = 344
THUMBNAIL = 88
