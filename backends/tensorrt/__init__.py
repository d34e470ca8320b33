"""Shared parts of the two TensorRT backends: NVIDIA's cards, sizes, forms of operators.

`cards` lists the cards and why one cannot be used, `forms` the operator forms of graphs, `ranges`
the sizes that engines are built for. `build` makes engines with the native API and needs no card;
`driver` and `session` run them. The module of the native API, `tensorrt` or `tensorrt_rtx`, is
always passed as an argument.
"""
