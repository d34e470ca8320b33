"""Processors that round to 8 bits are those with the instructions for it."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from backends.base import Precision
from backends.intel_openvino import OpenVinoBackend, core, options
from backends.intel_openvino.rounding import rounds_to_8_bits

pytestmark = pytest.mark.skipif(find_spec("openvino") is None, reason="openvino is not installed")
# Instructions that sum products of 8 bits, by the names that Linux has for them.
INSTRUCTIONS = {"avx_vnni", "avx512_vnni", "amx_int8"}


@pytest.mark.skipif(sys.platform != "linux", reason="the list of instructions is Linux's")
def test_processors_with_instructions_for_8_bits_round_to_them() -> None:
    listed = set(Path("/proc/cpuinfo").read_text().split())
    if "avx2" not in listed:
        pytest.skip("the instructions have other names here")
    assert rounds_to_8_bits(core()) is bool(INSTRUCTIONS & listed)


def test_a_processor_offers_8_bits_where_it_rounds_to_them() -> None:
    (cpu,) = [device for device in OpenVinoBackend().probe() if device.id == "cpu"]
    assert (Precision.INT8 in cpu.precisions) is rounds_to_8_bits(core())
    # Never first: most models have no weights in blocks.
    assert cpu.precisions[0] is not Precision.INT8


def test_the_processor_is_offered_where_onednn_may_not_use_all_instructions() -> None:
    code = (
        "from backends.intel_openvino import OpenVinoBackend\n"
        "(cpu,) = [one for one in OpenVinoBackend().probe() if one.id == 'cpu']\n"
        "print(cpu.usable, 'int8' in cpu.precisions)"
    )
    limited = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    told = subprocess.check_output([sys.executable, "-c", code], text=True, env=limited)
    assert told.split() == ["True", "False"]


def test_a_processor_is_told_to_round_in_low_precisions_alone() -> None:
    told = {
        precision: options.compile_options("cpu", precision, block_length=16)
        for precision in (Precision.F32, Precision.BF16, Precision.INT8)
    }
    name = options.ROUNDED_ACTIVATIONS
    assert [found[name] for found in told.values()] == ["0", "16", "16"]
    assert [found[options.PRECISION] for found in told.values()] == ["f32", "bf16", "f32"]
    plain = options.compile_options("cpu", Precision.INT8)
    assert plain == options.compile_options("cpu", Precision.F32)
