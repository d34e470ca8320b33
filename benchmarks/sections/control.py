"""A guided SD 1.5 step led by a ControlNet: beside its two bare calls, and beside diffusers."""

from contextlib import ExitStack

from benchmarks import checkpoints
from benchmarks.child import Child
from benchmarks.measure import Series, interleave
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.setting import TIMING_COLUMNS, Setting, first_and_rest, timing_row
from benchmarks.workload import CONTROL, CONTROLLED, DENOISER, SIZE

_DENOISER, _CONTROL = "the denoiser alone", "the ControlNet alone"
_OURS, _THEIRS = "safelight, intel_openvino bf16", "diffusers bf16, channels-last"
# The largest allowed ratio of a led step to the sum of its two bare calls.
_LIMIT = 1.03


def control(setting: Setting) -> Findings:
    """Measure a led step in turns with the calls of its networks, and with diffusers' step.

    The step without a ControlNet runs before and after led ones in the same session: what a
    ControlNet adds or removes loads nothing anew.
    """
    network = str(checkpoints.prepare_control_net(setting.folder, setting.say))
    unet, configuration = str(setting.files.unet_file), str(setting.files.configuration)
    runtime = {"backend": "intel_openvino", "precision": "bf16"}
    with ExitStack() as stack:
        ours = stack.enter_context(Child("control", checkpoint=unet, network=network, **runtime))
        theirs = stack.enter_context(
            Child("control diffusers", configuration=configuration, network=network)
        )
        contestants = {
            _DENOISER: lambda: ours.seconds(DENOISER),
            _CONTROL: lambda: ours.seconds(CONTROL),
            _OURS: lambda: ours.seconds(CONTROLLED),
            _THEIRS: lambda: theirs.seconds(CONTROLLED),
        }
        rounds = setting.rounds(9) + 1
        firsts, series = first_and_rest(interleave(contestants, rounds, setting.report))
    led, alone, beside = (series[name] for name in (_OURS, _DENOISER, _CONTROL))
    bare = Series([sum(pair) for pair in zip(alone.values, beside.values, strict=True)])
    rows = tuple(
        timing_row(name, firsts[name], one, None if name == _OURS else led.ratio_to(one))
        for name, one in series.items()
    )
    table = Table(
        f"A step led by a ControlNet, {SIZE}x{SIZE}, guided",
        (*TIMING_COLUMNS, "ours / it"),
        rows,
        "Turn by turn in one run, from float32 files. Ratios are medians over rounds.",
    )
    targets = (
        Target("led step / its two bare calls", led.ratio_to(bare), _LIMIT, ""),
        Target("led step / diffusers", led.ratio_to(series[_THEIRS]), 1.0, ""),
    )
    return Findings((table,), targets)
