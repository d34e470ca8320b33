"""Blocks of Flux.1 from files of fp8 and int8, and rounded: memory, time, error beside 16 bits."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from backends.base import Array, DType, Precision
from benchmarks.child import Child
from benchmarks.quantized_models import DEVIATION
from benchmarks.report import Cell, Findings, Table
from benchmarks.sections.parity import relative_error
from benchmarks.sections.quantized import ways
from benchmarks.sections.setting import Setting
from tests.checkpoints.arrays import write_arrays
from tests.families.flux import files
from tests.families.flux.files import FluxSizes
from tests.families.int8_files import Way, write_int8

_COLUMNS = (
    "backend, precision",
    "file",
    "in the file GB",
    "in the cache GB",
    "private, loaded GB",
    "private, after a step GB",
    "step, beside 16 bits",
    "error against 16 bits",
)
_SIDE, _STEPS = 512, 3
_SIZES, _SMALL = FluxSizes(double=1, single=1), FluxSizes(512, 128, 1024, 512, 256, 1, 1)
# The largest number of fp8 (E4M3).
_MOST = 448.0
_Write = Callable[[Path, Mapping[str, Array]], object]


@dataclass(frozen=True)
class File:
    """A file's name in the table, its writer, and the bits that its weights keep."""

    name: str
    write: _Write
    bits: int = 16
    in_blocks: bool = True


def quantized_files(setting: Setting) -> Findings:
    """Measure a double and a single block of full size, each file in a process of its own."""
    numbers = random_weights(_SMALL if setting.quick else _SIZES)
    rows: list[tuple[Cell, ...]] = []
    setting.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=setting.folder) as scratch:
        path, results = Path(scratch) / "blocks.safetensors", Path(scratch) / "results"
        results.mkdir()
        steps: dict[str, float] = {}
        for file in FILES:
            file.write(path, numbers)
            for backend, precision, placement in ways():
                if placement != "working_copy" or not (file.in_blocks or _is_wide(precision)):
                    continue
                setting.say(f"  {file.name}: {backend} {precision}")
                rows.append(_row(path, file, (backend, precision), results, steps))
    note = (
        f"One context of 256 tokens, {_SIDE} x {_SIDE} pixels, the same numbers in each file. "
        f"Steps: processor time, the median of {_STEPS} after the first, beside the backend's own "
        "in float32 with weights of 16 bits. Private: anonymous memory that a second "
        "start from the working copy added. The error is that of the prediction beside the "
        "first row's, the file's own rounding included."
    )
    return Findings(
        (Table("Flux.1's blocks in fp8, int8 and rounded", _COLUMNS, tuple(rows), note),)
    )


def _is_wide(precision: str) -> bool:
    """Tell a precision that acts on weights which are not in blocks."""
    return precision != Precision.INT8.value


def random_weights(sizes: FluxSizes) -> dict[str, Array]:
    """Return random weights, of a trained network's size."""
    drawn = files.drawn(files.original(sizes))
    return {
        name: array * np.float32(DEVIATION / array.std()) if array.ndim == 2 else array
        for name, array in drawn.items()
    }


def _is_layer(name: str, array: Array) -> bool:
    return array.ndim == 2 and name.endswith(".weight")


def _write_wide(path: Path, numbers: Mapping[str, Array]) -> None:
    write_arrays(path, numbers, DType.BF16)


def _write_fp8(path: Path, numbers: Mapping[str, Array]) -> None:
    """Write layers in fp8, each with a scale, as ComfyUI's `scaled_fp8` files have them."""
    stored: dict[str, Array] = {"scaled_fp8": np.zeros(2, np.float32)}
    types = {"scaled_fp8": DType.F8_E4M3}
    for name, array in numbers.items():
        stored[name], types[name] = array, DType.BF16
        if _is_layer(name, array):
            scale = np.float32(np.abs(array).max() / _MOST)
            stored[name], types[name] = array / scale, DType.F8_E4M3
            beside = name.removesuffix(".weight") + ".scale_weight"
            stored[beside], types[beside] = np.asarray([scale], np.float32), DType.F32
    write_arrays(path, stored, types)


def _write_rows(way: Way, path: Path, numbers: Mapping[str, Array]) -> None:
    write_int8(path, numbers, way)


FILES = (
    File("bf16", _write_wide, in_blocks=False),
    File("bf16, rounded to 8 bits", _write_wide, 8),
    File("bf16, rounded to 4 bits", _write_wide, 4),
    File("fp8", _write_fp8, in_blocks=False),
    File("fp8, rounded to 8 bits", _write_fp8, 8),
    File("int8 rows", partial(_write_rows, Way.ROWS)),
    File("int8 rows, rotated", partial(_write_rows, Way.ROTATED)),
)


def _row(
    path: Path,
    file: File,
    way: tuple[str, str],
    results: Path,
    steps: dict[str, float],
) -> tuple[Cell, ...]:
    """Measure a file in one way; `steps` has each backend's first one."""
    backend, precision = way
    result, exact = results / "found.npy", results / "expected.npy"
    options = {"backend": backend, "precision": precision, "side": _SIDE, "bits": file.bits}
    with Child("quantized", checkpoint=str(path), placement="working_copy", **options) as child:
        answers = [child.ask("step", result=str(result)) for _ in range(_STEPS + 1)]
    step = median(float(answer["processor_s"]) for answer in answers[1:])
    if not exact.exists():
        np.save(exact, np.load(result))
    last = answers[-1]
    memory = (path.stat().st_size, last["cached"], last["loaded"], last["ran"])
    error = relative_error(np.load(result), np.load(exact))
    beside = step / steps.setdefault(backend, step)
    return (f"{backend} {precision}", file.name, *(size / 1e9 for size in memory), beside, error)
