"""`safelight models`: the checkpoints that can be chosen by name."""

import argparse

import msgspec

from app.cli.terminal import ByteBar, print_json, print_table, say
from app.library.checkpoints import ListedCheckpoint, list_checkpoints
from app.model_folders import named_folders
from app.paths import find_paths, starter_checkpoint
from engine.families.file_contents import ContentsReader
from engine.jobs.kept_facts import known_files


class ModelOutput(msgspec.Struct, frozen=True):
    """A checkpoint in the JSON output; `problem` says why it cannot be used."""

    name: str
    path: str
    family: str = ""
    variant: str = ""
    missing: tuple[str, ...] = ()
    problem: str = ""


class ModelsOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight models --json`."""

    folder: str
    models: tuple[ModelOutput, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """List the starter and the checkpoints in the folders of models."""
    paths = find_paths()
    folder, contents_reader = paths.models, ContentsReader(known_files(paths.cache))
    entries = list_checkpoints(folder, starter_checkpoint(), named_folders(paths))
    bar = ByteBar("Looking at your files", len(entries))
    found: list[ModelOutput] = []
    for number, entry in enumerate(entries):
        bar.show(number)
        found.append(_identified(entry, contents_reader))
    bar.clear()
    if options.json:
        print_json(ModelsOutput(str(folder), tuple(found)))
        return 0
    print_table(("NAME", "FAMILY", "NOTE"), [(m.name, m.family or "-", _note(m)) for m in found])
    say()
    say(f"Put models into {folder}, or give any path with --model.")
    return 0


def _identified(entry: ListedCheckpoint, contents_reader: ContentsReader) -> ModelOutput:
    summary = contents_reader.summary(entry.path)
    return ModelOutput(
        entry.name,
        str(entry.path),
        summary.family,
        summary.variant,
        tuple(component.value for component in summary.missing),
        summary.problem,
    )


def _note(model: ModelOutput) -> str:
    missing = f"missing: {', '.join(model.missing)}" if model.missing else ""
    return model.problem or missing or model.variant
