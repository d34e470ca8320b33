"""Flux.1 schnell in Q4_0 at full size: whether it fits, and how long each part takes."""

import tempfile
from pathlib import Path
from time import perf_counter

from backends.registry import BACKENDS
from benchmarks import command
from benchmarks.checkpoints import prepare_flux, warm
from benchmarks.command import CommandRun
from benchmarks.make_flux import FluxFiles
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.setting import Setting
from benchmarks.workload import PROMPT, SEED, SIZE
from engine.families import identify

STEPS = 4
# Of the files whose networks are loaded at once; seconds to the first step of a later start;
# seconds to identify.
_MEMORY, _START_S, _IDENTIFIED_S = 1.15, 5.0, 0.05
# The limit under which weights stay in the page cache, and the time of a step beside that without.
_LIMIT, _LIMITED_GB, _LIMITED_SLOWER = "6G", 6 * 2**30 / 1e9, 1.3
_BACKENDS = ("cpu", "nvidia_cuda", "torch_device")
_COLUMNS = ("", "to the first step s", "encode s", "a step s", "decode s", "whole s", "private GB")


def flux(setting: Setting) -> Findings:
    """Make a picture from an empty cache and one from a full one, on each backend for blocks."""
    files = prepare_flux(setting.folder, setting.say)
    for path in (files.transformer, files.t5, files.clip, files.vae):
        warm(path)
    identified = min(_identified(files) for _ in range(setting.rounds(5)))
    rows: list[tuple[Cell, ...]] = []
    targets: list[Target] = [Target("Flux.1 identified", identified, _IDENTIFIED_S, "s")]
    for backend in _usable():
        with setting.empty_cache() as cache:
            for name in ("first start", "later start"):
                run = _picture(setting, cache, files, backend)
                rows.append(_row(f"{backend}, {name}", run))
                setting.report(f"{backend}, {name}", run.wall_s)
            if backend == "cpu":
                limited = _picture(setting, cache, files, backend, "--memory-limit", _LIMIT)
                rows.append(_row(f"{backend}, --memory-limit {_LIMIT}", limited))
                targets += [*_targets(files, run), *_limited_targets(run, limited)]
    note = (
        f"{SIZE} x {SIZE} pixels, {STEPS} steps, one context of 256 tokens. From an empty cache "
        "the weights are repacked. Private: the peak of anonymous memory."
    )
    return Findings((Table("Flux.1 schnell, Q4_0", _COLUMNS, tuple(rows), note),), tuple(targets))


def _usable() -> list[str]:
    """List the backends with a usable device, of those that are to be measured."""
    found = (one for one in BACKENDS if one.name in _BACKENDS)
    return [
        one.name
        for one in found
        if any(device.usable and device.automatic for device in one.create().probe())
    ]


def _identified(files: FluxFiles) -> float:
    start = perf_counter()
    identify(files.transformer)
    return perf_counter() - start


def _picture(
    setting: Setting, cache: Path, files: FluxFiles, backend: str, *limit: str
) -> CommandRun:
    with tempfile.TemporaryDirectory() as out:
        return command.generate(
            setting.python,
            cache,
            *(PROMPT, "--model", str(files.transformer), "--text-encoder", str(files.clip)),
            *("--text-encoder-2", str(files.t5), "--vae", str(files.vae), "--backend", backend),
            *("--steps", str(STEPS), "--size", f"{SIZE}x{SIZE}", "--seed", str(SEED)),
            *("--cfg", "1", "--out", out, *limit),
        )


def _row(name: str, run: CommandRun) -> tuple[Cell, ...]:
    timings = run.result["timings"]
    parts = (timings["encode_s"], timings["denoise_s"] / STEPS, timings["decode_s"])
    return (name, run.first_step_s, *parts, run.wall_s, run.peak_private_bytes / 1e9)


def _targets(files: FluxFiles, run: CommandRun) -> list[Target]:
    together = files.transformer.stat().st_size
    share = run.peak_private_bytes / together
    return [
        Target("Flux.1's private memory / its transformer's file", share, _MEMORY, ""),
        Target("Flux.1, a later start to the first step", run.first_step_s, _START_S, "s"),
    ]


def _limited_targets(run: CommandRun, limited: CommandRun) -> list[Target]:
    slower = limited.result["timings"]["denoise_s"] / run.result["timings"]["denoise_s"]
    peak = limited.peak_private_bytes / 1e9
    return [
        Target(f"Flux.1, private memory, --memory-limit {_LIMIT}", peak, _LIMITED_GB, "GB"),
        Target(
            f"Flux.1, a step with --memory-limit {_LIMIT} / without", slower, _LIMITED_SLOWER, ""
        ),
    ]
