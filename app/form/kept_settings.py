"""The settings of pictures, as the form takes them for the next ones."""

from typing import Any

import msgspec

from engine.api.fields import fields_of
from engine.api.request import GenerateRequest
from engine.api.values import TextWeightBits, WeightBits

_EXACT = (WeightBits.ALL, TextWeightBits.SAME)


def settings_of(request: GenerateRequest) -> GenerateRequest:
    """Return a picture's request as settings for the next pictures.

    Fields about the machine get their defaults, and so do values that equal every checkpoint's.
    Weights that were exact are so again where they fit.
    """
    bits = request.weight_bits, request.text_weight_bits
    text = request.prompt + request.negative_prompt
    machine: dict[str, Any] = {
        field.name: field.default
        for field in fields_of(GenerateRequest).values()
        if field.is_machine
    }
    return msgspec.structs.replace(
        request,
        **machine,
        weight_bits=WeightBits.AUTO if bits == _EXACT else request.weight_bits,
        clip_skip=None if request.clip_skip == 1 else request.clip_skip,
        zero_terminal_snr=request.zero_terminal_snr or None,
        # Expansion does not change a text without the signs of a wildcard.
        expand_wildcards=request.expand_wildcards or not ("__" in text or "{" in text),
    )
