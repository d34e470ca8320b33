"""VAEs that other tools' pictures name, among the user's files."""

from pathlib import Path

import pytest

from app.form.picture_settings import PictureSettings, read_settings
from app.library.named_vaes import find_vae
from engine.metadata.png import insert_text_chunks
from tests.metadata.readers.graphs import CUSTOM, prompt, with_inputs
from tests.metadata.records import PNG

TINY = ["taesd", "taesdxl", "taesd3", "taef1", "taef2"]


def put(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return paths


@pytest.mark.parametrize("stated", TINY)
@pytest.mark.parametrize("suffix", [".safetensors", ".pth"])
def test_comfyuis_name_of_a_tiny_vae_means_its_decoder(
    tmp_path: Path, stated: str, suffix: str
) -> None:
    every = [
        f"vae_approx/{name}_{side}{suffix}" for name in TINY for side in ("encoder", "decoder")
    ]
    put(tmp_path, *every)
    assert find_vae(stated, tmp_path) == tmp_path / f"vae_approx/{stated}_decoder{suffix}"
    (whole,) = put(tmp_path, f"vae/{stated}.safetensors")
    assert find_vae(stated, tmp_path) == whole


def test_only_tiny_vaes_have_a_file_for_each_side(tmp_path: Path) -> None:
    put(tmp_path, "soft_decoder.safetensors")
    assert find_vae("soft", tmp_path) is None


def test_a_name_means_the_only_file_of_that_name_in_any_folder(tmp_path: Path) -> None:
    models, other = tmp_path / "models", tmp_path / "other"
    models.mkdir()
    (soft,) = put(other, "parts/Soft.vae.pt")
    assert find_vae("sd15\\soft.vae.pt", models, [other]) == soft
    assert find_vae("../../parts/soft.vae", models, [other]) == soft
    (elsewhere,) = put(models, "vae/soft.vae.pt")
    # The one that lies where VAEs do.
    assert find_vae("soft.vae.pt", models, [other]) == elsewhere
    put(models, "VAE-2/soft.vae.pt")
    assert find_vae("soft.vae.pt", models, [other]) is None, "either may be meant"
    put(models, "loras/ink.safetensors")
    for nothing in ("ink", "", "/", "hard.pt", str(models)):
        assert find_vae(nothing, models, [other]) is None


def settings(folder: Path, vae: str) -> PictureSettings:
    path = folder / "picture.png"
    graph = with_inputs(CUSTOM, "20", vae_name=vae)
    path.write_bytes(insert_text_chunks(PNG, [prompt(graph)]))
    found = read_settings(path, folder / "starter", None)
    assert isinstance(found, PictureSettings)
    return found


@pytest.mark.parametrize("stated", TINY)
def test_the_vae_of_a_comfyui_picture_is_chosen_with_its_model(tmp_path: Path, stated: str) -> None:
    (decoder,) = put(tmp_path, f"vae_approx/{stated}_decoder.pth")
    found = settings(tmp_path, stated).with_vae(lambda name: find_vae(name, tmp_path))
    taken = found.with_models(lambda name: tmp_path / "dream" if name else None)
    assert taken.request.components.vae == str(decoder)
    assert not any("VAE" in remark for remark in taken.remarks)
    # Another model may have other latents.
    kept = found.with_models(lambda _name: None)
    assert kept.request.components.vae is None
    assert f'It was made with the VAE "{stated}"; choose it to match.' in kept.remarks


def test_a_vae_that_is_nowhere_stays_a_remark(tmp_path: Path) -> None:
    found = settings(tmp_path, "soft.safetensors").with_vae(lambda name: find_vae(name, tmp_path))
    taken = found.with_models(lambda _name: tmp_path / "dream")
    assert taken.request.components.vae is None
    assert 'It was made with the VAE "soft.safetensors"; choose it to match.' in taken.remarks
