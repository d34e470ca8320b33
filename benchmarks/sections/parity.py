"""Accuracy: every network, and a whole picture, at full size compared with diffusers."""

import math
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.child import Child
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.setting import Setting
from benchmarks.workload import COMPONENTS, Array

# Backend, precision and the largest relative error of its networks.
_OURS = (
    ("cpu", "f32", 1e-5),
    ("intel_openvino", "f32", 1e-4),
    ("intel_openvino", "bf16", 3e-2),
)
_PSNR_DB = 50.0


def parity(setting: Setting) -> Findings:
    """Compare with diffusers from the same float32 file, inputs and noise."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _reference(setting, folder)
        networks = _networks(setting, folder)
        pictures = _pictures(setting, folder)
    return Findings((*networks.tables, *pictures.tables), (*networks.targets, *pictures.targets))


def _reference(setting: Setting, folder: Path) -> None:
    """Save diffusers' results in float32: each network's output, and the picture."""
    files = setting.files
    options = {"configuration": str(files.configuration), "checkpoint": str(files.f32)}
    with Child("diffusers", precision="f32", **options) as child:
        for component in COMPONENTS:
            child.ask(component, save=str(_output(folder, component, "reference")))
        save = str(_output(folder, "picture", "reference"))
        setting.report("diffusers f32", child.seconds("picture", steps=setting.steps, save=save))


def _networks(setting: Setting, folder: Path) -> Findings:
    rows: list[tuple[Cell, ...]] = []
    targets: list[Target] = []
    for backend, precision, limit in _OURS:
        options = {"checkpoint": str(setting.files.f32), "backend": backend}
        errors: list[float] = []
        with Child("safelight", precision=precision, **options) as child:
            for component in COMPONENTS:
                saved = _output(folder, component, f"{backend}-{precision}")
                child.ask(component, save=str(saved))
                reference = np.load(_output(folder, component, "reference"))
                errors.append(relative_error(np.load(saved), reference))
        name = f"{backend} {precision}"
        setting.say(f"  {name}: " + ", ".join(f"{error:.1e}" for error in errors))
        rows.append((name, *errors))
        targets.append(Target(f"relative error, {name}", max(errors), limit, ""))
    table = Table(
        "Relative error of each network",
        ("", *COMPONENTS),
        tuple(rows),
        "|ours - diffusers| / |diffusers| over the whole output, Euclidean; diffusers in float32.",
    )
    return Findings((table,), tuple(targets))


def _pictures(setting: Setting, folder: Path) -> Findings:
    reference = np.load(_output(folder, "picture", "reference"))
    rows: list[tuple[Cell, ...]] = []
    targets: list[Target] = []
    for backend, precision, _ in _OURS:
        with setting.empty_cache() as cache:
            out = folder / f"{backend}-{precision}.png"
            options = ("--backend", backend, "--precision", precision, "--out", str(out))
            setting.generate(cache, setting.files.f32, *options, steps=setting.steps)
        with Image.open(out) as image:
            likeness = psnr(np.asarray(image), reference)
        name = f"{backend} {precision}"
        setting.say(f"  {name}: {likeness:.1f} dB")
        rows.append((name, likeness))
        if precision == "f32":
            target = Target(f"PSNR, {name}", likeness, _PSNR_DB, "dB", at_least=True)
            targets.append(target)
    table = Table(
        f"Whole picture beside diffusers', {setting.steps} steps",
        ("", "PSNR dB"),
        tuple(rows),
        "The same noise, Euler; 8-bit pixels as saved. 99 dB stands for equal pixels.",
    )
    return Findings((table,), tuple(targets))


def relative_error(ours: Array, reference: Array) -> float:
    """Return |ours - reference| / |reference|, Euclidean; infinite for unequal shapes."""
    if ours.shape != reference.shape:
        return math.inf
    wide = reference.astype(np.float64)
    return float(np.linalg.norm(ours - wide) / np.linalg.norm(wide))


def psnr(ours: NDArray[np.uint8], reference: NDArray[np.uint8]) -> float:
    """Return the peak signal-to-noise ratio of 8-bit pictures in decibels; at most 99."""
    squares = (ours.astype(np.float64) - reference) ** 2
    mean = float(squares.mean())
    return min(99.0, 10 * math.log10(255**2 / mean)) if mean else 99.0


def _output(folder: Path, what: str, whose: str) -> Path:
    return folder / f"{what.replace(' ', '-')}-{whose}.npy"
