"""stable-diffusion.cpp's pictures: AUTOMATIC1111's text with other names, and JSON at its end.

After `examples/common/common.cpp:get_image_params`, `rng_type_to_str` and
`thirdparty/stb_image_write.h`, which writes UTF-8 where PNG has Latin-1.
"""

from collections.abc import Iterator

import msgspec

from engine.api.conventions import choice_of, convention_of
from engine.api.prompt_rules import PromptFeature
from engine.metadata.infotext import Infotext, Parameter, parse_infotext
from engine.metadata.readers.a1111 import import_infotext
from engine.metadata.readers.controls import number_of
from engine.metadata.readers.guidance import takes_guidance
from engine.metadata.readers.imported import ImportedRequest
from engine.metadata.texts import TextChunk
from engine.metadata.xmp import PARAMETERS

_KEYWORDS = frozenset({"parameters", PARAMETERS})
_MARK = "Version: stable-diffusion.cpp"
_GENERATORS = {"cuda": "NV", "cpu": "CPU"}
# Keys that follow from other keys.
_NO_EFFECT = frozenset({"Sampler RNG"})
# A network without the others has its own key, and leaves that of whole checkpoints empty.
_MODEL, _NETWORK = "Model", "Unet"
# `resolve_eta`: other samplers have no eta, whatever is written.
_WITH_ETA = frozenset(
    {"euler_a", "dpm++2s_a", "ddim_trailing", "tcd", "euler_a_cfg_pp", "dpm++2m_sde"}
    | {"dpm++2m_sde_bt"}
)
# `src/core/util.cpp:parse_prompt_attention`, and the LoRAs that its command removes first.
_FEATURES = (PromptFeature.NETWORKS, PromptFeature.BREAKS)
# `sd_get_default_scheduler`, for Stable Diffusion.
_DEFAULT_SCHEDULES = {"ddim_trailing": "simple", "lcm": "Automatic", "tcd": "Automatic"}


def from_sdcpp(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of stable-diffusion.cpp's text; None if there is none."""
    for chunk in texts:
        if chunk.keyword in _KEYWORDS and _MARK in chunk.text:
            info = parse_infotext(_as_utf8(chunk.text))
            imported = import_infotext(
                Infotext(info.prompt, info.negative_prompt, tuple(_translated(info)))
            )
            warnings = imported.warnings
            request = imported.request
            habits = msgspec.structs.replace(
                convention_of(request.convention), prompt_features=_FEATURES
            )
            request = msgspec.structs.replace(request, convention=choice_of(habits))
            if info.get("RNG") not in _GENERATORS:
                warnings += ("Its noise is its C++ library's; the picture will differ.",)
            return msgspec.structs.replace(
                imported, request=request, warnings=warnings, tool="stable-diffusion.cpp"
            )
    return None


def _translated(info: Infotext) -> Iterator[Parameter]:
    model, cfg = info.get(_MODEL) or info.get(_NETWORK), number_of(info.get("CFG scale"))
    for pair in info.parameters:
        if pair.key in _NO_EFFECT or (pair.key == "Eta" and not _has_eta(info, pair.value)):
            continue
        if pair.key == "Guidance":
            # It is written for every model; the name is Forge's.
            if takes_guidance(model, cfg):
                yield Parameter("Distilled CFG Scale", pair.value)
        elif pair.key in (_MODEL, _NETWORK):
            if pair.value == model:
                yield Parameter(_MODEL, pair.value)
        elif pair.key == "RNG":
            yield Parameter("RNG", _GENERATORS.get(pair.value, "NV"))
        elif pair.key == "Sampler":
            yield from _sampler(pair.value)
        else:
            yield pair


def _has_eta(info: Infotext, value: str) -> bool:
    """True if the user chose an eta; "inf" stands for the sampler's own.

    In versions before the JSON, 0 did as well.
    """
    sampler = (info.get("Sampler") or "").partition(" ")[0]
    is_new = info.get("SDCPP") is not None
    return sampler in _WITH_ETA and value != "inf" and (is_new or value != "0.000000")


def _sampler(value: str) -> Iterator[Parameter]:
    """Split "euler_a karras" into sampler and schedule; without a schedule use its default."""
    sampler, space, schedule = value.partition(" ")
    yield Parameter("Sampler", sampler)
    default = _DEFAULT_SCHEDULES.get(sampler, "discrete")
    yield Parameter("Schedule type", schedule if space else default)


def _as_utf8(text: str) -> str:
    try:
        return text.encode("latin-1").decode("utf-8")
    # It is already UTF-8, as in chunks of another writer.
    except UnicodeError:
        return text
