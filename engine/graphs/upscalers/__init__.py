"""Networks that make pictures larger or cleaner, as functions that emit ONNX nodes.

Each module has a config and a function `network(g, config)`. A network maps `image`, float32
[1, channels, height, width] in [0, 1], to `upscaled`, float32 [1, channels, scale * height, scale *
width] nominally in [0, 1]. Height and width are multiples of what the network works in: whoever
runs it pads the picture. `layers` has the operators that several of them use.
"""
