"""Embeddings in records and in other tools' pictures: their names with their hashes."""

import json

import msgspec
import pytest

from engine.api.embeddings import EmbeddingHash, EmbeddingReport
from engine.metadata.readers.a1111 import from_a1111
from engine.metadata.readers.embeddings import embedding_hashes
from engine.metadata.readers.safelight import import_record
from engine.metadata.readers.swarm import from_swarm
from engine.metadata.record import decode_record, encode_record
from engine.metadata.record_text import record_infotext
from engine.metadata.texts import TextChunk
from tests.metadata.records import PLAIN

BAD = EmbeddingHash(name="EasyNegative", hash="c74b4e810b03")
HANDS = EmbeddingHash(name="bad-hands-5", hash="aa7651be154c")
USED = (
    EmbeddingReport(name="Easy:Neg,ative", path="/e/a.pt", sha256="c7" * 32, vectors=8),
    EmbeddingReport(name="bundled", vectors=2),
)


def test_a_record_writes_the_hashes_as_a1111_does() -> None:
    record = msgspec.structs.replace(PLAIN, embeddings=USED)
    assert record_infotext(record).get("TI hashes") == "EasyNegative: c7c7c7c7c7c7"
    assert record_infotext(PLAIN).get("TI hashes") is None
    assert decode_record(encode_record(record)) == record


def test_our_own_record_brings_the_hashes_back() -> None:
    request = import_record(msgspec.structs.replace(PLAIN, embeddings=USED)).request
    assert request.embedding_hashes == (EmbeddingHash(name="Easy:Neg,ative", hash="c7" * 32),)
    asked = msgspec.structs.replace(PLAIN.request, embedding_hashes=(BAD,))
    missing = msgspec.structs.replace(PLAIN, request=asked)
    assert import_record(missing).request.embedding_hashes == (BAD,)


def test_a1111s_hashes_are_read() -> None:
    text = (
        "a cat\nNegative prompt: EasyNegative, bad-hands-5\nSteps: 20, Sampler: Euler a, "
        'CFG scale: 7, Seed: 1, Size: 64x64, TI hashes: "EasyNegative: c74b4e810b03, '
        'bad-hands-5: aa7651be154c, EasyNegative: c74b4e810b03", Version: v1.10.1'
    )
    imported = from_a1111((TextChunk("parameters", text),))
    assert imported is not None
    assert imported.request.embedding_hashes == (BAD, HANDS)
    assert "It was made with embeddings: EasyNegative, bad-hands-5." in imported.warnings


@pytest.mark.parametrize("suffix", ["", ".safetensors", ".pt"])
def test_swarms_hashes_are_read(suffix: str) -> None:
    document = {
        "sui_image_params": {"prompt": "<embed:EasyNegative>", "seed": 1, "steps": 4},
        "sui_models": [
            {"name": "a.safetensors", "param": "model", "hash": "0x" + "12" * 32},
            {"name": f"EasyNegative{suffix}", "param": "used_embeddings", "hash": "0x" + BAD.hash},
        ],
    }
    imported = from_swarm((TextChunk("parameters", json.dumps(document)),))
    assert imported is not None
    assert imported.request.embedding_hashes == (BAD,)


@pytest.mark.parametrize(
    ("text", "every", "found"),
    [
        (None, None, ()),
        ("", "[]", ()),
        ("a", "{", ()),
        ("a: nothing, b: 12345, : c74b4e810b03", None, ()),
        (None, json.dumps({"embed:EasyNegative": BAD.hash, "model": "1234567890"}), (BAD,)),
        (f"EasyNegative: {BAD.hash}", json.dumps({"embed:EasyNegative": "0" * 10}), (BAD,)),
        ("a\0: c74b4e810b03", None, ()),
    ],
)
def test_only_names_with_hashes_are_taken(
    text: str | None, every: str | None, found: tuple[EmbeddingHash, ...]
) -> None:
    assert embedding_hashes(text, every) == found


def test_many_hashes_are_bounded() -> None:
    text = ", ".join(f"e{i}: {i:012x}" for i in range(100_000))
    assert len(embedding_hashes(text)) <= 256
