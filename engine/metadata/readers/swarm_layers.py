"""SwarmUI's ControlNets and its IP-Adapter; their pictures are not in the file.

After the steps "ControlNet" and "ReVision/UnCLIP/IPAdapter" of
`ComfyUIBackend/WorkflowGeneratorSteps.cs`, whose nodes are ComfyUI's, and `CreatePreprocessor` of
`WorkflowGenerator.cs`.
"""

import math
from collections.abc import Mapping

import msgspec

from engine.api.control import ControlLayer
from engine.api.fields import bounds_of
from engine.api.image_prompts import ImagePrompt
from engine.api.preprocessors import CannyOptions, MapOptions
from engine.api.weight_suffixes import WEIGHT_SUFFIXES
from engine.metadata.readers.comfy_controls import NODE_PREPROCESSORS, UNIONS
from engine.metadata.readers.controls import blocks_of, no_map_of, span_of, within_bounds
from engine.metadata.readers.imported import plain
from engine.metadata.readers.named_files import file_name, hash_digits
from engine.metadata.readers.values import Values

_NUMBERS = ("", "two", "three")
# A model of IP-Adapter's node; other values are the presets of its loader.
_FILE = "file:"
# Words in a network's name by which SwarmUI takes a preprocessor of what is installed.
_AUTOMATIC = ("depth", "midas", "sketch", "scribble", "pose")
_MULTIPLE = 64


def swarm_controls(values: Values, hashes: Mapping[str, object]) -> tuple[ControlLayer, ...]:
    """Return the ControlNets, up to three; `hashes` are those of files by the keys of parameters.

    One is on if it has a strength.
    """
    found: list[ControlLayer] = []
    for number in _NUMBERS:
        prefix = f"controlnet{number}"
        network = file_name(values.get(f"{prefix}model"))
        strength, start, end, kind = (
            values.get(f"{prefix}{key}") for key in ("strength", "start", "end", "uniontype")
        )
        preprocessor = values.get(f"{prefix}preprocessor")
        if not network:
            continue
        found.append(
            ControlLayer(
                image="",
                network=network,
                preprocessor=_preprocessor(values, preprocessor, network),
                weight=within_bounds(ControlLayer, "weight", strength, 1.0),
                range=span_of(start, end),
                kind=UNIONS.get(str(kind)),
                hash=hash_digits(hashes.get(f"{prefix}model")),
            )
        )
    return tuple(found)


def swarm_image_prompts(values: Values) -> tuple[ImagePrompt, ...]:
    """Return the IP-Adapter, which reads all pictures of the prompt together."""
    named = values.text("useipadapter")
    weight, start, end = (values.get(f"ipadapter{key}") for key in ("weight", "start", "end"))
    kind = values.text("ipadapterweighttype")
    if named is None:
        return ()
    adapter = named.removeprefix(_FILE)
    is_file = named.startswith(_FILE) or adapter.lower().endswith(WEIGHT_SUFFIXES)
    if not is_file:
        values.warnings.append(
            f'Its pictures were read by the IP-Adapter of "{plain(named)}"; choose its file.'
        )
    return (
        ImagePrompt(
            image="",
            adapter=file_name(adapter) or None if is_file else None,
            weight=within_bounds(ImagePrompt, "weight", weight, 1.0),
            range=span_of(start, end),
            blocks=blocks_of(kind, values.warnings),
        ),
    )


def _preprocessor(values: Values, named: object, network: str) -> MapOptions | None:
    """Return the options of a named node, or of the one that a network's name asks for."""
    if named is None:
        return _automatic(values, network)
    if str(named).lower() == "none":
        return None
    known = NODE_PREPROCESSORS.get(str(named))
    if known is None:
        values.warnings.append(no_map_of(str(named)))
        return None
    return _with_resolution(values, known.options())


def _automatic(values: Values, network: str) -> MapOptions | None:
    name = network.lower()
    if "canny" in name:
        return _with_resolution(values, CannyOptions())
    if any(word in name for word in _AUTOMATIC):
        values.warnings.append(
            f'SwarmUI chose what made the map of "{plain(network)}", and does not tell it; choose '
            "a preprocessor."
        )
    return None


def _with_resolution(values: Values, options: MapOptions) -> MapOptions:
    """Return options with the resolution that SwarmUI gives a node: about the picture's."""
    width, height = values.sides("width", "height")
    if width is None or height is None or "resolution" not in options.__struct_fields__:
        return options
    resolution = round(math.sqrt(width * height) / _MULTIPLE) * _MULTIPLE
    low, high = bounds_of(type(options), "resolution")
    kept = min(max(resolution, math.ceil(low)), math.floor(high))
    return msgspec.structs.replace(options, resolution=kept)
