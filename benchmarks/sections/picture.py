"""A whole picture: 512 x 512, guided, from the prompt to pixels."""

from dataclasses import dataclass, field

from benchmarks.checkpoints import warm
from benchmarks.child import Child
from benchmarks.command import CommandRun
from benchmarks.measure import PrivateMemoryPeak, Series, interleave
from benchmarks.peers import PEERS
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.setting import Setting
from benchmarks.workload import COMPONENTS

_DIFFUSERS_LIMIT = 0.70
_SDCPP_LIMIT = 0.10


@dataclass(slots=True)
class _Measured:
    """One side's times, with networks loaded and from the start of the process, and its memory."""

    loaded: Series
    cold: Series = field(default_factory=Series)
    peak_bytes: int = 0

    @property
    def row(self) -> tuple[float, float, float]:
        return (self.loaded.median, self.cold.median, self.peak_bytes / 1e9)


def picture(setting: Setting) -> Findings:
    """Compare a picture with diffusers in bfloat16, and one step with stable-diffusion.cpp."""
    whole = _against_diffusers(setting)
    one_step = _against_stable_diffusion_cpp(setting)
    return Findings((*whole.tables, *one_step.tables), (*whole.targets, *one_step.targets))


def _against_diffusers(setting: Setting) -> Findings:
    ours, theirs = _take_turns(setting)
    loaded, cold = ours.loaded.ratio_to(theirs.loaded), ours.cold.ratio_to(theirs.cold)
    table = Table(
        f"Whole picture, {setting.steps} steps, float32 file",
        ("", "networks loaded s", "process start to end s", "private memory GB"),
        (
            ("safelight, defaults", *ours.row),
            ("diffusers bf16, channels-last", *theirs.row),
            ("ours / diffusers", loaded, cold, ours.peak_bytes / theirs.peak_bytes),
        ),
        "Networks loaded: ours is encoding, denoising and decoding in a new process; diffusers' is "
        "a call of its pipeline after another one. Process start to end: ours until the process "
        "ends, its picture saved; diffusers' is imports, loading and a call.",
    )
    targets = (
        Target("whole picture / diffusers bf16, networks loaded", loaded, _DIFFUSERS_LIMIT, ""),
        Target("whole picture / diffusers bf16, process start to end", cold, _DIFFUSERS_LIMIT, ""),
    )
    return Findings((table,), targets)


def _take_turns(setting: Setting) -> tuple[_Measured, _Measured]:
    """Measure our pictures and diffusers' in turns, after one picture that warms diffusers up."""
    files, runs = setting.files, list[CommandRun]()
    warm(files.f32)
    options = {
        "configuration": str(files.configuration),
        "precision": "bf16",
        "checkpoint": str(files.f32),
    }
    with (
        setting.empty_cache() as cache,
        Child("diffusers", **options) as child,
        PrivateMemoryPeak(child.pid) as memory,
    ):

        def ours() -> float:
            runs.append(setting.generate(cache, files.f32, steps=setting.steps))
            return runs[-1].loaded_s

        def theirs() -> float:
            return child.seconds("picture", steps=setting.steps)

        child.seconds("picture", steps=1)
        contestants = {"diffusers": theirs, "safelight": ours}
        found = interleave(contestants, setting.rounds(3), setting.report)
    return (
        _Measured(
            found["safelight"],
            Series([run.wall_s for run in runs]),
            max(run.peak_private_bytes for run in runs),
        ),
        _Measured(
            found["diffusers"],
            Series([child.ready_s + seconds for seconds in found["diffusers"].values]),
            memory.peak_bytes,
        ),
    )


def _against_stable_diffusion_cpp(setting: Setting) -> Findings:
    what, name = "one step and VAE / stable-diffusion.cpp's", "stable-diffusion.cpp"
    if not PEERS["sdcpp"].installed:
        reason = f"{name} is not installed"
        return Findings((), (Target(what, None, _SDCPP_LIMIT, "", reason=reason),))
    model = str(setting.files.f16)
    device = {"backend": "intel_openvino", "precision": "bf16"}
    with (
        Child("safelight", checkpoint=model, **device) as ours,
        Child("sdcpp", model_path=model) as theirs,
    ):

        def components() -> float:
            """Return each network's time in its second run: the first run includes preparation."""
            for component in COMPONENTS:
                ours.seconds(component)
                seconds[component] = ours.seconds(component)
            return sum(seconds.values())

        seconds: dict[str, float] = {}
        theirs.seconds("picture", steps=1)
        contestants = {
            name: lambda: theirs.seconds("picture", steps=1),
            "safelight": components,
        }
        found = interleave(contestants, setting.rounds(2), setting.report)
    ratio = found["safelight"].ratio_to(found[name])
    parts = ", ".join(f"{component} {part:.2f} s" for component, part in seconds.items())
    table = Table(
        "Text, one step and the VAE, float16 file",
        ("", "s"),
        (
            ("safelight, intel_openvino bf16", found["safelight"].median),
            (name, found[name].median),
            (f"ours / {name}", ratio),
        ),
        f"Prompt to pixels, in networks that are loaded and have run before. Ours: {parts}.",
    )
    return Findings((table,), (Target(what, ratio, _SDCPP_LIMIT, ""),))
