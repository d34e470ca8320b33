"""`safelight upscale`: pictures made larger by an upscaler's file, or by Lanczos and the like."""

import argparse
from pathlib import Path

import msgspec

from app.cli.devices import check_hardware
from app.cli.picture_files import typed_pictures
from app.cli.spelling import one_of, parse_size
from app.cli.terminal import ByteBar, Usage, print_error, print_json, print_note, write_path
from app.cli.upscaler_files import find_upscaler
from app.model_folders import named_folders
from app.paths import Paths, find_paths, typed_text
from app.settings.reading import FILE, read_settings
from app.standard_streams import OutputLost
from engine.api.second_passes import Resampling, resampling_named
from engine.api.values import ErrorInfo
from engine.cancel import CancelToken
from engine.compile.cache import NetworkCache
from engine.devices.choice import Candidate, Devices
from engine.errors import Cancelled
from engine.folders import folders_of_models
from engine.jobs.kept_facts import known_files
from engine.jobs.upscaling import UpscaledImage, UpscaleJob, UpscaleListener, upscaled_files
from engine.output import Destination, destination
from engine.upscalers.reading import read_upscaler
from engine.upscalers.upscale import Wanted

_MOST_SCALE, _LEAST_TILE = 64.0, 16


class UpscaledOutput(msgspec.Struct, frozen=True):
    """A picture in the JSON output: the one before, the new one, and its size in pixels."""

    source: str
    path: str
    width: int
    height: int


class UpscaleOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight upscale --json`.

    `upscaler` is the name of the file or of the method; a method has no architecture and no device.
    """

    images: tuple[UpscaledOutput, ...]
    upscaler: str
    architecture: str | None
    device: str | None
    warnings: tuple[ErrorInfo, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "pictures",
        metavar="PICTURE",
        nargs="+",
        help="a PNG, JPEG or WebP file, a folder of them or a pattern as *.png; one or more",
    )
    parser.add_argument(
        "--model",
        required=True,
        metavar="M",
        help="an upscaler's file or its name in your folder of upscalers; or lanczos, bicubic, "
        "bilinear, area or nearest",
    )
    _add_size(parser)
    parser.add_argument(
        "--tile",
        type=_tile,
        metavar="N",
        help="run in tiles of N pixels a side; default: as large as memory allows",
    )
    parser.add_argument(
        "--backend",
        default="auto",
        metavar="B",
        help="a name `safelight devices` lists, or auto",
    )
    parser.add_argument(
        "--output", "--out", metavar="FILE_OR_FOLDER", help="default: your pictures folder"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_size(parser: argparse.ArgumentParser) -> None:
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--scale", type=_scale, metavar="X", help="as 2 or 1.5; default: the upscaler's own"
    )
    size.add_argument(
        "--size", type=parse_size, metavar="WxH", help="exactly this size in pixels, as 2048x3072"
    )
    parser.add_argument(
        "--resample",
        type=one_of(Resampling),
        choices=list(Resampling),
        default=Resampling.LANCZOS,
        help="what brings an upscaler's picture to the exact size; default: lanczos",
    )


def run(options: argparse.Namespace) -> int:
    """Enlarge the pictures and print their paths; Ctrl-C keeps those that are done."""
    paths, cancel = find_paths(), CancelToken()
    job = _job(options, paths)
    devices = Devices(paths.cache)
    candidates: list[Candidate] = []
    if job.upscaler is not None:
        check_hardware(devices, options.backend, quiet=options.json, cancel=cancel)
        candidates = devices.candidates(options.backend, cancel)
    done: list[UpscaledImage] = []
    warnings: list[ErrorInfo] = []
    lost: OutputLost | None = None
    bar = ByteBar("Enlarging", 1)
    listener = UpscaleListener(bar.show, warnings.append, cancel, note_failure=devices.note_failure)
    try:
        for image in upscaled_files(job, candidates, NetworkCache(paths.cache), listener):
            done.append(image)
            if not options.json:
                bar.clear()
                lost = _announce(image.path) or lost
    except KeyboardInterrupt:
        raise Cancelled from None
    finally:
        bar.clear()
    if options.json:
        print_json(_output(job, done, warnings))
    else:
        for warning in warnings:
            print_error(warning)
    if lost is not None:
        raise lost
    return 0


def _announce(path: Path) -> OutputLost | None:
    """Print the path of a picture; return the error of an output that is lost."""
    try:
        write_path(path)
    except OutputLost as lost:
        print_note(f"The picture is saved as {path}.")
        return lost
    return None


def _job(options: argparse.Namespace, paths: Paths) -> UpscaleJob:
    """Return the job that the options ask for; an upscaler's file is read. Raises Usage."""
    saving = read_settings(paths.config / FILE).settings.saving
    pictures = typed_pictures(options.pictures)
    target = Destination(paths.output)
    if options.output:
        target = destination(typed_text(options.output), len(pictures))
    method = resampling_named(options.model)
    if method is not None:
        if options.scale is None and options.size is None:
            raise Usage(f"{method.value} has no scale of its own: give --scale 2 or --size WxH")
        return UpscaleJob(pictures, Wanted(options.size, options.scale, method), target, saving)
    path = find_upscaler(options.model, folders_of_models(paths.models, named_folders(paths)))
    upscaler = read_upscaler(path, known_files(paths.cache).read_index)
    wanted = Wanted(options.size, options.scale, options.resample)
    return UpscaleJob(pictures, wanted, target, saving, upscaler, options.tile)


def _output(job: UpscaleJob, done: list[UpscaledImage], warnings: list[ErrorInfo]) -> UpscaleOutput:
    last, upscaler = done[-1].report, job.upscaler
    return UpscaleOutput(
        images=tuple(
            UpscaledOutput(
                str(output.source), str(output.path), output.report.width, output.report.height
            )
            for output in done
        ),
        upscaler=last.name,
        architecture=upscaler.architecture if upscaler else None,
        device=last.device,
        warnings=tuple(warnings),
    )


def _scale(text: str) -> float:
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not 1 / _MOST_SCALE <= scale <= _MOST_SCALE:
        raise argparse.ArgumentTypeError(f"{text!r} is no scale; write it as 2 or 1.5")
    return scale


def _tile(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text[:9]) < _LEAST_TILE:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no side of a tile; write a number from {_LEAST_TILE} on"
        )
    return int(text[:9])
