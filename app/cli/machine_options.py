"""Options of `safelight generate` that say how this computer makes a picture: device, memory."""

import argparse
import re

from app.cli.spelling import one_of, parse_whole_number
from engine.api.record import ResolvedRequest
from engine.api.request import GenerateRequest
from engine.api.values import PrecisionName, TextWeightBits, WeightBits
from engine.jobs.roundings import bits_of

_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
# Side of a tile in pixels, if --vae-tiling has no number.
_DEFAULT_TILE = 576
# The bits of weights that are not rounded.
_ALL = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options; each has the name of the request's field as its `dest`."""
    parser.add_argument("--backend", metavar="B", help="a name `safelight devices` lists, or auto")
    parser.add_argument("--precision", type=one_of(PrecisionName), choices=list(PrecisionName))
    parser.add_argument(
        "--weights",
        dest="weight_bits",
        type=one_of(WeightBits),
        choices=list(WeightBits),
        help="bits of the weights of large layers; auto: all, or 8 or 4 where those do not fit",
    )
    parser.add_argument(
        "--text-weights",
        dest="text_weight_bits",
        type=one_of(TextWeightBits),
        choices=list(TextWeightBits),
        help="those of the text encoders alone",
    )
    tile = "decode in tiles of N pixels a side, for less memory; default: where it is short"
    parser.add_argument(
        "--vae-tiling",
        dest="vae_tile",
        type=parse_whole_number,
        nargs="?",
        const=_DEFAULT_TILE,
        metavar="N",
        help=tile,
    )
    of_device = "of a device with memory of its own; weights beyond it are streamed"
    for name, words in (("memory", "as 4G"), ("device-memory", of_device)):
        dest = f"{name.replace('-', '_')}_limit_bytes"
        parser.add_argument(f"--{name}-limit", dest=dest, type=_bytes, metavar="SIZE", help=words)


def rounding_note(wanted: GenerateRequest, made: ResolvedRequest) -> str:
    """Return what is to be said of weights that were rounded unasked; empty where none were."""
    if wanted.weight_bits is not WeightBits.AUTO:
        return ""
    text, denoiser = bits_of(made.weight_bits, made.text_weight_bits)
    parts = {"the text encoders'": text, "the denoiser's": denoiser}
    rounded = [f"{part} to {bits} bits" for part, bits in parts.items() if bits < _ALL]
    if not rounded:
        return ""
    listed = ", ".join(rounded)
    return f"Weights were rounded to fit the memory: {listed}. --weights 16 keeps them exact."


def _bytes(text: str) -> int:
    match = _BYTES.fullmatch(text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount of memory; write it as 4G")
    return int(float(match[1]) * 2 ** _UNITS[match[2].upper()])
