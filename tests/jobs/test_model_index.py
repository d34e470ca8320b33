"""The list of all files of weights: what each is, known while it is unchanged."""

import json
from pathlib import Path

import numpy as np
import pytest

from backends.base import DType
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.preprocessors import ControlKind
from engine.checkpoints.index import TensorIndex
from engine.families.file_contents import read_header
from engine.folders import folders_of_models
from engine.graphs.unet import attending_layers
from engine.jobs import model_descriptions, model_index
from engine.jobs.description_parts import CHUNK
from engine.jobs.model_descriptions import ModelDescriber
from engine.jobs.model_index import ModelIndex
from engine.lora.files_below import ListedFile
from engine.lora.listed_facts import ListedFacts
from engine.preprocessors.annotators import AnnotatorKind
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.files import write_sparse
from tests.checkpoints.gguf_files import plain, quantized, write_gguf
from tests.control.layouts import original_control_net
from tests.control.small import adapter_arrays, control_net_arrays, small_control_net
from tests.control.test_flux_nets import SIZES, painting
from tests.families import listings
from tests.families.flux.files import SMALL, drawn, original
from tests.graphs.networks import sd15_unet
from tests.guard.torch_zip import write_torch_zip
from tests.image_prompts.files import adapter_arrays as image_adapter_arrays
from tests.image_prompts.files import flat, write_adapter, write_encoder
from tests.jobs.test_lora_index import KEYS
from tests.preprocessors.annotator_files import stored
from tests.upscalers.small import torch_file_of

EMBEDDING = {"emb_params": (4, 768)}


class Reader:
    """Describes files, and counts them."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.describe = ModelDescriber()

    def __call__(self, listed: ListedFile, root: str) -> ModelInfo:
        self.opened.append(listed.name)
        return self.describe(listed, root)


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    for name in ("", "Lora", "embeddings", "vae", "Stable-diffusion"):
        (folder / name).mkdir()
    return folder


def listed(tmp_path: Path, reader: Reader, *folders: Path) -> dict[str, ModelInfo]:
    """The last description of each file, by name, as the next start of the engine finds it."""
    known = ListedFacts(tmp_path / "cache" / "loras.json", lambda: 2**62)
    return {
        info.name: info for part in ModelIndex(known, reader).list(folders) for info in part or ()
    }


def write_all(models: Path) -> None:
    write_sparse(models / "Stable-diffusion" / "mix.safetensors", listings.sdxl())
    whole = {
        name: shape for name, shape in listings.sdxl().items() if not name.startswith(listings.VAE)
    }
    write_sparse(models / "no vae.safetensors", whole)
    write_sparse(models / "Lora" / "ink.safetensors", KEYS)
    write_sparse(models / "embeddings" / "easy.safetensors", EMBEDDING)
    write_sparse(models / "vae" / "fix.safetensors", listings.ldm_vae())
    (models / "page.safetensors").write_bytes(b"<!DOCTYPE html><html>Please log in</html>")


def test_each_file_is_known_for_what_is_in_it(tmp_path: Path, models: Path, reader: Reader) -> None:
    write_all(models)
    found = listed(tmp_path, reader, models)
    assert {name: info.kind for name, info in found.items() if not info.problem} == {
        "Stable-diffusion/mix": ModelKind.CHECKPOINT,
        "no vae": ModelKind.CHECKPOINT,
        "Lora/ink": ModelKind.LORA,
        "embeddings/easy": ModelKind.EMBEDDING,
        "vae/fix": ModelKind.VAE,
    }
    assert found["Stable-diffusion/mix"].families == ("sdxl",)
    assert found["Stable-diffusion/mix"].missing == ()
    assert found["Stable-diffusion/mix"].precisions == ("f16",)
    assert found["no vae"].missing == ("vae",)
    # SDXL's UNet, with its VAE and without.
    assert found["Stable-diffusion/mix"].step_parameters == 2_567_463_684
    assert found["no vae"].step_parameters == 2_567_463_684
    assert found["vae/fix"].step_parameters is None
    assert found["Lora/ink"].families == ("sd1",)
    assert "web page" in str(found["page"].problem)
    assert str(found["page"].hint)


def test_a_control_network_is_told_with_its_family(
    tmp_path: Path, models: Path, reader: Reader
) -> None:
    arrays = control_net_arrays(small_control_net())
    write_arrays(models / "edges.safetensors", original_control_net(arrays))
    write_arrays(models / "keypose.safetensors", adapter_arrays())
    other = {"controlnet_blocks.0.weight": (64, 64), "controlnet_x_embedder.weight": (64, 64)}
    write_sparse(models / "flux.safetensors", other)
    write_sparse(models / "beta.safetensors", painting(SIZES))
    found = listed(tmp_path, reader, models)
    assert {info.kind for info in found.values()} == {ModelKind.CONTROLNET}
    assert found["edges"].purpose == "a ControlNet for SD 1.x"
    assert found["keypose"].purpose == "a T2I-Adapter for SD 1.x"
    assert found["edges"].families == found["keypose"].families == ("sd1",)
    assert (found["edges"].follows, found["beta"].follows) == (None, ControlKind.INPAINT)
    # What runs in each step: a T2I-Adapter's network runs once.
    weights = sum(array.size for array in arrays.values())
    assert (found["edges"].step_parameters, found["keypose"].step_parameters) == (weights, 0)
    assert found["beta"].families == ("flux1",)
    assert not found["edges"].problem
    assert "not run" in str(found["flux"].problem)


def test_an_image_prompt_adapter_and_its_encoder_are_told(
    tmp_path: Path, models: Path, reader: Reader
) -> None:
    widths = [layer.width for layer in attending_layers(sd15_unet())]
    write_adapter(models / "plus.safetensors", "plus", widths, 768)
    face = flat(image_adapter_arrays("plus", widths, 768))
    face["image_proj.proj_in.weight"] = np.zeros((48, 512))
    write_arrays(models / "face.safetensors", face)
    write_encoder(models / "clip_vision")
    found = listed(tmp_path, reader, models)
    assert found["plus"].kind is found["face"].kind is ModelKind.IP_ADAPTER
    assert found["plus"].purpose == "an IP-Adapter Plus"
    assert found["plus"].families == ("sd1",)
    assert not found["plus"].problem
    assert "recognises faces" in str(found["face"].problem)
    encoder = found["clip_vision/model"]
    assert encoder.kind is ModelKind.VISION_ENCODER
    assert not encoder.problem


def test_pytorchs_files_are_listed_and_told_by_their_content(
    tmp_path: Path, models: Path, reader: Reader
) -> None:
    torch_file_of(models, "ESRGAN")
    arrays = control_net_arrays(small_control_net())
    write_torch_zip(models / "control.pth", original_control_net(arrays))
    widths = [layer.width for layer in attending_layers(sd15_unet())]
    adapter = flat(image_adapter_arrays("plus", widths, 768))
    write_torch_zip(models / "ip-adapter.bin", adapter)
    for kind in (AnnotatorKind.HED, AnnotatorKind.PIDINET, AnnotatorKind.DEPTH_ANYTHING):
        write_torch_zip(models / f"{kind}.pth", stored(kind))
    (models / "none.pth").touch()
    found = listed(tmp_path, reader, models)
    assert {name: info.kind for name, info in found.items() if not info.problem} == {
        "ESRGAN": ModelKind.UPSCALER,
        "control": ModelKind.CONTROLNET,
        "ip-adapter": ModelKind.IP_ADAPTER,
        "hed": ModelKind.OTHER,
        "pidinet": ModelKind.OTHER,
        "depth_anything": ModelKind.OTHER,
    }
    assert "empty" in str(found["none"].problem)


def test_an_unchanged_file_is_not_opened_again(
    tmp_path: Path, models: Path, reader: Reader
) -> None:
    write_all(models)
    first = listed(tmp_path, reader, models)
    opened = len(reader.opened)
    assert opened == len(first)
    assert listed(tmp_path, reader, models) == first
    assert len(reader.opened) == opened
    write_sparse(models / "vae" / "fix.safetensors", KEYS)
    assert listed(tmp_path, reader, models)["vae/fix"].kind is ModelKind.LORA
    assert reader.opened[opened:] == ["vae/fix"]


def test_files_are_recognised_anew_by_other_code(
    tmp_path: Path, models: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_sparse(models / "mix.safetensors", listings.sdxl())
    listed(tmp_path, reader, models)
    monkeypatch.setattr(model_index, "recognition_rules", "another".join)
    listed(tmp_path, reader, models)
    assert reader.opened == ["mix", "mix"]


def test_a_diffusers_folder_is_one_model(tmp_path: Path, models: Path, reader: Reader) -> None:
    folder = models / "sd" / "unet"
    folder.mkdir(parents=True)
    (models / "sd" / "model_index.json").write_text(json.dumps({"_class_name": "Other"}))
    write_sparse(folder / "diffusion_pytorch_model.safetensors", KEYS)
    found = listed(tmp_path, reader, models)
    assert list(found) == ["sd"]
    assert found["sd"].problem


@pytest.mark.parametrize(
    ("picture", "other"),
    [("sd.png", "sd.txt"), ("sd.preview.webp", "sd.png"), ("sd/preview.jpg", "sd/vae.png")],
)
def test_a_diffusers_folder_has_the_picture_in_it_or_beside_it(
    tmp_path: Path, models: Path, reader: Reader, picture: str, other: str
) -> None:
    (models / "sd").mkdir()
    (models / "sd" / "model_index.json").write_text("{}")
    (models / picture).touch()
    (models / other).touch()
    info = listed(tmp_path, reader, models)["sd"]
    assert info.preview == str(models / picture)
    assert info.preview_modified_ns == (models / picture).stat().st_mtime_ns


def test_the_header_of_a_checkpoint_is_read_once(
    tmp_path: Path, models: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    again: list[Path] = []

    def read(path: Path) -> TensorIndex:
        again.append(path)
        return read_header(path)

    monkeypatch.setattr(model_descriptions, "read_header", read)
    write_sparse(models / "mix.safetensors", listings.sdxl())
    assert listed(tmp_path, reader, models)["mix"].families == ("sdxl",)
    assert again == []


def test_an_embedding_has_its_name_as_its_word(
    tmp_path: Path, models: Path, reader: Reader
) -> None:
    write_sparse(models / "embeddings" / "easy.safetensors", EMBEDDING)
    (models / "embeddings" / "cat toy").mkdir()
    write_sparse(models / "embeddings" / "cat toy" / "learned_embeds.safetensors", EMBEDDING)
    words = {name: info.trigger_words for name, info in listed(tmp_path, reader, models).items()}
    assert words == {
        "embeddings/easy": ("easy",),
        "embeddings/cat toy/learned_embeds": ("cat toy",),
    }


def test_a_picture_and_a_card_beside_a_file_are_told(
    tmp_path: Path, models: Path, reader: Reader
) -> None:
    path = write_sparse(models / "mix.safetensors", listings.sdxl())
    path.with_suffix(".preview.png").touch()
    digest = "ab" * 32
    card = {
        "name": "v2",
        "model": {"name": "Mix"},
        "baseModel": "Pony",
        "files": [{"hashes": {"SHA256": digest}}],
    }
    path.with_suffix(".civitai.info").write_text(json.dumps(card))
    info = listed(tmp_path, reader, models)["mix"]
    assert info.preview == str(path.with_suffix(".preview.png"))
    assert (info.title, info.base_model, info.sha256) == ("Mix v2", "Pony", digest)
    assert info.identity


def test_files_come_first_unread_and_in_pieces(
    tmp_path: Path, models: Path, reader: Reader
) -> None:
    for number in range(CHUNK + 1):
        write_sparse(models / "Lora" / f"{number}.safetensors", KEYS)
    known = ListedFacts(tmp_path / "cache" / "loras.json", lambda: 2**62)
    parts = [part for part in ModelIndex(known, reader).list([models]) if part is not None]
    assert [len(part) for part in parts] == [CHUNK, 1, CHUNK, 1]
    assert not any(info.is_read for info in parts[0])
    assert {info.kind for info in parts[0]} == {ModelKind.LORA}


def test_only_the_folders_of_models_of_a_tool_are_looked_into(tmp_path: Path) -> None:
    webui, plain = tmp_path / "webui", tmp_path / "plain"
    for folder in (webui / "models", webui / "embeddings", webui / "venv", plain):
        folder.mkdir(parents=True)
    assert folders_of_models(None, [webui, plain, tmp_path / "gone"]) == (
        webui / "models",
        webui / "embeddings",
        plain,
    )


def test_a_gguf_file_is_listed_with_its_types(models: Path, reader: Reader, tmp_path: Path) -> None:
    numbers = drawn(original(SMALL))
    tensors = {
        name: quantized(array, DType.Q8_0) if array.shape[-1] % 32 == 0 else plain(array)
        for name, array in numbers.items()
        if array.ndim == 2
    }
    rest = {name: plain(array) for name, array in numbers.items() if array.ndim == 1}
    write_gguf(models / "flux-Q8_0.gguf", {**tensors, **rest}, {"general.architecture": "flux"})
    found = listed(tmp_path, reader, models)["flux-Q8_0"]
    assert (found.kind, found.families, found.variant) == (ModelKind.DENOISER, ("flux1",), "dev")
    assert found.precisions == ("f32", "q8_0")
    assert not found.problem
