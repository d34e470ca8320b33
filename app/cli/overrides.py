"""`--family`, `--variant`, `--prediction`: what files of a checkpoint do not say, or say wrong."""

import argparse

import msgspec

from app.cli.spelling import one_of
from engine.api.request import DECLARABLE_PREDICTIONS, NO_OVERRIDE, CheckpointOverride
from engine.families.registry import FAMILIES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--family", choices=FAMILIES.names, help="what the model is, where its shapes leave it open"
    )
    parser.add_argument(
        "--variant",
        choices=[name for family in FAMILIES for name in family.variants],
        help="which of a family's variants it is, where their files look alike",
    )
    parser.add_argument(
        "--prediction",
        type=one_of(DECLARABLE_PREDICTIONS),
        choices=list(DECLARABLE_PREDICTIONS),
        help="what its denoiser predicts, where its files do not say or say it wrong",
    )


def given(
    options: argparse.Namespace, before: CheckpointOverride = NO_OVERRIDE
) -> CheckpointOverride:
    """Return the override `before`, with the fields that the options give replaced."""
    chosen = {name: getattr(options, name) for name in ("family", "variant", "prediction")}
    changes = {name: value for name, value in chosen.items() if value is not None}
    return msgspec.structs.replace(before, **changes)
