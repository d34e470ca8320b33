"""`safelight bench`: how fast this machine is, component by component."""

import argparse

import msgspec

from app.cli.component_timings import ComponentTiming, time_components
from app.cli.devices import check_hardware
from app.cli.spelling import one_of, parse_size, parse_whole_number
from app.cli.terminal import Usage, print_json, print_table, say
from app.library.checkpoints import find_checkpoint
from app.model_folders import named_folders
from app.paths import find_paths, starter_checkpoint
from engine.api.fields import bounds_of
from engine.api.request import GenerateRequest
from engine.api.values import PrecisionName
from engine.cancel import CancelToken
from engine.compile.cache import NetworkCache
from engine.compile.compiler import Compiler
from engine.devices.choice import Devices
from engine.families.identify import identify, require_complete
from engine.pipeline.place import precisions

_BATCHES = (1, 4)


class TimingOutput(msgspec.Struct, frozen=True):
    """One row in the JSON output, times in seconds."""

    component: str
    batch: int
    prepare_s: float
    first_s: float
    second_s: float


class BenchOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight bench --json`."""

    checkpoint: str
    backend: str
    device: str
    precision: str
    width: int
    height: int
    steps: int
    timings: tuple[TimingOutput, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--model", metavar="M", help="a file, a folder or a name; default: starter")
    parser.add_argument("--size", type=parse_size, metavar="WxH", help="in pixels, as 512x768")
    parser.add_argument(
        "--steps", type=parse_whole_number, default=20, metavar="N", help="of a whole picture"
    )
    parser.add_argument("--backend", default="auto", metavar="B")
    parser.add_argument(
        "--precision",
        type=one_of(PrecisionName),
        choices=list(PrecisionName),
        default=PrecisionName.AUTO,
    )
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Time text encoder, denoiser step and VAE decoder in batches of 1 and 4."""
    paths = find_paths()
    checkpoint = identify(
        find_checkpoint(options.model, paths.models, starter_checkpoint(), named_folders(paths))
    )
    require_complete(checkpoint)
    width, height = options.size or (checkpoint.default_size, checkpoint.default_size)
    _require_possible(width, height, checkpoint.architecture.features.size_multiple, options.steps)
    devices = Devices(paths.cache)
    check_hardware(devices, options.backend, quiet=options.json)
    chosen = devices.candidates(options.backend)[0]
    device = chosen.device
    precision = precisions(options.precision, device)[0]
    cache = NetworkCache(paths.cache)
    timings = time_components(
        checkpoint,
        Compiler(chosen.backend, device, cache.working_copies, cache.artifacts),
        precision,
        width=width,
        height=height,
        batches=_BATCHES,
        cancel=CancelToken(),
    )
    output = BenchOutput(
        checkpoint=str(checkpoint.path),
        backend=device.backend,
        device=device.name,
        precision=precision.value,
        width=width,
        height=height,
        steps=options.steps,
        timings=tuple(_row(timing) for timing in timings),
    )
    if options.json:
        print_json(output)
    else:
        _print(output)
    return 0


def _require_possible(width: int, height: int, multiple: int, steps: int) -> None:
    """Raise Usage for a size or a number of steps that no picture has."""
    least, most = bounds_of(GenerateRequest, "width").whole
    if any(not least <= side <= most or side % multiple for side in (width, height)):
        raise Usage(
            f"{width}x{height} is no size of a picture; sides are multiples of {multiple} from "
            f"{least} to {most}"
        )
    least, most = bounds_of(GenerateRequest, "steps").whole
    if not least <= steps <= most:
        raise Usage(f"--steps is from {least} to {most}, not {steps}")


def _row(timing: ComponentTiming) -> TimingOutput:
    return TimingOutput(
        timing.component, timing.batch, timing.prepare_s, timing.first_s, timing.second_s
    )


def _print(output: BenchOutput) -> None:
    say(f"{output.checkpoint}, {output.width}x{output.height}, guided")
    say(f"{output.backend} in {output.precision} on {output.device}; seconds")
    say()
    rows: list[tuple[str, ...]] = []
    for batch in sorted({timing.batch for timing in output.timings}):
        timings = [timing for timing in output.timings if timing.batch == batch]
        whole = [0.0, 0.0, 0.0]
        for timing in timings:
            times = output.steps if timing.component == "denoiser step" else 1
            name = f"denoiser x {times}" if times > 1 else timing.component
            # The first step includes the extra cost of a first run.
            first = timing.first_s + (times - 1) * timing.second_s
            seconds = (timing.prepare_s, first, times * timing.second_s)
            whole = [total + part for total, part in zip(whole, seconds, strict=True)]
            rows.append((name, str(batch), *(f"{value:.2f}" for value in seconds)))
        rows.append(("whole", str(batch), *(f"{value:.2f}" for value in whole)))
    print_table(("COMPONENT", "BATCH", "PREPARE", "FIRST RUN", "SECOND RUN"), rows)
