"""Whole pictures of Flux.1 and Z-Image in Q4_0: whether they fit, and how long each part takes.

A step of a few blocks is compared with other tools (`block_steps`), which need more memory.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

from backends.registry import BACKENDS
from benchmarks import command
from benchmarks.checkpoints import warm
from benchmarks.command import CommandRun
from benchmarks.quantized_models import FLUX, ZIMAGE, QuantizedModel
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.block_steps import block_steps, whole_step_by_sdcpp
from benchmarks.sections.setting import Setting
from benchmarks.workload import PROMPT, SEED, SIZE
from engine.families import identify

# Of the files in memory at once; seconds to the first step of a later start; seconds to identify.
_MEMORY, _START_S, _IDENTIFIED_S = 1.15, 5.0, 0.05
# The limit under which weights stay in the page cache, and the time of a step beside that without.
_LIMIT, _LIMITED_GB, _LIMITED_SLOWER = "6G", 6 * 2**30 / 1e9, 1.3
_COLUMNS = ("", "to the first step s", "encode s", "a step s", "decode s", "whole s", "private GB")
_TARGETED = "cpu"
_ANOTHER, _SAME = "later start, another prompt", "later start, same prompt"


def flux(setting: Setting) -> Findings:
    """Make pictures of Flux.1 schnell."""
    return _measured(setting, FLUX)


def zimage(setting: Setting) -> Findings:
    """Make pictures of Z-Image Turbo."""
    return _measured(setting, ZIMAGE)


def _measured(setting: Setting, model: QuantizedModel) -> Findings:
    """Make pictures from an empty cache and from a full one, on each backend for blocks."""
    parts = model.prepare(setting.folder, setting.say)
    for path in parts.values():
        warm(path)
    identified = min(_identified(parts["--model"]) for _ in range(setting.rounds(5)))
    rows: list[tuple[Cell, ...]] = []
    targets = [Target(f"{model.title} identified", identified, _IDENTIFIED_S, "s")]
    backends = _holding_blocks()
    # The others' pictures of Flux.1 take as long again.
    for backend in [_TARGETED] if setting.quick else backends:
        with setting.empty_cache() as cache:
            given = setting, cache, model, parts, backend
            runs = {
                "first start": _picture(*given),
                _ANOTHER: _picture(*given),
                _SAME: _picture(*given, knows_prompts=True),
            }
            if backend == _TARGETED:
                limit = runs[f"--memory-limit {_LIMIT}"] = _picture(
                    *given, "--memory-limit", _LIMIT
                )
                targets += _targets(model, parts, runs, limit)
        steps = _steps(setting, model)
        rows += [_row(f"{backend}, {name}", run, steps) for name, run in runs.items()]
    note = (
        f"{SIZE} x {SIZE} pixels, {_steps(setting, model)} steps, one context. From an empty "
        "cache the weights are repacked. What was made of a prompt is kept, so that a later start "
        "with the same one loads no text encoder. Private: the peak of anonymous memory."
    )
    whole = Table(f"{model.title}, Q4_0", _COLUMNS, tuple(rows), note)
    beside = block_steps(setting, model, backends)
    ours_s = min(float(row[3]) for row in rows if "later" in str(row[0]))
    targets.append(whole_step_by_sdcpp(setting, model, parts, ours_s))
    return Findings((whole, *beside.tables), (*targets, *beside.targets))


def _holding_blocks() -> list[str]:
    """List the backends with a device that holds weights in blocks and is chosen by itself."""
    return [
        reference.name
        for reference in BACKENDS
        for backend in [reference.create()]
        if any(
            device.usable and device.automatic and backend.operators(device).blocks is not None
            for device in backend.probe()
        )
    ]


def _identified(transformer: Path) -> float:
    start = perf_counter()
    identify(transformer)
    return perf_counter() - start


def _picture(
    setting: Setting,
    cache: Path,
    model: QuantizedModel,
    parts: Mapping[str, Path],
    backend: str,
    *limit: str,
    knows_prompts: bool = False,
) -> CommandRun:
    files = [text for option, path in parts.items() for text in (option, str(path))]
    with tempfile.TemporaryDirectory() as out:
        run = command.generate(
            setting.python,
            cache,
            *(PROMPT, *files, "--backend", backend),
            *(
                "--steps",
                str(_steps(setting, model)),
                "--size",
                f"{SIZE}x{SIZE}",
                "--seed",
                str(SEED),
            ),
            *("--cfg", "1", "--out", out, *limit),
            knows_prompts=knows_prompts,
        )
    setting.report(" ".join((backend, *limit)), run.wall_s)
    return run


def _steps(setting: Setting, model: QuantizedModel) -> int:
    return model.quick_steps if setting.quick else model.steps


def _row(name: str, run: CommandRun, steps: int) -> tuple[Cell, ...]:
    timings = run.result["timings"]
    parts = (timings["encode_s"], timings["denoise_s"] / steps, timings["decode_s"])
    return (name, run.first_step_s, *parts, run.wall_s, run.peak_private_bytes / 1e9)


def _targets(
    model: QuantizedModel,
    parts: Mapping[str, Path],
    runs: Mapping[str, CommandRun],
    limited: CommandRun,
) -> list[Target]:
    run, same = runs[_ANOTHER], runs[_SAME]
    first_step = f"{model.title}, a later start to the first step"
    alone = parts["--model"].stat().st_size
    # The transformer is loaded while the text encoder, the second largest, works.
    both = sum(sorted(path.stat().st_size for path in parts.values())[-2:])
    slower = limited.result["timings"]["denoise_s"] / run.result["timings"]["denoise_s"]
    peak = limited.peak_private_bytes / 1e9
    title, under = model.title, f"--memory-limit {_LIMIT}"
    return [
        Target(
            f"{title}'s private memory / its transformer's file, the same prompt",
            same.peak_private_bytes / alone,
            _MEMORY,
            "",
        ),
        Target(
            f"{title}'s private memory / both networks' files, another prompt",
            run.peak_private_bytes / both,
            _MEMORY,
            "",
        ),
        Target(f"{first_step}, another prompt", run.first_step_s, _START_S, "s"),
        Target(f"{first_step}, the same prompt", same.first_step_s, _START_S, "s"),
        Target(f"{title}, private memory, {under}", peak, _LIMITED_GB, "GB"),
        Target(f"{title}, a step with {under} / without", slower, _LIMITED_SLOWER, ""),
    ]
