"""Shared parts of the backends over ONNX Runtime. This package does not import the runtime.

`weights` binds weights without copying, `session` runs a graph through a `provider`, `placement`
verifies that the provider runs it, `plugins` registers providers in packages of their own,
`installed` names the installed build of ONNX Runtime, `errors` translates its failures.
"""
