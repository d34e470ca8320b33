"""A step of a few blocks of full width, turn by turn with the bare runtime and with diffusers."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TypeAlias

from backends.base import Precision
from backends.registry import BACKENDS
from benchmarks.child import Child, PeerError
from benchmarks.measure import interleave
from benchmarks.peers import PEERS
from benchmarks.quantized_models import QuantizedModel
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.setting import TIMING_COLUMNS, Setting, first_and_rest, timing_row
from benchmarks.workload import FLOW_TOKENS, SIZE

# A backend, and what it computes in.
_Way: TypeAlias = tuple[str, Precision]
# The one whose runtime is also called directly.
_CALLED: _Way = "cpu", Precision.F32
_BARE, _DIFFUSERS = "onnxruntime, bare call", "diffusers bf16"
_LIMITS = {_BARE: 1.05, _DIFFUSERS: 0.7}
_SDCPP_LIMIT = 0.3


def block_steps(setting: Setting, model: QuantizedModel, backends: Sequence[str]) -> Findings:
    """Measure the backends' steps in turns with the peers that are installed."""
    ways = _ways(backends)
    with ExitStack() as stack:
        contestants = _contestants(setting, model, ways, stack)
        rounds = setting.rounds(4) + 1
        firsts, series = first_and_rest(interleave(contestants, rounds, setting.report))
    fastest = min((_ours(*way) for way in ways), key=lambda name: series[name].median)
    mine = {_BARE: _ours(*_CALLED)}
    ratios = {
        name: series[mine.get(name, fastest)].ratio_to(series[name])
        for name in _LIMITS
        if name in series
    }
    rows: list[tuple[Cell, ...]] = [
        (*timing_row(name, firsts[name], times, None)[:-1], ratios.get(name, "-"))
        for name, times in series.items()
    ]
    note = (
        f"One context of {FLOW_TOKENS} tokens, turn by turn in one run. First: the first run after "
        "loading. Ratios are medians over rounds, of our fastest step, beside the bare call that "
        "of the same runtime."
    )
    title = f"{model.title}, a step of {model.few.words} in Q4_0, {SIZE}x{SIZE}"
    return Findings(
        (Table(title, (*TIMING_COLUMNS, "ours / it"), tuple(rows), note),),
        tuple(_target(model, name, ratios.get(name), limit) for name, limit in _LIMITS.items()),
    )


def _contestants(
    setting: Setting, model: QuantizedModel, ways: Sequence[_Way], stack: ExitStack
) -> dict[str, Callable[[], float]]:
    """Load every peer, and return what takes the time of its step, by name."""

    def step_of(peer: str, **options: object) -> Callable[[], float]:
        return partial(stack.enter_context(Child(peer, **options)).seconds, "step")

    few = str(model.few.prepare(setting.folder / model.folder, setting.say))
    found: dict[str, Callable[[], float]] = {}
    for way in ways:
        backend, precision = way
        given = {"checkpoint": few, "backend": backend, "precision": precision.value}
        found[_ours(*way)] = step_of("flow", **given, bare=False)
        if way == _CALLED:
            found[_BARE] = step_of("flow", **given, bare=True)
    if PEERS["flow diffusers"].installed:
        found[_DIFFUSERS] = step_of("flow diffusers", kind=model.folder, sizes=model.few.blocks)
    return found


def _ways(backends: Sequence[str]) -> list[_Way]:
    """List the precisions of the backends' first usable devices."""
    found: list[_Way] = []
    for reference in BACKENDS:
        if reference.name in backends:
            device = next(device for device in reference.create().probe() if device.usable)
            found += [(reference.name, precision) for precision in device.precisions]
    return found


def _ours(backend: str, precision: Precision) -> str:
    return f"safelight, {backend} in {precision.value}"


def whole_step_by_sdcpp(
    setting: Setting, model: QuantizedModel, parts: Mapping[str, Path], ours_s: float
) -> Target:
    """Compare our step of the whole model with stable-diffusion.cpp's, which counts on all blocks.

    It reads the same files.
    """
    what = f"{model.title}, a step of the whole / stable-diffusion.cpp's"
    ratio, reason = None, "stable-diffusion.cpp is not installed"
    if PEERS["sdcpp"].installed:
        paths = {model.sdcpp[option]: str(path) for option, path in parts.items()}
        steps = model.quick_steps if setting.quick else 2
        try:
            with Child("sdcpp", **paths) as child:
                seconds = float(child.ask("picture", steps=steps, guidance=1.0)["step_s"])
            setting.report("stable-diffusion.cpp, a step", seconds)
            ratio, reason = ours_s / seconds, ""
        except PeerError as error:
            reason = str(error).splitlines()[-1]
    return Target(what, ratio, _SDCPP_LIMIT, "", reason=reason)


def _target(model: QuantizedModel, name: str, ratio: float | None, limit: float) -> Target:
    what = f"{model.title}, a step of some blocks / {name}'s"
    reason = "" if ratio is not None else f"{name} is not installed"
    return Target(what, ratio, limit, "", reason=reason)
