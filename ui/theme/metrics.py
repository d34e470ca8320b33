"""The spacing grid, in device-independent pixels: the sizes of all margins and gaps."""

XS, S, M, L = 4, 8, 16, 24

RADIUS = 6
ICON = 18
CONTROL_HEIGHT = 32
SIDE_PANEL_WIDTH = 344
THUMBNAIL = 88
LORA_PICTURE = 128
