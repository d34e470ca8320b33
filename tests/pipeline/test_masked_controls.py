"""Control layers where a part of a picture is painted: what of their pictures they see."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageOps

from backends.cpu import CpuBackend
from engine.api.control import ControlLayer, ControlResize
from engine.api.masks import MaskOptions
from engine.api.preprocessors import CannyOptions, ControlKind
from engine.api.request import GenerateRequest, InputImage
from engine.api.values import ConventionName, InputRole
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.pipeline.canvas.canvas import expanded
from engine.pipeline.control import running
from engine.pipeline.control.fitting import placed_map
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve_job
from tests.pipeline.control_files import write_control_net, write_map
from tests.pipeline.jobs import RESIDENCY, a_request, run
from tests.tiny_checkpoint import SIDE, write_checkpoint

Pixels = NDArray[np.uint8]
# The painted part of a picture that is twice as wide and high as what is drawn at once.
LARGE, BOX = 2 * SIDE, (SIDE // 2, SIDE // 2, SIDE, SIDE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("masked")
    write_checkpoint(folder / "tiny")
    write_control_net(folder / "net.safetensors", folder / "tiny")
    for seed, name in enumerate(("map.png", "init.png")):
        write_map(folder / name, seed)
        Image.open(folder / name).resize((LARGE, LARGE)).save(folder / name)
    write_map(folder / "small init.png", 2)
    mask = Image.new("L", (LARGE, LARGE))
    mask.paste(255, BOX)
    mask.save(folder / "mask.png")
    ImageOps.invert(mask).save(folder / "inverted.png")
    return folder


def asked(
    folder: Path, layer: ControlLayer, mask: str = "mask.png", **options: Any
) -> GenerateRequest:
    inputs = (
        InputImage(role=InputRole.INIT, path=str(folder / "init.png")),
        InputImage(role=InputRole.MASK, path=str(folder / mask)),
    )
    given: dict[str, Any] = {"padding": 8, "blur": 0} | options
    return a_request(
        folder / "tiny",
        controls=(layer,),
        inputs=inputs,
        strength=0.8,
        convention=ConventionName.A1111,
        mask_options=MaskOptions(**given),
    )


def painted(folder: Path, layer: ControlLayer, mask: str = "mask.png", **options: Any) -> Pixels:
    request = asked(folder, layer, mask, **options)
    return run(request, CpuBackend(), residency=RESIDENCY).pixels[0]


def layer(folder: Path, name: str = "map.png", **changes: Any) -> ControlLayer:
    network = str(folder / "net.safetensors")
    return ControlLayer(image=str(folder / name), network=network, **changes)


def changed(folder: Path, box: tuple[int, int, int, int]) -> str:
    """A map that differs from "map.png" in a box."""
    picture = Image.open(folder / "map.png").copy()
    picture.paste(ImageOps.invert(picture.crop(box)), box)
    name = f"changed {box[0]}.png"
    picture.save(folder / name)
    return name


@pytest.mark.parametrize("changes", [{}, {"preprocessor": CannyOptions(resolution=64)}], ids=str)
def test_a_layer_sees_the_part_alone_where_only_that_is_drawn(
    folder: Path, changes: dict[str, Any]
) -> None:
    elsewhere, within = changed(folder, (0, 0, LARGE, 16)), changed(folder, BOX)
    usual, same, other = (
        painted(folder, layer(folder, name, **changes), only_masked=True)
        for name in ("map.png", elsewhere, within)
    )
    np.testing.assert_array_equal(same, usual)
    assert not np.array_equal(other, usual)
    whole, shown = (painted(folder, layer(folder, name)) for name in ("map.png", elsewhere))
    assert not np.array_equal(shown, whole)


def test_a_map_that_is_black_in_the_drawn_part_alone_is_no_mistake(folder: Path) -> None:
    for shown, only_masked, told in ((255, True, 0), (255, False, 0), (0, False, 1)):
        picture = Image.new("RGB", (LARGE, LARGE))
        picture.paste((shown,) * 3, (0, 0, LARGE, 16))
        picture.save(folder / "dark.png")
        request = asked(folder, layer(folder, "dark.png"), only_masked=only_masked)
        read = read_job(resolve_job(request, load_checkpoints(request)))
        assert len(read.controls.warnings) == told


def test_a_map_of_another_size_is_laid_over_the_whole_picture_first(folder: Path) -> None:
    Image.open(folder / "map.png").resize((SIDE, SIDE)).save(folder / "small.png")
    Image.open(folder / "small.png").resize((LARGE, LARGE), Image.Resampling.LANCZOS).save(
        folder / "resized.png"
    )
    small, resized = (
        painted(folder, layer(folder, name, resize=ControlResize.STRETCH), only_masked=True)
        for name in ("small.png", "resized.png")
    )
    np.testing.assert_array_equal(small, resized)


def test_the_mask_of_a_layer_goes_with_its_picture(folder: Path) -> None:
    left = Image.new("L", (LARGE, LARGE))
    left.paste(255, (0, 0, LARGE, 16))
    left.save(folder / "outside.png")
    Image.new("L", (LARGE, LARGE)).save(folder / "nowhere.png")
    outside, nowhere = (
        painted(folder, layer(folder, mask=str(folder / name)), only_masked=True)
        for name in ("outside.png", "nowhere.png")
    )
    np.testing.assert_array_equal(outside, nowhere)


@pytest.mark.parametrize("only", [False, True])
def test_an_inpainting_network_paints_what_an_inverted_mask_paints(
    folder: Path, *, only: bool
) -> None:
    painting = layer(folder, "init.png", kind=ControlKind.INPAINT)
    usual = painted(folder, painting, only_masked=only)
    inverted = painted(folder, painting, "inverted.png", inverted=True, only_masked=only)
    np.testing.assert_array_equal(inverted, usual)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"kind": ControlKind.INPAINT}, 1),
        ({"kind": ControlKind.INPAINT, "mask": "mask.png"}, 0),
        ({"kind": ControlKind.INPAINT, "mask": "nothing.png"}, 1),
        ({"kind": ControlKind.DEPTH}, 0),
    ],
    ids=str,
)
def test_an_inpainting_network_that_has_nothing_to_paint_gives_a_warning(
    folder: Path, changes: dict[str, Any], told: int
) -> None:
    Image.new("L", (LARGE, LARGE)).save(folder / "nothing.png")
    if "mask" in changes:
        changes = changes | {"mask": str(folder / changes["mask"])}
    request = a_request(folder / "tiny", controls=(layer(folder, **changes),))
    read = read_job(resolve_job(request, load_checkpoints(request))).controls
    assert ["it keeps all of it" in str(warning.text) for warning in read.warnings] == [True] * told


# The growth of the canvas around a start picture as small as can be, and where that lies then.
GROWN, FEATHER = (16, 0, 24, 16), 8
PLACE = (16, 0, 16 + SIDE, SIDE)
SIZE = (SIDE + 40, SIDE + 16)


def extended(folder: Path, layer: ControlLayer, **changes: Any) -> Pixels:
    request = a_request(
        folder / "tiny",
        controls=(layer,),
        inputs=(InputImage(role=InputRole.INIT, path=str(folder / "small init.png")),),
        mask_options=MaskOptions(expand=GROWN, feather=FEATHER),
        width=SIZE[0],
        height=SIZE[1],
        steps=2,
        convention=ConventionName.A1111,
        **changes,
    )
    return run(request, CpuBackend(), residency=RESIDENCY).pixels[0]


def on_canvas(folder: Path, name: str, mode: str, around: Any) -> str:
    """A picture of the start picture's size, laid on the grown canvas by hand."""
    with Image.open(folder / name) as picture:
        whole = Image.new(mode, SIZE, around)
        whole.paste(picture.convert(mode), PLACE[:2])
    whole.save(folder / f"grown {name}")
    return f"grown {name}"


@pytest.fixture(scope="module")
def by_hand(folder: Path) -> str:
    """The start picture on the grown canvas, as a map."""
    with Image.open(folder / "small init.png") as picture:
        levels = np.asarray(picture.convert("RGB"))
    edges = np.concatenate([levels[0], levels[-1], levels[:, 0], levels[:, -1]])
    border = tuple(int(level) for level in np.median(edges, axis=0))
    return on_canvas(folder, "small init.png", "RGB", border)


@pytest.fixture(scope="module")
def led_by_hand(folder: Path, by_hand: str) -> Pixels:
    return extended(folder, layer(folder, by_hand))


@pytest.mark.parametrize("resize", ControlResize)
def test_the_map_of_the_start_picture_stays_with_it_where_the_canvas_grows(
    folder: Path, led_by_hand: Pixels, resize: ControlResize
) -> None:
    # It was fitted to the whole canvas, as a picture of another shape is.
    found = extended(folder, layer(folder, "small init.png", resize=resize))
    np.testing.assert_array_equal(found, led_by_hand)


def test_the_mask_of_that_map_goes_with_it_and_acts_nowhere_beside_it(
    folder: Path, by_hand: str, led_by_hand: Pixels
) -> None:
    Image.new("L", (SIDE, SIDE), 255).save(folder / "everywhere.png")
    within = {"mask": str(folder / on_canvas(folder, "everywhere.png", "L", 0))}
    own = {"mask": str(folder / "everywhere.png")}
    expected = extended(folder, layer(folder, by_hand, **within))
    np.testing.assert_array_equal(
        extended(folder, layer(folder, "small init.png", **own)), expected
    )
    assert not np.array_equal(expected, led_by_hand)


def test_the_map_of_the_start_picture_is_made_for_its_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[int, ...]] = []

    def placed(pixels: Pixels, *others: Any) -> Pixels:
        made.append(pixels.shape)
        return placed_map(pixels, *others)

    monkeypatch.setattr(running, "placed_map", placed)
    extended(folder, layer(folder, "small init.png", preprocessor=CannyOptions(resolution=None)))
    assert made == [(SIDE, SIDE, 3)]


def test_an_inpainting_network_paints_what_the_canvas_grows_by(folder: Path) -> None:
    # It saw the picture without margins, and nothing to paint.
    with Image.open(folder / "small init.png") as picture:
        whole, mask = expanded(picture.convert("RGB"), Image.new("L", picture.size), GROWN, FEATHER)
    whole.save(folder / "grown.png")
    mask.save(folder / "grown mask.png")
    usual = extended(folder, layer(folder, "small init.png", kind=ControlKind.INPAINT))
    given = {"kind": ControlKind.INPAINT, "mask": str(folder / "grown mask.png")}
    np.testing.assert_array_equal(usual, extended(folder, layer(folder, "grown.png", **given)))
    # A picture that is as large as the canvas already is painted there, too.
    other = extended(folder, layer(folder, "grown.png", kind=ControlKind.INPAINT))
    np.testing.assert_array_equal(other, usual)
