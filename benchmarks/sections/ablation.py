"""The gain of each of ONNX Runtime's fused operators on a CUDA GPU, compared with torch.

SD 1.5 at 512x512, guided, in half precision. Without a CUDA GPU the target has the reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from backends.nvidia_cuda import CudaBackend
from benchmarks.ablation_steps import PUBLISHED_S, STEPS
from benchmarks.child import Child, PeerError
from benchmarks.measure import Series
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.setting import Setting

STEPS_OF_A_PICTURE = 50
PICTURES = (1, 8)
# The largest allowed ratio of our time to the best of the others'.
LIMIT = 1.10
_WARM_UP = 3
_LAST = list(STEPS)[-1]
_COLUMNS = ("", "step ms", "50 steps s", "of plain", "memory GB", "published s, RTX 3060")


@dataclass(frozen=True, slots=True)
class Contestant:
    """A peer and its options; `ours` marks the shipped configuration."""

    peer: str
    options: Mapping[str, object]
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """A contestant's step times and memory for one number of pictures at once."""

    step: Series
    bytes: int


def contestants(checkpoint: str, configuration: str, size: int) -> dict[str, Contestant]:
    """Return the steps of the ablation, variants of the last one, and torch."""
    common = {"checkpoint": checkpoint, "precision": "f16", "size": size}
    cuda = {**common, "backend": "nvidia_cuda"}
    torch = {**common, "backend": "torch_device"}
    theirs = {"configuration": configuration, "precision": "f16", "size": size}
    last = {**cuda, "step": _LAST}
    return {
        **{name: Contestant("unet step", {**cuda, "step": name}) for name in STEPS},
        "as it ships": Contestant("unet step", last, ours=True),
        "+ bias in the convolution": Contestant("unet step", {**last, "options": "bias"}),
        "+ CUDA graph": Contestant("unet step", {**last, "options": "graphs"}),
        "torch_device": Contestant("unet step", torch),
        "torch_device, CUDA graph": Contestant("unet step", {**torch, "options": "graphs"}),
        "diffusers": Contestant("diffusers gpu", theirs),
        "diffusers, torch.compile max-autotune": Contestant(
            "diffusers gpu", {**theirs, "compiled": True}
        ),
    }


def measure(contestant: Contestant, pictures: int, rounds: int) -> Measured:
    """Load a contestant alone, and run it. Raises PeerError."""
    with Child(contestant.peer, **contestant.options) as child:
        for _ in range(_WARM_UP):
            child.ask("step", pictures=pictures)
        taken = [child.seconds("step", pictures=pictures) for _ in range(rounds)]
        return Measured(Series(taken), int(child.ask("memory")["bytes"]))


def ablation(setting: Setting) -> Findings:
    """Return a table for each number of pictures, and our time divided by the best other time."""
    (device, *_) = CudaBackend().probe()
    if device.unusable:
        what = f"UNet step on a CUDA GPU / the best of the others', {PICTURES[0]} picture"
        return Findings((), (Target(what, None, LIMIT, "", reason=device.unusable),))
    files = setting.files
    others = contestants(str(files.f16), str(files.configuration), 512)
    found = [found_for(setting, others, pictures, device.name) for pictures in PICTURES]
    tables, targets = zip(*found, strict=True)
    return Findings(tables, targets)


def found_for(
    setting: Setting, others: Mapping[str, Contestant], pictures: int, device: str
) -> tuple[Table, Target]:
    """Return a table of all contestants with `pictures` at once, and the target.

    The row of a contestant that failed has the reason.
    """
    measured: dict[str, Measured] = {}
    failures: dict[str, str] = {}
    for name, contestant in others.items():
        try:
            measured[name] = measure(contestant, pictures, setting.rounds(20))
            setting.report(name, measured[name].step.median)
        except PeerError as error:
            failures[name] = str(error).strip().splitlines()[-1]
            setting.say(f"  {name}: {failures[name]}")
    plain = measured.get(next(iter(STEPS)))
    rows = tuple(
        _row(name, measured[name], plain) if name in measured else (name, failures[name], *"----")
        for name in others
    )
    title = f"UNet step on {device}, 512x512, guided, f16, {pictures} at once"
    note = f"Medians of {setting.rounds(20)}, each contestant alone on the card, one after another."
    return Table(title, _COLUMNS, rows, note), _target(others, measured, pictures)


def _row(name: str, measured: Measured, plain: Measured | None) -> tuple[Cell, ...]:
    seconds = measured.step.median
    return (
        name,
        1000 * seconds,
        STEPS_OF_A_PICTURE * seconds,
        seconds / plain.step.median if plain else "-",
        measured.bytes / 1e9,
        PUBLISHED_S.get(name, "-"),
    )


def _target(
    others: Mapping[str, Contestant], measured: Mapping[str, Measured], pictures: int
) -> Target:
    """Return the target for our time divided by the best of the other variants' times."""
    what = f"UNet step on a CUDA GPU / the best of the others', {pictures} at once"
    ours = [m.step.median for name, m in measured.items() if others[name].ours]
    best = [m.step.median for name, m in measured.items() if not others[name].ours]
    if not ours or not best:
        return Target(what, None, LIMIT, "", reason="nothing to compare")
    return Target(what, ours[0] / min(best), LIMIT, "")
