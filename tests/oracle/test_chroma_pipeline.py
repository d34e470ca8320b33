"""Whole pictures of Chroma beside diffusers' pipelines: the same weights, prompts and noise."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.oracle,
    # diffusers' own, of a name that its network imports.
    pytest.mark.filterwarnings("ignore:`FluxPosEmbed` is deprecated:FutureWarning"),
]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from diffusers.loaders.single_file_utils import (  # noqa: E402
    convert_chroma_transformer_checkpoint_to_diffusers,
)

from backends.base import Array  # noqa: E402
from engine.families import Component, identify  # noqa: E402
from engine.weights.sources import as_source  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.families.chroma import files  # noqa: E402
from tests.families.flux.files import FluxSizes, drawn  # noqa: E402
from tests.oracle.chroma_folder import write_pipeline  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    check,
    opened,
    our_pixels,
    their_pixels,
)
from tests.oracle.flow_pictures import (  # noqa: E402
    TEXTS,
    asked,
    check_inpainting,
    check_redrawing,
    check_second_pass,
    write_masked,
)
from tests.pipeline.jobs import psnr  # noqa: E402

backends = pytest.mark.parametrize("backend_name", ["cpu", "intel_openvino"])
OURS, THEIRS = asked(steps=7, guidance=3.0, size=(96, 64), **TEXTS)
FEW = asked(steps=4, guidance=3.0, size=(96, 64), **TEXTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("chroma"))


def their_picture(folder: Path, **arguments) -> Array:
    return their_pixels(opened(diffusers.ChromaPipeline, folder), **{**THEIRS, **arguments})


@backends
def test_text_to_picture_equals_diffusers(folder: Path, backend_name: str) -> None:
    assert identify(folder).family == "chroma"
    ours = our_pixels(folder, backend_name, **OURS)
    check(ours, their_picture(folder))
    assert psnr(ours, their_picture(folder, guidance_scale=1.0)) < 45
    assert psnr(ours, their_picture(folder, prompt="a cat")) < 45


def test_without_guidance_no_negative_prompt_acts(folder: Path) -> None:
    ours = our_pixels(folder, **{**OURS, "guidance": 1.0})
    check(ours, their_picture(folder, guidance_scale=1.0))


@pytest.mark.parametrize("strength", [0.3, 0.6])
def test_redrawing_equals_diffusers(folder: Path, tmp_path: Path, strength: float) -> None:
    pipe = opened(diffusers.ChromaImg2ImgPipeline, folder)
    check_redrawing(pipe, folder, tmp_path / "init.png", (OURS, THEIRS), strength)


@pytest.mark.parametrize("strength", [0.6, 1.0])
def test_inpainting_equals_diffusers(folder: Path, tmp_path: Path, strength: float) -> None:
    pipe = opened(diffusers.ChromaInpaintPipeline, folder)
    # The pipeline asks for what Chroma's networks have not, and reads half of what others read.
    pipe.transformer.register_to_config(guidance_embeds=False)
    theirs = {**FEW[1], "max_sequence_length": 512}
    check_inpainting(pipe, folder, write_masked(tmp_path), (FEW[0], theirs), strength)


def test_a_second_pass_equals_redrawing_the_enlarged_picture_by_diffusers(folder: Path) -> None:
    first = opened(diffusers.ChromaPipeline, folder)
    again = opened(diffusers.ChromaImg2ImgPipeline, folder)
    check_second_pass(first, again, folder, FEW)


def test_keys_of_the_original_layout_become_diffusers(tmp_path: Path) -> None:
    """diffusers' converter knows one width; few columns keep the file small."""
    sizes = files.ChromaSizes(FluxSizes(3072, 128, 12288, double=1, single=1), inner=32, layers=5)
    shapes = {
        name: shape if "img_in" in name or "in_proj" in name else (shape[0], *(4,) * len(shape[1:]))
        for name, shape in files.original(sizes).items()
    }
    numbers = drawn(shapes)
    write_arrays(tmp_path / "chroma.safetensors", numbers)
    found = identify(tmp_path / "chroma.safetensors").components[Component.DENOISER].weights
    theirs = convert_chroma_transformer_checkpoint_to_diffusers(
        {name: torch.from_numpy(array) for name, array in numbers.items()}
    )
    assert found.keys() == theirs.keys()
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(as_source(found[name]).read(), tensor.numpy())
