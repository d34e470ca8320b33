"""CUDA's driver through ctypes, as far as it goes without one."""

import ctypes
import ctypes.util
import re
from collections.abc import Mapping
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from backends.base import BackendError
from backends.tensorrt.driver import FUNCTIONS, CudaStream

# C's types in cuda.h, and what stands for them.
TYPES: Mapping[str, Any] = {
    "unsigned int": c_uint,
    "size_t": c_size_t,
    "CUresult": c_int,
    "CUdevice": c_int,
    "CUdevice *": POINTER(c_int),
    "CUcontext": c_void_p,
    "CUcontext *": POINTER(c_void_p),
    "CUstream": c_void_p,
    "CUstream *": POINTER(c_void_p),
    "CUdeviceptr": c_uint64,
    "CUdeviceptr *": POINTER(c_uint64),
    "const void *": c_void_p,
    "void *": c_void_p,
    "const char *": c_char_p,
    "const char **": POINTER(c_char_p),
}


@pytest.mark.skipif(
    bool(ctypes.util.find_library("cuda") or ctypes.util.find_library("nvcuda")),
    reason="NVIDIA's driver is here",
)
def test_without_a_driver_the_missing_library_is_named() -> None:
    with pytest.raises(BackendError, match=r"NVIDIA's driver is not there: .*cuda"):
        CudaStream("0000:01:00.0")


def header() -> str:
    """cuda.h, from the package of CUDA's runtime, which has it."""
    try:
        files = metadata.files("nvidia-cuda-runtime") or []
    except metadata.PackageNotFoundError:
        pytest.skip("nvidia-cuda-runtime is not installed")
    path = next(file for file in files if file.name == "cuda.h")
    return Path(str(path.locate())).read_text(encoding="utf-8")


@pytest.mark.oracle
def test_every_function_is_declared_as_in_cudas_header() -> None:
    text = header()
    for exported, arguments in FUNCTIONS.items():
        name = exported.removesuffix("_v2")
        if exported != name:
            # What a program compiled with this header calls.
            assert re.search(rf"#define {name}\s+(__CUDA_API_PTSZ\()?{exported}\b", text), exported
        declared = re.search(rf"^CUresult CUDAAPI {name}\((.*?)\);", text, re.MULTILINE)
        assert declared, name
        found = [_type(argument) for argument in declared[1].split(",")]
        assert tuple(TYPES[kind] for kind in found) == arguments, name


@pytest.mark.oracle
def test_constants_are_those_of_cudas_header() -> None:
    text = header()
    assert re.search(r"CUDA_ERROR_OUT_OF_MEMORY += 2,", text)
    assert re.search(r"CU_STREAM_NON_BLOCKING += 0x1 ", text)
    assert "typedef unsigned long long CUdeviceptr_v2;" in text


def _type(argument: str) -> str:
    """The type in "const char *pciBusId"."""
    match = re.fullmatch(r"(.*?)(\**)\w+", argument.strip())
    assert match
    return f"{match[1].strip()} {match[2]}".strip()
