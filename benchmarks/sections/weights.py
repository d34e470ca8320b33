"""The memory for each backend's copies of SDXL's float16 weights, network by network."""

import tempfile
from pathlib import Path

from backends.base import DType, Precision
from backends.registry import BACKENDS
from benchmarks.child import Child, PeerError
from benchmarks.report import Cell, Findings, Table
from benchmarks.sections.setting import Setting
from engine.families import Component
from engine.memory.plan import WeightPlacement
from tests.checkpoints.files import write_sparse
from tests.families import listings

_COLUMNS = (
    "backend, precision, placement",
    "network",
    "in the file GB",
    "private, loaded GB",
    "private, after a run GB",
    "mapped GB",
    "written to the cache GB",
    "load s",
)


def weights(setting: Setting) -> Findings:
    """Measure each network of a sparse SDXL file in a process of its own."""
    rows: list[tuple[Cell, ...]] = []
    setting.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=setting.folder) as scratch:
        path = write_sparse(Path(scratch) / "sdxl.safetensors", listings.sdxl(), DType.F16)
        components = (Component.VAE,) if setting.quick else tuple(Component)
        for backend, precision, placement in _ways():
            for component in components:
                setting.say(f"  {backend} {precision} {placement} {component}")
                rows.append(_row(path, component, (backend, precision, placement)))
    note = (
        "Private: anonymous memory that loading and a run at the least size added. Mapped: pages "
        "of the file or of its working copy, which the system takes back when it wants."
    )
    return Findings((Table("What is copied of SDXL in float16", _COLUMNS, tuple(rows), note),))


def _ways() -> list[tuple[str, str, str]]:
    """List this machine's backends and precisions; both placements if weights are converted."""
    found: list[tuple[str, str, str]] = []
    for reference in BACKENDS:
        device = next((device for device in reference.create().probe() if device.usable), None)
        if device is None or reference.name == "null":
            continue
        for precision in device.precisions:
            placements = [WeightPlacement.MEMORY, WeightPlacement.WORKING_COPY]
            if precision is Precision.F16:
                placements = placements[:1]
            found += [
                (reference.name, precision.value, placement.value) for placement in placements
            ]
    return found


def _row(path: Path, component: Component, way: tuple[str, str, str]) -> tuple[Cell, ...]:
    backend, precision, placement = way
    label = " ".join(way)
    options = {"backend": backend, "precision": precision, "placement": placement}
    try:
        with Child("loaded", checkpoint=str(path), component=component.value, **options) as child:
            answer = child.ask("memory")
    except PeerError as error:
        return (label, component.value, *["-"] * 5, str(error).splitlines()[0][:60])
    names = "stored", "load_private", "run_private", "mapped", "cached"
    return (label, component.value, *(answer[name] / 1e9 for name in names), answer["seconds"])
