"""Files to tensor indexes: the names, shapes, types and places of weights. No weight is ever read.

`index` is what every reader produces; `safetensors` (with `header`) and `diffusers_folder` (with
`diffusers_configs`) are the readers. What
the names mean is the business of `engine.families`, which alone imports this package together with
what lies above it. To add a format: write a module with a function from a path to a `TensorIndex`
(every claim of the file checked, every refusal an `EngineError`) and call it from
`engine.families.identify`.
"""
