"""Layers of GGUF files on processors: one of each type, and transformers of several types."""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from backends.base import DType, Precision
from benchmarks.child import Child
from benchmarks.measure import Series, interleave
from benchmarks.peers.devices import backend_named
from benchmarks.quantized_models import MIXES, write_zimage
from benchmarks.report import Cell, Findings, Table
from benchmarks.sections.parity import relative_error
from benchmarks.sections.setting import Setting, first_and_rest
from benchmarks.workload import FLOW_TOKENS, SIZE
from tests.checkpoints.gguf_files import QUANTIZED, blocks, write_gguf
from tests.families.zimage.files import ZImageSizes

_BACKEND, _EXACT = "intel_openvino", Precision.F32.value
# A layer of Flux.1 over the tokens of a picture and a text.
_SHAPE, _TOKENS = (12288, 3072), 1280
# Layers of full width: about 1 GB for each precision.
_ZIMAGE = ZImageSizes(layers=2, refiners=1)
_SMALL = ZImageSizes(256, 32, 512, 256, 256, 1, 1)


def quantized_layers(setting: Setting) -> Findings:
    """Measure each type, and each mix of types, in the precisions of OpenVINO's processor."""
    device = next(device for device in backend_named(_BACKEND).probe() if device.usable)
    precisions = [precision.value for precision in device.precisions]
    setting.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=setting.folder) as scratch:
        folder = Path(scratch)
        types = QUANTIZED[:1] if setting.quick else QUANTIZED
        layers = tuple(_layer(setting, folder, dtype, precisions) for dtype in types)
        mixes = list(MIXES)[:1] if setting.quick else MIXES
        steps = tuple(_step(setting, folder, mix, precisions) for mix in mixes)
    columns = (
        *(f"{precision}, processor ms" for precision in precisions),
        *(f"error in {precision}" for precision in precisions if precision != _EXACT),
    )
    turns = f"Processor time over {_cores()}, the precisions in turns, the second best."
    shape = f"{_SHAPE[0]} from {_SHAPE[1]}, {_TOKENS} tokens"
    return Findings(
        (
            Table(
                f"A linear layer, {shape}, OpenVINO",
                ("type", *columns),
                layers,
                f"{turns} The error is beside the numbers of the file.",
            ),
            Table(
                f"A step of {_ZIMAGE.layers} layers and 2 refiners of Z-Image, OpenVINO",
                ("file", *columns),
                steps,
                f"{turns} {SIZE} x {SIZE} pixels, a text of {FLOW_TOKENS} tokens, types as "
                "llama-quantize mixes them for such a file. The error is beside float32.",
            ),
        )
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _layer(
    setting: Setting, folder: Path, dtype: DType, precisions: Sequence[str]
) -> tuple[Cell, ...]:
    """Measure a layer of a type, in one process."""
    setting.say(f"  a layer in {dtype}")
    file = write_gguf(folder / "layer.gguf", {"layer.weight": blocks(dtype, _SHAPE, scale=0.003)})
    options = {"checkpoint": str(file), "backend": _BACKEND, "tokens": _TOKENS}
    with Child("quantized layer", **options, precisions=precisions) as child:

        def run(precision: str) -> float:
            answer = child.ask("run", precision=precision)
            errors[precision] = float(answer["relative_error"])
            return float(answer["processor_s"])

        errors: dict[str, float] = {}
        times = _in_turns(
            setting,
            {precision: lambda precision=precision: run(precision) for precision in precisions},
            9,
        )
    return (
        dtype.value,
        *times,
        *(errors[precision] for precision in precisions if precision != _EXACT),
    )


def _step(setting: Setting, folder: Path, mix: str, precisions: Sequence[str]) -> tuple[Cell, ...]:
    """Measure a step of a transformer, each precision in a process of its own."""
    setting.say(f"  Z-Image's layers in {mix}")
    file = folder / "zimage.gguf"
    saved = {precision: folder / f"{precision}.npy" for precision in precisions}
    write_zimage(file, _SMALL if setting.quick else _ZIMAGE, mix)
    with ExitStack() as stack:
        options = {"checkpoint": str(file), "backend": _BACKEND, "bare": False}
        children = {
            precision: stack.enter_context(Child("flow", **options, precision=precision))
            for precision in precisions
        }

        def run(precision: str) -> float:
            save = str(saved[precision])
            return float(children[precision].ask("step", save=save)["processor_s"])

        times = _in_turns(
            setting,
            {precision: lambda precision=precision: run(precision) for precision in precisions},
            4,
        )
    exact = np.load(saved[_EXACT])
    errors = [
        relative_error(np.load(saved[precision]), exact)
        for precision in precisions
        if precision != _EXACT
    ]
    return mix, *times, *errors


def _in_turns(
    setting: Setting, contestants: Mapping[str, Callable[[], float]], rounds: int
) -> list[Cell]:
    """Return the milliseconds of processor time over the cores, the second best of some runs."""
    series = first_and_rest(interleave(contestants, setting.rounds(rounds) + 1, setting.report))[1]
    return [_second_best(series[name]) / _cores() * 1e3 for name in contestants]


def _second_best(times: Series) -> float:
    return sorted(times.values)[1]
