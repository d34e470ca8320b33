"""The roundings of weights that a job may be planned with on a device, the exact first.

Each part of a model keeps all the bits that there is room for. What changes pictures least is
tried first: 8 bits before 4, and the text encoders before the denoiser.
"""

from engine.api.sentences import sentence
from engine.api.values import ErrorCode, TextWeightBits, WeightBits
from engine.devices.choice import Candidate
from engine.errors import EngineError
from engine.weights.rounding import EXACT, Rounding

IN_ORDER = (
    EXACT,
    Rounding(text_encoder=8, denoiser=16),
    Rounding(text_encoder=16, denoiser=8),
    Rounding(text_encoder=8, denoiser=8),
    Rounding(text_encoder=4, denoiser=16),
    Rounding(text_encoder=4, denoiser=8),
    Rounding(text_encoder=16, denoiser=4),
    Rounding(text_encoder=8, denoiser=4),
    Rounding(text_encoder=4, denoiser=4),
)
# Those that a single value asks for.
EVEN = Rounding(8, 8), Rounding(4, 4)
# The bits that a value asks for, by its name; all others leave them to the plan.
_BITS = {"ALL": 16, "EIGHT": 8, "FOUR": 4}


def roundings(
    weights: WeightBits, texts: TextWeightBits, candidate: Candidate
) -> tuple[Rounding, ...]:
    """Return the roundings that a request allows on a device, in the order to try them in.

    Raises EngineError(REQUEST_INVALID) where it asks for one and the device holds no blocks.
    """
    text, denoiser = _asked(weights, texts)
    allowed = [
        rounding
        for rounding in IN_ORDER
        if text in (None, rounding.text_encoder) and denoiser in (None, rounding.denoiser)
    ]
    if candidate.holds_blocks:
        return tuple(allowed)
    if allowed[0] == EXACT:
        return (EXACT,)
    device = candidate.device
    raise EngineError(
        ErrorCode.REQUEST_INVALID,
        sentence(
            "{backend} cannot keep weights in {bits} bits on {device}.",
            backend=device.backend,
            bits=min(allowed[0]),
            device=device.name,
        ),
        sentence("Choose another device, or weights in 16 bits."),
    )


def asks_for_blocks(weights: WeightBits, texts: TextWeightBits) -> bool:
    """Return True if a request asks for weights in blocks, which not all devices hold."""
    return min(bits_of(weights, texts)) < min(EXACT)


def bits_of(weights: WeightBits, texts: TextWeightBits) -> Rounding:
    """Return the rounding that a record states; what a request leaves open counts as exact."""
    return Rounding(*(max(EXACT) if bits is None else bits for bits in _asked(weights, texts)))


def _asked(weights: WeightBits, texts: TextWeightBits) -> tuple[int | None, int | None]:
    """Return the bits of the text encoders and of the denoiser that a request asks for.

    None leaves them to the plan.
    """
    denoiser = _BITS.get(weights.name)
    return denoiser if texts is TextWeightBits.SAME else _BITS[texts.name], denoiser
