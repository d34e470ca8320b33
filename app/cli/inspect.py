"""`safelight inspect`: what a checkpoint file is."""

import argparse

from app.checkpoints import find_checkpoint
from app.cli.terminal import print_json
from app.paths import find_paths, starter_checkpoint
from engine.api.checkpoints import CheckpointInfo
from engine.families.identify import identify
from engine.pipeline.inspection import inspect

HELP = "say what a checkpoint file is"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE", help="a file, a folder or a listed name")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Identify the file and print what was found."""
    path = find_checkpoint(options.file, find_paths().models, starter_checkpoint())
    output = inspect(identify(path))
    if options.json:
        print_json(output)
    else:
        _print(output)
    return 0


def _print(output: CheckpointInfo) -> None:
    print(output.path)
    print(f"  family       {output.family} ({output.variant}), predicts {output.prediction}")
    print(f"  picture      {output.default_size}x{output.default_size} by default")
    for part in output.components:
        size = f"{part.parameters / 1e6:,.1f} M parameters, {part.bytes / 1e6:,.1f} MB"
        print(f"  {part.name:<13}{size}, {' and '.join(part.precisions)}")
    for name in output.missing:
        print(f"  {name:<13}missing: supply it with --{name.replace('_', '-')} FILE")
    if output.ignored_keys:
        print(f"  ignored      {output.ignored_keys} tensors that belong to no component")
    for line in output.evidence:
        print(f"  because      {line}")
