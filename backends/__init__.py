"""Backends compile and run one graph on one kind of device. They know nothing of diffusion.

`base` is the contract; each other module is one backend; `registry` lists them in order of
preference. To add one, write `backends/<name>.py` and add a line to `registry.BACKENDS`.
"""

import os

# From 1.29 on ONNX Runtime reports the machine and the networks it runs to its maker, unless this
# variable is set when it is imported. Only backends import it. (docs/Privacy.md of ONNX Runtime)
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# Without this variable CUDA's device 0 is the fastest card, not the driver's first one. It is read
# once in a process, by whichever runtime starts CUDA, so that all of them and all of our processes
# count alike only if it is set before each.
os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
