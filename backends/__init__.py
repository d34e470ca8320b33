"""Backends compile and run one graph on one kind of device. They know nothing of diffusion.

`base` is the contract; each other module is one backend; `registry` lists them in order of
preference. To add one: write `backends/<name>.py` and add its line to `registry.BACKENDS`.
"""
