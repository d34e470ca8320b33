"""Warnings about control layers and image prompts that lack their network or their picture.

A name that is no whole path was looked for in vain.
"""

from pathlib import Path

import msgspec

from engine.api.control import ControlLayer
from engine.api.image_prompts import ImagePrompt
from engine.api.sentences import Sentence, joined, sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.pipeline.network_lookup import looked_for


class _Files(msgspec.Struct, frozen=True):
    """The names of what a layer needs: its network's file, empty for none, and its picture."""

    network: str
    picture: str
    hash: str | None
    needs_network: bool = True

    @property
    def are_known(self) -> bool:
        """True if nothing is missing."""
        has_network = not self.needs_network or Path(self.network).is_absolute()
        return bool(self.picture) and has_network


class _Words(msgspec.Struct, frozen=True):
    """The sentences about a kind of layer: without its picture, and without its network.

    Those that are `named` tell the network's name, which may be unknown.
    """

    no_picture: Sentence
    no_picture_named: Sentence
    choose_picture: Sentence
    no_network: Sentence
    no_network_named: Sentence
    choose_network: Sentence


def control_left_out(layer: ControlLayer) -> ErrorInfo | None:
    """Return the warning about a control layer that lacks something; None for a whole one."""
    files = _Files(layer.network or "", layer.image, layer.hash, not layer.is_reference)
    name, image = files.network, Path(layer.image).name
    words = _Words(
        sentence("A control layer was left out: its picture is not known."),
        sentence(
            "A control layer was left out: its picture is not known. Its network is {name}.",
            name=Path(name).name,
        ),
        sentence("Choose the picture that it follows."),
        sentence(
            "The control network of {image} was not found; the picture was made without it.",
            image=image,
        ),
        sentence(
            "The control network {name} was not found; the picture was made without it.", name=name
        ),
        sentence("Choose its file in the control layer."),
    )
    return _left_out(files, words)


def image_prompt_left_out(prompt: ImagePrompt) -> ErrorInfo | None:
    """Return the warning about an image prompt that lacks something; None for a whole one."""
    picture = prompt.image if all(prompt.further) else ""
    files = _Files(prompt.adapter or "", picture, prompt.hash)
    name, image = files.network, Path(prompt.image).name
    words = _Words(
        sentence("An image prompt was left out: its picture is not known."),
        sentence(
            "An image prompt was left out: its picture is not known. Its adapter is {name}.",
            name=Path(name).name,
        ),
        sentence("Choose the picture that is the prompt."),
        sentence("The image prompt {image} was left out: its adapter was not found.", image=image),
        sentence(
            "The image prompt {image} was left out: its adapter {name} was not found.",
            image=image,
            name=name,
        ),
        sentence("Choose the adapter's file, or put it into the folder of your models."),
    )
    return _left_out(files, words)


def _left_out(files: _Files, words: _Words) -> ErrorInfo | None:
    if files.are_known:
        return None
    named = bool(files.network)
    if not files.picture:
        what = words.no_picture_named if named else words.no_picture
        return ErrorInfo(ErrorCode.NOT_AVAILABLE, what, words.choose_picture)
    what = words.no_network_named if named else words.no_network
    hints = *looked_for(files.network or None, files.hash), words.choose_network
    return ErrorInfo(ErrorCode.NOT_AVAILABLE, what, joined(hints, " "))
