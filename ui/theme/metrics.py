"""The spacing grid, in device-independent pixels: the sizes of all margins and gaps."""

XS, S, M, L = 4, 8, 16, 24

# A window below either of these sizes is small: it leaves out what the picture needs the room of.
WIDE, HIGH = 1120, 700
# The least part of the window that a picture in Create has, whatever stands around it.
LEAST_SHARE = 0.45

RADIUS = 6
ICON = 18
CONTROL_HEIGHT = 32
SIDE_PANEL_WIDTH = 320
SIDE_HANDLE = 12
RAIL_BUTTON, RAIL_BUTTON_LEAST = 60, 40
RAIL_ICON = 22
MESSAGE_WIDTH = 620
QUEUE_WIDTH, QUEUE_LEAST = 420, 320
QUEUE_PICTURE = 48
DOCK_HEIGHT = 56
GENERATE_LEAST, GENERATE_WIDEST = 216, 400
THUMBNAIL, THUMBNAIL_LEAST = 56, 32
LORA_PICTURE = 128
MODEL_PICTURE = 168
DETAILS_WIDTH = 320
