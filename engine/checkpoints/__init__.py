"""Readers of checkpoint files: names, shapes, types and places of weights, but not their numbers.

Every reader returns an `index.TensorIndex`; `safetensors` (with `header`), `gguf`, `torch_file` and
`diffusers_folder` (with `diffusers_configs`) are the readers. `engine.families` gives names their
meaning. To add a format, write a module with a function from a path to a `TensorIndex` (every claim
of the file checked, every refusal an `EngineError`) and call it from `engine.checkpoints.files`.
"""
