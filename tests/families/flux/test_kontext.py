"""Flux.1 Kontext: how it is told from dev, and the reference pictures that it sees."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.cli import run
from engine.api.record import ResolvedRequest
from engine.api.request import CheckpointOverride, InputImage
from engine.api.second_passes import SecondPass
from engine.api.values import ConventionName, ErrorCode, InputRole
from engine.errors import EngineError
from engine.families import IdentifiedCheckpoint, identify
from engine.families.flux.reference_sizes import reference_size
from engine.graphs.flux import FluxConfig
from engine.graphs.flux_positions import rotations, side_by_side
from engine.pipeline.canvas.references import read_references
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.resolve import resolve
from tests.families.flux.test_pictures import picture, write_checkpoint
from tests.metadata.records import read_record
from tests.pipeline.jobs import a_request


@pytest.fixture(scope="module")
def kontext(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("flux") / "flux1-kontext-dev.safetensors")


def reference(path: Path, size: tuple[int, int] = (300, 100), seed: int = 1) -> InputImage:
    levels = np.random.default_rng(seed).integers(0, 256, (4, 12, 3), np.uint8)
    Image.fromarray(levels).resize(size, Image.Resampling.BICUBIC).save(path)
    return InputImage(role=InputRole.REFERENCE, path=str(path))


def resolved(checkpoint: IdentifiedCheckpoint, **changes: object) -> ResolvedRequest:
    asked: dict[str, object] = {"width": None, "height": None} | changes
    return resolve(a_request(checkpoint.path, **asked), JobCheckpoints(checkpoint))


@pytest.mark.parametrize(
    ("name", "card", "variant", "guidance"),
    [
        ("flux1-dev", {}, "dev", 3.5),
        ("flux1-dev-Kontext_fp8_scaled", {}, "kontext", 2.5),
        ("edits", {"baseModel": "Flux.1 Kontext"}, "kontext", 2.5),
        ("flux1-krea-dev", {}, "dev", 4.5),
    ],
)
def test_kontext_is_told_by_its_names(
    tmp_path: Path, name: str, card: dict[str, str], variant: str, guidance: float
) -> None:
    path = write_checkpoint(tmp_path / f"{name}.safetensors")
    if card:
        path.with_suffix(".civitai.info").write_text(json.dumps(card))
    checkpoint = identify(path)
    assert (checkpoint.variant, checkpoint.hints.guidance) == (variant, guidance)
    features = checkpoint.architecture.features
    assert features.reference_pictures == (4 if variant == "kontext" else 0)


def test_a_file_without_a_telling_name_is_kontext_where_the_user_says_so(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path / "edits.safetensors")
    said = identify(path, override=CheckpointOverride(variant="kontext"))
    assert (said.variant, said.hints.guidance) == ("kontext", 2.5)
    assert said.architecture.features.reference_pictures == 4
    named = tmp_path / "kontext.safetensors"
    path.rename(named)
    assert identify(named, override=CheckpointOverride(variant="dev")).variant == "dev"


@pytest.mark.parametrize("variant", ["kontext", "turbo"])
def test_a_variant_that_shapes_rule_out_is_refused(tmp_path: Path, variant: str) -> None:
    schnell = write_checkpoint(tmp_path / "schnell.safetensors", guidance=False)
    with pytest.raises(EngineError, match=f"cannot be taken for {variant}") as caught:
        identify(schnell, override=CheckpointOverride(variant=variant))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ((512, 512), (1024, 1024)),
        ((1600, 1000), (1328, 800)),
        ((100, 3000), (672, 1568)),
        ((4000, 3000), (1184, 880)),
    ],
)
def test_a_reference_is_shown_in_a_size_of_its_training(
    size: tuple[int, int], shown: tuple[int, int]
) -> None:
    assert reference_size(size) == shown
    assert reference_size((size[1], size[0])) == (shown[1], shown[0])


def test_an_open_size_is_that_of_the_first_reference(kontext: Path, tmp_path: Path) -> None:
    checkpoint = identify(kontext)
    pictures = reference(tmp_path / "1.png"), reference(tmp_path / "2.png", (90, 90))
    made = resolved(checkpoint, inputs=pictures)
    assert (made.width, made.height) == (1568, 672)
    made = resolved(checkpoint, inputs=pictures, width=512, height=768)
    assert (made.width, made.height) == (512, 768)


def test_a_model_without_references_and_too_many_are_refused(kontext: Path, tmp_path: Path) -> None:
    image = reference(tmp_path / "1.png")
    dev = identify(write_checkpoint(tmp_path / "dev.safetensors"))
    for checkpoint, pictures in ((dev, (image,)), (identify(kontext), (image,) * 5)):
        with pytest.raises(EngineError, match="reference picture") as caught:
            resolved(checkpoint, inputs=pictures)
        assert caught.value.code is ErrorCode.REQUEST_INVALID
    weak = InputImage(role=InputRole.REFERENCE, path=image.path, weight=0.5)
    with pytest.raises(EngineError, match="no weight"):
        resolved(identify(kontext), inputs=(weak,))
    gone = InputImage(role=InputRole.REFERENCE, path=str(tmp_path / "gone.png"))
    with pytest.raises(EngineError, match=r"reference picture .*gone\.png") as caught:
        resolved(identify(kontext), inputs=(gone,))
    assert caught.value.code is ErrorCode.INPUT_IMAGE_UNREADABLE


def test_comfy_crops_and_diffusers_stretches_a_reference(kontext: Path, tmp_path: Path) -> None:
    checkpoint = identify(kontext)
    levels = np.full((100, 300, 3), 128, np.uint8)
    levels[:, :10] = 0
    Image.fromarray(levels).save(tmp_path / "edge.png")
    edge = InputImage(role=InputRole.REFERENCE, path=str(tmp_path / "edge.png"))
    darkest: dict[ConventionName, float] = {}
    for tool in ConventionName:
        (shown,) = read_references((edge,), tool, checkpoint).pictures
        assert shown.shape == (1, 3, 672, 1568)
        darkest[tool] = float(shown[..., :10].mean())
    stretching = {tool for tool, level in darkest.items() if level < -0.9}
    assert stretching == {ConventionName.DIFFUSERS, ConventionName.INVOKE}


def test_references_lie_on_a_plane_of_their_own_and_beside_one_another() -> None:
    config = FluxConfig(
        in_channels=64,
        out_channels=64,
        width=32,
        heads=1,
        mlp_width=4,
        context_width=4,
        pooled_width=4,
        double_blocks=1,
        single_blocks=1,
        axes=(4, 14, 14),
    )
    turns = rotations(config, (4, 4), ((4, 8), (2, 2)))
    assert turns["cosines"].shape == (4 + 8 + 1, 32)
    np.testing.assert_array_equal(turns["cosines"][:4], rotations(config, (4, 4))["cosines"])
    # The first coordinate is 1; the second picture begins below the two rows of the first.
    first, second = turns["sines"][4], turns["sines"][12]
    np.testing.assert_allclose(first[:2], np.sin(1.0), rtol=1e-6)
    np.testing.assert_allclose(first[4:], 0)
    np.testing.assert_allclose(second[4:6], np.sin(2.0), rtol=1e-6)
    np.testing.assert_allclose(second[18:], 0)


def test_cells_of_a_token_stay_together_in_a_row_of_tokens() -> None:
    latent = np.arange(4 * 6, dtype=np.float32).reshape(1, 1, 4, 6)
    row = side_by_side([latent, latent[..., :2, :2]])
    assert row.shape == (1, 1, 2, 2 * (6 + 1))
    np.testing.assert_array_equal(row[0, 0, :, 6:8], [[12, 13], [18, 19]])
    np.testing.assert_array_equal(row[0, 0, :, 12:], [[0, 1], [6, 7]])


def test_pictures_follow_their_references_in_second_passes_too(
    kontext: Path, tmp_path: Path
) -> None:
    asked = {"steps": 1, "second_passes": (SecondPass(scale=1.5, upscaler="lanczos"),)}
    made = [
        picture(kontext, inputs=inputs, **asked)
        for inputs in ((), (reference(tmp_path / "1.png"),))
    ]
    assert made[1].shape == (96, 144, 3)
    assert not np.array_equal(made[0], made[1])


@pytest.mark.oracle
def test_the_command_line_takes_references_and_makes_the_picture_again(
    kontext: Path, tmp_path: Path
) -> None:
    pictures = [Path(reference(tmp_path / f"{n}.png", seed=n).path) for n in (1, 2)]
    shown = [argument for path in pictures for argument in ("--reference", str(path))]
    nameless = tmp_path / "edits.safetensors"
    nameless.hardlink_to(kontext)
    model = ["--model", str(nameless), "--variant", "kontext"]
    asked = [*model, "--steps", "1", "--size", "64x64", "--backend", "cpu"]
    outs = [tmp_path / name for name in ("first.png", "again.png", "other.png")]
    assert run(["generate", "a fox", *asked, *shown, "--out", str(outs[0])]) == 0
    record = read_record(outs[0])
    assert record is not None
    assert [(image.role, image.path) for image in record.request.inputs] == [
        (InputRole.REFERENCE, str(path)) for path in pictures
    ]
    again = ["generate", "--from", str(outs[0]), "--backend", "cpu"]
    assert run([*again, "--out", str(outs[1])]) == 0
    assert run([*again, "--reference", str(pictures[1]), "--out", str(outs[2])]) == 0
    first, same, other = (np.asarray(Image.open(path)) for path in outs)
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)
