"""Files with a UNet of ours and another meaning are refused, and named for what they are."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.api.request import CheckpointOverride, ComponentFiles
from engine.api.values import ErrorCode
from engine.checkpoints.safetensors import read_index
from engine.errors import EngineError
from engine.families import Component, identify, supply
from tests.checkpoints.files import write_sparse
from tests.families import listings, other_listings
from tests.families.corpus import diffusers_names
from tests.families.folders import UNET as UNET_CONFIG
from tests.families.folders import canonical, write_folder
from tests.families.listings import SD1, SD2, SDXL, UNET, Listing, affine, prefixed
from tests.families.test_identify import SMALL


def failure(path: Path, override: CheckpointOverride | None = None) -> EngineError:
    with pytest.raises(EngineError) as caught:
        identify(path, override=override or CheckpointOverride())
    return caught.value


def bare(family: str) -> Listing:
    """The denoiser alone under diffusers' names: `diffusion_pytorch_model.safetensors`."""
    return dict(diffusers_names(family)[Component.DENOISER])


# --- in a bare file ---

KOLORS = affine("encoder_hid_proj", 2048, 4096) | {"add_embedding.linear_1.weight": (1280, 5632)}


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (bare("sd2") | affine("class_embedding.linear_1", 1280, 2048), "an SD unCLIP model"),
        (bare("sdxl") | KOLORS, "a Kolors model"),
        (listings.ldm_unet(replace(SDXL, added=5632)), "a Kolors model"),
        (
            bare("sd2") | affine("class_embedding.linear_1", 1280, 4),
            "an estimator of depth or normals (Lotus)",
        ),
        (
            bare("sd2") | {"conv_in.weight": (320, 8, 3, 3)},
            "an estimator of depth or normals (Marigold, Lotus)",
        ),
        (
            listings.ldm_unet(replace(SD2, in_channels=5)),
            "an SD 2 depth-to-image model",
        ),
        (
            listings.ldm_unet(replace(SD2, in_channels=7, width=256)),
            "an SD x4 upscaler model",
        ),
    ],
)
def test_a_bare_unet_with_more_in_it_is_named(tmp_path: Path, names: Listing, title: str) -> None:
    error = failure(write_sparse(tmp_path / "diffusion_pytorch_model.safetensors", names))
    assert error.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert f"is {title}, which is not run yet." in error.message


@pytest.mark.parametrize("key", ["new_embedding.weight", "image_proj", "controls.0.bias"])
def test_nothing_in_a_bare_unet_is_dropped_in_silence(tmp_path: Path, key: str) -> None:
    for number, names in enumerate((bare("sd1"), listings.ldm_unet())):
        error = failure(write_sparse(tmp_path / f"{number}.safetensors", {**names, key: (4, 4)}))
        assert error.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
        assert repr(key) in error.message


@pytest.mark.parametrize(
    ("component", "names"),
    [
        (Component.VAE, listings.ldm_vae(listings.SMALL_VAE)),
        (Component.TEXT_ENCODER, listings.clip_text(listings.SMALL_CLIP)),
    ],
)
def test_nothing_in_another_bare_part_is_dropped_in_silence(
    tmp_path: Path, component: Component, names: Listing
) -> None:
    whole = identify(write_sparse(tmp_path / "whole.safetensors", SMALL))
    path = str(write_sparse(tmp_path / "part.safetensors", {**names, "gate.weight": (4, 4)}))
    with pytest.raises(EngineError, match=r"gate\.weight"):
        supply(whole, ComponentFiles(**{component.value: path}))


def test_training_leftovers_beside_a_bare_unet_are_counted(tmp_path: Path) -> None:
    left = listings.leftovers(prefixed(UNET, listings.ldm_unet()))
    left = {name: shape for name, shape in left.items() if not name.startswith("cond_stage_model")}
    left = {n: s for n, s in left.items() if not n.startswith(listings.VAE)} | {"v_pred": (0,)}
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", listings.ldm_unet() | left))
    assert checkpoint.ignored_keys == len(left)


NORMS = ("conv_norm_out.weight", "mid_block.resnets.0.norm1.weight")


def with_norms(path: Path, scale: float) -> Path:
    """A file whose norms scale by so much, each with another sign than the one before."""
    tensors = read_index(path).tensors
    with path.open("r+b") as file:
        for name in NORMS:
            file.seek(tensors[name].offset)
            numbers = np.tile(np.array([scale, -scale], np.float16), tensors[name].elements // 2)
            file.write(numbers.tobytes())
    return path


@pytest.mark.parametrize("channels", [8, 12])
def test_ic_light_is_no_checkpoint_for_editing(tmp_path: Path, channels: int) -> None:
    """Changes that are added to the weights of another model."""
    names = bare("sd1") | {"conv_in.weight": (320, channels, 3, 3)}
    path = write_sparse(tmp_path / "iclight.safetensors", names)
    error = failure(with_norms(path, 0.004))
    assert error.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert error.message == "iclight.safetensors is an IC-Light model, which is not run yet."


def test_a_unet_for_editing_has_norms_of_its_own(tmp_path: Path) -> None:
    names = bare("sd1") | {"conv_in.weight": (320, 8, 3, 3)}
    path = write_sparse(tmp_path / "instruct-pix2pix.safetensors", names)
    assert identify(with_norms(path, 0.6)).variant == "instruct-pix2pix"


# --- in a whole file ---


def test_a_stray_tensor_of_a_lora_makes_no_lora_of_a_checkpoint(tmp_path: Path) -> None:
    stray = dict(list(other_listings.kohya_lora().items())[:1])
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", SMALL | stray))
    assert (checkpoint.family, checkpoint.missing, checkpoint.ignored_keys) == ("sd1", (), 1)


def test_zero123_is_no_checkpoint_for_editing(tmp_path: Path) -> None:
    names = listings.original(replace(SD1, in_channels=8))
    path = write_sparse(tmp_path / "stable_zero123.ckpt", names | affine("cc_projection", 768, 772))
    assert "is a Zero-1-to-3 model" in failure(path).message


def test_attention_narrower_than_its_block_is_refused_by_name(tmp_path: Path) -> None:
    """SDXS 0.9's, whose every sum of shapes is SD 2's."""
    name = "down_blocks.0.attentions.0.transformer_blocks.0.attn1.to_q.weight"
    error = failure(write_sparse(tmp_path / "x.safetensors", bare("sd2") | {name: (64, 320)}))
    assert error.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert name in error.message


# --- in a folder ---


def named(path: Path, pipeline: object) -> Path:
    (path / "model_index.json").write_text(json.dumps({"_class_name": pipeline}))
    return path


@pytest.mark.parametrize(
    ("pipeline", "words"),
    [
        ("MarigoldDepthPipeline", "MarigoldDepthPipeline"),
        ("Zero1to3StableDiffusionPipeline", "Zero1to3StableDiffusionPipeline"),
        ("StableDiffusionImageVariationPipeline", "StableDiffusionImageVariationPipeline"),
        ("StableDiffusionUpscalePipeline", "StableDiffusionUpscalePipeline"),
        (["pipeline_own", "OwnPipeline"], "OwnPipeline"),
    ],
)
def test_a_folder_names_its_pipeline(tmp_path: Path, pipeline: object, words: str) -> None:
    path = named(write_folder(tmp_path / "folder"), pipeline)
    error = failure(path)
    assert error.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert error.message == f"The folder folder is for {words}, which is not run."
    assert identify(path, override=CheckpointOverride(family="sd1")).family == "sd1"


@pytest.mark.parametrize(
    "pipeline",
    [
        "StableDiffusionPipeline",
        "StableDiffusionImg2ImgPipeline",
        "StableDiffusionInpaintPipelineLegacy",
        "StableDiffusionControlNetPipeline",
        "LatentConsistencyModelPipeline",
        "SemanticStableDiffusionPipeline",
        ["pipeline_own", "StableDiffusionPipeline"],
        "",
    ],
)
def test_pipelines_around_an_ordinary_checkpoint_are_run(tmp_path: Path, pipeline: object) -> None:
    assert identify(named(write_folder(tmp_path / "folder"), pipeline)).family == "sd1"


def test_a_folder_that_says_it_edits_is_believed(tmp_path: Path) -> None:
    """By shapes alone it would estimate depth."""
    path = write_folder(tmp_path / "folder")
    config = {**UNET_CONFIG, "in_channels": 8}
    (path / "unet" / "config.json").write_text(json.dumps(config))
    unet = canonical(tmp_path, replace(listings.SMALL_UNET, in_channels=8))[Component.DENOISER]
    write_sparse(path / "unet" / "diffusion_pytorch_model.safetensors", unet)
    checkpoint = identify(named(path, "StableDiffusionInstructPix2PixPipeline"))
    assert checkpoint.variant == "instruct-pix2pix"


def test_a_persons_word_goes_before_a_guess_by_shapes(tmp_path: Path) -> None:
    names = listings.sd2(replace(SD2, in_channels=8))
    path = write_sparse(tmp_path / "x.safetensors", names)
    assert "estimator of depth" in failure(path).message
    checkpoint = identify(path, override=CheckpointOverride(family="sd2"))
    assert (checkpoint.family, checkpoint.variant) == ("sd2", "instruct-pix2pix")


# --- given as a part ---


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (
            listings.ldm_vae() | affine("decoder.time_conv_out", 3, 3, 3, 1, 1),
            "a Stable Video Diffusion VAE",
        ),
        (
            {
                "decoder.middle.0.residual.0.gamma": (384, 1, 1, 1),
                "decoder.conv_in.weight": (384, 16, 3, 3, 3),
            },
            "a Wan or Qwen-Image VAE",
        ),
        (listings.ldm_vae() | {"bn.running_mean": (128,)}, "a Flux.2 VAE"),
    ],
)
def test_a_vae_of_something_else_is_named(tmp_path: Path, names: Listing, title: str) -> None:
    whole = identify(write_sparse(tmp_path / "whole.safetensors", SMALL))
    path = str(write_sparse(tmp_path / "vae.safetensors", names))
    with pytest.raises(EngineError) as caught:
        supply(whole, ComponentFiles(vae=path))
    assert caught.value.message == f"vae.safetensors cannot supply the VAE: it is {title}."
