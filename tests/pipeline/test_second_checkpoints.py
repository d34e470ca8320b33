"""Second passes with checkpoints of other families: what of the first one's settings they take."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.api.control import ControlLayer
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.features import OptionalSetting
from engine.api.preprocessors import ReferenceOptions
from engine.api.request import GenerateRequest, GuidanceOptions, InputImage, RefinerChoice
from engine.api.second_passes import SecondPass
from engine.api.values import ErrorCode, InputRole, SamplerName, ScheduleName
from engine.errors import EngineError
from engine.families import identify
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.pipeline.denoise.passes import DenoisingPass, passes_of
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve, resolve_job
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.flux.test_pictures import write_checkpoint as write_flux
from tests.pipeline.jobs import a_request
from tests.tiny_checkpoint import write_checkpoint


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("families")
    edits = write_checkpoint(folder / "edits", in_channels=8)
    drawn = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    Image.fromarray(drawn).save(folder / "picture.png")
    return {
        "sd1": write_sparse(folder / "sd15.safetensors", listings.original()),
        "sdxl": write_sparse(folder / "sdxl.safetensors", listings.sdxl()),
        "flux": write_flux(folder / "tiny_flux.safetensors"),
        "tiny": write_checkpoint(folder / "tiny"),
        "edits": edits,
        "picture": folder / "picture.png",
    }


def asked(files: dict[str, Path], first: str, *seconds: str, **changes: object) -> GenerateRequest:
    """A request for sampling that every family takes, with these checkpoints in its passes."""
    passes = tuple(
        SecondPass(scale=1.5, upscaler="lanczos", checkpoint=str(files[name])) for name in seconds
    )
    usual = {
        "width": 64,
        "height": 64,
        "sampler": SamplerName.EULER,
        "schedule": ScheduleName.SIMPLE,
        "second_passes": passes,
    }
    return a_request(files[first], **(usual | changes))


def passes(request: GenerateRequest, *, redraws: bool = False) -> tuple[DenoisingPass, ...]:
    checkpoints = load_checkpoints(request)
    return passes_of(resolve(request, checkpoints), checkpoints, redraws=redraws, masks=False)


@pytest.mark.parametrize(
    ("names", "wanted", "skips"),
    [
        (("sd1", "sdxl", "sd1"), None, [1, 2, 1]),
        (("sdxl", "sd1"), None, [2, 1]),
        (("flux", "sdxl"), None, [1, 2]),
        # What is no default is meant.
        (("sd1", "sdxl"), 3, [3, 3]),
        (("sdxl", "sd1"), 1, [1, 1]),
        (("sdxl", "flux"), 3, [3, 1]),
    ],
)
def test_a_second_pass_reads_its_own_layer_of_text_unless_one_is_chosen(
    files: dict[str, Path], names: tuple[str, ...], wanted: int | None, skips: list[int]
) -> None:
    found = passes(asked(files, *names, clip_skip=wanted))
    assert [pass_.request.clip_skip for pass_ in found] == skips


def test_passes_after_an_edit_are_not_guided_by_the_edited_picture(files: dict[str, Path]) -> None:
    inputs = (InputImage(role=InputRole.INIT, path=str(files["picture"])),)
    options = GuidanceOptions(image_guidance=1.5)
    refiner = RefinerChoice(checkpoint=str(files["tiny"]))
    asks = {"inputs": inputs, "guidance_options": options}
    for names, chosen in ((("edits", "tiny"), None), (("edits",), refiner)):
        request = asked(files, *names, refiner=chosen, **asks)
        first, later = passes(request, redraws=True)
        assert first.denoising.terms.asks_without_picture
        assert not later.denoising.terms.asks_without_picture


def test_a_checkpoint_that_edits_offers_no_second_pass_and_is_refused_one(
    files: dict[str, Path],
) -> None:
    for name, offered in (("tiny", True), ("edits", False)):
        options = identify(files[name]).architecture.features.options
        assert (OptionalSetting.SECOND_PASSES in options) is offered
    inputs = (InputImage(role=InputRole.INIT, path=str(files["picture"])),)
    with pytest.raises(EngineError, match="draws none twice"):
        passes(asked(files, "edits", "edits", inputs=inputs), redraws=True)


@pytest.mark.parametrize(
    "changes",
    [
        {"denoiser_options": DenoiserOptions(freeu=FreeUVersion.V2)},
        {"denoiser_options": DenoiserOptions(tiling=Tiling.BOTH)},
        {"guidance_options": GuidanceOptions(pag_scale=3.0)},
        {"guidance_options": GuidanceOptions(sag_scale=0.75)},
    ],
    ids=["freeu", "tiling", "pag", "sag"],
)
def test_a_change_that_the_checkpoint_of_a_second_pass_cannot_take_is_refused(
    files: dict[str, Path], changes: dict[str, object]
) -> None:
    passes(asked(files, "sd1", "sdxl", **changes))
    with pytest.raises(EngineError, match=r"tiny_flux\.safetensors") as caught:
        passes(asked(files, "sd1", "flux", **changes))
    assert caught.value.code is ErrorCode.REQUEST_INVALID


def test_a_reference_needs_self_attention_in_the_checkpoint_of_each_pass(
    files: dict[str, Path],
) -> None:
    layer = ControlLayer(image=str(files["picture"]), preprocessor=ReferenceOptions())
    for names in (("tiny", "flux"), ("flux", "tiny")):
        request = asked(files, *names, controls=(layer,))
        with pytest.raises(EngineError, match=r"tiny_flux\.safetensors cannot attend"):
            read_job(resolve_job(request, load_checkpoints(request)))
