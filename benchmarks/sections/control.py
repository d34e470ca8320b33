"""SD 1.5 led by ControlNets, a step beside diffusers'; memory, with image prompts as well."""

import tempfile
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks import checkpoints
from benchmarks.child import Child
from benchmarks.measure import Series, interleave
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.predicted_memory import MeasuredPeak, beside_predictions
from benchmarks.sections.setting import TIMING_COLUMNS, Setting, first_and_rest, timing_row
from benchmarks.workload import CONTROL, CONTROLLED, DENOISER, SIZE

_DENOISER, _CONTROL = "the denoiser alone", "the ControlNet alone"
_OURS, _THEIRS = "safelight, intel_openvino bf16", "diffusers bf16, channels-last"
# The largest allowed ratio of a led step to the sum of its two bare calls.
_LIMIT = 1.03
# Enough steps for every network to run.
_STEPS = 2


def control(setting: Setting) -> Findings:
    """Measure led steps, and the memory of pictures that are led and shown pictures."""
    network = checkpoints.prepare_control_net(setting.folder, setting.say)
    time, memory = _time(setting, str(network)), _memory(setting, network)
    return Findings(time.tables + memory.tables, time.targets + memory.targets)


def _time(setting: Setting, network: str) -> Findings:
    """Measure a led step in turns with the calls of its networks, and with diffusers' step.

    The step without a ControlNet runs before and after led ones in the same session: what a
    ControlNet adds or removes loads nothing anew.
    """
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
        timing_row(name, firsts[name], times, None if name == _OURS else led.ratio_to(times))
        for name, times in series.items()
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


def _memory(setting: Setting, network: Path) -> Findings:
    """Compare the peak of private memory with the one that was planned.

    One picture fills the cache first: what is measured is a usual picture.
    """
    shown = checkpoints.prepare_image_prompt(setting.folder, setting.say)
    peaks: list[MeasuredPeak] = []
    with setting.empty_cache() as cache, tempfile.TemporaryDirectory() as scratch:
        picture = Path(scratch) / "picture.png"
        noise = np.random.default_rng(0).integers(0, 256, (SIZE, SIZE, 3), np.uint8)
        Image.fromarray(noise).save(picture)
        layer = ("--control", str(picture), "--control-model", str(network))
        adapter = ("--adapter", str(shown / "adapter.safetensors"))
        encoder = ("--adapter-encoder", str(shown / "encoder"))
        prompt = ("--image-prompt", str(picture), *adapter, *encoder)
        for layers, prompts in ((2, 1), (0, 0), (1, 0), (2, 0), (0, 1), (1, 1)):
            arguments = (*layer * layers, *prompt * prompts)
            run = setting.generate(cache, setting.files.f16, *arguments, steps=_STEPS)
            peak = run.peak_private_bytes / 1e9
            planned = run.result["memory"]["planned_peak_mb"] / 1e3
            what = f"{layers} ControlNets, {prompts} image prompts"
            setting.say(f"  {what}: {peak:.2f} GB, planned {planned:.2f} GB")
            peaks.append(MeasuredPeak((what,), peak, planned))
    return beside_predictions(
        f"Private memory of a picture, {SIZE}x{SIZE}",
        ("led by",),
        peaks[1:],
        "RssAnon of the process in units of 10^9 bytes, sampled from outside every 20 ms.",
    )
