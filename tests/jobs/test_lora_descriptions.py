"""PyTorch files are described by their keys, as safetensors files are."""

from pathlib import Path

import pytest

from engine.jobs.lora_descriptions import describe_lora
from engine.lora.files_below import list_one

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
    info = describe_lora(listed)
    assert (not info.problem, info.is_embedding) == (is_lora, is_embedding)
