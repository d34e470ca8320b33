"""Which of a person's files fit a gap: all that do and none that does not, the best first."""

from pathlib import Path

import pytest

from engine.checkpoints import header
from engine.checkpoints.known_files import KnownFiles
from engine.errors import EngineError
from engine.families import identify, require_complete
from engine.families.shelf import Shelf
from tests.checkpoints.files import write_sparse
from tests.families import listings, other_listings
from tests.families.folders import write_folder
from tests.families.listings import CLIP, UNET, VAE, Listing
from tests.families.test_identify import SMALL


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    folder = tmp_path / "models"
    folder.mkdir()
    return Shelf(folder, KnownFiles(tmp_path / "known", lambda: 1 << 62))


def put(shelf: Shelf, name: str, names: Listing) -> str:
    path = shelf.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return str(write_sparse(path, names))


def lacking(folder: Path, names: Listing, *prefixes: str) -> Path:
    kept = {name: shape for name, shape in names.items() if not name.startswith(prefixes)}
    return write_sparse(folder / "mine.safetensors", kept)


def offered(shelf: Shelf, path: Path) -> dict[str, list[str]]:
    gaps = shelf.gaps(identify(path))
    return {gap.option: [fit.path for fit in gap.fits] for gap in gaps}


def test_a_whole_checkpoint_has_no_gaps(shelf: Shelf, tmp_path: Path) -> None:
    put(shelf, "vae.safetensors", listings.ldm_vae(listings.SMALL_VAE))
    assert shelf.gaps(identify(write_sparse(tmp_path / "x.safetensors", SMALL))) == ()


def test_parts_alone_come_before_those_of_checkpoints(shelf: Shelf, tmp_path: Path) -> None:
    whole = put(shelf, "a/whole.safetensors", SMALL)
    vae = put(shelf, "z/vae.safetensors", listings.ldm_vae(listings.SMALL_VAE))
    clip = put(shelf, "z/clip.safetensors", listings.clip_text(listings.SMALL_CLIP))
    put(shelf, "lora.safetensors", other_listings.kohya_lora())
    put(shelf, "wide clip.safetensors", listings.clip_text())
    put(shelf, "16 channels.safetensors", listings.ldm_vae(listings.VaeSizes(latent=16)))
    (shelf.folder / "broken.safetensors").write_bytes(b"no header")
    assert offered(shelf, lacking(tmp_path, SMALL, CLIP, VAE)) == {
        "--text-encoder": [clip, whole],
        "--vae": [vae, whole],
    }


def test_a_vae_that_sounds_like_another_familys_comes_last(shelf: Shelf, tmp_path: Path) -> None:
    """SD's and SDXL's have the same shapes."""
    path = lacking(tmp_path, listings.sdxl(), VAE)
    general = put(shelf, "vae/vae-ft-mse-840000.safetensors", listings.ldm_vae())
    own = put(shelf, "vae/sdxl_vae_fp16_fix.safetensors", listings.ldm_vae())
    whole = put(shelf, "checkpoint.safetensors", listings.sdxl())
    put(shelf, "other.safetensors", listings.original())
    assert offered(shelf, path) == {"--vae": [own, whole, general]}


def test_of_checkpoints_alike_by_name_comes_first(shelf: Shelf, tmp_path: Path) -> None:
    put(shelf, "another.safetensors", SMALL)
    sibling = put(shelf, "mine v2.safetensors", SMALL)
    assert offered(shelf, lacking(tmp_path, SMALL, VAE))["--vae"][0] == sibling


def test_files_beside_it_and_diffusers_folders_count(shelf: Shelf, tmp_path: Path) -> None:
    beside = write_sparse(tmp_path / "vae.safetensors", listings.ldm_vae(listings.SMALL_VAE))
    folder = write_folder(shelf.folder / "in a folder")
    found = offered(shelf, lacking(tmp_path, SMALL, VAE))
    assert found["--vae"][:2] == [str(beside), str(folder)]


def test_both_text_encoders_of_sdxl(shelf: Shelf, tmp_path: Path) -> None:
    path = lacking(tmp_path, listings.sdxl(), "conditioner.")
    first = put(shelf, "clip_l.safetensors", listings.clip_text())
    second = put(shelf, "clip_g.safetensors", listings.clip_text(listings.BIG_CLIP))
    whole = put(shelf, "whole.safetensors", listings.sdxl())
    found = offered(shelf, path)
    assert found["--text-encoder"] == [first, whole]
    assert found["--text-encoder-2"] == [second, whole]


def test_what_was_looked_at_is_not_read_again(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(shelf, "lora.safetensors", other_listings.kohya_lora())
    path = lacking(tmp_path, SMALL, VAE)
    checkpoint = identify(path)
    shelf.gaps(checkpoint)

    def opened(raw: bytes, path: Path) -> header.Header:
        raise AssertionError(f"{path} was read again")

    monkeypatch.setattr("engine.checkpoints.safetensors.parse_header", opened)
    shelf.gaps(checkpoint)
    put(shelf, "lora.safetensors", {**other_listings.kohya_lora(), "more": (1,)})
    with pytest.raises(AssertionError, match="read again"):
        shelf.gaps(checkpoint)


def test_the_error_names_what_fits(shelf: Shelf, tmp_path: Path) -> None:
    checkpoint = identify(lacking(tmp_path, SMALL, VAE))
    vae = put(shelf, "it's a vae.safetensors", listings.ldm_vae(listings.SMALL_VAE))
    with pytest.raises(EngineError) as caught:
        require_complete(checkpoint, shelf.gaps(checkpoint))
    assert caught.value.message == "mine.safetensors has no VAE."
    ending = "Of your files these fit best: --vae "
    assert ending in caught.value.hint
    assert caught.value.detail == f"--vae {vae}"
    assert UNET not in caught.value.hint


def test_a_shelf_that_is_not_there(tmp_path: Path) -> None:
    none = Shelf(tmp_path / "none", KnownFiles(tmp_path / "known"))
    (gap,) = none.gaps(identify(lacking(tmp_path, SMALL, VAE)))
    assert (gap.component, gap.fits) == ("vae", ())
