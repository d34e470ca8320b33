"""What the two TensorRT backends share: NVIDIA's cards, sizes, forms of operators.

`cards` says which cards there are and why one cannot be used, `forms` in which operators graphs are
written, `ranges` for which sizes engines are built, `sized` builds them when sizes are first known.
`build` makes engines with the native API and needs no card; `driver` and `session` run them.
The module of the native API, `tensorrt` or `tensorrt_rtx`, is always handed in.
"""
