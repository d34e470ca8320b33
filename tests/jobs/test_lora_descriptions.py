"""LoRA files are described by their keys and their metadata."""

from pathlib import Path

import pytest

from engine.api.lora_files import LoraInfo
from engine.checkpoints.index import TensorIndex
from engine.jobs import lora_descriptions
from engine.jobs.lora_descriptions import LoraDescriber
from engine.lora.file import LoraFile, read_lora
from engine.lora.files_below import list_one
from tests.checkpoints.files import write_sparse
from tests.lora.files import low_rank

FROZEN = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("file", "is_lora", "is_embedding"),
    [
        ("lora/frozen/lora.pt", True, False),
        ("embeddings/frozen/a1111.pt", False, True),
    ],
)
def test_a_lora_and_an_embedding_in_a_pytorch_file_are_told_apart(
    file: str, is_lora: bool, is_embedding: bool
) -> None:
    listed = list_one(FROZEN / file)
    assert listed is not None
    info = LoraDescriber()(listed)
    assert (not info.problem, info.is_embedding) == (is_lora, is_embedding)


def test_keys_are_read_once_for_all_files_that_have_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counted(index: TensorIndex) -> LoraFile:
        read.append(index.path.stem)
        return read_lora(index)

    monkeypatch.setattr(lora_descriptions, "read_lora", counted)
    describe, told = LoraDescriber(), dict[str, LoraInfo]()
    layer = "lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn2_to_k"
    for name, rank in (("lcm", 4), ("b", 4), ("c", 8)):
        metadata = {"ss_output_name": name}
        path = tmp_path / f"{name}.safetensors"
        write_sparse(path, low_rank(layer, 320, 768, rank), metadata=metadata)
        listed = list_one(path)
        assert listed is not None
        told[name] = describe(listed)
    assert read == ["lcm", "c"]
    assert {name: info.rank for name, info in told.items()} == {"lcm": 4, "b": 4, "c": 8}
    assert [info.title for info in told.values()] == ["lcm", "b", "c"]
    assert [info.few_steps is None for info in told.values()] == [False, True, True]
    assert all(info.families == ("sd1",) for info in told.values())


def test_metadata_tell_the_base_of_files_whose_keys_do_not(tmp_path: Path) -> None:
    describe = LoraDescriber()
    bases = {"sd_v1": ("sd1",), "sdxl_base_v1-0": ("sdxl",)}
    for base, families in bases.items():
        path = tmp_path / f"{base}.safetensors"
        keys = low_rank("lora_unet_mid_block_resnets_0_conv1", 1280, 1280)
        write_sparse(path, keys, metadata={"ss_base_model_version": base})
        listed = list_one(path)
        assert listed is not None
        assert describe(listed).families == families


@pytest.mark.parametrize(
    ("stated", "expected"), [({}, ("ink", "tree")), ({"modelspec.trigger_phrase": "aki"}, ("aki",))]
)
def test_trigger_words_that_no_author_states_are_the_tags_of_the_training(
    tmp_path: Path, stated: dict[str, str], expected: tuple[str, ...]
) -> None:
    layer = "lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn2_to_k"
    metadata = {"ss_tag_frequency": '{"10_set": {"tree": 2, "ink": 9}}', **stated}
    path = write_sparse(tmp_path / "a.safetensors", low_rank(layer, 320, 768), metadata=metadata)
    listed = list_one(path)
    assert listed is not None
    assert LoraDescriber()(listed).trigger_words == expected
