"""`safelight models`: the checkpoints that can be chosen by name."""

import argparse

import msgspec

from app.checkpoints import ListedCheckpoint, list_checkpoints
from app.cli.terminal import print_json, print_table
from app.paths import find_paths, starter_checkpoint
from engine.errors import EngineError
from engine.families.identify import identify

HELP = "list the checkpoints that can be chosen by name"


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
    """List the starter and what is in the models folder."""
    folder = find_paths().models
    found = tuple(_identified(entry) for entry in list_checkpoints(folder, starter_checkpoint()))
    if options.json:
        print_json(ModelsOutput(str(folder), found))
        return 0
    print_table(("NAME", "FAMILY", "NOTE"), [(m.name, m.family or "-", _note(m)) for m in found])
    print(f"\nPut checkpoints into {folder}, or give any path with --model.")
    return 0


def _identified(entry: ListedCheckpoint) -> ModelOutput:
    try:
        checkpoint = identify(entry.path)
    except EngineError as error:
        return ModelOutput(entry.name, str(entry.path), problem=error.message)
    return ModelOutput(
        entry.name,
        str(entry.path),
        checkpoint.family,
        checkpoint.variant,
        tuple(component.value for component in checkpoint.missing),
    )


def _note(model: ModelOutput) -> str:
    missing = f"missing: {', '.join(model.missing)}" if model.missing else ""
    return model.problem or missing or model.variant
