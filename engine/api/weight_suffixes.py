"""Suffixes of files of weights, in lower case. What a file is, its content tells."""

from pathlib import PureWindowsPath

# `.sft` is a safetensors file's, too.
SAFETENSORS_SUFFIXES = (".safetensors", ".sft")
# llama.cpp's format of quantised weights.
GGUF_SUFFIX = ".gguf"
# PyTorch's suffixes; .pt and .bin files are usually not checkpoints.
PYTORCH_SUFFIXES = (".ckpt", ".pt", ".pth", ".bin")
# All formats of weights that are read, the usual ones first.
WEIGHT_SUFFIXES = (*SAFETENSORS_SUFFIXES, GGUF_SUFFIX, *PYTORCH_SUFFIXES)
# A network with its operators; preprocessors are read from such files, too.
ONNX_SUFFIX = ".onnx"
# Files of ControlNets, adapters and preprocessors.
NETWORK_SUFFIXES = (*WEIGHT_SUFFIXES, ONNX_SUFFIX)


def without_weight_suffix(name: str) -> str:
    """Return a file's name without its suffix, if that is one of weights."""
    stem, dot, suffix = name.rpartition(".")
    return stem if stem and dot + suffix.lower() in WEIGHT_SUFFIXES else name


def weights_name(path: str) -> str:
    """Return the name of a file or folder without a suffix of weights, for paths of any system.

    A dot in the name of a folder, or in one that is stated without suffix, begins none.
    """
    return without_weight_suffix(PureWindowsPath(path).name)
