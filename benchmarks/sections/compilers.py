"""Cross-vendor compilers compared with our backends, on the processor, from the same graphs."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from signal import SIGXCPU
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.child import Child, PeerError
from benchmarks.measure import Series, interleave
from benchmarks.peers.compilers import PACKAGES, REFERENCE, installed, installed_bytes
from benchmarks.report import Cell, Findings, Table
from benchmarks.sections.parity import relative_error
from benchmarks.sections.setting import Setting

_SIZES: Mapping[str, Mapping[str, int]] = {
    "UNet block": {"batch": 2, "height": 64, "width": 64, "contexts": 2, "tokens": 77},
    "VAE decoder": {"batch": 1, "height": 32, "width": 32},
}
_SMALL_VAE = {"batch": 1, "height": 16, "width": 16}
# The processor time a tool may take from the graph to its first result.
_PATIENCE_S, _QUICK_PATIENCE_S = 1200, 240
_WORDS = 80


def compilers(setting: Setting) -> Findings:
    """Return one table per network; a tool that is not installed has a row that says so."""
    return Findings(tuple(_table(setting, network) for network in _SIZES))


def _table(setting: Setting, network: str) -> Table:
    sizes = _SMALL_VAE if setting.quick and network == "VAE decoder" else _SIZES[network]
    rows: dict[str, tuple[Cell, ...]] = {}
    with TemporaryDirectory() as folder, ExitStack() as stack:
        children: dict[str, Child] = {}
        for tool in PACKAGES:
            if not installed(tool):
                rows[tool] = (f"{tool}: not installed", *("-",) * 7)
                continue
            setting.say(f"  {tool}")
            try:
                child = started(setting, tool, network, sizes, folder)
            except PeerError as error:
                setting.say(f"    {error}")
                rows[tool] = (f"{tool}: {reason(setting, error)}", *("-",) * 7)
                continue
            children[tool] = stack.enter_context(child)
        rows |= _measured(setting, children, Path(folder))
    cells = f"{8 * sizes['height']}x{8 * sizes['width']}" if network != "UNet block" else "64x64"
    return Table(
        f"{network}, {cells}, batch {sizes['batch']}, on the processor",
        (
            "",
            "ready s",
            "ready, processor s",
            "run s",
            "run, processor s",
            "processor time / ONNX Runtime",
            "peak GB",
            "relative error",
            "installed MB",
        ),
        tuple((*rows[tool], _size(tool)) for tool in PACKAGES),
        "SD 1.5's sizes, random weights. Ready: from the graph to the first result. Runs took "
        "turns; medians. Peak: resident memory of the process or of the compiler it started. "
        "Error: L2, to ONNX Runtime. Installed: the tool's own packages.",
    )


def started(
    setting: Setting, tool: str, network: str, sizes: Mapping[str, int], folder: str
) -> Child:
    """Start a tool and prepare a network. Raises PeerError, also when it takes too long."""
    options = {"tool": tool, "network": network, "sizes": sizes, "folder": folder}
    return Child("compiler", limit_s=_patience(setting), **options)


def reason(setting: Setting, error: PeerError) -> str:
    """Say why a tool has no figures, in a few words."""
    if f"status -{SIGXCPU.value}" in str(error):
        return f"no result within {_patience(setting)} s of processor time"
    return str(error).splitlines()[0][:_WORDS]


def _patience(setting: Setting) -> int:
    return _QUICK_PATIENCE_S if setting.quick else _PATIENCE_S


def _size(tool: str) -> Cell:
    return installed_bytes(tool) / 1e6 if installed(tool) else "-"


def _measured(
    setting: Setting, children: Mapping[str, Child], folder: Path
) -> dict[str, tuple[Cell, ...]]:
    """Return a row for each tool that is ready, without the tool's installed size."""
    cpu: dict[str, Series] = {tool: Series() for tool in children}

    def run(tool: str) -> float:
        answer = children[tool].ask("run")
        cpu[tool].values.append(answer["cpu_s"])
        return float(answer["seconds"])

    contestants = {tool: lambda tool=tool: run(tool) for tool in children}
    series = interleave(contestants, setting.rounds(5), setting.report)
    found: dict[str, tuple[Cell, ...]] = {}
    results: dict[str, Path] = {}
    for tool, child in children.items():
        results[tool] = folder / f"{len(results)}.npy"
        facts = child.ask("describe", save=str(results[tool]))
        error = relative_error(np.load(results[tool]), np.load(results[REFERENCE]))
        found[tool] = (
            f"{tool} ({facts['version']})",
            facts["ready_s"],
            facts["ready_cpu_s"],
            series[tool].median,
            cpu[tool].median,
            cpu[tool].ratio_to(cpu[REFERENCE]),
            facts["peak_bytes"] / 1e9,
            error,
        )
    return found
