"""Pictures that were made already, found by their records."""

from pathlib import Path

import msgspec
from PIL import Image

from app.commands.repeats import find_repeats
from app.library.picture_files import Picture
from engine.api.control import ControlLayer, ControlReport
from engine.api.record import GenerationRecord, UpscaleReport
from engine.api.request import SeedOptions
from engine.metadata.png import insert_text_chunks
from engine.metadata.readers import read_request
from engine.metadata.record import record_chunks
from tests.metadata.records import PLAIN

LAYER = ControlLayer(image="/photo.png", network="/models/canny.safetensors")
REPORT = ControlReport(name="canny", path=LAYER.network, digest="ab12", image_sha256="cd")
SEED = PLAIN.request.seed


def saved(folder: Path, record: GenerationRecord) -> str:
    path = folder / f"{SEED}.png"
    Image.new("RGB", (8, 8)).save(path)
    path.write_bytes(insert_text_chunks(path.read_bytes(), record_chunks(record)))
    return str(path)


def found(path: str, layer: ControlLayer | None = None) -> dict[int, str]:
    wanted = read_request(Path(path)).request
    if layer is not None:
        wanted = msgspec.structs.replace(wanted, controls=(layer,))
    return find_repeats(wanted, [SEED], None, (), path)


def test_a_led_picture_is_found_although_its_record_names_files_by_content_too(
    tmp_path: Path,
) -> None:
    request = msgspec.structs.replace(PLAIN.request, controls=(LAYER,))
    path = saved(tmp_path, msgspec.structs.replace(PLAIN, request=request, controls=(REPORT,)))
    assert found(path, LAYER) == {SEED: path}
    assert found(path, msgspec.structs.replace(LAYER, weight=0.5)) == {}


def test_a_variation_is_found_by_its_seed_and_known_by_the_number_of_its_variation(
    tmp_path: Path,
) -> None:
    seeds = SeedOptions(variation_seed=40, variation_strength=0.1)
    request = msgspec.structs.replace(PLAIN.request, seed_options=seeds)
    path = saved(tmp_path, msgspec.structs.replace(PLAIN, request=request))
    wanted = read_request(Path(path)).request
    listed = [Picture(path, 0, 0)]
    assert find_repeats(wanted, [39, 40], None, listed, None) == {40: path}
    # Neither the seed itself nor a variation of another one.
    assert find_repeats(wanted, [SEED], None, listed, None) == {}
    other = msgspec.structs.replace(wanted, seed=SEED + 1)
    assert find_repeats(other, [40], None, listed, path) == {}


def test_an_enlarged_picture_is_not_the_one_that_its_settings_make(tmp_path: Path) -> None:
    report = UpscaleReport(name="lanczos", width=16, height=16, resampling="lanczos")
    assert found(saved(tmp_path, PLAIN)) != {}
    assert found(saved(tmp_path, msgspec.structs.replace(PLAIN, upscales=(report,)))) == {}
