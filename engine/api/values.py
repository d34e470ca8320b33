"""The shared vocabulary: enumerations and errors used in requests, records and messages."""

from enum import StrEnum
from typing import Self

import msgspec

from engine.api.remedies import Remedy
from engine.api.sentences import InEnglish, Sentence, Text, as_it_is, sentence


class _Labelled(StrEnum):
    """Names with labels, stated as `NAME = value, label`; the value is Safelight's identifier.

    A tool's label is its display name; that of a method is the one that A1111 writes into pictures.
    """

    label: str

    def __new__(cls, value: str, label: str) -> Self:
        """Make a member, which is the text `value`."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.label = label
        return member


class SamplerName(_Labelled):
    """The sampler: the numerical method that solves the diffusion equation."""

    EULER = "euler", "Euler"
    EULER_ANCESTRAL = "euler_a", "Euler a"
    HEUN = "heun", "Heun"
    LMS = "lms", "LMS"
    DPM2 = "dpm2", "DPM2"
    DPM2_ANCESTRAL = "dpm2_a", "DPM2 a"
    DPM_FAST = "dpm_fast", "DPM fast"
    DPM_ADAPTIVE = "dpm_adaptive", "DPM adaptive"
    DPMPP_2S_ANCESTRAL = "dpmpp_2s_a", "DPM++ 2S a"
    DPMPP_2M = "dpmpp_2m", "DPM++ 2M"
    DPMPP_SDE = "dpmpp_sde", "DPM++ SDE"
    DPMPP_2M_SDE = "dpmpp_2m_sde", "DPM++ 2M SDE"
    DPMPP_2M_SDE_HEUN = "dpmpp_2m_sde_heun", "DPM++ 2M SDE Heun"
    DPMPP_3M_SDE = "dpmpp_3m_sde", "DPM++ 3M SDE"
    RESTART = "restart", "Restart"
    RES_MULTISTEP = "res_multistep", "Res Multistep"
    DEIS = "deis", "DEIS"
    UNIPC = "unipc", "UniPC"
    UNIPC_BH2 = "unipc_bh2", "UniPC BH2"
    PLMS = "plms", "PLMS"
    DDIM = "ddim", "DDIM"
    DDPM = "ddpm", "DDPM"
    EULER_CFG_PP = "euler_cfg_pp", "Euler CFG++"
    EULER_ANCESTRAL_CFG_PP = "euler_a_cfg_pp", "Euler a CFG++"
    DDIM_CFG_PP = "ddim_cfg_pp", "DDIM CFG++"
    LCM = "lcm", "LCM"
    TCD = "tcd", "TCD"


class ScheduleName(_Labelled):
    """The schedule of the sampler's noise levels."""

    NORMAL = "normal", "Normal"
    KARRAS = "karras", "Karras"
    SIMPLE = "simple", "Simple"
    SGM_UNIFORM = "sgm_uniform", "SGM Uniform"
    BETA = "beta", "Beta"
    EXPONENTIAL = "exponential", "Exponential"
    POLYEXPONENTIAL = "polyexponential", "Polyexponential"
    KL_OPTIMAL = "kl_optimal", "KL Optimal"
    ALIGN_YOUR_STEPS = "align_your_steps", "Align Your Steps"
    UNIFORM = "uniform", "Uniform"
    DDIM = "ddim", "DDIM"
    LINEAR_QUADRATIC = "linear_quadratic", "Linear Quadratic"


class ConventionName(_Labelled):
    """The tool whose conventions a picture follows; `engine.api.conventions` spells them out."""

    A1111 = "a1111", "AUTOMATIC1111"
    COMFY = "comfy", "ComfyUI"
    DIFFUSERS = "diffusers", "diffusers"
    INVOKE = "invoke", "InvokeAI"


class PrecisionName(StrEnum):
    """The number format a network computes in. AUTO lets the engine choose for the device."""

    AUTO = "auto"
    F32 = "f32"
    F16 = "f16"
    BF16 = "bf16"
    INT8 = "int8"


class WeightBits(StrEnum):
    """The bits that a number of a linear layer's weight keeps in memory.

    ALL keeps all of 16 or 32 bits; weights that a file has in fewer stay as they are. AUTO lets the
    engine choose: all bits where there is room for them.
    """

    AUTO = "auto"
    ALL = "16"
    EIGHT = "8"
    FOUR = "4"


class TextWeightBits(StrEnum):
    """The same bits for the text encoders alone. SAME: as the model's other weights."""

    SAME = "same"
    ALL = "16"
    EIGHT = "8"
    FOUR = "4"


class PredictionType(StrEnum):
    """The denoiser's prediction: the noise, the picture, or v = alpha * noise - sigma * picture.

    EDM and EDM_V predict a mixture of picture and noise that has unit variance at any noise level
    (Karras et al. 2022, equation 8): EDM with the paper's sign, EDM_V with the opposite sign, which
    is v. FLOW predicts noise - picture (Liu et al. 2022, rectified flow).
    """

    EPSILON = "epsilon"
    V = "v_prediction"
    SAMPLE = "sample"
    EDM = "edm"
    EDM_V = "edm_v_prediction"
    FLOW = "flow"

    @property
    def label(self) -> Sentence:
        """The name of the prediction type within a sentence."""
        return _PREDICTIONS[self]


_PREDICTIONS = {
    PredictionType.EPSILON: sentence("noise prediction"),
    PredictionType.V: sentence("v-prediction"),
    PredictionType.SAMPLE: sentence("prediction of the picture"),
    PredictionType.EDM: as_it_is("EDM"),
    PredictionType.EDM_V: sentence("EDM with v-prediction"),
    PredictionType.FLOW: sentence("flow matching"),
}


class InputRole(StrEnum):
    """The role of an input picture."""

    INIT = "init"
    MASK = "mask"
    # A picture that is shown to the denoiser beside the one that is made.
    REFERENCE = "reference"


class Phase(StrEnum):
    """The phases of a job, in order; second passes repeat those from ENCODE on."""

    LOAD = "load"
    COMPILE = "compile"
    ENCODE = "encode"
    DENOISE = "denoise"
    # An upscaler's network enlarges a picture, for a second pass or on its own.
    ENLARGE = "enlarge"
    DECODE = "decode"
    SAVE = "save"


# The phases whose progress is counted in steps of nearly equal length: steps, and tiles.
STEPPED = frozenset({Phase.DENOISE, Phase.ENLARGE})


class ArtifactKind(StrEnum):
    """The kinds of files in the cache.

    They are compiled networks, weights converted to another type or with LoRAs in them, and what
    encoders made of prompts.
    """

    COMPILED_NETWORK = "compiled_network"
    CONVERTED_WEIGHTS = "converted_weights"
    MERGED_WEIGHTS = "merged_weights"
    ENCODED_PROMPTS = "encoded_prompts"


class ErrorCode(StrEnum):
    """The code of every failure that a user can meet; the app translates it."""

    CHECKPOINT_NOT_FOUND = "checkpoint_not_found"
    CHECKPOINT_UNREADABLE = "checkpoint_unreadable"
    CHECKPOINT_NOT_SAFETENSORS = "checkpoint_not_safetensors"
    CHECKPOINT_TRUNCATED = "checkpoint_truncated"
    CHECKPOINT_CORRUPT = "checkpoint_corrupt"
    CHECKPOINT_UNKNOWN_FAMILY = "checkpoint_unknown_family"
    CHECKPOINT_INCOMPLETE = "checkpoint_incomplete"
    CHECKPOINT_MISMATCH = "checkpoint_mismatch"
    LORA_MISMATCH = "lora_mismatch"
    REQUEST_INVALID = "request_invalid"
    INPUT_IMAGE_UNREADABLE = "input_image_unreadable"
    METADATA_MISSING = "metadata_missing"
    BACKEND_UNKNOWN = "backend_unknown"
    BACKEND_UNAVAILABLE = "backend_unavailable"
    BACKEND_FAILED = "backend_failed"
    REFIT_FAILED = "refit_failed"
    OUT_OF_MEMORY = "out_of_memory"
    NUMERIC_FAILURE = "numeric_failure"
    OUTPUT_NOT_WRITABLE = "output_not_writable"
    DISK_FULL = "disk_full"
    CACHE_NOT_WRITABLE = "cache_not_writable"
    WORKING_COPY_DAMAGED = "working_copy_damaged"
    CANCELLED = "cancelled"
    PREPARING = "preparing"
    NOT_AVAILABLE = "not_available"
    LORA_NOT_FOUND = "lora_not_found"
    # Something of a LoRA or an embedding was left out, or taken in another way than was meant.
    LORA_REMARK = "lora_remark"
    EMBEDDING_REMARK = "embedding_remark"
    ENGINE_NOT_STARTED = "engine_not_started"
    ENGINE_CRASHED = "engine_crashed"
    PROTOCOL_MISMATCH = "protocol_mismatch"
    PROTOCOL_BROKEN = "protocol_broken"
    QUEUE_UNREADABLE = "queue_unreadable"
    SESSION_UNREADABLE = "session_unreadable"
    SETTINGS_UNREADABLE = "settings_unreadable"
    INTERNAL = "internal"


class ErrorInfo(msgspec.Struct, InEnglish, frozen=True):
    """A failure as data: its message, a hint for the user, and the technical detail for a report.

    `hint` reads the same in the window and on the command line; `remedies`, the best first, are
    the actions that the two word differently. The window shows `text` and `advice` in its language.
    """

    code: ErrorCode
    text: Text = msgspec.field(name="message")
    advice: Text = msgspec.field(default="", name="hint")
    detail: str = ""
    remedies: tuple[Remedy, ...] = ()
