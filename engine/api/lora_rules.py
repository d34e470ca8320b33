"""Rules by which tools apply the same LoRA file with different results.

The arithmetic is in `engine.lora`.
"""

from enum import StrEnum

import msgspec


class DoraRule(StrEnum):
    """The norms and the place of the strength in DoRA.

    A file has a magnitude for each output or each input of a layer. Usually the weight is scaled to
    the magnitudes, and the result is blended with the unchanged weight by the strength.
    """

    # Norms over inputs, whatever the magnitudes are for: A1111, InvokeAI.
    INPUTS = "inputs"
    # Norms on the magnitudes' axis; for outputs those of the unchanged weight: ComfyUI.
    UNCHANGED = "unchanged"
    # Norms on the magnitudes' axis; the strength scales the change inside the norm: diffusers.
    INSIDE = "inside"
    # Norms on the magnitudes' axis, of the changed weight, as every trainer measures: no tool.
    TRAINED = "trained"


class RotationRule(StrEnum):
    """The strength and the limit of rotations (OFT, BOFT).

    A file may limit the rotations' norm by `alpha`, and may rescale the rotated outputs.
    """

    # The rotated, rescaled weight is blended with the unchanged one; alpha is for each output.
    BLENDED = "blended"
    # Each rotation is blended with none; outputs are rescaled in full; alpha is for each output:
    # LyCORIS and kohya's sd-scripts.
    EACH = "each"
    # Each rotation is blended with none, and the result with the unchanged weight once more; alpha
    # is for all outputs together; only BOFT rescales: ComfyUI.
    TWICE = "twice"


class LoraRules(msgspec.Struct, frozen=True):
    """The rules by which a tool applies LoRA files."""

    dora: DoraRule = DoraRule.INPUTS
    rotation: RotationRule = RotationRule.BLENDED
    # True if GLoRA's change is scaled by alpha / rank; A1111 takes no notice of alpha.
    glora_alpha: bool = False
    # True if alpha counts that only the adapter's configuration states (PEFT's `lora_alpha`).
    adapter_alpha: bool = False
