"""The settings that follow from the pictures of a request, and the pictures that are refused."""

from pathlib import Path

import pytest
from PIL import Image

from engine.api.masks import MaskedContent, MaskOptions
from engine.api.record import ResolvedRequest
from engine.api.remedies import ChooseStartPicture
from engine.api.request import GuidanceOptions, InputImage
from engine.api.values import ConventionName, ErrorCode, InputRole
from engine.errors import EngineError
from engine.families import IdentifiedCheckpoint, identify
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.resolve import resolve
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import UNetSizes
from tests.pipeline.jobs import a_request


def a_checkpoint(folder: Path, channels: int) -> IdentifiedCheckpoint:
    listing = listings.original(UNetSizes(in_channels=channels))
    return identify(write_sparse(folder / f"{channels}.safetensors", listing))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> IdentifiedCheckpoint:
    return a_checkpoint(tmp_path_factory.mktemp("plain"), 4)


@pytest.fixture(scope="module")
def inpainting(tmp_path_factory: pytest.TempPathFactory) -> IdentifiedCheckpoint:
    return a_checkpoint(tmp_path_factory.mktemp("inpainting"), 9)


@pytest.fixture(scope="module")
def editing(tmp_path_factory: pytest.TempPathFactory) -> IdentifiedCheckpoint:
    return a_checkpoint(tmp_path_factory.mktemp("editing"), 8)


@pytest.fixture
def init(tmp_path: Path) -> InputImage:
    path = tmp_path / "init.png"
    Image.new("RGB", (203, 150), "red").save(path)
    return InputImage(role=InputRole.INIT, path=str(path))


@pytest.fixture
def mask(tmp_path: Path) -> InputImage:
    path = tmp_path / "mask.png"
    Image.new("L", (203, 150), 255).save(path)
    return InputImage(role=InputRole.MASK, path=str(path))


def filled(checkpoint: IdentifiedCheckpoint, **changes: object) -> ResolvedRequest:
    asked: dict[str, object] = {"width": None, "height": None} | changes
    return resolve(a_request(checkpoint.path, **asked), JobCheckpoints(checkpoint))


def refused(checkpoint: IdentifiedCheckpoint, **changes: object) -> EngineError:
    with pytest.raises(EngineError) as caught:
        filled(checkpoint, **changes)
    return caught.value


def test_a_masked_picture_has_its_own_size(
    plain: IdentifiedCheckpoint, init: InputImage, mask: InputImage
) -> None:
    resolved = filled(plain, inputs=(init, mask))
    assert (resolved.width, resolved.height) == (200, 152)
    assert filled(plain, inputs=(init, mask), width=512).height == 152
    assert filled(plain, inputs=(init,)).width == 512
    # Where only what is masked is painted, that is in the checkpoint's own size.
    only = MaskOptions(only_masked=True)
    assert filled(plain, inputs=(init, mask), mask_options=only).width == 512


def test_a_turned_picture_is_measured_as_it_is_seen(
    plain: IdentifiedCheckpoint, mask: InputImage, tmp_path: Path
) -> None:
    image = Image.new("RGB", (160, 80))
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / "turned.jpg", exif=exif)
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "turned.jpg"))
    resolved = filled(plain, inputs=(init, mask))
    assert (resolved.width, resolved.height) == (80, 160)


def test_the_canvas_grows_to_whole_cells_and_says_by_how_much(
    plain: IdentifiedCheckpoint, init: InputImage
) -> None:
    for wanted, grown, size in (
        ((64, 0, 0, 0), (69, 0, 0, 2), (272, 152)),
        ((64, 32, 16, 0), (64, 34, 21, 0), (288, 184)),
        ((0, 0, 0, 8), (0, 0, 5, 10), (208, 160)),
    ):
        resolved = filled(plain, inputs=(init,), mask_options=MaskOptions(expand=wanted))
        assert resolved.mask_options.expand == grown
        assert (resolved.width, resolved.height) == size
    # A size that is chosen is that of the whole canvas.
    options = MaskOptions(expand=(64, 0, 0, 0))
    resolved = filled(plain, inputs=(init,), mask_options=options, width=256, height=256)
    assert resolved.mask_options.expand == (64, 0, 0, 0)


def test_open_choices_are_filled(
    plain: IdentifiedCheckpoint,
    inpainting: IdentifiedCheckpoint,
    editing: IdentifiedCheckpoint,
    init: InputImage,
    mask: InputImage,
) -> None:
    a1111, both = ConventionName.A1111, (init, mask)
    resolved = filled(plain, inputs=both, convention=a1111)
    assert resolved.mask_options == MaskOptions(blur=4, content=MaskedContent.ORIGINAL)
    assert resolved.strength == 0.75
    assert filled(plain, inputs=both).mask_options.blur == 0
    growing = MaskOptions(expand=(8, 8, 8, 8))
    resolved = filled(plain, inputs=(init,), mask_options=growing, convention=a1111)
    assert (resolved.mask_options.blur, resolved.mask_options.content) == (0, MaskedContent.FILL)
    assert resolved.strength == 1
    assert filled(inpainting, inputs=both).strength == 1
    assert filled(inpainting, inputs=(init,)).strength == 0.75
    assert filled(editing, inputs=(init,)).strength == 1
    assert filled(editing, inputs=(init,), strength=0.5).strength == 0.5


def test_image_guidance_is_for_those_that_edit(
    plain: IdentifiedCheckpoint, editing: IdentifiedCheckpoint, init: InputImage
) -> None:
    chosen = GuidanceOptions(image_guidance=2.0)
    assert filled(editing, inputs=(init,)).guidance_options.image_guidance == 1.5
    resolved = filled(editing, inputs=(init,), guidance_options=chosen)
    assert resolved.guidance_options.image_guidance == 2
    assert filled(plain, guidance_options=chosen).guidance_options.image_guidance is None
    for value in (-1.0, 101.0):
        wrong = GuidanceOptions(image_guidance=value)
        error = refused(editing, inputs=(init,), guidance_options=wrong)
        assert "image guidance" in error.message


def test_true_cfg_is_for_those_that_take_guidance_as_an_input(plain: IdentifiedCheckpoint) -> None:
    chosen = GuidanceOptions(true_cfg=2.0, rescale=0.5)
    resolved = filled(plain, guidance_options=chosen).guidance_options
    assert (resolved.true_cfg, resolved.rescale) == (1.0, 0.5)
    error = refused(plain, guidance_options=GuidanceOptions(true_cfg=-1.0))
    assert "true CFG" in error.message


def test_options_of_a_mask_that_is_not_there_are_nobodys(
    plain: IdentifiedCheckpoint, init: InputImage
) -> None:
    options = MaskOptions(blur=8, inverted=True)
    assert filled(plain, inputs=(init,), mask_options=options).mask_options == MaskOptions()


def test_a_setting_that_needs_a_picture_is_refused_without_one(
    plain: IdentifiedCheckpoint, editing: IdentifiedCheckpoint, mask: InputImage
) -> None:
    for error in (
        refused(plain, inputs=(mask,)),
        refused(plain, mask_options=MaskOptions(expand=(8, 0, 0, 0))),
        refused(editing),
    ):
        assert error.code is ErrorCode.REQUEST_INVALID
        assert "there is none" in error.message
        assert error.remedies == (ChooseStartPicture(),)


def test_impossible_inputs_are_refused(
    plain: IdentifiedCheckpoint, init: InputImage, mask: InputImage
) -> None:
    missing = InputImage(role=InputRole.MASK, path=f"{mask.path}.none")
    error = refused(plain, inputs=(init, missing))
    assert error.code is ErrorCode.INPUT_IMAGE_UNREADABLE
    assert error.message == f"The mask {missing.path} cannot be read: there is no such file."
    assert "one mask" in refused(plain, inputs=(init, mask, mask)).message
    for options, said in (
        (MaskOptions(blur=65), "blur"),
        (MaskOptions(padding=-1), "padding"),
        (MaskOptions(feather=10_000), "feather"),
        (MaskOptions(expand=(0, -8, 0, 0)), "margin"),
        (MaskOptions(expand=(8, 0, 0, 0), only_masked=True), "grow"),
        (MaskOptions(expand=(8192, 0, 0, 0)), "width"),
    ):
        error = refused(plain, inputs=(init, mask), mask_options=options)
        assert error.code is ErrorCode.REQUEST_INVALID
        assert said in error.message


def test_a_picture_that_is_none_is_refused_where_its_size_is_wanted(
    plain: IdentifiedCheckpoint, mask: InputImage, tmp_path: Path
) -> None:
    (tmp_path / "none.png").write_bytes(b"none")
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "none.png"))
    assert refused(plain, inputs=(init, mask)).code is ErrorCode.INPUT_IMAGE_UNREADABLE
