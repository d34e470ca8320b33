"""Baked files, opened by diffusers' `from_single_file`, beside its own `fuse_lora`."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from dataclasses import replace
from pathlib import Path

import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
pytest.importorskip("peft")

from backends.base import DType  # noqa: E402
from tests.bake.bases import baked, choice, write_base  # noqa: E402
from tests.oracle.published import Published, write_configs  # noqa: E402
from tests.oracle.test_lora_pictures import write_lora  # noqa: E402

_UNET = {
    "sample_size": 32,
    "block_out_channels": (32, 64, 96),
    "layers_per_block": 1,
    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
    "up_block_types": ("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
    "cross_attention_dim": 64,
    "attention_head_dim": 8,
}
_TEXT = {
    "vocab_size": 100,
    "hidden_size": 64,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
_OPEN_CLIP = _TEXT | {
    "hidden_size": 96,
    "intermediate_size": 384,
    "num_hidden_layers": 3,
    "projection_dim": 96,
}
_VAE = {
    "block_out_channels": (32, 64),
    "down_block_types": ("DownEncoderBlock2D",) * 2,
    "up_block_types": ("UpDecoderBlock2D",) * 2,
    "layers_per_block": 1,
    "latent_channels": 4,
}
_SAFE = {"safety_checker": [None, None], "feature_extractor": [None, None]}
_SD1 = Published("StableDiffusionPipeline", _UNET, _TEXT, more=_SAFE, vae=_VAE)
_XL_UNET = _UNET | {
    "block_out_channels": (32, 64),
    "layers_per_block": 2,
    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
    "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"),
    "transformer_layers_per_block": (1, 2),
    "cross_attention_dim": 160,
    "use_linear_projection": True,
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 16,
    "projection_class_embeddings_input_dim": 192,
}
PUBLISHED = {
    "sd1": _SD1,
    "sd2": replace(
        _SD1,
        unet=_UNET | {"cross_attention_dim": 96, "use_linear_projection": True},
        text=_OPEN_CLIP,
    ),
    "sdxl": Published("StableDiffusionXLPipeline", _XL_UNET, _TEXT, _OPEN_CLIP, vae=_VAE),
}
PARTS = ("unet", "vae", "text_encoder", "text_encoder_2")


@pytest.mark.parametrize("family", PUBLISHED)
def test_diffusers_opens_a_baked_file_and_finds_what_it_fuses_itself(
    tmp_path: Path, family: str
) -> None:
    base = write_base(tmp_path / "base.safetensors", family, DType.F32)
    lora = write_lora(tmp_path / "style.safetensors", base, rank=4, seed=1)
    baked(base, [choice(lora, 0.8)], tmp_path / "new.safetensors")
    config = write_configs(tmp_path / "config", PUBLISHED[family])
    kind = getattr(diffusers, PUBLISHED[family].pipeline)

    def opened(path: Path):
        return kind.from_single_file(
            str(path), config=str(config), torch_dtype=torch.float32, local_files_only=True
        )

    plain, expected = opened(base), opened(base)
    expected.load_lora_weights(lora.parent, weight_name=lora.name)
    expected.fuse_lora(lora_scale=0.8)
    expected.unload_lora_weights()
    found = opened(tmp_path / "new.safetensors")
    for part in PARTS:
        if getattr(found, part, None) is None:
            continue
        before, wanted, ours = (
            getattr(pipeline, part).state_dict() for pipeline in (plain, expected, found)
        )
        assert set(ours) == set(wanted)
        for name, tensor in wanted.items():
            torch.testing.assert_close(ours[name], tensor, rtol=1e-5, atol=1e-5, msg=name)
        changed = [name for name in before if not torch.equal(before[name], ours[name])]
        assert bool(changed) == (part != "vae")
