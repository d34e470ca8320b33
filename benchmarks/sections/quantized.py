"""Blocks of Flux.1 from GGUF files: memory, time and error of each backend and type."""

import tempfile
from pathlib import Path

import numpy as np

from backends.base import DType
from backends.registry import BACKENDS
from benchmarks.child import Child, PeerError
from benchmarks.quantized_models import DEVIATION, spread_of
from benchmarks.report import Cell, Findings, Table
from benchmarks.sections.parity import relative_error
from benchmarks.sections.setting import Setting
from engine.checkpoints.files import read_index
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.gguf_files import Stored, blocks, plain, write_gguf
from tests.families.flux import files
from tests.families.flux.files import FluxSizes

_COLUMNS = (
    "backend, precision, weights",
    "type",
    "in the file GB",
    "in the cache GB",
    "private, loaded GB",
    "private, after a step GB",
    "load s",
    "of a load, processor s",
    "of the first step, processor s",
    "step s",
    "of a step, processor s",
    "error against float32",
)
_SIDE = 512
_SIZES = FluxSizes(double=1, single=1)
_SMALL = FluxSizes(512, 128, 1024, 512, 256, 1, 1)
_TYPES = (DType.Q8_0, DType.Q4_0, DType.Q4_K, DType.Q5_K, DType.Q6_K)
_STEPS = 3
_REFERENCE = ("cpu", "f32", "working_copy")


def quantized(setting: Setting) -> Findings:
    """Measure a double and a single block of full size, each type in a process of its own."""
    rows: list[tuple[Cell, ...]] = []
    setting.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=setting.folder) as scratch:
        folder = Path(scratch)
        for dtype in _TYPES[:1] if setting.quick else _TYPES:
            sizes = _SMALL if setting.quick else _SIZES
            stored, wide = _written(folder, sizes, dtype), folder / "wide.safetensors"
            _widen(stored, wide)
            expected = folder / "expected.npy"
            setting.say(f"  {dtype}: weights of 32 bits")
            rows.append(_row(wide, f"{dtype} as F32", _REFERENCE, expected, expected))
            wide.unlink()
            for way in ways():
                setting.say(f"  {dtype}: {' '.join(way)}")
                rows.append(_row(stored, dtype.value, way, folder / "found.npy", expected))
            stored.unlink()
    note = (
        f"One context of 256 tokens, {_SIDE} x {_SIDE} pixels, best of {_STEPS} steps. Private: "
        "anonymous memory that a second start from the working copy added. The error is that of "
        "the prediction beside the processor's with weights of 32 bits."
    )
    return Findings((Table("Flux.1's blocks in GGUF", _COLUMNS, tuple(rows), note),))


def ways() -> list[tuple[str, str, str]]:
    """List this machine's backends on the processor: precisions, places of weights."""
    found: list[tuple[str, str, str]] = []
    for reference in BACKENDS:
        if reference.name in ("cpu", "intel_openvino"):
            device = next((device for device in reference.create().probe() if device.usable), None)
            if device is not None:
                reads = reference.create().operators(device).reads_in_place
                places = ["working_copy", *(["in_place"] if reads else [])]
                for precision in device.precisions:
                    found += [(reference.name, precision.value, place) for place in places]
    return found


def _written(folder: Path, sizes: FluxSizes, dtype: DType) -> Path:
    """Write a transformer whose matrices are random blocks."""
    columns = dtype.block.elements if dtype.block else 1
    scale = DEVIATION / spread_of(dtype)
    tensors: dict[str, Stored] = {}
    for number, (name, shape) in enumerate(files.original(sizes).items()):
        if len(shape) == 2 and not shape[1] % columns:
            tensors[name] = blocks(dtype, shape, number, scale)
        else:
            tensors[name] = plain(files.drawn({name: shape}, number)[name])
    return write_gguf(folder / "blocks.gguf", tensors, {"general.architecture": "flux"})


def _widen(stored: Path, path: Path) -> None:
    """Write the numbers of a file in float32."""
    tensors = read_index(stored).tensors
    write_arrays(
        path, {name: as_source(tensor).read_as(DType.F32) for name, tensor in tensors.items()}
    )


def _row(
    path: Path, name: str, way: tuple[str, str, str], result: Path, expected: Path
) -> tuple[Cell, ...]:
    backend, precision, placement = way
    label = " ".join(way)
    options = {"backend": backend, "precision": precision, "side": _SIDE, "placement": placement}
    try:
        with Child("quantized", checkpoint=str(path), **options) as child:
            answers = [child.ask("step", result=str(result)) for _ in range(_STEPS)]
    except PeerError as error:
        return (label, name, *["-"] * 9, str(error).splitlines()[-1][:60])
    last = answers[-1]
    times = [min(answer[part] for answer in answers) for part in ("seconds", "processor_s")]
    memory = (path.stat().st_size, last["cached"], last["loaded"], last["ran"])
    error = relative_error(np.load(result), np.load(expected))
    packing = last["load_s"], last["load_processor_s"], answers[0]["processor_s"]
    return (label, name, *(size / 1e9 for size in memory), *packing, *times, error)
