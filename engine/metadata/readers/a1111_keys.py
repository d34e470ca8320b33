"""Keys of AUTOMATIC1111's line that a request does not need, and the tool's versions."""

import json
import re

import msgspec

from engine.api import ConventionName
from engine.api.conventions import CONVENTIONS, Convention, choice_of
from engine.metadata.infotext import Infotext, Parameter
from engine.metadata.json_text import parse_object
from engine.metadata.readers.imported import made_with_parts
from engine.metadata.readers.values import Values

# Keys that describe the picture, but add nothing to the other keys.
DESCRIPTIVE = (
    "Model hash", "VAE hash", "Version", "User", "SDCPP", "Lora hashes", "TI hashes", "Hashes",
    "Batch size", "Batch pos", "Init image hash", "Template", "Negative Template", "App",
    "Operations", "Backend", "Pipeline", "Created Date", "Civitai resources", "Civitai metadata",
    "Schedule type",
)  # fmt: skip

# Values that have no effect because they equal the tool's default.
USUAL = {
    "UniPC variant": "bh1",
    "UniPC skip type": "time_uniform",
    "UniPC order": "3",
    "UniPC lower order final": "True",
    "Beta schedule alpha": "0.6",
    "Beta schedule beta": "0.6",
    "FP8 weight": "Disable",
    "VAE Encoder": "Full",
    "VAE Decoder": "Full",
    "Noise multiplier": "1.0",
    "Conditional mask weight": "1.0",
    "Noise Schedule": "Default",
}

# Our own key in texts that are copied: the tool whose conventions a picture follows.
RESULTS_AS = "Results as in"
# The keys of single habits, which a tool's name stands for.
HABITS = (
    "RNG", "Emphasis", "SGM noise multiplier", "Discard penultimate sigma",
    "Refiner switch by sampling steps", RESULTS_AS,
)  # fmt: skip

# All other keys that a request is read from.
_READ = (
    "Steps", "Sampler", "Scheduler", "CFG scale", "Seed", "Size", "First pass size", "Model", "VAE",
    "Denoising strength", "Clip skip", "RNG", "Emphasis", "ENSD", "Eta", "Eta DDIM", "Sigma noise",
    "Sigma churn", "Sigma tmin", "Sigma tmax", "Schedule min sigma", "Schedule max sigma",
    "Schedule rho", "Variation seed", "Variation seed strength", "Seed resize from", "Refiner",
    "Refiner switch at", "Skip Early CFG", "Image CFG scale", "SGM noise multiplier", "Zero SNR",
    "Discard penultimate sigma", "Mask blur", "AddNet Enabled", "Hires upscale", "Hires resize",
    "Hires upscaler", "Hires steps", "Hires prompt", "Hires negative prompt", "Hires sampler",
    "Hires schedule type", "Hires checkpoint", "Hires CFG Scale", "Distilled CFG Scale",
    "Hires Distilled CFG Scale",
)  # fmt: skip
_BY_CASELESS = {key.casefold(): key for key in (*DESCRIPTIVE, *USUAL, *_READ)}


def with_usual_keys(info: Infotext) -> Infotext:
    """Return the text with AUTOMATIC1111's keys: other tools differ in capitals ("CFG Scale")."""
    present = {pair.key for pair in info.parameters}

    def usual(pair: Parameter) -> Parameter:
        key = _BY_CASELESS.get(pair.key.casefold(), pair.key)
        return pair if key in present else Parameter(key, pair.value)

    return msgspec.structs.replace(info, parameters=tuple(map(usual, info.parameters)))


_MODULE = re.compile(r"Module [1-9]")

Version = tuple[int, int, int, int]
# "v1.10.1", "1.6.0-2-g4afaaf8a", "v1.7.0-225-gabcdef0", and Forge's "f2.0.1v1.10.1-...".
_VERSION = re.compile(
    r"(?:^|v)(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:[a-z]+[\w.]*)?(?:-(\d{1,6}))?", re.ASCII
)
# The first versions with a changed behaviour, after `modules/infotext_versions.py`.
SCHEDULE_APART: Version = (1, 9, 0, 0)
REFINED_BY_LEVEL: Version = (1, 8, 0, 0)
FULL_PRECISION_LEVELS: Version = (1, 7, 0, 225)
NEW_TIMELINES: Version = (1, 6, 0, 0)
# Since version 1.6 the number in `[a:b:1.5]` is a fraction of the second pass; before, a step.
_FRACTION_ABOVE_ONE = re.compile(r":\s*(?:[1-9]\d*)\.\d*\s*\]", re.ASCII)


def is_forges(text: str | None) -> bool:
    """Tell whether a version is Forge's, such as "f2.0.1v1.10.1-previous-635-gf5330788"."""
    return re.match(r"f\d", (text or "")[:2]) is not None


def version_of(text: str | None) -> Version | None:
    """Return AUTOMATIC1111's version in a text such as "v1.6.0-2-g4afaaf8a"; None without one."""
    match = _VERSION.search((text or "")[:100])
    if match is None:
        return None
    major, minor, patch, commits = (int(part or 0) for part in match.groups())
    return major, minor, patch, commits


def stated_convention(info: Infotext) -> ConventionName | Convention | None:
    """Return the conventions that a text says it follows; None for those of AUTOMATIC1111."""
    told = info.get(RESULTS_AS)
    # Some ComfyUI nodes save this text along with or instead of the graph.
    if told is None and (info.get("Version") or "").startswith("ComfyUI"):
        return ConventionName.COMFY
    label, _, changes = (told or "").partition(" ")
    others = (name for name in ConventionName if name is not ConventionName.A1111)
    named = next((name for name in others if name.label == label), None)
    if named is None:
        return None
    usual = msgspec.to_builtins(CONVENTIONS[named])
    try:
        found = msgspec.convert(usual | (parse_object(changes) or {}), Convention)
    except msgspec.ValidationError:
        return named
    return choice_of(found) if found.name is named else named


def convention_text(convention: Convention) -> str:
    """Return conventions as `stated_convention` reads them: a tool's name, and what differs."""
    usual, own = map(msgspec.to_builtins, (CONVENTIONS[convention.name], convention))
    changes = {key: value for key, value in own.items() if value != usual[key]}
    words = (convention.name.label, json.dumps(changes) if changes else "")
    return " ".join(filter(None, words))


def forges_modules(values: Values, info: Infotext) -> tuple[str, ...]:
    """Return a sentence on the VAE and the text encoders that Forge took beside a model, if any.

    It numbers them, in the order in which they were chosen: "Module 1: ae, Module 2: clip_l".
    """
    pairs = [pair for pair in info.parameters if _MODULE.fullmatch(pair.key)]
    values.skip(*(pair.key for pair in pairs))
    return (made_with_parts(pair.value for pair in pairs),) if pairs else ()


def keeps_comments(version: str | None) -> bool:
    """True if the text holds the prompt as written, with comments: for Forge 2 and Safelight.

    AUTOMATIC1111 removes comments before it writes the text, and other tools have none.
    """
    return (version or "").startswith(("f2", "Safelight"))


def old_habits(version: Version | None, prompt: str) -> tuple[str, ...]:
    """Return sentences on what an old version did differently and a request cannot express."""
    if version is None:
        return ()
    remarks: list[str] = []
    if version < FULL_PRECISION_LEVELS:
        remarks.append(
            "The version that made it rounded its noise levels to half precision; "
            "expect small differences."
        )
    if version < NEW_TIMELINES and _FRACTION_ABOVE_ONE.search(prompt):
        remarks.append("Its prompt has times such as [a:b:1.5], which it counted in steps.")
    return tuple(remarks)


def is_distilled(values: Values) -> bool:
    """Return True for Forge's pictures by a model that takes guidance as an input.

    Forge names a distilled scale for schnell, too, which has no such input.
    """
    names_two = values.text("Distilled CFG Scale") is not None
    return names_two and "schnell" not in (values.text("Model") or "").casefold()
