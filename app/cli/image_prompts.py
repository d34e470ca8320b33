"""`--image-prompt IMAGE --adapter FILE ...`: pictures as prompts, each with its adapter."""

import argparse
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from app.cli.option_group import OptionGroup
from app.cli.terminal import Usage
from app.paths import file_or_name, typed_path
from engine.api.fields import bounds_of
from engine.api.image_prompts import (
    AdapterBlocks,
    AdapterScaling,
    ImagePrompt,
    ImagePromptReport,
    PictureCombination,
)

_WEIGHT = bounds_of(ImagePrompt, "weight")
_Choice = TypeVar("_Choice", bound=StrEnum)
_WANTED = "wanted_image_prompts"


class _OfAnImagePrompt(argparse.Action):
    """Sets a field of the image prompt that was begun last; its `dest` ends with the field."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Set the field; the option that names a picture begins an image prompt."""
        begun: list[dict[str, Any]] = list(getattr(namespace, _WANTED, ()))
        field = self.dest.rpartition(" ")[2]
        if field == "image":
            begun.append({})
        elif not begun:
            parser.error(f"{option_string} belongs to a picture: give --image-prompt before it")
        value = (*begun[-1].get(field, ()), values) if field == "further" else values
        begun[-1] = {**begun[-1], field: value}
        setattr(namespace, _WANTED, begun)


def add_arguments(parser: OptionGroup) -> None:
    """Declare the options; all but the first belong to the --image-prompt before them."""

    def add(option: str, field: str, metavar: str, words: str, **more: Any) -> None:
        parser.add_argument(
            option,
            dest=f"image prompt {field}",
            action=_OfAnImagePrompt,
            default=argparse.SUPPRESS,
            metavar=metavar,
            help=words,
            **more,
        )

    add(
        "--image-prompt",
        "image",
        "FILE",
        "a picture; the options below are about it; may be repeated",
    )
    add("--adapter", "adapter", "FILE", "the IP-Adapter that reads the picture, a file or a name")
    weight = "how strongly the picture acts; default: 1"
    add("--adapter-weight", "weight", "X", weight, type=_weight)
    part = "in which part of the run, as 0,0.5; default: 0,1"
    add("--adapter-range", "range", "START,END", part, type=parse_range)
    encoder = "the CLIP vision encoder; default: the fitting one among your models"
    add("--adapter-encoder", "encoder", "FILE", encoder)
    blocks = f"on which blocks: {', '.join(AdapterBlocks)}; default: all"
    add("--adapter-blocks", "blocks", "BLOCKS", blocks, type=_one_of(AdapterBlocks))
    also = "a further picture that is seen together with the first; may be repeated"
    add("--adapter-also", "further", "FILE", also)
    ways = f"how several pictures become one: {', '.join(PictureCombination)}; default: concat"
    add("--adapter-combine", "combination", "WAY", ways, type=_one_of(PictureCombination))
    scaling = f"what the weight multiplies: {', '.join(AdapterScaling)}; default: values"
    add("--adapter-scaling", "scaling", "WHAT", scaling, type=_one_of(AdapterScaling))
    add("--adapter-mask", "mask", "FILE", "where it acts: where this picture is white")


def with_image_prompts(
    before: tuple[ImagePrompt, ...], options: argparse.Namespace
) -> tuple[ImagePrompt, ...]:
    """Return the image prompts of the options, else those of before. Raises Usage."""
    wanted: list[dict[str, Any]] = getattr(options, _WANTED, [])
    return tuple(map(_prompt, wanted)) if wanted else before


def changed(
    before: Sequence[ImagePromptReport], now: Sequence[ImagePromptReport]
) -> tuple[str, ...]:
    """Return the names of files of image prompts that have another content than before."""
    names: list[str] = []
    for old, new in zip(before, now, strict=False):
        if old.digest and new.digest and old.digest != new.digest:
            names.append(f"The image prompt adapter {new.name}")
        if old.encoder_digest and old.encoder_digest != new.encoder_digest:
            names.append(f"The vision encoder of {new.name}")
        pictures = [(prompt.image_sha256, *prompt.further_sha256) for prompt in (old, new)]
        if all(digests[0] for digests in pictures) and pictures[0] != pictures[1]:
            names.append(f"The picture of the image prompt with {new.name}")
    return tuple(dict.fromkeys(names))


def parse_range(text: str) -> tuple[float, float]:
    """Return the shares of a text such as "0,0.5"."""
    try:
        start, end = map(float, text.split(","))
    except ValueError:
        start, end = 1.0, 0.0
    if not 0 <= start <= end <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no START,END between 0 and 1, as 0,0.5")
    return start, end


def _prompt(fields: dict[str, Any]) -> ImagePrompt:
    if "adapter" not in fields:
        raise Usage("--image-prompt needs the adapter that reads it: --adapter FILE")
    prompt = ImagePrompt(**fields)
    return msgspec.structs.replace(
        prompt,
        image=str(typed_path(prompt.image)),
        further=tuple(str(typed_path(path)) for path in prompt.further),
        adapter=file_or_name(fields["adapter"]),
        encoder=str(typed_path(prompt.encoder)) if prompt.encoder else None,
        mask=str(typed_path(prompt.mask)) if prompt.mask else None,
    )


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = float("nan")
    if not _WEIGHT.low <= weight <= _WEIGHT.high:
        low, high = _WEIGHT.whole
        raise argparse.ArgumentTypeError(f"the weight {text} is no number from {low} to {high}")
    return weight


def _one_of(choices: type[_Choice]) -> Callable[[str], _Choice]:
    """Return what reads one of some words, with a dash or a line between their parts."""

    def read(text: str) -> _Choice:
        try:
            return choices(text.replace("-", "_"))
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(choices)}") from None

    return read
