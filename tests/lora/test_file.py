"""A file's keys become modules, one for each layer; what is no module is named."""

from pathlib import Path

import pytest

from backends.base import DType, FileSlice
from engine.api.values import ErrorCode
from engine.checkpoints.files import read_index
from engine.checkpoints.index import TensorIndex
from engine.errors import EngineError
from engine.lora.file import read_lora
from engine.lora.layers import LayerTable, Target, fit
from tests import counted_work
from tests.lora.files import lora_file, low_rank

FROZEN = Path(__file__).parent / "frozen"


def test_modules_have_the_tensors_of_their_layer(tmp_path: Path) -> None:
    keys = low_rank("lora_unet_a", 8, 6) | low_rank("lora_unet_b", 4, 4)
    file = lora_file(tmp_path / "x.safetensors", keys)
    assert [module.layer for module in file.modules] == ["lora_unet_a", "lora_unet_b"]
    first = file.modules[0].tensors
    assert first["lora_up.weight"] == file.tensors["lora_unet_a.lora_up.weight"]
    assert set(first) == {"lora_up.weight", "lora_down.weight", "alpha"}
    assert file.keys["lora_unet_b"] == tuple(low_rank("lora_unet_b", 4, 4))
    assert (file.total_keys, file.unread) == (6, ())


@pytest.mark.parametrize("dtype", [DType.F32, DType.BF16, DType.F8_E4M3, DType.F8_E5M2])
def test_stored_types_are_kept(dtype: DType, tmp_path: Path) -> None:
    file = lora_file(tmp_path / "x.safetensors", low_rank("lora_unet_a", 8, 6), dtype=dtype)
    assert {tensor.dtype for tensor in file.modules[0].tensors.values()} == {dtype}


def test_second_key_of_the_same_part_is_not_read(tmp_path: Path) -> None:
    keys = {
        "unet.a.to_k.lora_A.weight": (4, 8),
        "unet.a.to_k.lora_B.weight": (8, 4),
        "unet.a.to_k.lora.down.weight": (4, 8),
    }
    file = lora_file(tmp_path / "x.safetensors", keys)
    (module,) = file.modules
    assert module.tensors["lora_down.weight"] == file.tensors["unet.a.to_k.lora_A.weight"]
    assert file.unread == ("unet.a.to_k.lora.down.weight",)


def test_layers_that_nothing_changes_are_no_modules(tmp_path: Path) -> None:
    plain = {"conv_in.weight": (320, 4, 3, 3), ".lora_up.weight": (1,), "y.lora_side.weight": (1,)}
    plain |= {"z.alpha": (), "z.dora_scale": (8, 1)}
    keys = plain | {"x.weight": (8,), "x.on_input": ()}
    file = lora_file(tmp_path / "x.safetensors", keys)
    assert [module.layer for module in file.modules] == ["x"]
    assert file.unread == tuple(plain)


def test_keys_of_an_unknown_type_of_change_are_unused(tmp_path: Path) -> None:
    unknown = {"lora_unet_a.bias_values": (4,), "lora_unet_a.boft_s": (8, 1)}
    keys = unknown | low_rank("lora_unet_b", 8, 6)
    targets = {name: (Target("denoiser", name, (8, 6)),) for name in ("a", "b")}
    table = LayerTable({"lora_unet_": ("denoiser",)}, {"denoiser": targets})
    fitted = fit(lora_file(tmp_path / "x.safetensors", keys), table)
    assert [module.target.layer for module in fitted.modules] == ["b"]
    assert fitted.unused == tuple(unknown)


@pytest.mark.parametrize("inner", ["string_to_param.*", "emb_params", "clip_l"])
def test_bundled_embeddings_are_apart(inner: str, tmp_path: Path) -> None:
    bundled = {f"bundle_emb.my.{inner}": (2, 768), "bundle_emb.my.clip_g": (2, 1280)}
    file = lora_file(tmp_path / "x.safetensors", low_rank("lora_unet_a", 8, 6) | bundled)
    (embedding,) = file.embeddings
    assert embedding.name == "my"
    assert {name: part.shape for name, part in embedding.tensors.items()} == {
        inner: (2, 768),
        "clip_g": (2, 1280),
    }
    assert (file.total_keys, file.unread) == (3, ())


def test_pytorch_files_are_read() -> None:
    file = read_lora(read_index(FROZEN / "lora.pt"))
    assert [module.layer for module in file.modules] == ["lora_unet_a"]
    assert set(file.modules[0].tensors) == {"lora_up.weight", "lora_down.weight", "alpha"}


def test_keys_are_read_and_fitted_in_linear_work() -> None:
    indexes = {count: index_of(count) for count in (1, 500, 2000)}
    table = LayerTable({"lora_unet_": ("denoiser",)}, {"denoiser": {}})
    counted_work.assert_linear(lambda count: fit(read_lora(indexes[count]), table))


def index_of(layers: int) -> TensorIndex:
    """An index of a file with this number of layers."""
    path = Path("x.safetensors")
    keys = [key for number in range(layers) for key in low_rank(f"lora_unet_x_{number}", 1, 1)]
    return TensorIndex(path, {key: FileSlice(path, 0, DType.F16, (1, 1)) for key in keys}, {}, "")


@pytest.mark.parametrize("cut", [1, 40])
def test_truncated_files_are_named(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    lora_file(path, low_rank("lora_unet_a", 8, 6))
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(EngineError) as caught:
        read_lora(read_index(path))
    assert caught.value.code is ErrorCode.CHECKPOINT_TRUNCATED


def test_name_of_a_bundled_embedding_may_hold_dots(tmp_path: Path) -> None:
    """OneTrainer bundles them by the words of the prompt."""
    keys = {"bundle_emb.<v1.5-ink>.clip_l": (2, 768), "bundle_emb.a.odd.key": (2, 768)}
    file = lora_file(tmp_path / "x.safetensors", keys)
    assert [embedding.name for embedding in file.embeddings] == ["<v1.5-ink>", "a"]
