"""`safelight inspect`: what a file of weights is."""

import argparse
import shlex
from collections.abc import Iterator

import msgspec

from app.cli import inspect_lora, inspect_network, overrides
from app.cli.remedy_words import part_option
from app.cli.terminal import ByteBar, print_json, say
from app.library.checkpoints import find_checkpoint
from app.model_folders import named_folders
from app.paths import Paths, find_paths, starter_checkpoint, typed_path
from engine.api.checkpoints import CheckpointCard, CheckpointInfo, Gap
from engine.api.lora_files import LoraInfo
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, PredictionType
from engine.checkpoints.faults import unreadable
from engine.checkpoints.full_hash import MODEL_HASH_DIGITS, TENSORS_HASH_DIGITS, FullHash, hash_file
from engine.checkpoints.known_files import KnownFiles
from engine.errors import Cancelled, EngineError
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.identify import identify
from engine.families.parts_index import PartsIndex
from engine.file_paths import exists
from engine.folders import folders_of_models
from engine.jobs.kept_facts import known_files
from engine.pipeline.inspection import inspect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE", help="a file, a folder or a listed name")
    parser.add_argument(
        "--hash", action="store_true", help="read the whole file for the hashes others know it by"
    )
    overrides.add_arguments(parser)
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Identify the file and print what was found."""
    paths = find_paths()
    known = known_files(paths.cache)
    try:
        path = find_checkpoint(
            options.file, paths.models, starter_checkpoint(), named_folders(paths)
        )
        checkpoint = identify(path, known.read_index, overrides.given(options))
    except EngineError:
        lora = _lora(options.file, paths)
        if lora is not None:
            inspect_lora.show(lora, hashes=options.hash, as_json=options.json)
            return 0
        network = inspect_network.describe(options.file, paths)
        if network is None:
            raise
        inspect_network.show(network, as_json=options.json)
        return 0
    sha256 = known.sha256(checkpoint.file) if checkpoint.file else None
    tensors: str | None = None
    if options.hash:
        found = _hash(checkpoint, known)
        sha256, tensors = found.whole, found.tensors
    folders = folders_of_models(None, named_folders(paths))
    gaps = PartsIndex(paths.models, known).gaps(checkpoint, folders)
    output = inspect(checkpoint, sha256, gaps)
    if options.json:
        print_json(_in_english(output))
    else:
        _print(output, tensors)
    return 0


def _in_english(info: CheckpointInfo) -> CheckpointInfo:
    """Return a description for programs, whose sentences are texts."""
    gaps = tuple(msgspec.structs.replace(gap, label=str(gap.label)) for gap in info.gaps)
    return msgspec.structs.replace(info, gaps=gaps, evidence=tuple(map(str, info.evidence)))


def _lora(name: str, paths: Paths) -> LoraInfo | None:
    """Return the description of the LoRA of this path or name; None if there is none."""
    typed = typed_path(name)
    path = typed if exists(typed) else inspect_lora.find_lora(name, paths)
    return inspect_lora.describe(path) if path else None


def _hash(checkpoint: IdentifiedCheckpoint, known: KnownFiles) -> FullHash:
    """Hash the checkpoint's file and keep the hash. Raises EngineError; Cancelled on Ctrl-C."""
    state = checkpoint.file
    if state is None:
        raise EngineError(
            ErrorCode.NOT_AVAILABLE,
            sentence(
                "{path} is a folder; only a single file has a hash.", path=checkpoint.path.name
            ),
            sentence("Give one of the files in it."),
        )
    bar = ByteBar("Hashing", state.size)
    try:
        found = hash_file(state.path, bar.show, tensors=True)
        still_there = state.is_of(state.path.stat())
    except OSError as error:
        raise unreadable(state.path, error) from error
    except KeyboardInterrupt:
        raise Cancelled from None
    finally:
        bar.clear()
    if not still_there:
        raise EngineError(
            ErrorCode.CHECKPOINT_UNREADABLE,
            sentence("{path} changed while it was read.", path=state.path.name),
            sentence("If it is still downloading, wait until that has finished."),
        )
    if known.is_settled(state):
        known.note_sha256(state, found.whole)
    return found


def _print(output: CheckpointInfo, tensors: str | None) -> None:
    say(output.path)
    prediction = PredictionType(output.prediction).label
    guess = "" if output.prediction_is_stated else ", to be confirmed by its first picture"
    say(f"  family         {output.family} ({output.variant}), {prediction}{guess}")
    say(f"  picture        {output.default_size}x{output.default_size} by default")
    for part in output.components:
        size = f"{part.parameters / 1e6:,.1f} M parameters, {part.bytes / 1e6:,.1f} MB"
        say(f"  {part.name:<15}{size}, {' and '.join(part.precisions)}")
    if output.sha256:
        say(f"  hash           {output.sha256[:MODEL_HASH_DIGITS]} (AutoV2), of {output.sha256}")
    if tensors:
        say(f"  AutoV3         {tensors[:TENSORS_HASH_DIGITS]}")
    for gap in output.gaps:
        for line in _missing(gap):
            say(line)
    for line in _said(output.card):
        say(line)
    if output.ignored_keys:
        say(f"  ignored        {output.ignored_keys} tensors that belong to no component")
    for line in output.evidence:
        say(f"  because        {line}")


def _missing(gap: Gap) -> Iterator[str]:
    """Yield lines with a missing part and the option that supplies it from each file that fits."""
    if not gap.fits:
        option = part_option(gap.component)
        yield f"  {gap.component:<15}missing: supply it with {option} FILE; none of yours fits"
        return
    yield f"  {gap.component:<15}missing: supply it with one of these, the best first"
    for fit in gap.fits:
        of = f"  (of the {fit.family} model)" if fit.family else ""
        yield f"  {'':<15}{part_option(gap.component)} {shlex.quote(fit.path)}{of}"


def _said(card: CheckpointCard) -> Iterator[str]:
    """Yield the lines of a checkpoint's card."""
    texts = {
        "title": card.title,
        "base model": card.base_model,
        "trained words": ", ".join(card.trained_words),
        "notes": card.notes,
    }
    for name, text in texts.items():
        for place, line in enumerate(text.splitlines()):
            yield f"  {'' if place else name:<15}{line}"
