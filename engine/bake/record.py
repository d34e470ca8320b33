"""The metadata of a baked file: the base's own, ModelSpec's, and a list of what was baked.

ModelSpec 1.0.0 (github.com/Stability-AI/ModelSpec) asks tools that change a file to keep its keys,
and to renew the title, the date and the hash of the tensors.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from engine.api.values import PredictionType
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.registry import FAMILIES

# The key of the list of bakes: a baked file may be baked again.
BAKES = "safelight.bakes"
HASH = "modelspec.hash_sha256"
# Stands in for the hash of the tensors until they are written.
UNKNOWN_HASH = f"0x{'0' * 64}"
# Hashes of the base's tensors, which are others now; kohya's and ModelSpec's.
_STALE = ("sshs_", "modelspec.hash_")
_PREDICTIONS = {
    PredictionType.EPSILON: "epsilon",
    PredictionType.V: "v",
    PredictionType.SAMPLE: "sample",
}
# The pixels of a latent's cell that files' resolutions are read with.
_USUAL_DOWNSCALE = 8
_ORIGINAL, _DIFFUSERS = "https://github.com/Stability-AI/generative-models", "diffusers"
# The beginning of a UNet's keys in the original layout.
_ORIGINAL_KEY = "model.diffusion_model.input_blocks."


class BakedLora(msgspec.Struct, frozen=True, kw_only=True):
    """A LoRA in a baked file: its name, hashes, strengths, and how much of it was applied.

    `tensors_hash` is the SHA-256 of its tensors alone (AutoV3); None for a PyTorch file.
    """

    name: str
    sha256: str
    tensors_hash: str | None
    strength: float
    text_strength: float
    applied_keys: int
    total_keys: int


class Bake(msgspec.Struct, frozen=True, kw_only=True):
    """The base and the LoRAs of one bake.

    `base` is the name of the base's file and `base_sha256` its hash; `convention` names the tool by
    whose rules the LoRAs were applied.
    """

    program: str
    base: str
    base_sha256: str
    convention: str
    loras: tuple[BakedLora, ...]


_BAKES = msgspec.json.Decoder(tuple[Bake, ...])


def bakes_of(metadata: Mapping[str, str]) -> tuple[Bake, ...]:
    """Return what was baked into a file, the first bake first; nothing that is not understood."""
    try:
        return _BAKES.decode(metadata.get(BAKES, "[]"))
    except msgspec.DecodeError:
        return ()


def part_metadata(before: Mapping[str, str], bake: Bake) -> dict[str, str]:
    """Return the metadata of a file with a part of a checkpoint, from the base's."""
    kept = {key: text for key, text in before.items() if not key.startswith(_STALE)}
    bakes = msgspec.json.encode((*bakes_of(before), bake)).decode()
    return {"format": "pt", **kept, BAKES: bakes}


def checkpoint_metadata(
    before: Mapping[str, str],
    bake: Bake,
    checkpoint: IdentifiedCheckpoint,
    keys: Sequence[str],
) -> dict[str, str]:
    """Return the metadata of a single file with these keys, from the base's.

    What only the base's name or the files beside it state is stated here, so that the new file is
    taken for the same kind of checkpoint.
    """
    stated = _modelspec(checkpoint, keys)
    kept = part_metadata(before, bake)
    base = before.get("modelspec.title") or checkpoint.path.stem
    names = [f"{lora.name} {lora.strength:g}" for lora in bake.loras]
    sources = [base, *(lora.name for lora in bake.loras)]
    return {
        **stated,
        **kept,
        **_prediction(checkpoint),
        # The base comes last: some kinds of checkpoints are known by the end of their names.
        "modelspec.title": f"{', '.join(names)} on {base}",
        "modelspec.merged_from": ", ".join(name.replace(",", " ") for name in sources),
        "modelspec.date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        HASH: UNKNOWN_HASH,
    }


def _modelspec(checkpoint: IdentifiedCheckpoint, keys: Sequence[str]) -> dict[str, str]:
    """Return facts about a checkpoint for a base that does not state them."""
    found: dict[str, str] = {}
    if checkpoint.latent.downscale == _USUAL_DOWNSCALE:
        found["modelspec.resolution"] = f"{checkpoint.default_size}x{checkpoint.default_size}"
    architecture = FAMILIES.named(checkpoint.family).modelspec_architecture(checkpoint)
    if architecture:
        original = any(key.startswith(_ORIGINAL_KEY) for key in keys)
        found |= {
            "modelspec.sai_model_spec": "1.0.0",
            "modelspec.architecture": architecture,
            "modelspec.implementation": _ORIGINAL if original else _DIFFUSERS,
        }
    return found


def _prediction(checkpoint: IdentifiedCheckpoint) -> dict[str, str]:
    """Return the prediction type if it is certain; a card may state another than the metadata.

    That of the picture itself is known by a file's name only, and found by no trial.
    """
    stated = _PREDICTIONS.get(checkpoint.prediction)
    named = checkpoint.prediction is PredictionType.SAMPLE
    certain = named or checkpoint.parts.denoiser.unstated is None
    return {"modelspec.prediction_type": stated} if stated and certain else {}
