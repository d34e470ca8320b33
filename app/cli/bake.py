"""`safelight bake`: a checkpoint with LoRAs in its weights, in the layout of its base."""

import argparse

import msgspec

from app.cli import loras, overrides
from app.cli.spelling import one_of
from app.cli.terminal import ByteBar, Usage, print_error, print_json, write_path
from app.library.checkpoints import find_checkpoint
from app.model_folders import named_folders
from app.paths import find_paths, starter_checkpoint, typed_path
from engine.api.values import ConventionName, ErrorInfo
from engine.bake.bake import bake
from engine.bake.recipe import read_recipe
from engine.errors import Cancelled
from engine.families.identify import identify
from engine.jobs.kept_facts import known_files, listed_facts
from engine.lora.folder import LoraFolders


class BakedOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight bake --json`; `changed_weights` counts tensors."""

    path: str
    family: str
    changed_weights: int
    warnings: tuple[ErrorInfo, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--model", metavar="M", help="a file, a folder or a name; default: starter")
    overrides.add_arguments(parser)
    loras.add_arguments(parser)
    parser.add_argument(
        "--convention",
        type=one_of(ConventionName),
        choices=list(ConventionName),
        default=ConventionName.A1111,
        help="the tool by whose rules LoRAs are applied; default: a1111",
    )
    parser.add_argument(
        "--out", required=True, metavar="NEW", help="a new .safetensors file; a folder for a folder"
    )
    parser.add_argument("--force", action="store_true", help="replace the file if there is one")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    """Bake and print the new checkpoint's path; Ctrl-C leaves nothing behind."""
    choices = loras.with_loras((), options.wanted_loras)
    if not choices:
        raise Usage("give at least one LoRA, as --lora style.safetensors:0.8")
    paths, target = find_paths(), typed_path(options.out)
    known = known_files(paths.cache)
    path = find_checkpoint(options.model, paths.models, starter_checkpoint(), named_folders(paths))
    checkpoint = identify(path, known.read_index, overrides.given(options))
    places = loras.folders(paths, options)
    folders = LoraFolders(paths.models, places, listed_facts(paths.cache))
    bar = ByteBar("Baking", 1)
    try:
        recipe = read_recipe(
            checkpoint, choices, folders.look(), known.read_index, options.convention
        )
        baked = bake(recipe, target, known, bar.show, replace=options.force)
    except KeyboardInterrupt:
        raise Cancelled from None
    finally:
        bar.clear()
    if options.json:
        weights = baked.changed_weights
        print_json(BakedOutput(str(baked.path), checkpoint.family, weights, baked.warnings))
        return 0
    for warning in baked.warnings:
        print_error(warning)
    write_path(baked.path)
    return 0
