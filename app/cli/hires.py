"""`--hires` and its options: the picture enlarged, and drawn once more at its new size."""

import argparse
from typing import Any

import msgspec

from app.cli.option_group import OptionGroup
from app.cli.spelling import (
    names_of,
    parse_method,
    parse_number,
    parse_schedule,
    parse_size,
    parse_whole_number,
)
from app.cli.terminal import Usage
from app.cli.upscaler_files import find_upscaler
from app.library.checkpoints import find_checkpoint
from app.model_folders import named_folders
from app.paths import find_paths, starter_checkpoint
from engine.api.second_passes import LATENT_UPSCALERS, Resampling, SecondPass
from engine.api.values import SamplerName, ScheduleName
from engine.folders import folders_of_models

# The fields of a second pass that an option sets unchanged.
_PLAIN = (
    "scale", "strength", "steps", "guidance", "schedule", "prompt", "negative_prompt", "seed",
    "tile",
)  # fmt: skip
_PREFIX = "hires_"
_LATENT = {name.removeprefix("Latent").strip(" ()"): name for name in LATENT_UPSCALERS}


def add_arguments(parser: OptionGroup) -> None:
    """Declare the options."""
    add = parser.add_argument
    scale = "enlarge the picture so many times, and draw it once more"
    add("--hires", dest="hires_scale", type=parse_number, metavar="X", help=scale)
    size = "exactly this size, in place of --hires"
    add("--hires-size", type=parse_size, metavar="WxH", help=size)
    add("--no-hires", action="store_true", help="leave out second passes of a --from picture")
    part = "how much of the enlarged picture is drawn anew: 0 to 1; default: 0.7"
    add("--hires-strength", type=parse_number, metavar="X", help=part)
    upscaler = (
        "an upscaler's file or its name; lanczos, bicubic, bilinear, area or nearest; or latent, "
        "latent-bicubic, latent-nearest and others for the latent itself; default: latent"
    )
    add("--hires-upscaler", metavar="M", help=upscaler)
    add("--hires-steps", type=parse_whole_number, metavar="N", help="default: --steps")
    add("--hires-cfg", dest="hires_guidance", type=parse_number, metavar="X", help="default: --cfg")
    samplers = names_of(SamplerName)
    add("--hires-sampler", type=parse_method, metavar="S", help=f"default: --sampler; {samplers}")
    add("--hires-schedule", type=parse_schedule, metavar="S", help=names_of(ScheduleName))
    add("--hires-prompt", type=str, metavar="TEXT", help="default: the prompt")
    add("--hires-negative-prompt", type=str, metavar="TEXT", help="default: --negative")
    add("--hires-checkpoint", metavar="M", help="draw the second time with this model")
    add("--hires-seed", type=parse_whole_number, metavar="N", help="default: --seed")
    tile = "draw in tiles of N pixels a side that blend into each other, for large pictures"
    add("--hires-tile", type=parse_whole_number, metavar="N", help=tile)


def with_hires(
    passes: tuple[SecondPass, ...], options: argparse.Namespace
) -> tuple[SecondPass, ...]:
    """Return the second passes with the options given, which change the first. Raises Usage."""
    changes = _changes(options)
    if options.no_hires:
        if changes:
            raise Usage("--no-hires does not go with other options of --hires")
        return ()
    if not changes:
        return passes
    if not passes and not {"scale", "width"} & changes.keys():
        raise Usage("say how large the second pass is: --hires 2")
    first = passes[0] if passes else SecondPass()
    return (msgspec.structs.replace(first, **changes), *passes[1:])


def _changes(options: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(options, _PREFIX + name) for name in _PLAIN}
    changes = {name: value for name, value in given.items() if value is not None}
    if options.hires_size is not None:
        if "scale" in changes:
            raise Usage("--hires-size gives the size already: leave out --hires")
        changes["width"], changes["height"] = options.hires_size
    elif "scale" in changes:
        changes["width"] = changes["height"] = None
    if options.hires_sampler is not None:
        changes["sampler"] = options.hires_sampler.sampler
        if options.hires_schedule is None and options.hires_sampler.schedule is not None:
            changes["schedule"] = options.hires_sampler.schedule
    if options.hires_upscaler is not None:
        changes["upscaler"] = parse_upscaler(options.hires_upscaler)
    if options.hires_checkpoint is not None:
        paths = find_paths()
        folders = named_folders(paths)
        changes["checkpoint"] = str(
            find_checkpoint(options.hires_checkpoint, paths.models, starter_checkpoint(), folders)
        )
    return changes


def parse_upscaler(text: str) -> str:
    """Return the upscaler of a typed text as a request names it.

    `latent-nearest-exact`, "Latent (nearest-exact)" and the like are methods for latents.
    """
    plain = text.casefold().replace("(", "").replace(")", "").replace(" ", "-")
    method = _LATENT.get(plain.removeprefix("latent").strip("-").replace("bicubic-a", "bicubic a"))
    if plain.startswith("latent") and method is not None:
        return method
    if plain in tuple(Resampling):
        return plain
    paths = find_paths()
    return str(find_upscaler(text, folders_of_models(paths.models, named_folders(paths))))
