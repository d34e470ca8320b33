"""What every backend over ONNX Runtime shares. Nothing here imports the runtime unasked.

`weights` binds weights from where they are, `session` runs a graph through a `provider`,
`placement` proves that the provider runs it, `plugins` registers providers that come as packages of
their own, `installed` says which build of ONNX Runtime there is, `errors` words its failures.
"""
