"""Pictures that are enlarged and redrawn: passes, sizes, tiles, records and refusals."""

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import Precision
from backends.cpu import CpuBackend
from engine.api.conventions import CONVENTIONS, RedrawSteps
from engine.api.request import GenerateRequest, InputImage, RefinerChoice
from engine.api.second_passes import SecondPass
from engine.api.second_sizes import second_size
from engine.api.values import ConventionName, ErrorCode, InputRole, Phase, SamplerName
from engine.errors import EngineError
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.pipeline.batch import ResolvedJob, request_of_picture
from engine.pipeline.denoise.passes import PassStart
from engine.pipeline.denoise.tiles import in_tiles, latent_tiles
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve
from engine.text.timeline import schedule_prompt
from tests.pipeline.jobs import RESIDENCY, Log, Result, a_request, psnr, run
from tests.tiny_checkpoint import SIDE, write_checkpoint
from tests.upscalers.small import file_of

A1111 = ConventionName.A1111


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A checkpoint, and one of other latents."""
    folder = tmp_path_factory.mktemp("second")
    base, other = write_checkpoint(folder / "base"), write_checkpoint(folder / "other", seed=5)
    config = other / "vae" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"scaling_factor": 0.25}))
    return base, other


def asked(folders: tuple[Path, Path], *seconds: SecondPass, **changes: object) -> GenerateRequest:
    fields = {"convention": A1111, "second_passes": seconds} | changes
    return a_request(folders[0], **fields)


def made(folders: tuple[Path, Path], *seconds: SecondPass, **changes: object) -> Result:
    log = Log()
    request = asked(folders, *seconds, **changes)
    return run(request, CpuBackend(), (Precision.F32,), log=log, residency=RESIDENCY)


def pixels(
    folders: tuple[Path, Path], *seconds: SecondPass, **changes: object
) -> NDArray[np.uint8]:
    return made(folders, *seconds, **changes).pixels[0]


def test_each_second_pass_enlarges_and_redraws(folders: tuple[Path, Path]) -> None:
    result = made(
        folders, SecondPass(scale=1.25), SecondPass(scale=1.6, upscaler="lanczos", steps=2)
    )
    assert result.pixels[0].shape == (2 * SIDE, 2 * SIDE, 3)
    # Steps of all passes are counted together; A1111 takes all steps of a second pass.
    assert result.log.steps[-1] == (8, 8)
    assert [done for done, total in result.log.steps if total == 8] == [
        0,
        1,
        2,
        3,
        3,
        4,
        5,
        6,
        6,
        7,
        8,
    ]
    decoded = [phase for phase in result.log.phases if phase is Phase.DECODE]
    # The picture before the second pass, and the finished one.
    assert len(decoded) == 2


def test_a_picture_is_made_again_from_its_record(folders: tuple[Path, Path]) -> None:
    wanted = SecondPass(
        scale=1.25,
        upscaler="area",
        prompt="a house",
        tile=64,
        sampler=SamplerName.EULER_ANCESTRAL,
    )
    first = made(folders, wanted, count=2, steps=2)
    again = first.pictures[1].request
    fields = {
        name: getattr(again, name)
        for name in GenerateRequest.__struct_fields__
        if hasattr(again, name)
    }
    result = run(GenerateRequest(**fields), CpuBackend(), (Precision.F32,), residency=RESIDENCY)
    np.testing.assert_array_equal(result.pixels[0], first.pixels[1])


@pytest.fixture(scope="module")
def enlarged(folders: tuple[Path, Path]) -> NDArray[np.uint8]:
    """A picture whose second pass has no settings but a small scale."""
    return pixels(folders, SecondPass(scale=1.25), steps=2)


@pytest.mark.parametrize(
    "wanted",
    [
        SecondPass(strength=0.3),
        SecondPass(steps=4),
        SecondPass(guidance=1.5),
        SecondPass(sampler=SamplerName.HEUN),
        SecondPass(prompt="a house"),
        SecondPass(negative_prompt="red"),
        SecondPass(seed=8),
        SecondPass(upscaler="Latent (nearest)"),
        SecondPass(upscaler="Latent (bislerp)"),
    ],
    ids=lambda second_pass: str(second_pass),
)
def test_each_setting_of_a_second_pass_acts(
    folders: tuple[Path, Path], enlarged: NDArray[np.uint8], wanted: SecondPass
) -> None:
    # Enlarged as little as shows, in few steps: the time of a pass grows with its pixels.
    wanted = msgspec.structs.replace(wanted, scale=1.25)
    assert psnr(enlarged, pixels(folders, wanted, steps=2)) < 45


def test_no_strength_only_enlarges(folders: tuple[Path, Path]) -> None:
    plain = Image.fromarray(pixels(folders)).resize((2 * SIDE, 2 * SIDE), Image.Resampling.LANCZOS)
    result = made(folders, SecondPass(strength=0, upscaler="lanczos"))
    assert result.log.steps[-1] == (3, 3)
    # The VAE of random weights restores little, but the same.
    assert result.pixels[0].shape == np.asarray(plain).shape


def test_an_upscalers_file_enlarges_the_picture(folders: tuple[Path, Path], tmp_path: Path) -> None:
    upscaler = str(file_of(tmp_path, "Real-ESRGAN Compact"))
    by_file, plain = (
        made(folders, SecondPass(scale=1.25, upscaler=name, strength=0.2))
        for name in (upscaler, "lanczos")
    )
    assert Phase.ENLARGE in by_file.log.phases
    assert psnr(by_file.pixels[0], plain.pixels[0]) < 45


def test_a_refiner_takes_over_in_the_last_pass(folders: tuple[Path, Path]) -> None:
    refiner = RefinerChoice(checkpoint=str(folders[0]), switch_at=0.5)
    request = asked(folders, SecondPass(), refiner=refiner)
    checkpoints = load_checkpoints(request)
    read = read_job(ResolvedJob(resolve(request, checkpoints), checkpoints))
    starts = [pass_.begins_with for pass_ in read.passes]
    assert starts == [PassStart.NOISE, PassStart.ENLARGED, PassStart.HANDOVER]
    steps = {pass_.request.convention.redraw_steps for pass_ in read.passes[1:]}
    assert steps == {RedrawSteps.A1111_EXACT}


def test_a_checkpoint_of_other_latents_redraws_a_picture_but_no_latent(
    folders: tuple[Path, Path],
) -> None:
    other = str(folders[1])
    image = pixels(folders, SecondPass(scale=1.25, upscaler="lanczos", checkpoint=other))
    own = pixels(folders, SecondPass(scale=1.25, upscaler="lanczos"))
    assert psnr(image, own) < 40
    with pytest.raises(EngineError, match="of another family") as caught:
        load_checkpoints(asked(folders, SecondPass(checkpoint=other)))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (SecondPass(width=8), "width of a second pass"),
        (SecondPass(height=9000), "height of a second pass"),
        (SecondPass(scale=0.25), "width of a second pass"),
        (SecondPass(scale=9), "factor of a second pass"),
        (SecondPass(width=9000, height=128), "width of a second pass"),
        (SecondPass(strength=1.5), "strength of a second pass"),
        (SecondPass(upscaler="/missing/4x.pth"), "There is no upscaler /missing/4x.pth"),
        (SecondPass(upscaler="4x-Ultra"), "There is no upscaler 4x-Ultra"),
    ],
)
def test_impossible_second_passes_are_refused(
    folders: tuple[Path, Path], wanted: SecondPass, words: str
) -> None:
    with pytest.raises(EngineError, match=words):
        made(folders, wanted)


def test_a_checkpoint_is_no_upscaler(folders: tuple[Path, Path]) -> None:
    unet = folders[0] / "unet" / "diffusion_pytorch_model.safetensors"
    with pytest.raises(EngineError, match="not an upscaler") as caught:
        made(folders, SecondPass(upscaler=str(unet)))
    assert caught.value.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY


def test_a_masked_picture_has_no_second_pass(folders: tuple[Path, Path], tmp_path: Path) -> None:
    Image.new("RGB", (SIDE, SIDE), "white").save(tmp_path / "white.png")
    path = str(tmp_path / "white.png")
    inputs = (
        InputImage(role=InputRole.INIT, path=path),
        InputImage(role=InputRole.MASK, path=path),
    )
    with pytest.raises(EngineError, match="has no second passes"):
        made(folders, SecondPass(), inputs=inputs)


def test_pictures_of_a_batch_have_prompts_of_their_own_and_share_a_seed_of_the_pass(
    folders: tuple[Path, Path],
) -> None:
    request = asked(folders, SecondPass(prompt="a {{}} house", seed=5), SecondPass(), count=3)
    resolved = resolve(request, load_checkpoints(request))
    third = request_of_picture(resolved, 2, 3, lambda text, seed: text.replace("{{}}", str(seed)))
    assert third.second_passes == (SecondPass(prompt="a 9 house", seed=5), SecondPass())


@pytest.mark.parametrize(
    ("convention", "wanted", "size", "enlarged"),
    [
        (A1111, SecondPass(scale=1.3), (664, 992), (665, 998)),
        (A1111, SecondPass(width=1024, height=1024), (1024, 1024), (1024, 1536)),
        (A1111, SecondPass(width=1024, height=512), (1024, 512), (1024, 1536)),
        (A1111, SecondPass(width=1000), (1000, 1496), (1000, 1500)),
        (A1111, SecondPass(height=1000), (664, 1000), (666, 1000)),
        (ConventionName.COMFY, SecondPass(height=1000), (664, 1000), (667, 1000)),
        (ConventionName.DIFFUSERS, SecondPass(width=1000), (1000, 1496), (1000, 1500)),
        (ConventionName.COMFY, SecondPass(scale=1.3), (664, 1000), (664, 1000)),
        (ConventionName.COMFY, SecondPass(scale=1.3, upscaler="area"), (664, 992), (666, 998)),
        (ConventionName.COMFY, SecondPass(width=1024, height=512), (1024, 512), (1024, 512)),
        (ConventionName.DIFFUSERS, SecondPass(scale=1.3), (664, 992), (665, 998)),
    ],
)
def test_sizes_are_those_of_the_tool(
    convention: ConventionName,
    wanted: SecondPass,
    size: tuple[int, int],
    enlarged: tuple[int, int],
) -> None:
    found = second_size((512, 768), wanted, CONVENTIONS[convention], 8)
    assert (found.size, found.enlarged) == (size, enlarged)


def test_times_in_prompts_count_on_from_the_first_pass() -> None:
    """The examples of A1111's `get_learned_conditioning_prompt_schedules`."""

    def texts(text: str) -> list[tuple[int, str]]:
        return [(stage.until, stage.text) for stage in schedule_prompt(text, 10, drawn=10)]

    assert texts("a [b:.5] c") == [(10, "a b c")]
    assert texts("a [b:1.5] c") == [(5, "a  c"), (10, "a b c")]
    assert texts("[x:y:8]") == [(10, "y")]
    assert texts("[x:y:14]") == [(4, "x"), (10, "y")]


@pytest.mark.parametrize(("cells", "longest"), [((40, 40), 16), ((33, 96), 24), ((17, 16), 16)])
def test_tiles_cover_a_latent_with_weights_of_one(cells: tuple[int, int], longest: int) -> None:
    tiles = latent_tiles(cells, longest)
    total = np.zeros(cells, np.float32)
    for tile in tiles:
        assert tile.size == (min(cells[0], longest), min(cells[1], longest))
        total[tile.rows, tile.columns] += tile.weights
    np.testing.assert_allclose(total, 1, atol=1e-6)
    # What does not depend on a cell's neighbours is the same in tiles as in one.
    latent = np.random.default_rng(0).standard_normal((2, 4, *cells)).astype(np.float32)
    found = in_tiles(tiles, latent, lambda _tile, part: part * 2)
    np.testing.assert_allclose(found, latent * 2, atol=1e-5)


def test_a_picture_that_fits_into_a_tile_is_drawn_whole(folders: tuple[Path, Path]) -> None:
    large = 5 * SIDE // 4
    whole, fitting, tiled = (
        pixels(folders, SecondPass(scale=1.25, tile=tile), steps=2) for tile in (None, large, SIDE)
    )
    np.testing.assert_array_equal(fitting, whole)
    assert not np.array_equal(tiled, whole)


def test_tiles_have_no_edges(folders: tuple[Path, Path]) -> None:
    """Columns at the edges of tiles differ from their neighbours as others do."""
    image = pixels(folders, SecondPass(tile=96, strength=0.5)).astype(np.float64)
    steps = np.abs(np.diff(image, axis=1)).mean((0, 2))
    edges = {tile.columns.start for tile in latent_tiles((SIDE, SIDE), 48)} - {0}
    at_edges = [steps[2 * edge - 1] for edge in edges]
    assert np.mean(at_edges) < steps.mean() + 2 * steps.std()


def test_second_passes_are_recorded_as_asked_for(folders: tuple[Path, Path]) -> None:
    wanted = (
        SecondPass(scale=1.25, strength=0.4),
        SecondPass(scale=1.2, upscaler="area", steps=2),
    )
    (picture,) = made(folders, *wanted).pictures
    assert picture.request.second_passes == wanted
    assert (
        msgspec.convert(msgspec.to_builtins(picture.request), type(picture.request))
        == picture.request
    )
