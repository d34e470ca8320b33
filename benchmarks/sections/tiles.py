"""The VAE in tiles compared with the whole one: accuracy, time and memory."""

import tempfile
from pathlib import Path

import numpy as np

from app.paths import starter_checkpoint
from benchmarks.child import ROOT, Child
from benchmarks.measure import PrivateMemoryPeak
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.setting import Setting
from benchmarks.workload import Array

_TILE = 576
_LEAST_DB = 40.0
_BACKENDS = (("intel_openvino", "bf16"), ("cpu", "f32"))
_COLUMNS = ("VAE", "backend", "size", "tile", "s", "private peak GB", "dB beside whole")


def tiles(setting: Setting) -> Findings:
    """Measure the starter's VAE on its own pictures, and SD 1.5's with random weights on noise."""
    sheet = str(ROOT / "starter" / "contact_sheet.png")
    sizes = (1024,) if setting.quick else (1024, 2048)
    rows: list[tuple[Cell, ...]] = []
    worst = 99.0
    for name, path, picture in (
        ("starter", starter_checkpoint(), sheet),
        ("SD 1.5, random", setting.files.f16, None),
    ):
        for backend, precision in _BACKENDS:
            given = {"checkpoint": str(path), "backend": backend, "precision": precision}
            for size in sizes:
                whole, tiled, decibels = compare(setting, given, picture, size)
                worst = min(worst, decibels)
                label = (name, f"{backend} {precision}", f"{size}x{size}")
                rows += [(*label, "-", *whole, "-"), (*label, str(_TILE), *tiled, decibels)]
    note = (
        "Each in a process of its own, loading included. Tiles are in pixels, with what they "
        "share; RssAnon, sampled from outside."
    )
    table = Table("The VAE's decoder in tiles", _COLUMNS, tuple(rows), note)
    target = Target("tiled beside whole", worst, _LEAST_DB, "dB", at_least=True)
    return Findings((table,), (target,))


def compare(
    setting: Setting, given: dict[str, str], picture: str | None, size: int
) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Return seconds and peak private GB, whole and in tiles, and the PSNR between them in dB."""
    with tempfile.TemporaryDirectory() as scratch:
        found: list[tuple[float, float]] = []
        saved: list[Path] = []
        for tile in (None, _TILE):
            saved.append(Path(scratch) / f"{tile}.npy")
            options = {"size": size, "tile": tile, "picture": picture, "save": str(saved[-1])}
            with Child("decoded", **given) as child, PrivateMemoryPeak(child.pid) as memory:
                seconds = child.seconds("decode", **options)
            found.append((seconds, memory.peak_bytes / 1e9))
            setting.say(f"  {given['backend']} {size} {tile}: {seconds:.1f} s")
        images: list[Array] = [np.load(path) for path in saved]
    pixels = [np.rint((np.clip(image, -1, 1) + 1) * 127.5) for image in images]
    error = float(np.mean((pixels[0] - pixels[1]) ** 2))
    decibels = 99.0 if error == 0 else 10 * float(np.log10(255**2 / error))
    return found[0], found[1], decibels
