"""A full-size SDXL checkpoint: time to identify and build it, time of a step, and memory."""

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from backends.base import DType, OperatorSet, Precision
from benchmarks.checkpoints import prepare_sdxl, warm
from benchmarks.child import Child
from benchmarks.measure import Series, interleave
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.setting import TIMING_COLUMNS, Setting, first_and_rest, timing_row
from benchmarks.workload import SDXL_SIZE
from engine.checkpoints.known_files import KnownFiles
from engine.compile.network import Network
from engine.families import identify
from engine.families.checkpoint import Component
from engine.families.shared.clip.text_encoding import clip_text_of
from engine.graphs.operators import GraphBuilder
from engine.weights.binding import bind

_IDENTIFIED_S, _BUILT_S, _BARE, _DIFFUSERS, _DEFAULT_GB, _LIMITED_GB = 0.05, 0.5, 1.05, 1.0, 12, 8
# The operator forms of a compiler that takes float16 as stored, so that only our own work is
# measured.
_OPERATORS = OperatorSet(opset=20, elements=(DType.F32, DType.F16))
_OURS, _RUNTIME, _PEER = "safelight, OpenVINO bf16", "bare call, OpenVINO bf16", "diffusers bf16"


def sdxl(setting: Setting) -> Findings:
    """Measure a file of random weights with the published file's keys and shapes."""
    path = prepare_sdxl(setting.folder, setting.say)
    sections = (_beginnings, _step, _memory)
    found = [measure(setting, path) for measure in sections]
    return Findings(
        tuple(table for findings in found for table in findings.tables),
        tuple(target for findings in found for target in findings.targets),
    )


def _beginnings(setting: Setting, path: Path) -> Findings:
    """Measure the time to identify the file, and to build each network's graph by reference."""
    rounds = setting.rounds(7)
    with tempfile.TemporaryDirectory() as folder:
        known = KnownFiles(Path(folder), lambda: 1 << 62)
        first = _times(lambda: identify(path), rounds)
        again = _times(lambda: identify(path, known.read_index), rounds)
    found = identify(path)
    built = {
        "text encoder, CLIP ViT-L": clip_text_of(found).network(Component.TEXT_ENCODER, 2),
        "text encoder, OpenCLIP bigG": clip_text_of(found).network(Component.TEXT_ENCODER_2, 2),
        "UNet": found.architecture.denoiser.network(SDXL_SIZE, SDXL_SIZE),
        "VAE decoder": found.architecture.autoencoder.decoder(),
    }
    building = {name: _times(partial(_build, network), rounds) for name, network in built.items()}
    rows = {
        "identified, first time": first,
        "identified, unchanged": again,
        **{f"built and bound: {name}": series for name, series in building.items()},
    }
    table = Table(
        "SDXL, 6.9 GB in float16: before anything runs",
        ("", "median ms", "least ms", "most ms"),
        tuple(
            (name, *(round(1000 * s, 1) for s in (times.median, *times.spread)))
            for name, times in rows.items()
        ),
        "The file's pages are in the cache. Built for a compiler that takes float16.",
    )
    everything = sum(series.median for series in building.values())
    targets = (
        Target("SDXL identified", first.median, _IDENTIFIED_S, "s"),
        Target("SDXL's networks built and bound, together", everything, _BUILT_S, "s"),
    )
    return Findings((table,), targets)


def _step(setting: Setting, path: Path) -> Findings:
    """Measure guided steps in turns, and the error of our prediction relative to diffusers'."""
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(dir=setting.folder))
        options = {"checkpoint": str(path), "folder": scratch}
        children = {
            name: stack.enter_context(Child(peer, **options, **more))
            for name, peer, more in (
                (_RUNTIME, "sdxl", {"bare": True}),
                (_OURS, "sdxl", {"bare": False}),
                (_PEER, "sdxl diffusers", {}),
            )
        }
        contestants = {
            name: partial(child.seconds, "step", save=str(Path(scratch) / f"{place}.npy"))
            for place, (name, child) in enumerate(children.items())
        }
        firsts, series = first_and_rest(
            interleave(contestants, 1 + setting.rounds(3), setting.report)
        )
        bare, ours, theirs = (np.load(f"{scratch}/{i}.npy") for i in range(3))
    mine = series[_OURS]
    rows: list[tuple[Cell, ...]] = [
        timing_row(name, firsts[name], times, None if times is mine else mine.ratio_to(times))
        for name, times in series.items()
    ]
    distance = float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
    table = Table(
        f"SDXL's UNet, {SDXL_SIZE}x{SDXL_SIZE}, guided, one step",
        (*TIMING_COLUMNS, "ours / it"),
        tuple(rows),
        "Turn by turn in one run; medians, and medians over rounds. Relative distance of our "
        f"prediction from diffusers', both in bfloat16: {distance:.1e}; from the bare call's: "
        f"{float(np.abs(ours - bare).max()):.1e} at most.",
    )
    targets = (
        Target("SDXL step / bare call", mine.ratio_to(series[_RUNTIME]), _BARE, ""),
        Target("SDXL step / diffusers bf16", mine.ratio_to(series[_PEER]), _DIFFUSERS, ""),
    )
    return Findings((table,), targets)


def _memory(setting: Setting, path: Path) -> Findings:
    """Measure, from outside, the peak private memory of a process that makes a one-step picture."""
    warm(path)
    rows: list[tuple[Cell, ...]] = []
    peaks: list[float] = []
    for label, limit in (("default", ()), ("--memory-limit 8G", ("--memory-limit", "8G"))):
        with setting.empty_cache() as cache:
            size = f"{SDXL_SIZE}x{SDXL_SIZE}"
            run = setting.generate(cache, path, "--size", size, *limit, steps=1)
        peaks.append(run.peak_private_bytes / 1e9)
        setting.say(f"  {label}: {peaks[-1]:.2f} GB")
        planned = run.result["memory"]["planned_peak_mb"] / 1e3
        rows.append((label, peaks[-1], planned, run.wall_s))
    table = Table(
        f"SDXL, {SDXL_SIZE}x{SDXL_SIZE}, private memory",
        ("", "peak GB", "planned GB", "process start to end s"),
        tuple(rows),
        "RssAnon of the process, sampled from outside every 20 ms; one step.",
    )
    targets = (
        Target("SDXL, private memory", peaks[0], _DEFAULT_GB, "GB"),
        Target("SDXL, private memory, --memory-limit 8G", peaks[1], _LIMITED_GB, "GB"),
    )
    return Findings((table,), targets)


def _build(network: Network) -> object:
    g = GraphBuilder(network.name, network.weights, _OPERATORS, DType.F16, Precision.F16)
    network.emit(g)
    return g.build(bind(g.used, DType.F16))


def _times(work: Callable[[], object], rounds: int) -> Series:
    work()
    seconds: list[float] = []
    for _ in range(rounds):
        start = perf_counter()
        work()
        seconds.append(perf_counter() - start)
    return Series(seconds)
