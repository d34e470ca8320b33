"""`safelight generate`: a prompt becomes pictures."""

import argparse
import signal
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from app.cli import (
    canvas,
    controls,
    hires,
    image_prompts,
    loras,
    machine_options,
    overrides,
    settings,
)
from app.cli.devices import check_hardware
from app.cli.folders import add_folders_argument
from app.cli.job_line import TerminalReporter
from app.cli.spelling import (
    names_of,
    one_of,
    parse_method,
    parse_number,
    parse_schedule,
    parse_size,
    parse_whole_number,
)
from app.cli.stated_models import with_stated_models
from app.cli.terminal import Usage, print_json, print_note
from app.library.checkpoints import find_checkpoint
from app.model_folders import named_folders
from app.paths import find_paths, starter_checkpoint, typed_path, typed_text
from app.settings.reading import FILE, read_settings
from app.standard_streams import OutputLost
from app.staying_awake import staying_awake
from app.updates.running import running_version
from backends.hardware import private_bytes
from engine.api.fields import fields_of
from engine.api.record import Timings
from engine.api.request import NO_OVERRIDE, ComponentFiles, GenerateRequest, RefinerChoice
from engine.api.values import (
    ConventionName,
    ErrorInfo,
    SamplerName,
    ScheduleName,
)
from engine.cancel import CancelToken
from engine.checkpoints.background_hash import BackgroundHash
from engine.families.identify import identify
from engine.file_paths import exists
from engine.jobs.attempts import JobResult
from engine.jobs.kept_facts import known_files
from engine.jobs.roundings import bits_of
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.memory.peak import PeakMemory
from engine.metadata.readers import ImportedRequest, read_request
from engine.metadata.recorded_files import changed_pictures
from engine.output import Destination, destination


class ImageOutput(msgspec.Struct, frozen=True):
    """A saved picture in the JSON output."""

    path: str
    seed: int
    width: int
    height: int


class MemoryOutput(msgspec.Struct, frozen=True):
    """Memory in the JSON output, in megabytes of 10^6 bytes.

    `peak_private_mb` is sampled, null where the system does not tell; `planned_peak_mb` is the
    estimate by which `weights` (converted in memory, or a mapped working copy) was chosen, and the
    bits of the weights of large layers, which are 16 where none were rounded.
    """

    peak_private_mb: float | None
    planned_peak_mb: float
    weights: str
    text_encoder_bits: int
    denoiser_bits: int


class GenerateOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight generate --json`."""

    images: tuple[ImageOutput, ...]
    family: str
    backend: str
    device: str
    # The reason why this device was chosen.
    choice: str
    timings: Timings
    memory: MemoryOutput
    warnings: tuple[ErrorInfo, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options.

    An option that sets a field of the request has the field's name as its `dest`.
    """
    parser.add_argument("prompt", type=str, nargs="?", help="what to draw")
    avoid = "things to avoid, as blurry, text"
    parser.add_argument("--negative", dest="negative_prompt", type=str, metavar="TEXT", help=avoid)
    parser.add_argument("--model", metavar="M", help="a file, a folder or a name; default: starter")
    overrides.add_arguments(parser)
    parser.add_argument("--steps", type=parse_whole_number, metavar="N")
    strictness = "guidance: how strictly to follow"
    parser.add_argument("--cfg", dest="guidance", type=parse_number, metavar="X", help=strictness)
    samplers = names_of(SamplerName)
    parser.add_argument("--sampler", dest="method", type=parse_method, metavar="S", help=samplers)
    parser.add_argument("--schedule", type=parse_schedule, metavar="S", help=names_of(ScheduleName))
    parser.add_argument(
        "--seed", dest="wanted_seed", type=parse_whole_number, metavar="N", help="-1 chooses one"
    )
    parser.add_argument("--size", type=parse_size, metavar="WxH", help="in pixels, as 512x768")
    parser.add_argument(
        "--count", type=parse_whole_number, metavar="N", help="pictures, with seeds N, N + 1, ..."
    )
    parser.add_argument(
        "--clip-skip", type=parse_whole_number, metavar="N", help="1 runs the whole text encoder"
    )
    canvas.add_arguments(parser.add_argument_group("the picture to start from"))
    hires.add_arguments(parser.add_argument_group("a second pass, larger (hires fix)"))
    _add_running(parser)
    settings.add_argument(parser)
    machine_options.add_arguments(parser)
    _add_files(parser)
    parser.add_argument("--preview", metavar="FILE", help="a PNG of each few steps")
    parser.add_argument("--out", metavar="FILE_OR_FOLDER", help="default: your pictures folder")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="source",
        metavar="PICTURE",
        help="make it again: a PNG, JPEG or WebP file of any of the popular tools",
    )
    parser.add_argument("--convention", type=one_of(ConventionName), choices=list(ConventionName))


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--refiner", dest="refiner_file", metavar="FILE", help="a model that finishes the picture"
    )
    parser.add_argument(
        "--refiner-at",
        type=parse_number,
        metavar="X",
        help="after which part of the run; default: 0.8",
    )
    loras.add_arguments(parser)
    followed = (
        "pictures that are followed",
        "a ControlNet, a control-LoRA or a T2I-Adapter for each",
    )
    controls.add_arguments(parser.add_argument_group(*followed))
    prompting = "pictures as prompts", "an IP-Adapter for each"
    image_prompts.add_arguments(parser.add_argument_group(*prompting))
    add_folders_argument(parser, "--embeddings", "embedding_folders", "embeddings")
    for part in fields_of(ComponentFiles).values():
        option = f"--{part.name.replace('_', '-')}"
        parser.add_argument(option, metavar="FILE", help=f"use this file's {part.title}")


def run(options: argparse.Namespace) -> int:
    """Make the pictures; a first Ctrl-C cancels, a second one kills."""
    source = _source(options)
    request = _request(options, source)
    _tell_source(source, request)
    preview = typed_path(options.preview) if options.preview else None
    paths = find_paths()
    saving = read_settings(paths.config / FILE).settings.saving
    saver = PictureSaver(_target(options.out, request.count, paths.output), saving)
    # Before the devices are tried, which takes longer than anything else.
    saver.require_writable()
    reporter = TerminalReporter(announce=not options.json, preview=preview)
    token = CancelToken()
    hashes = BackgroundHash(known_files(paths.cache))
    services = JobServices.in_cache(
        paths.cache,
        wildcards=paths.wildcards,
        models=paths.models,
        loras=loras.folders(paths, options),
        embeddings=(*options.embedding_folders, *paths.embeddings),
        hashes=hashes,
    )
    with _at_work(token, reporter), PeakMemory(private_bytes) as memory, closing(hashes):
        try:
            check_hardware(services.devices, request.backend, quiet=options.json, cancel=token)
            result = JobRunner(services).run(request, saver, reporter, token)
        finally:
            reporter.close()
    running_version().proved()
    if options.json:
        _print_json(result, memory.peak)
    else:
        _tell_warnings(result, reporter)
    if told := machine_options.rounding_note(request, result.images[0].record.request):
        print_note(told)
    if source:
        _note_differences(source, request, result)
    if reporter.lost:
        raise reporter.lost
    return 0


def _source(options: argparse.Namespace) -> ImportedRequest | None:
    """Return the request of the --from picture, with the models that its tool names."""
    if not options.source:
        return None
    found = read_request(typed_path(options.source))
    return with_stated_models(found, first=options.model is None)


def _target(out: str | None, count: int, usual: Path) -> Destination:
    """Return the place for the pictures: as typed, else the usual folder."""
    return destination(typed_text(out), count) if out else Destination(usual)


def _tell_warnings(result: JobResult, reporter: TerminalReporter) -> None:
    # Some arise only once a picture is made, and were not printed yet.
    for warning in result.warnings:
        reporter.warning(warning)


def _print_json(result: JobResult, peak_bytes: int | None) -> None:
    try:
        print_json(_output(result, peak_bytes))
    except OutputLost:
        for image in result.images:
            print_note(f"The picture is saved as {image.path}.")
        raise


def _request(options: argparse.Namespace, source: ImportedRequest | None) -> GenerateRequest:
    """Return the request of the --from picture, or an empty one, changed by the options."""
    base = source and source.request
    if base is None and options.prompt is None:
        raise Usage("give a prompt, or a picture with --from")
    changes: dict[str, Any] = {
        name: value
        for name in fields_of(GenerateRequest)
        if (value := getattr(options, name, None)) is not None
    }
    if options.method is not None:
        changes["sampler"] = options.method.sampler
        if options.schedule is None and options.method.schedule is not None:
            changes["schedule"] = options.method.schedule
    if options.wanted_seed is not None:
        changes["seed"] = None if options.wanted_seed == -1 else options.wanted_seed
    if options.size:
        changes["width"], changes["height"] = options.size
    request = msgspec.structs.replace(base or GenerateRequest(prompt=""), **changes)
    request = canvas.with_canvas(request, options)
    request = settings.with_settings(request, options.set)
    return msgspec.structs.replace(
        request,
        checkpoint=_checkpoint(options.model, source),
        # The override of one checkpoint does not hold for another.
        override=overrides.given(options, NO_OVERRIDE if options.model else request.override),
        components=_components(options, request.components),
        refiner=_refiner(options, request.refiner),
        loras=loras.with_loras(request.loras, options.wanted_loras),
        controls=controls.with_controls(request.controls, options.wanted_controls),
        second_passes=hires.with_hires(request.second_passes, options),
        image_prompts=image_prompts.with_image_prompts(request.image_prompts, options),
    )


def _checkpoint(wanted: str | None, source: ImportedRequest | None) -> str:
    """Return the path of the wanted checkpoint, else the picture's, else the starter's."""
    starter = starter_checkpoint()
    recorded = source.request.checkpoint if source else None
    if wanted is None and recorded is not None and not exists(recorded):
        # Each installation has the starter at its own path; its digest identifies it.
        record = source and source.record
        if record and identify(starter).digest == record.checkpoint_digest:
            return str(starter)
    paths = find_paths()
    found = find_checkpoint(wanted or recorded, paths.models, starter, named_folders(paths))
    return str(found)


def _tell_source(source: ImportedRequest | None, request: GenerateRequest) -> None:
    """Print what is to be known of a --from picture before it is made again."""
    if source is None:
        return
    before, made = source.record, source.request
    same = request.controls == made.controls and request.image_prompts == made.image_prompts
    changed = changed_pictures(before, made) if before and same else ()
    for told in (*source.warnings, *changed):
        print_note(told)


def _note_differences(source: ImportedRequest, request: GenerateRequest, result: JobResult) -> None:
    """Print the reasons why the picture may differ from the --from picture, now that it is made."""
    before, now = source.record, result.images[0].record
    same_file = source.request.checkpoint == request.checkpoint
    if before and same_file and before.checkpoint_digest != now.checkpoint_digest:
        print_note("The model has changed since that picture was made.")
    for name in loras.changed(before.loras, now.loras) if before else ():
        print_note(f"The LoRA {name} has changed since that picture was made.")
    for note in controls.changed(before.controls, now.controls) if before else ():
        print_note(note)
    if before and before.image_prompts and now.image_prompts:
        for name in image_prompts.changed(before.image_prompts, now.image_prompts):
            print_note(f"{name} has changed since that picture was made.")


def _refiner(options: argparse.Namespace, recorded: RefinerChoice | None) -> RefinerChoice | None:
    """Return the recorded refiner, its file and switch point replaced by the options."""
    if options.refiner_file is None and (recorded is None or recorded.checkpoint is None):
        if options.refiner_at is not None:
            raise Usage("--refiner-at needs a refiner: --refiner FILE")
        return recorded
    choice = recorded or RefinerChoice()
    if options.refiner_file is not None:
        paths = find_paths()
        found = find_checkpoint(
            options.refiner_file, paths.models, starter_checkpoint(), named_folders(paths)
        )
        choice = msgspec.structs.replace(choice, checkpoint=str(found))
    if options.refiner_at is not None:
        choice = msgspec.structs.replace(choice, switch_at=options.refiner_at)
    return choice


def _components(options: argparse.Namespace, recorded: ComponentFiles) -> ComponentFiles:
    given = {name: getattr(options, name) for name in fields_of(ComponentFiles)}
    changes = {name: str(typed_path(file)) for name, file in given.items() if file}
    return msgspec.structs.replace(recorded, **changes)


def _output(result: JobResult, peak_bytes: int | None) -> GenerateOutput:
    made = result.images[0].record.request
    return GenerateOutput(
        images=tuple(
            ImageOutput(str(image.path), image.seed, image.width, image.height)
            for image in result.images
        ),
        family=result.family,
        backend=result.device.backend,
        device=result.device.name,
        choice=result.choice,
        timings=result.timings,
        memory=MemoryOutput(
            None if peak_bytes is None else round(peak_bytes / 1e6, 1),
            round(result.plan.peak_bytes / 1e6, 1),
            result.plan.placement.value,
            *bits_of(made.weight_bits, made.text_weight_bits),
        ),
        warnings=result.warnings,
    )


@contextmanager
def _at_work(token: CancelToken, reporter: TerminalReporter) -> Generator[None]:
    """Stay awake; the first Ctrl-C cancels the job cleanly, a second one has its usual effect."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        reporter.stop()
        token.cancel()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with staying_awake():
            yield
    finally:
        signal.signal(signal.SIGINT, before)
