"""LoRAs of rank 32 on every layer: steps, new strengths and memory; and a folder of files."""

import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from backends.base import DType
from benchmarks.checkpoints import prepare_lora, prepare_sdxl, warm
from benchmarks.child import Answer, Child
from benchmarks.measure import PrivateMemoryPeak, Series, interleave
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.lora_files import list_files
from benchmarks.sections.setting import Setting
from benchmarks.workload import SIZE
from engine.api.lora import LoraMode
from engine.families import identify
from engine.families.checkpoint import Component

_BACKEND = "intel_openvino"
_PLAIN, _MERGE, _SIDE = "without LoRA", "merge", "side"
# The usual mode where weights are merged.
_TEXT_SIDE = "text_side"
_LOADED, _FUSED = "diffusers, load_lora_weights + fuse_lora", "diffusers, unfuse_lora + fuse_lora"
_AUTOMATIC, _AFTER_MERGED = "a new strength", "a new strength, after merged weights"
_CACHED = "cached start without LoRA, to the first step"
_STEPS = 4
_MERGED_STEP, _SIDE_STEP, _FIRST_STEP_S, _OF_DIFFUSERS = 1.02, 1.25, 2.6, 0.5


@dataclass(frozen=True, slots=True)
class _Model:
    """A checkpoint of full size, and a LoRA on all of its layers."""

    title: str
    family: str
    checkpoint: Path
    lora: Path
    rounds: int
    # True if it is measured beside diffusers turn by turn; SDXL would need more than 24 GB.
    in_turns: bool


def lora(setting: Setting) -> Findings:
    """Measure SD 1.5, then the listing of files."""
    model = _Model(
        "SD 1.5",
        "sd15",
        setting.files.f16,
        prepare_lora(setting.folder, "sd15", setting.say),
        setting.rounds(5),
        in_turns=True,
    )
    of_model = (_steps, _new_strengths, _automatic, _memory)
    return _joined([*(measure(setting, model) for measure in of_model), list_files(setting)])


def lora_sdxl(setting: Setting) -> Findings:
    """Measure SDXL, without whole pictures: they take a quarter of an hour."""
    model = _Model(
        "SDXL",
        "sdxl",
        prepare_sdxl(setting.folder, setting.say),
        prepare_lora(setting.folder, "sdxl", setting.say),
        setting.rounds(3),
        in_turns=False,
    )
    return _joined([measure(setting, model) for measure in (_steps, _new_strengths, _memory)])


def _joined(found: Sequence[Findings]) -> Findings:
    return Findings(
        tuple(table for findings in found for table in findings.tables),
        tuple(target for findings in found for target in findings.targets),
    )


class _Engine:
    """Jobs of the engine in a process of its own; each strength is a new one."""

    def __init__(self, child: Child, model: _Model) -> None:
        self.child, self._model = child, model
        self._strengths = _different_strengths()
        self._strength = 0.0

    def picture(self, mode: str, steps: int = 1, *, again: bool = False) -> Answer:
        """Make a picture with the LoRA in a mode, or without; `again`: at the last strength."""
        if mode == _PLAIN:
            return self.child.ask("picture", steps=steps)
        if not again:
            self._strength = next(self._strengths)
        loras = [(str(self._model.lora), self._strength)]
        return self.child.ask("picture", steps=steps, mode=mode, loras=loras)

    def first_step_s(self, mode: str) -> float:
        """Return the seconds from a request at a new strength to its first step."""
        return float(self.picture(mode)["first_step_s"])

    def step_s(self, mode: str) -> float:
        """Return the median seconds of a step, without the first, which lays out the weights."""
        return Series(list(self.picture(mode, _STEPS)["steps_s"][1:])).median


@contextmanager
def _engine(setting: Setting, model: _Model) -> Generator[_Engine]:
    warm(model.checkpoint)
    with (
        setting.empty_cache() as cache,
        Child(
            "engine jobs", checkpoint=str(model.checkpoint), backend=_BACKEND, cache=str(cache)
        ) as child,
    ):
        engine = _Engine(child, model)
        # Writes the working copies, which later jobs use.
        engine.picture(_PLAIN)
        yield engine


def _steps(setting: Setting, model: _Model) -> Findings:
    """Measure a step without LoRA, with merged weights, and with side branches, in turns."""
    with _engine(setting, model) as engine:
        names = (_PLAIN, _MERGE, _SIDE)
        series = interleave(
            {name: partial(engine.step_s, name) for name in names}, model.rounds, setting.report
        )
    plain = series[_PLAIN]
    rows = tuple(
        (name, times.median, *times.spread, times.ratio_to(plain)) for name, times in series.items()
    )
    table = Table(
        f"A step with a LoRA, {model.title}, {SIZE}x{SIZE}, guided",
        ("", "median s", "least s", "most s", "it / without"),
        rows,
        f"Pictures of {_STEPS} steps turn by turn on {_BACKEND} in bfloat16; each picture's value "
        "is the median of its steps but the first. Ratios are medians over rounds.",
    )
    targets = (
        Target(
            f"{model.title}: step with merged LoRA / without",
            series[_MERGE].ratio_to(plain),
            _MERGED_STEP,
            "",
        ),
        Target(
            f"{model.title}: step with side branches / without",
            series[_SIDE].ratio_to(plain),
            _SIDE_STEP,
            "",
        ),
    )
    return Findings((table,), targets)


def _new_strengths(setting: Setting, model: _Model) -> Findings:
    """Measure the time from a request at a new strength to its first step, beside diffusers."""
    series = _timed_strengths(setting, model)
    # The mode that `auto` takes for a new strength; `_automatic` measures that it does.
    beside = series[_new(_SIDE)].median
    order = "turn by turn" if model.in_turns else "one after the other"
    table = Table(
        f"A new strength, {model.title}, networks loaded",
        ("", "median s", "least s", "most s"),
        tuple((name, times.median, *times.spread) for name, times in series.items()),
        "From the request to the first step, text encoders included, in processes that have the "
        "checkpoint loaded; no strength occurs twice. Diffusers in bfloat16, without encoding the "
        "prompt: reading the file and fusing it, or taking the old strength out and fusing the "
        f"new one. Ours and theirs {order}.",
    )
    name = f"{model.title}: new strength, side"
    ratio = beside / series[_LOADED].median
    targets = [Target(f"{name} / diffusers' load and fuse", ratio, _OF_DIFFUSERS, "")]
    if _CACHED in series:
        targets.append(Target(name, beside, _FIRST_STEP_S, "s"))
    return Findings((table,), tuple(targets))


def _timed_strengths(setting: Setting, model: _Model) -> dict[str, Series]:
    with _engine(setting, model) as engine, ExitStack() as stack:
        ours = {_new(mode): partial(engine.first_step_s, mode) for mode in (_TEXT_SIDE, _MERGE)}
        theirs = _diffusers(stack, model) if model.in_turns else {}
        series = interleave({**ours, **theirs}, model.rounds, setting.report)
        # At first the network with branches is loaded; from then on nothing is.
        engine.first_step_s(_SIDE)
        beside = {_new(_SIDE): partial(engine.first_step_s, _SIDE)}
        series |= interleave(beside, model.rounds, setting.report)
    if not model.in_turns:
        with ExitStack() as stack:
            series |= interleave(_diffusers(stack, model), model.rounds, setting.report)
    else:
        series[_CACHED] = _cached_starts(setting, model)
    return series


def _automatic(setting: Setting, model: _Model) -> Findings:
    """Measure whole pictures in the usual mode: new strengths, and one that is wanted again."""
    asked = (
        ("the first with a LoRA", False),
        (_AUTOMATIC, False),
        (_AUTOMATIC, False),
        ("the same again", True),
        ("the same again", True),
        (_AFTER_MERGED, False),
    )
    rows: list[tuple[Cell, ...]] = []
    begun: list[float] = []
    with _engine(setting, model) as engine:
        engine.picture(_PLAIN, setting.steps)
        for name, again in asked:
            answer = engine.picture(LoraMode.AUTO, setting.steps, again=again)
            setting.report(f"{name}, {answer['mode']}", answer["first_step_s"])
            rows.append((name, answer["mode"], answer["first_step_s"], answer["seconds"]))
            if name in (_AUTOMATIC, _AFTER_MERGED):
                begun.append(answer["first_step_s"])
    table = Table(
        f"One picture after another in `auto`, {model.title}, {setting.steps} steps",
        ("", "mode", "first step s", "picture s"),
        tuple(rows),
        "From the request to the first step, and to the saved picture.",
    )
    name = f"{model.title}: new strength, auto, the slowest"
    return Findings((table,), (Target(name, max(begun), _FIRST_STEP_S, "s"),))


def _different_strengths() -> Iterator[float]:
    return itertools.count(0.5, 0.001)


def _new(mode: str) -> str:
    return f"new strength, {mode}"


def _diffusers(stack: ExitStack, model: _Model) -> dict[str, Callable[[], float]]:
    child = stack.enter_context(
        Child("lora diffusers", checkpoint=str(model.checkpoint), family=model.family)
    )
    strengths = _different_strengths()

    def taken(task: str) -> Callable[[], float]:
        return lambda: child.seconds(task, file=str(model.lora), strength=next(strengths))

    return {_LOADED: taken("load"), _FUSED: taken("fuse")}


def _cached_starts(setting: Setting, model: _Model) -> Series:
    with setting.empty_cache() as cache:
        for _ in range(2):  # written, then checked
            setting.generate(cache, model.checkpoint, steps=1)
        runs = [
            setting.generate(cache, model.checkpoint, steps=1).first_step_s
            for _ in range(model.rounds)
        ]
    return Series(runs)


def _memory(setting: Setting, model: _Model) -> Findings:
    """Measure the peak private memory of processes that make one picture after another."""
    peaks: dict[str, float] = {}
    for mode in (_PLAIN, _TEXT_SIDE, _SIDE):
        with _engine(setting, model) as engine, PrivateMemoryPeak(engine.child.pid) as memory:
            for _ in range(2):
                engine.picture(mode)
        peaks[mode] = memory.peak_bytes / 1e9
        setting.say(f"  {mode}: {peaks[mode]:.2f} GB")
    checkpoint = identify(model.checkpoint)
    weights = checkpoint.components[Component.DENOISER].weights.values()
    touched = (
        sum(weight.elements for weight in weights if len(weight.shape) > 1) * DType.BF16.itemsize
    )
    table = Table(
        f"Private memory with a LoRA, {model.title}",
        ("", "peak GB", "more than without"),
        tuple((mode, peak, peak - peaks[_PLAIN]) for mode, peak in peaks.items()),
        "RssAnon in units of 10^9 bytes, sampled from outside every 20 ms, of a process with one "
        "picture made before. The LoRA changes weights of "
        f"{touched / 1e9:.2f} GB in bfloat16 in the denoiser alone.",
    )
    more = max(peaks[_TEXT_SIDE], peaks[_SIDE]) - peaks[_PLAIN]
    target = Target(f"{model.title}: private memory for a LoRA", more, touched / 1e9, "GB")
    return Findings((table,), (target,))
