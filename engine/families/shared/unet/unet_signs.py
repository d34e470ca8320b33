"""Recognising a UNet by names and shapes in the text of a `Listing`."""

import re
from collections.abc import Callable

import msgspec

from engine.api.sentences import Sentence, sentence

_WAY_UP = ("output_blocks.", "up_blocks.")
_CONVOLUTIONAL = re.compile(r"proj_in\.weight \[\d+,\d+,1,1\]")
_CONTEXT = re.compile(r"attn2\.to_k\.weight \[\d+,(\d+)\]")
_TEXT_WIDTH = re.compile(r"token_embedding\.weight \[\d+,(\d+)\]")
_ADDED = ("label_emb.0.0.weight [", "add_embedding.linear_1.weight [")
_TEMPORAL = ("time_stack.", "temporal_transformer.", "time_mixer.")


class UNetSigns(msgspec.Struct, frozen=True):
    """The features of a UNet that its names and shapes show."""

    context_width: int
    convolutional: bool
    # True if the UNet takes time ids and pooled text.
    added: bool
    text_widths: tuple[int, ...]

    @property
    def words(self) -> str:
        """A description of the UNet as text for the user."""
        projections = "convolutional" if self.convolutional else "linear"
        sizes = ", told the picture's size" if self.added else ""
        return f"a UNet with {projections} projections{sizes}, context {self.context_width} wide"


def unet_signs(text: str) -> UNetSigns | None:
    """Read the signs of a whole UNet for pictures, else None (a ControlNet has no up path)."""
    context = _CONTEXT.search(text)
    if not context or not any(sign in text for sign in _WAY_UP):
        return None
    if any(sign in text for sign in _TEMPORAL):
        return None
    return UNetSigns(
        context_width=int(context[1]),
        convolutional=bool(_CONVOLUTIONAL.search(text)),
        added=any(sign in text for sign in _ADDED),
        text_widths=tuple(int(width[1]) for width in _TEXT_WIDTH.finditer(text)),
    )


def has_linear_unet(
    context_width: int, *, text_encoders: int, adds_time_ids: bool
) -> Callable[[UNetSigns], bool]:
    """Return the test for a UNet with linear projections whose context fits its text encoders.

    A UNet with the context width `context_width` passes even with other text encoders, so that the
    error is then about the encoders.
    """

    def fits(signs: UNetSigns) -> bool:
        if signs.convolutional or signs.added != adds_time_ids:
            return False
        widths = signs.text_widths
        fits_text = len(widths) == text_encoders and sum(widths) == signs.context_width
        return fits_text or signs.context_width == context_width

    return fits


def what_rules_out(text: str, *, convolutional: bool, adds_time_ids: bool) -> Sentence | None:
    """Return the reason a listing has no UNet of this kind; None where it may have one."""
    signs = unet_signs(text)
    if signs is None:
        return sentence("it has no UNet for pictures")
    if signs.convolutional != convolutional:
        if signs.convolutional:
            return sentence("its UNet projects by convolution")
        return sentence("its UNet projects by linear layers")
    if signs.added != adds_time_ids:
        if signs.added:
            return sentence("its UNet is told the picture's size")
        return sentence("its UNet is not told the picture's size")
    return None
