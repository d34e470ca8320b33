"""Pictures led by ControlNets on the tiny checkpoint; the oracle tests see to their numbers."""

import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from app.cli import remedy_words
from backends import registry
from backends.cpu import CpuBackend
from engine.api.control import ControlLayer, ControlMode
from engine.api.preprocessors import CannyOptions, ControlKind
from engine.api.second_passes import SecondPass
from engine.api.values import ConventionName, ErrorCode
from engine.errors import EngineError
from engine.families import identify
from engine.graphs.control_net import UnionConfig
from engine.pipeline.control import running
from engine.pipeline.control.fitting import fitted_map
from engine.text.wildcards import expand_wildcards
from tests.guard.folders import write_sdxl_folder
from tests.image_prompts.files import write_mask
from tests.pipeline.control_files import write_control_net, write_map
from tests.pipeline.counting import CountingBackend
from tests.pipeline.jobs import RESIDENCY, a_request, psnr, run
from tests.tiny_checkpoint import SIDE, write_checkpoint

Pixels = NDArray[np.uint8]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("controls")
    write_checkpoint(folder / "tiny")
    for seed in range(2):
        write_control_net(folder / f"net{seed}.safetensors", folder / "tiny", seed)
        write_map(folder / f"map{seed}.png", seed)
    return folder


def layer(folder: Path, seed: int = 0, **changes: object) -> ControlLayer:
    given: dict[str, object] = {
        "image": str(folder / f"map{seed}.png"),
        "network": str(folder / f"net{seed}.safetensors"),
    }
    return ControlLayer(**(given | changes))  # pyright: ignore[reportArgumentType]


def picture(folder: Path, *layers: ControlLayer, **changes: object) -> Pixels:
    request = a_request(folder / "tiny", **{"controls": layers, "steps": 2, **changes})
    return run(request, CpuBackend(), residency=RESIDENCY).pixels[0]


@pytest.fixture(scope="module")
def plain(folder: Path) -> Pixels:
    return picture(folder)


def test_a_network_leads_by_its_map_and_weight(folder: Path, plain: Pixels) -> None:
    led = picture(folder, layer(folder))
    others = [
        plain,
        picture(folder, layer(folder, weight=0.5)),
        picture(folder, layer(folder, image=str(folder / "map1.png"))),
        picture(folder, layer(folder, mode=ControlMode.PROMPT)),
        picture(folder, layer(folder, mode=ControlMode.CONTROL)),
        picture(folder, layer(folder, range=(0.5, 1.0))),
        picture(folder, layer(folder), layer(folder, 1)),
        picture(folder, layer(folder, preprocessor=CannyOptions(resolution=64))),
    ]
    assert all(psnr(led, other) < 50 for other in others)


def test_a_layer_that_never_acts_changes_no_pixel(folder: Path, plain: Pixels) -> None:
    np.testing.assert_array_equal(picture(folder, layer(folder, weight=0.0)), plain)
    np.testing.assert_array_equal(picture(folder, layer(folder, enabled=False)), plain)


def test_two_layers_of_half_the_weight_are_one(folder: Path) -> None:
    half = layer(folder, weight=0.5)
    twice = picture(folder, half, half)
    assert psnr(twice, picture(folder, layer(folder))) > 50


def test_a_mask_keeps_a_layer_from_a_part(folder: Path, plain: Pixels) -> None:
    levels = np.zeros((SIDE, SIDE), np.uint8)
    levels[:, : SIDE // 2] = 255
    Image.fromarray(levels).save(folder / "left.png")
    Image.fromarray(0 * levels).save(folder / "nowhere.png")
    led = picture(folder, layer(folder))
    left = picture(folder, layer(folder, mask=str(folder / "left.png")))
    assert psnr(led, left) < 45
    assert psnr(plain, left) < 45
    nowhere = picture(folder, layer(folder, mask=str(folder / "nowhere.png")))
    np.testing.assert_array_equal(nowhere, plain)


def test_a_map_is_embedded_once_for_all_pictures(folder: Path) -> None:
    backend = CountingBackend()
    request = a_request(folder / "tiny", controls=(layer(folder),), count=3)
    result = run(request, backend, together=True)
    names = [name for name, _ in backend.loads]
    assert names.count("control_embedding") == 1
    assert names.count("control") == 1
    reports = [drawn.controls for drawn in result.pictures]
    assert reports[0] == reports[2]
    (report,) = reports[0]
    assert (report.name, report.path) == ("net0", str(folder / "net0.safetensors"))
    assert len(report.map_sha256) == len(report.image_sha256) == 64
    # sd-webui-controlnet names a file by 64 KiB at 1 MiB (A1111's `sd_models.model_hash`).
    part = (folder / "net0.safetensors").read_bytes()[1 << 20 :][: 1 << 16]
    assert (len(part), report.short_hash) == (1 << 16, sha256(part).hexdigest()[:8])


def test_led_pictures_of_wildcards_are_made_again_by_their_records(folder: Path) -> None:
    def words(text: str, seed: int) -> str:
        return expand_wildcards(text, seed, None)

    asked = {"convention": ConventionName.A1111, "controls": (layer(folder),), "steps": 2}
    request = a_request(folder / "tiny", prompt="a {red|blue|green} horse", count=3, **asked)
    made = run(request, CpuBackend(), residency=RESIDENCY, replace_wildcards=words)
    prompts = [drawn.request.prompt for drawn in made.pictures]
    assert len(set(prompts)) > 1
    for drawn in made.pictures:
        own = drawn.request
        again = {"prompt": own.prompt, "seed": own.seed, "controls": own.controls}
        pixels = picture(folder, **again, convention=own.convention)
        np.testing.assert_array_equal(pixels, drawn.pixels)
    assert not np.array_equal(made.pixels[0], picture(folder, prompt=prompts[0], seed=7))


_ALIKE: dict[str, tuple[str, int | None, tuple[dict[str, Any], ...]]] = {
    "two maps": ("cpu", None, ({"weight": 0.7}, {"image": "map1.png"})),
    "modes and ranges": (
        "intel_openvino",
        None,
        (
            {"mode": ControlMode.CONTROL},
            {"image": "map1.png", "range": (0.0, 0.5)},
            {"mode": ControlMode.PROMPT, "weight": 0.4},
        ),
    ),
    "masks and tiles": (
        "cpu",
        SIDE,
        ({"mask": "left.png"}, {"image": "map1.png", "mask": "right.png"}),
    ),
}


@pytest.mark.parametrize(
    ("backend", "tile", "wanted"),
    [
        pytest.param(*case, id=name, marks=[pytest.mark.oracle] * (name != "masks and tiles"))
        for name, case in _ALIKE.items()
    ],
)
def test_layers_of_one_file_have_its_network_loaded_once(
    folder: Path, backend: str, tile: int | None, wanted: tuple[dict[str, Any], ...]
) -> None:
    reference = registry.find(backend)
    if reference is None or not reference.create().probe()[0].usable:
        pytest.skip(f"{backend} is not installed")
    computes = reference.create()
    for side in ("left", "right"):
        write_mask(folder / f"{side}.png", left=side == "left")
    files = {"image", "mask"}
    second = SecondPass(scale=1.25, steps=1, strength=0.5, upscaler="lanczos", tile=tile)

    def made(networks: list[Path]) -> tuple[Pixels, set[str]]:
        layers = tuple(
            layer(
                folder,
                network=str(network),
                **dict[str, Any](
                    {n: str(folder / x) if n in files else x for n, x in changes.items()}
                ),
            )
            for network, changes in zip(networks, wanted, strict=True)
        )
        request = a_request(
            folder / "tiny",
            convention=ConventionName.A1111,
            controls=layers,
            second_passes=(second,) if tile else (),
        )
        counted = CountingBackend()
        run(request, counted)
        return run(request, computes).pixels[0], {name for name, _ in counted.loads}

    original = folder / "net0.safetensors"
    copies = [folder / f"copy{number}.safetensors" for number in range(len(wanted))]
    for copy in copies:
        shutil.copy(original, copy)
    apart, several = made(copies)
    together, fewer = made([original] * len(wanted))
    np.testing.assert_array_equal(together, apart)
    assert "control 2" in several
    assert "control" in fewer
    assert not any(name.startswith("control ") for name in fewer)


@pytest.mark.slow
def test_a_led_picture_is_decoded_in_tiles_as_it_is_whole(folder: Path) -> None:
    size = {"width": 320, "height": 320, "steps": 2}
    whole = picture(folder, layer(folder), **size)
    tiled = picture(folder, layer(folder), **size, vae_tile=256)
    assert 40 < psnr(tiled, whole) < 99
    assert psnr(tiled, picture(folder, **size)) < 30


def test_a_map_is_made_once_for_the_first_pass_and_brought_to_later_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[int, ...]] = []

    def fitted(pixels: Pixels, size: tuple[int, int], *others: Any) -> Pixels:
        made.append((*pixels.shape[1::-1], *size))
        return fitted_map(pixels, size, *others)

    monkeypatch.setattr(running, "fitted_map", fitted)
    Image.fromarray(np.tile(np.arange(256, dtype=np.uint8), (256, 1))).save(folder / "wide.png")
    edges = CannyOptions(resolution=None)
    led = layer(folder, image=str(folder / "wide.png"), preprocessor=edges)
    picture(folder, led, second_passes=(SecondPass(scale=1.5, strength=0.5),))
    large = SIDE * 3 // 2
    assert made == [(SIDE, SIDE, SIDE, SIDE), (SIDE, SIDE, large, large)]


def test_the_denoiser_is_the_same_with_and_without(folder: Path) -> None:
    model = identify(folder / "tiny").architecture.denoiser
    assert model.network(SIDE, SIDE) is model.network(SIDE, SIDE)
    backend = CountingBackend()
    run(a_request(folder / "tiny", controls=(layer(folder), layer(folder, 1))), backend)
    names = [name for name, _ in backend.loads]
    assert names.count("denoiser") == 1
    assert {"control", "control 2"} <= set(names)


def test_a_black_map_is_told_of(folder: Path) -> None:
    Image.fromarray(np.zeros((SIDE, SIDE, 3), np.uint8)).save(folder / "black.png")
    black = layer(folder, image=str(folder / "black.png"))
    result = run(a_request(folder / "tiny", controls=(black,)), CountingBackend())
    assert [str(warning.message) for warning in result.warnings] == [
        "The map black.png is black, so net0 has nothing to follow."
    ]


def test_a_layer_without_its_network_is_left_out(folder: Path, plain: Pixels) -> None:
    lost = layer(folder, network=None)
    result = run(a_request(folder / "tiny", controls=(lost,), steps=2), CpuBackend())
    np.testing.assert_array_equal(result.pixels[0], plain)
    assert "was not found" in str(result.warnings[0].message)
    assert [control.path for control in result.pictures[0].controls] == [None]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"network": "missing.safetensors"}, ErrorCode.CHECKPOINT_NOT_FOUND),
        ({"image": "missing.png"}, ErrorCode.INPUT_IMAGE_UNREADABLE),
        ({"mask": "missing.png"}, ErrorCode.INPUT_IMAGE_UNREADABLE),
        ({"network": "tiny/unet/diffusion_pytorch_model.safetensors"}, None),
    ],
)
def test_a_layer_that_cannot_lead_is_refused_before_the_first_step(
    folder: Path, changes: dict[str, str], code: ErrorCode | None
) -> None:
    backend = CountingBackend()
    paths: dict[str, object] = {name: str(folder / path) for name, path in changes.items()}
    wrong = layer(folder, 0, **paths)
    with pytest.raises(EngineError) as caught:
        run(a_request(folder / "tiny", controls=(wrong,)), backend)
    assert code is None or caught.value.code is code
    assert not backend.loads


@pytest.mark.parametrize(
    ("kind", "message"),
    [(None, "the kind of map0.png is not known"), (ControlKind.TILE, "was not trained on")],
)
def test_a_union_is_told_a_kind_that_it_knows_before_the_first_step(
    folder: Path, tmp_path: Path, kind: ControlKind | None, message: str
) -> None:
    write_sdxl_folder(tmp_path / "sdxl")
    union = UnionConfig(kinds=6, waves=8, layers=1)
    file = write_control_net(tmp_path / "net.safetensors", tmp_path / "sdxl", union=union)
    backend = CountingBackend()
    given = layer(folder, network=str(file), kind=kind)
    with pytest.raises(EngineError, match=message) as caught:
        run(a_request(tmp_path / "sdxl", controls=(given,)), backend)
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert not backend.loads
    assert kind or "--control-kind, one of pose, depth, " in remedy_words.advice(caught.value.info)
