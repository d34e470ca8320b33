"""The names of values in a ComfyUI workflow, by class in the order of the window's controls.

After `nodes.py` and `comfy_extras` of ComfyUI 0.3, and the nodes of extensions that are met most.
Since 2025 a node's inputs tell these names themselves.
"""

from collections.abc import Mapping
from types import MappingProxyType

_SEEDED = ("control_after_generate", "steps", "cfg", "sampler_name", "scheduler")
_SIZE = ("width", "height", "batch_size")
_VIDEO = ("width", "height", "length", "batch_size")
_SCALED = ("upscale_method", "scale_by")
_RESIZED = ("upscale_method", "width", "height", "crop")
_CHECKPOINT = ("ckpt_name",)
CONTROLS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "KSampler": ("seed", *_SEEDED, "denoise"),
        "KSampler (Efficient)": ("seed", *_SEEDED, "denoise", "preview_method", "vae_decode"),
        "KSampler (WAS)": ("seed", *_SEEDED, "denoise"),
        "KSamplerAdvanced": (
            "add_noise", "noise_seed", *_SEEDED, "start_at_step", "end_at_step",
            "return_with_leftover_noise",
        ),
        "SamplerCustom": ("add_noise", "noise_seed", "control_after_generate", "cfg"),
        "RandomNoise": ("noise_seed", "control_after_generate"),
        "KSamplerSelect": ("sampler_name",),
        "SamplerDPMPP_2M_SDE": ("solver_type", "eta", "s_noise", "noise_device"),
        "SamplerDPMPP_SDE": ("eta", "s_noise", "r", "noise_device"),
        "BasicScheduler": ("scheduler", "steps", "denoise"),
        "KarrasScheduler": ("steps", "sigma_max", "sigma_min", "rho"),
        "ExponentialScheduler": ("steps", "sigma_max", "sigma_min"),
        "PolyexponentialScheduler": ("steps", "sigma_max", "sigma_min", "rho"),
        "BetaSamplingScheduler": ("steps", "alpha", "beta"),
        "AlignYourStepsScheduler": ("model_type", "steps", "denoise"),
        "SDTurboScheduler": ("steps", "denoise"),
        "Flux2Scheduler": ("steps", "width", "height"),
        "SplitSigmas": ("step",),
        "CFGGuider": ("cfg",),
        "DualCFGGuider": ("cfg_conds", "cfg_cond2_negative"),
        "CLIPTextEncode": ("text",),
        "CLIPTextEncodeSDXL": (
            "width", "height", "crop_w", "crop_h", "target_width", "target_height", "text_g",
            "text_l",
        ),
        "CLIPTextEncodeSDXLRefiner": ("ascore", "width", "height", "text"),
        "CLIPTextEncodeFlux": ("clip_l", "t5xxl", "guidance"),
        "TextEncodeQwenImageEdit": ("prompt",),
        "TextEncodeQwenImageEditPlus": ("prompt",),
        "GLIGENTextBoxApply": ("text", "width", "height", "x", "y"),
        "FluxGuidance": ("guidance",),
        "EmptyLatentImage": _SIZE,
        "EmptySD3LatentImage": _SIZE,
        "EmptyFlux2LatentImage": _SIZE,
        "EmptyHunyuanLatentVideo": _VIDEO,
        "EmptyLTXVLatentVideo": _VIDEO,
        "EmptyMochiLatentVideo": _VIDEO,
        "StableCascade_EmptyLatentImage": ("width", "height", "compression", "batch_size"),
        "LatentFromBatch": ("batch_index", "length"),
        "CheckpointLoaderSimple": _CHECKPOINT,
        "CheckpointLoader": ("config_name", "ckpt_name"),
        "ImageOnlyCheckpointLoader": _CHECKPOINT,
        "unCLIPCheckpointLoader": _CHECKPOINT,
        "UNETLoader": ("unet_name", "weight_dtype"),
        "UnetLoaderGGUF": ("unet_name",),
        "CLIPLoader": ("clip_name", "type"),
        "DualCLIPLoader": ("clip_name1", "clip_name2", "type"),
        "VAELoader": ("vae_name",),
        "LoraLoader": ("lora_name", "strength_model", "strength_clip"),
        "LoraLoaderModelOnly": ("lora_name", "strength_model"),
        "CLIPSetLastLayer": ("stop_at_clip_layer",),
        "RescaleCFG": ("multiplier",),
        "FreeU": ("b1", "b2", "s1", "s2"),
        "FreeU_V2": ("b1", "b2", "s1", "s2"),
        "PerturbedAttentionGuidance": ("scale",),
        "SelfAttentionGuidance": ("scale", "blur_sigma"),
        "ModelSamplingDiscrete": ("sampling", "zsnr"),
        "ControlNetLoader": ("control_net_name",),
        "DiffControlNetLoader": ("control_net_name",),
        "ControlNetApply": ("strength",),
        "ControlNetApplyAdvanced": ("strength", "start_percent", "end_percent"),
        "ControlNetApplySD3": ("strength", "start_percent", "end_percent"),
        "ControlNetInpaintingAliMamaApply": ("strength", "start_percent", "end_percent"),
        "SetUnionControlNetType": ("type",),
        "SaveImage": ("filename_prefix",),
        "LoadImage": ("image", "upload"),
        "LatentUpscale": _RESIZED,
        "LatentUpscaleBy": _SCALED,
        "ImageScale": _RESIZED,
        "ImageScaleBy": _SCALED,
        "UpscaleModelLoader": ("model_name",),
        "PrimitiveNode": ("value",),
        "PrimitiveInt": ("value",),
        "PrimitiveFloat": ("value",),
        "PrimitiveString": ("value",),
        "PrimitiveStringMultiline": ("value",),
        "PrimitiveBoolean": ("value",),
        "StringConcatenate": ("string_a", "string_b", "delimiter"),
        "ComfySwitchNode": ("switch",),
        "Seed (rgthree)": ("seed",),
        "Seed": ("seed",),
        "Text Multiline": ("text",),
        "CR Text": ("text",),
        "DF_Text_Box": ("Text",),
        "String Literal": ("string",),
    }
)  # fmt: skip
