"""Networks as functions that emit ONNX nodes, with the checkpoint's weights bound by reference.

`builder` writes nodes; `operators` writes the operators of diffusion networks in the form that a
backend's compiler runs best; `clip_text`, `unet`, `vae` and `tiny_vae` are the networks and follow
the papers' figures. To add a network, write one module with a config dataclass and a function
`network(g, config)`.
"""
