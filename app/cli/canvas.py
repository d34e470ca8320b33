"""`--init`, `--mask`, `--expand` and their options: the picture that is painted over.

`--reference` are pictures that the denoiser sees beside it.
"""

import argparse
import re
from typing import Any

import msgspec

from app.cli.option_group import OptionGroup
from app.cli.spelling import one_of, parse_number, parse_whole_number
from app.cli.terminal import Usage
from app.paths import typed_path
from engine.api.masks import Margins, MaskedContent, MaskOptions
from engine.api.request import GenerateRequest, InputImage
from engine.api.values import InputRole

_MARGINS = re.compile(r"(\d{1,5}),(\d{1,5}),(\d{1,5}),(\d{1,5})")

# Options by the field of MaskOptions that they set.
_OF_A_MASK = {
    "blur": "--mask-blur",
    "inverted": "--mask-invert",
    "content": "--mask-content",
    "only_masked": "--only-masked",
    "padding": "--mask-padding",
}


def add_arguments(parser: OptionGroup) -> None:
    """Declare the options."""
    parser.add_argument("--init", metavar="FILE", help="a picture to start from")
    parser.add_argument(
        "--strength", type=parse_number, metavar="X", help="0 keeps --init, 1 ignores it"
    )
    parser.add_argument(
        "--image-guidance",
        type=parse_number,
        metavar="X",
        help="how strictly --init is followed, by models that edit by instruction",
    )
    parser.add_argument(
        "--reference",
        action="append",
        metavar="FILE",
        help="a picture that is shown to a model such as Flux.1 Kontext; may be repeated",
    )
    _add_mask(parser)
    parser.add_argument(
        "--expand",
        type=parse_margins,
        metavar="LEFT,TOP,RIGHT,BOTTOM",
        help="grow the canvas by so many pixels, and paint what is new",
    )
    parser.add_argument(
        "--feather",
        type=parse_whole_number,
        metavar="PIXELS",
        help="how far --expand paints into --init, ever less: 40 unless given",
    )


def _add_mask(parser: OptionGroup) -> None:
    parser.add_argument(
        "--mask",
        metavar="FILE",
        help="which part of --init is painted: where this picture is white, or opaque",
    )
    parser.add_argument(
        "--mask-blur", type=parse_whole_number, metavar="PIXELS", help="soften its edges"
    )
    parser.add_argument(
        "--mask-invert", action="store_true", default=None, help="paint where it is black"
    )
    parser.add_argument(
        "--mask-content",
        type=one_of(MaskedContent),
        choices=list(MaskedContent),
        help="what the masked part starts from",
    )
    parser.add_argument(
        "--only-masked",
        action="store_true",
        default=None,
        help="paint only around the mask, at --size, and put that back into --init",
    )
    parser.add_argument(
        "--mask-padding",
        type=parse_whole_number,
        metavar="PIXELS",
        help="how far around: 32 unless given",
    )


def parse_margins(text: str) -> Margins:
    """Return the four lengths in pixels of a text such as "64,0,64,0"."""
    match = _MARGINS.fullmatch(text)
    if not match:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not LEFT,TOP,RIGHT,BOTTOM; write it as 64,0,64,0"
        )
    return int(match[1]), int(match[2]), int(match[3]), int(match[4])


def with_canvas(request: GenerateRequest, options: argparse.Namespace) -> GenerateRequest:
    """Return the request with the input pictures and mask options given. Raises Usage."""
    inputs = _inputs(request.inputs, options)
    given = {field: getattr(options, _name(option)) for field, option in _OF_A_MASK.items()}
    roles = {image.role for image in inputs}
    for option, field in (("--strength", "strength"), ("--mask", "mask"), ("--expand", "expand")):
        if getattr(options, field) is not None and InputRole.INIT not in roles:
            raise Usage(f"{option} needs a picture to start from: --init FILE")
    for field, value in given.items():
        if value is not None and InputRole.MASK not in roles:
            raise Usage(f"{_OF_A_MASK[field]} needs a mask: --mask FILE")
    if options.feather is not None and not (options.expand or request.mask_options.expands):
        raise Usage("--feather needs a canvas that grows: --expand LEFT,TOP,RIGHT,BOTTOM")
    given |= {"expand": options.expand, "feather": options.feather}
    changes: dict[str, Any] = {"inputs": inputs}
    # A new start picture does not keep the mask options of the one before.
    before = MaskOptions() if options.init else request.mask_options
    changes["mask_options"] = msgspec.structs.replace(before, **_known(given))
    if options.image_guidance is not None:
        changes["guidance_options"] = msgspec.structs.replace(
            request.guidance_options, image_guidance=options.image_guidance
        )
    return msgspec.structs.replace(request, **changes)


def _inputs(before: tuple[InputImage, ...], options: argparse.Namespace) -> tuple[InputImage, ...]:
    references = tuple(file for file in before if file.role is InputRole.REFERENCE)
    if options.reference:
        references = tuple(_image(InputRole.REFERENCE, path) for path in options.reference)
    inputs = tuple(file for file in before if file.role is not InputRole.REFERENCE)
    if options.init:
        inputs = (_image(InputRole.INIT, options.init),)
    if options.mask:
        others = (image for image in inputs if image.role is not InputRole.MASK)
        inputs = (*others, _image(InputRole.MASK, options.mask))
    return *inputs, *references


def _image(role: InputRole, path: str) -> InputImage:
    return InputImage(role=role, path=str(typed_path(path)))


def _name(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
