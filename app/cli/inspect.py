"""`safelight inspect`: what a checkpoint file is."""

import argparse

import msgspec

from app.checkpoints import find_checkpoint
from app.cli.terminal import print_json
from app.paths import find_paths, starter_checkpoint
from engine.families.base import Component, IdentifiedCheckpoint
from engine.families.identify import identify

HELP = "say what a checkpoint file is"


class ComponentOutput(msgspec.Struct, frozen=True):
    """A component in the JSON output; `precisions` are the types its weights are stored in."""

    name: str
    parameters: int
    bytes: int
    precisions: tuple[str, ...]


class InspectOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight inspect --json`."""

    path: str
    family: str
    variant: str
    prediction: str
    default_size: int
    components: tuple[ComponentOutput, ...]
    missing: tuple[str, ...]
    evidence: tuple[str, ...]
    ignored_keys: int
    digest: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE", help="a file, a folder or a listed name")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Identify the file and print what was found."""
    path = find_checkpoint(options.file, find_paths().models, starter_checkpoint())
    output = _output(identify(path))
    if options.json:
        print_json(output)
    else:
        _print(output)
    return 0


def _output(checkpoint: IdentifiedCheckpoint) -> InspectOutput:
    return InspectOutput(
        path=str(checkpoint.path),
        family=checkpoint.family,
        variant=checkpoint.variant,
        prediction=checkpoint.prediction.value,
        default_size=checkpoint.default_size,
        components=tuple(
            _component(checkpoint, component)
            for component in Component
            if component in checkpoint.components
        ),
        missing=tuple(component.value for component in checkpoint.missing),
        evidence=checkpoint.evidence,
        ignored_keys=checkpoint.ignored_keys,
        digest=checkpoint.digest,
    )


def _component(checkpoint: IdentifiedCheckpoint, component: Component) -> ComponentOutput:
    weights = checkpoint.components[component].weights.values()
    return ComponentOutput(
        name=component.value,
        parameters=sum(ref.elements for ref in weights),
        bytes=sum(ref.nbytes for ref in weights),
        precisions=tuple(sorted({ref.dtype.value.lower() for ref in weights})),
    )


def _print(output: InspectOutput) -> None:
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
