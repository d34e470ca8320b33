"""Pictures led by ControlNet-LLLites on a tiny SDXL; the oracle tests see to their numbers."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import Array
from backends.cpu import CpuBackend
from engine.api.control import ControlLayer
from engine.api.request import RefinerChoice
from engine.api.second_passes import SecondPass
from engine.api.values import ConventionName, ErrorCode
from engine.errors import EngineError
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve_job
from tests.checkpoints.arrays import write_arrays
from tests.control.lllite_sample import module_weights
from tests.guard.folders import write_sdxl_folder
from tests.pipeline.control_files import write_map
from tests.pipeline.counting import CountingBackend
from tests.pipeline.jobs import RESIDENCY, a_request, psnr, run
from tests.tiny_checkpoint import SIDE

Pixels = NDArray[np.uint8]
# A cell of the second level has four pixels a side in the tiny checkpoint.
KERNELS = (2, 2)
LAYERS = (
    *(f"input_blocks_4_1_transformer_blocks_0_attn1_to_{part}" for part in "qkv"),
    "input_blocks_5_1_transformer_blocks_1_attn2_to_q",
    "middle_block_1_transformer_blocks_0_attn1_to_v",
)


def write_lllite(path: Path, seed: int) -> None:
    arrays: dict[str, Array] = {}
    for number, layer in enumerate(LAYERS):
        name = f"lllite_unet_{layer}."
        arrays |= module_weights(2, name, 64, 10 * seed + number, KERNELS)
    write_arrays(path, {name: 2 * array for name, array in arrays.items()})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lllites")
    write_sdxl_folder(folder / "sdxl")
    for seed in range(2):
        write_lllite(folder / f"net{seed}.safetensors", seed)
        write_map(folder / f"map{seed}.png", seed)
    return folder


def layer(folder: Path, seed: int = 0, **changes: object) -> ControlLayer:
    given: dict[str, object] = {
        "image": str(folder / f"map{seed}.png"),
        "network": str(folder / f"net{seed}.safetensors"),
    }
    return ControlLayer(**(given | changes))  # pyright: ignore[reportArgumentType]


def picture(folder: Path, *layers: ControlLayer, **changes: object) -> Pixels:
    request = a_request(folder / "sdxl", controls=layers, **({"steps": 2} | changes))
    return run(request, CpuBackend(), residency=RESIDENCY).pixels[0]


def test_a_network_leads_by_its_map_weight_and_range(folder: Path) -> None:
    led = picture(folder, layer(folder))
    others = [
        picture(folder),
        picture(folder, layer(folder, weight=0.5)),
        picture(folder, layer(folder, image=str(folder / "map1.png"))),
        picture(folder, layer(folder, range=(0.5, 1.0))),
        picture(folder, layer(folder), layer(folder, 1)),
    ]
    assert all(psnr(led, other) < 50 for other in others)


def test_a_network_without_weight_changes_nothing(folder: Path) -> None:
    plain = picture(folder)
    assert psnr(picture(folder, layer(folder, weight=0.0)), plain) > 60
    led = picture(folder, layer(folder))
    assert psnr(picture(folder, layer(folder), layer(folder, 1, weight=0.0)), led) > 60


def test_a_side_that_no_cell_divides_is_led(folder: Path) -> None:
    size = {"width": SIDE + 2, "height": SIDE}
    assert psnr(picture(folder, layer(folder), **size), picture(folder, **size)) < 50


def test_each_tile_is_led_by_its_part_of_the_map(folder: Path) -> None:
    """In one step, which alone is led, a map's right half is nothing to the tiles on the left."""
    second = SecondPass(upscaler="lanczos", strength=0.5, scale=2, tile=SIDE, steps=1)
    levels = np.asarray(Image.open(folder / "map0.png")).copy()
    levels[:, SIDE // 2 :] = 255 - levels[:, SIDE // 2 :]
    Image.fromarray(levels).save(folder / "other.png")
    first, other = (
        picture(
            folder,
            layer(folder, image=str(folder / name), range=(0.2, 1.0)),
            second_passes=(second,),
            steps=1,
            convention=ConventionName.COMFY,
        )
        for name in ("map0.png", "other.png")
    )
    left = psnr(first[:, : SIDE // 4], other[:, : SIDE // 4])
    right = psnr(first[:, -SIDE:], other[:, -SIDE:])
    assert right < 45
    assert left > right + 10


def test_a_refiner_is_not_led_whichever_pass_it_finishes(folder: Path) -> None:
    write_sdxl_folder(folder / "second")
    write_sdxl_folder(folder / "refiner")
    refiner = RefinerChoice(checkpoint=str(folder / "refiner"), switch_at=0.5)
    for seconds in ((), (SecondPass(checkpoint=str(folder / "second")),)):
        request = a_request(
            folder / "sdxl", controls=(layer(folder),), refiner=refiner, second_passes=seconds
        )
        read = read_job(resolve_job(request, load_checkpoints(request)))
        led = [pass_.checkpoint.changes.lllite is not None for pass_ in read.passes]
        assert led == [True] * (1 + len(seconds)) + [False]


def test_the_denoiser_is_loaded_once_for_all_pictures(folder: Path) -> None:
    backend = CountingBackend()
    request = a_request(folder / "sdxl", controls=(layer(folder), layer(folder, 1)), count=2)
    result = run(request, backend, together=True)
    names = [name for name, _ in backend.loads]
    assert names.count("denoiser") == 1
    assert {"control_lllite", "control_lllite 2"} <= set(names)
    assert [control.name for control in result.pictures[1].controls] == ["net0", "net1"]


def test_a_mask_is_refused_before_the_first_step(folder: Path) -> None:
    Image.fromarray(np.zeros((SIDE, SIDE), np.uint8)).save(folder / "mask.png")
    masked = layer(folder, mask=str(folder / "mask.png"))
    backend = CountingBackend()
    with pytest.raises(EngineError, match="acts on the whole picture") as caught:
        run(a_request(folder / "sdxl", controls=(masked,)), backend)
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert not backend.loads
