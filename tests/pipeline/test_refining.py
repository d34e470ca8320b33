"""Pictures that a second checkpoint finishes, in each tool's way."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import Precision
from backends.cpu import CpuBackend
from engine.api.conventions import CONVENTIONS, RefinerHandover
from engine.api.request import InputImage, RefinerChoice
from engine.api.values import ConventionName, ErrorCode, InputRole, SamplerName
from engine.errors import EngineError
from engine.jobs.checkpoint_loading import load_checkpoints
from tests.pipeline.jobs import RESIDENCY, a_request, psnr, run
from tests.tiny_checkpoint import SIDE, write_checkpoint

STEPS = 4
Pixels = NDArray[np.uint8]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two checkpoints of one latent space, with unlike weights and one VAE."""
    folder = tmp_path_factory.mktemp("refining")
    base, refiner = write_checkpoint(folder / "base"), write_checkpoint(folder / "other", seed=5)
    vae = "vae/diffusion_pytorch_model.safetensors"
    (refiner / vae).write_bytes((base / vae).read_bytes())
    return base, refiner


def picture(folders: tuple[Path, Path], at: float | None, **changes: object) -> Pixels:
    """A picture that is handed over at this part of the run; None: not at all."""
    refiner = None if at is None else RefinerChoice(checkpoint=str(folders[1]), switch_at=at)
    request = a_request(folders[0], steps=STEPS, refiner=refiner, **changes)
    return run(request, CpuBackend(), (Precision.F32,), residency=RESIDENCY).pixels[0]


BY_EVALUATION = msgspec.structs.replace(
    CONVENTIONS[ConventionName.A1111], refiner_handover=RefinerHandover.EVALUATION
)
CONVENTION_IDS = [*ConventionName, "by evaluation"]
# A way that hands over the latent and one that begins anew; `make oracle` has every tool's.
conventions = pytest.mark.parametrize(
    "convention",
    [
        pytest.param(
            convention,
            marks=[pytest.mark.oracle]
            * (convention not in (ConventionName.A1111, ConventionName.COMFY)),
        )
        for convention in (*ConventionName, BY_EVALUATION)
    ],
    ids=CONVENTION_IDS,
)
WITHOUT_MEMORY = (SamplerName.HEUN, SamplerName.DPMPP_SDE, SamplerName.EULER_ANCESTRAL)
# Each convention and each of those samplers at least once; `make oracle` has every pair.
pairs = pytest.mark.parametrize(
    ("convention", "sampler"),
    [
        pytest.param(
            convention,
            sampler,
            marks=[pytest.mark.oracle] * (sampler is not WITHOUT_MEMORY[number % 3]),
            id=f"{sampler}-{name}",
        )
        for number, (convention, name) in enumerate(
            zip((*ConventionName, BY_EVALUATION), CONVENTION_IDS, strict=True)
        )
        for sampler in WITHOUT_MEMORY
    ],
)


@conventions
def test_a_refiner_that_takes_no_step_or_all_steps_makes_the_picture_of_one_checkpoint(
    folders: tuple[Path, Path], convention: object
) -> None:
    """At the end of the run nobody takes over, at its beginning the refiner does all of it."""
    habits = {"convention": convention, "sampler": SamplerName.EULER}
    base, other = (
        picture(folders, None, **habits),
        picture((folders[1], folders[0]), None, **habits),
    )
    assert not np.array_equal(base, other)
    np.testing.assert_array_equal(picture(folders, 1.0, **habits), base)
    np.testing.assert_array_equal(picture(folders, 0.0, **habits), other)
    between = picture(folders, 0.5, **habits)
    assert not np.array_equal(between, base)
    assert not np.array_equal(between, other)


@pairs
def test_a_handover_to_the_same_checkpoint_changes_no_picture(
    folders: tuple[Path, Path], convention: object, sampler: SamplerName
) -> None:
    """Samplers without a memory do not notice; the noise of their steps goes on as it was."""
    habits = {"convention": convention, "sampler": sampler}
    whole = picture(folders, None, **habits)
    handed = picture((folders[0], folders[0]), 0.5, **habits)
    starts_anew = convention in (ConventionName.COMFY, ConventionName.INVOKE)
    if starts_anew and sampler is not SamplerName.HEUN:
        assert not np.array_equal(handed, whole)  # each of its nodes draws from the seed
    else:
        np.testing.assert_array_equal(handed, whole)


def test_a_checkpoint_that_does_not_fit_is_refused_as_refiner(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    def failure(refiner: Path) -> EngineError:
        choice = RefinerChoice(checkpoint=str(refiner))
        with pytest.raises(EngineError) as caught:
            load_checkpoints(a_request(folders[0], refiner=choice))
        return caught.value

    assert failure(folders[1] / "nowhere").code is ErrorCode.CHECKPOINT_NOT_FOUND
    inpainting = write_checkpoint(tmp_path / "inpainting", in_channels=9)
    assert failure(inpainting).code is ErrorCode.CHECKPOINT_MISMATCH
    assert "beside the latent" in failure(inpainting).message
    config = folders[1] / "vae" / "config.json"
    before = config.read_text()
    try:
        config.write_text(before.replace('"scaling_factor": 0.5', '"scaling_factor": 0.13'))
        assert "its latents" in failure(folders[1]).message
    finally:
        config.write_text(before)
    (tmp_path / "inpainting" / "text_encoder" / "config.json").unlink()
    assert failure(tmp_path / "inpainting").code is ErrorCode.CHECKPOINT_INCOMPLETE


@pytest.mark.parametrize(
    ("convention", "strength"), [(ConventionName.A1111, 0.8), (ConventionName.DIFFUSERS, 1.0)]
)
def test_a_refiner_keeps_what_an_inpainting_checkpoint_keeps(
    folders: tuple[Path, Path], tmp_path: Path, convention: ConventionName, strength: float
) -> None:
    """The refiner has no inputs for the mask, so that it needs the picture's latent."""
    painting, plain = write_checkpoint(tmp_path / "painting", in_channels=9), folders[0]
    levels = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), np.uint8)
    Image.fromarray(levels).save(tmp_path / "init.png")
    mask = Image.new("L", (SIDE, SIDE))
    mask.paste(255, (0, 0, SIDE // 4, SIDE))
    mask.save(tmp_path / "mask.png")
    inputs = tuple(
        InputImage(role=role, path=str(tmp_path / name))
        for role, name in ((InputRole.INIT, "init.png"), (InputRole.MASK, "mask.png"))
    )
    asked = {"inputs": inputs, "strength": strength, "convention": convention}
    found = [picture((base, plain), 0.5, **asked)[:, SIDE // 2 :] for base in (painting, plain)]
    # The VAE of random weights restores little, but the same; it sees the painted part, too.
    assert psnr(*found) > 15
