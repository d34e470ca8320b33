"""The configuration files of a diffusers folder, typed, with the defaults of diffusers' classes.

The types contain only fields that decide a network's shape or meaning. The `…Constants` classes
hold fields of which our graphs support only the default. The reader of a file calls `unusual` and
refuses other values, because an ignored setting gives a wrong picture without an error.
"""

import errno
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec

from engine.api.sentences import Sentence, as_it_is, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.faults import not_found, unreadable
from engine.errors import EngineError
from engine.untrusted_json import JsonError, read_json

MAX_CONFIG_BYTES = 1024 * 1024

Count = Annotated[int, msgspec.Meta(ge=1, le=2**24)]
Positive = Annotated[float, msgspec.Meta(gt=0)]


class PipelineFile(msgspec.Struct, frozen=True):
    """`model_index.json`: the pipeline of the folder."""

    # A tuple with the module first, for a pipeline defined in the folder.
    stated: str | tuple[str, ...] = msgspec.field(name="_class_name", default="")

    @property
    def class_name(self) -> str:
        """The name of the class; empty if none is stated."""
        return self.stated if isinstance(self.stated, str) else "".join(self.stated[-1:])


class UNetConstants(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of a UNet2DConditionModel of which our graphs support only the default."""

    act_fn: str = "silu"
    time_embedding_type: str = "positional"
    time_embedding_act_fn: str | None = None
    timestep_post_act: str | None = None
    resnet_time_scale_shift: str = "default"
    resnet_out_scale_factor: float = 1.0
    resnet_skip_time_act: bool = False
    mid_block_scale_factor: float = 1.0
    downsample_padding: int = 1
    center_input_sample: bool = False
    flip_sin_to_cos: bool = True
    freq_shift: float = 0
    only_cross_attention: bool | tuple[bool, ...] = False
    dual_cross_attention: bool = False
    cross_attention_norm: str | None = None
    class_embed_type: str | None = None
    encoder_hid_dim_type: str | None = None
    attention_type: str = "default"


class UNetFile(UNetConstants, frozen=True, kw_only=True):
    """`unet/config.json` of a UNet2DConditionModel."""

    block_out_channels: tuple[Count, ...]
    in_channels: Count = 4
    out_channels: Count = 4
    sample_size: Count | tuple[Count, ...] | None = None
    layers_per_block: Count | tuple[Count, ...] = 2
    cross_attention_dim: Count | tuple[Count, ...] = 1280
    norm_num_groups: Count = 32
    norm_eps: Positive = 1e-5
    # Because of an old mistake that thousands of files rely on, this is the number of heads.
    attention_head_dim: Count | tuple[Count, ...] = 8
    num_attention_heads: Count | tuple[Count, ...] | None = None
    # "text_time" for SDXL: pooled text and sizes, with a width that follows from the weights.
    addition_embed_type: str | None = None
    mid_block_type: str | None = "UNetMidBlock2DCrossAttn"


class ControlNetConstants(UNetConstants, frozen=True, kw_only=True):
    """Fields of a ControlNetModel of which our graphs support only the default."""

    encoder_hid_dim: int | None = None
    num_class_embeds: int | None = None


class ControlNetFile(ControlNetConstants, frozen=True, kw_only=True):
    """`config.json` of a ControlNetModel or a ControlNetUnionModel."""

    block_out_channels: tuple[Count, ...]
    in_channels: Count = 4
    conditioning_channels: Count = 3
    norm_num_groups: Count = 32
    norm_eps: Positive = 1e-5
    # The number of heads, as in `UNetFile`.
    attention_head_dim: Count | tuple[Count, ...] = 8
    num_attention_heads: Count | tuple[Count, ...] | None = None
    controlnet_conditioning_channel_order: Literal["rgb", "bgr"] = "rgb"
    global_pool_conditions: bool = False


class FluxConstants(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of a FluxTransformer2DModel of which our graphs support only the default."""

    patch_size: int = 1


class FluxBlocksFile(FluxConstants, frozen=True, kw_only=True):
    """Fields of `transformer/config.json` for blocks as Flux.1 has them."""

    in_channels: Count = 64
    num_layers: Count = 19
    num_single_layers: Count = 38
    attention_head_dim: Count = 128
    num_attention_heads: Count = 24
    joint_attention_dim: Count = 4096
    # The parts of a head that turn with each coordinate of a token.
    axes_dims_rope: tuple[Count, Count, Count] = (16, 56, 56)


class FluxFile(FluxBlocksFile, frozen=True, kw_only=True):
    """`transformer/config.json` of a FluxTransformer2DModel."""

    pooled_projection_dim: Count = 768
    guidance_embeds: bool = False


class ChromaFile(FluxBlocksFile, frozen=True, kw_only=True):
    """`transformer/config.json` of a ChromaTransformer2DModel."""

    approximator_num_channels: Count = 64
    approximator_layers: Count = 5


class Flux2Constants(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of a Flux2Transformer2DModel of which our graphs support only these values."""

    patch_size: int = 1
    eps: float = 1e-6
    rope_theta: float = 2000.0
    timestep_guidance_channels: int = 256
    # That of FLUX.2 klein; the class has the default of FLUX.2 dev.
    guidance_embeds: bool = False


class Flux2File(Flux2Constants, frozen=True, kw_only=True):
    """`transformer/config.json` of a Flux2Transformer2DModel."""

    in_channels: Count = 128
    num_layers: Count = 8
    num_single_layers: Count = 48
    attention_head_dim: Count = 128
    num_attention_heads: Count = 48
    joint_attention_dim: Count = 15_360
    mlp_ratio: Positive = 3.0
    axes_dims_rope: tuple[Count, ...] = (32, 32, 32, 32)


class VaeConstants(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of an AutoencoderKL of which our graphs support only the default."""

    act_fn: str = "silu"


class VaeFile(VaeConstants, frozen=True, kw_only=True):
    """`vae/config.json` of an AutoencoderKL."""

    block_out_channels: tuple[Count, ...]
    # Stated for an AutoencoderKLFlux2 whose decoder is narrower than its encoder.
    decoder_block_out_channels: tuple[Count, ...] | None = None
    latent_channels: Count = 4
    layers_per_block: Count = 1
    norm_num_groups: Count = 32
    scaling_factor: Positive = 0.18215
    shift_factor: float | None = None
    # True for families whose VAE's activations exceed float16's range.
    force_upcast: bool = True
    # Per channel: Playground 2.5 subtracts the mean and divides by the deviation before scaling.
    latents_mean: tuple[float, ...] | None = None
    latents_std: tuple[Positive, ...] | None = None


class Flux2VaeConstants(msgspec.Struct, frozen=True, kw_only=True):
    """Fields that only an AutoencoderKLFlux2 has, of which we support only the default."""

    batch_norm_eps: float = 1e-4
    patch_size: tuple[int, ...] = (2, 2)


class ClipTextFile(msgspec.Struct, frozen=True, kw_only=True):
    """`text_encoder/config.json` of a CLIPTextModel."""

    vocab_size: Count = 49408
    hidden_size: Count = 512
    intermediate_size: Count = 2048
    num_hidden_layers: Count = 12
    num_attention_heads: Count = 8
    max_position_embeddings: Count = 77
    hidden_act: str = "quick_gelu"
    layer_norm_eps: Positive = 1e-5


class T5Constants(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of a T5EncoderModel of which our graphs support only this value, T5 v1.1's."""

    feed_forward_proj: str = "gated-gelu"
    relative_attention_max_distance: int = 128


class T5File(T5Constants, frozen=True, kw_only=True):
    """`config.json` of a T5EncoderModel."""

    vocab_size: Count = 32128
    d_model: Count = 512
    d_kv: Count = 64
    d_ff: Count = 2048
    num_heads: Count = 8
    num_layers: Count = 6
    relative_attention_num_buckets: Count = 32
    layer_norm_epsilon: Positive = 1e-6


class Qwen3Constants(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of a Qwen3 decoder of which our graphs support only the default."""

    hidden_act: str = "silu"
    attention_bias: bool = False
    use_sliding_window: bool = False


class Qwen3File(Qwen3Constants, frozen=True, kw_only=True):
    """`text_encoder/config.json` of a Qwen3Model or Qwen3ForCausalLM."""

    vocab_size: Count = 151_936
    hidden_size: Count = 4096
    head_dim: Count = 128
    intermediate_size: Count = 22_016
    num_attention_heads: Count = 32
    num_key_value_heads: Count = 32
    num_hidden_layers: Count = 32
    rms_norm_eps: Positive = 1e-6
    # transformers 5 states it among `rope_parameters`.
    rope_theta: Positive | None = None
    rope_parameters: dict[str, object] | None = None


class ZImageConstants(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of a ZImageTransformer2DModel of which our graphs support only the default."""

    all_patch_size: tuple[int, ...] = (2,)
    all_f_patch_size: tuple[int, ...] = (1,)
    norm_eps: float = 1e-5
    qk_norm: bool = True
    siglip_feat_dim: int | None = None
    rope_theta: float = 256.0
    t_scale: float = 1000.0


class ZImageFile(ZImageConstants, frozen=True, kw_only=True):
    """`transformer/config.json` of a ZImageTransformer2DModel."""

    in_channels: Count = 16
    dim: Count = 3840
    n_layers: Count = 30
    n_refiner_layers: Count = 2
    n_heads: Count = 30
    n_kv_heads: Count = 30
    cap_feat_dim: Count = 2560
    # The parts of a head that turn with each coordinate of a token.
    axes_dims: tuple[Count, Count, Count] = (32, 48, 48)


class Sd3Constants(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of an SD3Transformer2DModel of which our graphs support only the default."""

    patch_size: int = 2


class Sd3File(Sd3Constants, frozen=True, kw_only=True):
    """`transformer/config.json` of an SD3Transformer2DModel."""

    in_channels: Count = 16
    out_channels: Count = 16
    num_layers: Count = 18
    attention_head_dim: Count = 64
    num_attention_heads: Count = 18
    joint_attention_dim: Count = 4096
    caption_projection_dim: Count = 1152
    pooled_projection_dim: Count = 2048
    pos_embed_max_size: Count = 96
    dual_attention_layers: tuple[int, ...] = ()
    qk_norm: str | None = None


class Sd3ControlFile(Sd3Constants, frozen=True, kw_only=True):
    """`config.json` of an SD3ControlNetModel."""

    num_layers: Count = 18
    attention_head_dim: Count = 64
    num_attention_heads: Count = 18
    joint_attention_dim: Count | None = 4096
    pooled_projection_dim: Count = 2048
    use_pos_embed: bool = True
    force_zeros_for_pooled_projection: bool = True


class NoiseConstants(msgspec.Struct, frozen=True, kw_only=True):
    """The noise levels that Stable Diffusion was trained with; no others are supported."""

    beta_start: float = 0.00085
    beta_end: float = 0.012
    beta_schedule: str = "scaled_linear"
    num_train_timesteps: int = 1000
    trained_betas: tuple[float, ...] | None = None


class SchedulerFile(NoiseConstants, frozen=True, kw_only=True):
    """`scheduler/scheduler_config.json`: the training of the denoiser."""

    class_name: str = msgspec.field(name="_class_name", default="")
    prediction_type: str = "epsilon"
    rescale_betas_zero_snr: bool = False
    # The spacing of a run's timesteps: "linspace", "leading" or "trailing".
    timestep_spacing: str = ""
    # "continuous" for networks trained at levels between timesteps.
    timestep_type: str = "discrete"
    sigma_min: Positive | None = None
    sigma_max: Positive | None = None
    sigma_data: Positive | None = None
    sigma_schedule: str = "karras"


ConfigT = TypeVar("ConfigT", bound=msgspec.Struct)


def unusual(config: msgspec.Struct, constants: type[msgspec.Struct]) -> tuple[str, ...]:
    """List the fields of `config` that differ from the defaults of its base `constants`."""
    return tuple(
        f"{field.name} = {getattr(config, field.name)!r}"
        for field in msgspec.structs.fields(constants)
        if getattr(config, field.name) != field.default
    )


def read_config(path: Path, kind: type[ConfigT]) -> ConfigT:
    """Read a JSON file as `kind`; unknown fields are ignored."""
    try:
        return read_json(path, msgspec.json.Decoder(kind), MAX_CONFIG_BYTES)
    except FileNotFoundError:
        raise not_found(path) from None
    except JsonError as error:
        raise _damaged(path, as_it_is(str(error))) from error
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise _damaged(path, sentence("it is longer than 1 MB")) from error
        raise unreadable(path, error) from error


def _damaged(path: Path, what: Sentence) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_CORRUPT,
        sentence(
            "{parent}/{path} is damaged: {what}.",
            parent=path.parent.name,
            path=path.name,
            what=what,
        ),
        sentence("Download the folder again."),
    )
