"""Networks as functions that emit ONNX nodes, with the checkpoint's weights bound by reference.

`builder` writes nodes; `operators` writes the operators of diffusion networks in the form a
compiler runs best; `clip_text`, `unet` and `vae` are the networks and read like the papers'
figures; `weights` decides in which element type weights are bound. To add a network: write one
module with a config dataclass and a function `network(g, config)`.
"""
