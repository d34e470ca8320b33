"""Names of embeddings in prompts: vectors take the places of tokens as the tools arrange them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.api.conventions import CONVENTIONS, Convention
from engine.api.prompt_rules import Chunking
from engine.api.sentences import sentence
from engine.api.values import ConventionName
from engine.embeddings.embedding import CLIP_G, CLIP_L, Embedding, Encoder
from engine.embeddings.faults import damaged
from engine.embeddings.library import Embeddings, Found, WithBundled
from engine.errors import EngineError
from engine.text.chunks import NO_PART, TokenChunks, tokenize_prompt
from engine.text.counting import count_tokens
from engine.text.embedded import NO_VECTOR, EmbeddingReader, EmbeddingUse
from engine.text.reading import read_prompt
from engine.text.tokenizers import load_clip_tokenizer
from tests.text.embedded_cases import A1111, COMFY, EMBEDDINGS, embedding

FROZEN: Any = json.loads((Path(__file__).parent / "frozen" / "embedded.json").read_text())
CLIP = load_clip_tokenizer()
SD1 = (Encoder(CLIP_L, 768),)
SDXL = (Encoder(CLIP_L, 768), Encoder(CLIP_G, 1280))


class Known(WithBundled, frozen=True):
    """Embeddings in files that end in .pt."""

    def at_path(self, name: str) -> Found | None:
        return super().at_path(name.removesuffix(".pt"))


ALL = Known({name: embedding(name, 768) for name in EMBEDDINGS})
TOOL = {name: CONVENTIONS[name] for name in ConventionName}


def reader_of(
    convention: Convention,
    known: Embeddings = ALL,
    encoders: tuple[Encoder, ...] = SD1,
    encoder: Encoder | None = None,
) -> EmbeddingReader:
    use = EmbeddingUse(encoder or encoders[0], encoders, convention.embedding_spellings, known)
    return EmbeddingReader(CLIP, use)


def chunks_of(prompt: str, convention: Convention, reader: EmbeddingReader) -> TokenChunks:
    passage = read_prompt(prompt, convention, 20).timelines[0].passages[0].passage
    return tokenize_prompt(CLIP, passage[0].phrases[0], convention.chunking, reader)


def _lists(array: Any) -> list[list[int]]:
    return array.tolist()


def placed(chunks: TokenChunks, reader: EmbeddingReader) -> list[list[list[Any]]]:
    """The vectors of each chunk as [position, name, index]."""
    if chunks.vectors is None:
        return [[] for _ in chunks.ids]
    return [
        [
            [place, reader.vectors[vector][0].name, reader.vectors[vector][1]]
            for place, vector in enumerate(row)
            if vector != NO_VECTOR
        ]
        for row in _lists(chunks.vectors)
    ]


def assert_arranged(frozen: Any, chunks: TokenChunks, reader: EmbeddingReader) -> None:
    rows = frozen["chunks"]
    assert chunks.ids.tolist() == [row["ids"] for row in rows]
    np.testing.assert_allclose(chunks.weights, [row["weights"] for row in rows], rtol=1e-6)
    assert placed(chunks, reader) == [sorted(row["vectors"]) for row in rows]


@pytest.mark.parametrize(
    ("prompt", "frozen"), list(zip(A1111, FROZEN["a1111"], strict=True)), ids=range(len(A1111))
)
def test_a1111_arranges_tokens_and_vectors_alike(prompt: str, frozen: Any) -> None:
    convention = TOOL[ConventionName.A1111]
    reader = reader_of(convention)
    chunks = chunks_of(prompt, convention, reader)
    assert_arranged(frozen, chunks, reader)
    assert chunks.used == frozen["used"]
    counted = count_tokens(prompt, CLIP, convention, reader=reader_of(convention))
    assert (counted.used, counted.capacity) == (frozen["used"], 75 * len(frozen["chunks"]))


COMFY_PROMPTS = [prompt for prompt in COMFY if "embedding: " not in prompt]


@pytest.mark.parametrize("index", range(len(COMFY_PROMPTS)))
def test_comfy_arranges_tokens_and_vectors_alike(index: int) -> None:
    convention = TOOL[ConventionName.COMFY]
    reader = reader_of(convention)
    chunks = chunks_of(COMFY_PROMPTS[index], convention, reader)
    assert_arranged(FROZEN["comfy"]["fitting"][index], chunks, reader)


@pytest.mark.parametrize("index", range(len(COMFY_PROMPTS)))
def test_comfy_moves_words_up_where_an_encoder_has_no_vectors(index: int) -> None:
    convention = TOOL[ConventionName.COMFY]
    reader = reader_of(convention, encoders=SDXL, encoder=SDXL[1])
    chunks = chunks_of(COMFY_PROMPTS[index], convention, reader)
    assert_arranged(FROZEN["comfy"]["other"][index], chunks, reader)
    assert any("left it out" in message for message in reader.warnings) == bool(
        FROZEN["comfy"]["fitting"][index]["chunks"][0]["vectors"]
        or len(FROZEN["comfy"]["fitting"][index]["chunks"]) > 1
    )


def names_in(prompt: str, tool: ConventionName, known: Embeddings = ALL) -> list[str]:
    """The names of vectors in the first chunk, in order, as "name.index"."""
    reader = reader_of(TOOL[tool], known)
    (row, *_) = placed(chunks_of(prompt, TOOL[tool], reader), reader)
    return [f"{name}.{index}" for _, name, index in row]


def test_a_prompt_without_names_of_embeddings_has_no_vectors() -> None:
    for tool in ConventionName:
        reader = reader_of(TOOL[tool])
        chunks = chunks_of("a red house, blue sky", TOOL[tool], reader)
        assert chunks.vectors is None
        assert not reader.warnings


def test_a_word_that_begins_like_a_name_is_no_name() -> None:
    assert names_in("badge badly", ConventionName.A1111) == []
    assert names_in("bad", ConventionName.A1111) == ["bad.0"]


def test_the_longest_name_counts() -> None:
    assert names_in("bad-hands-5", ConventionName.A1111) == ["bad-hands-5.0", "bad-hands-5.1"]
    assert names_in("bad-hands-6", ConventionName.A1111) == ["bad.0"]


@pytest.mark.parametrize("tag", ["<embed:bad>", "<embedding:bad>", "(<embed:bad>:1.2)"])
def test_swarm_names_an_embedding_in_a_tag(tag: str) -> None:
    assert names_in(f"a {tag} dog", ConventionName.COMFY) == ["bad.0"]


def test_invoke_names_an_embedding_in_angle_brackets() -> None:
    assert names_in("a <bad> dog", ConventionName.INVOKE) == ["bad.0"]
    assert names_in("a bad dog", ConventionName.INVOKE) == []
    assert names_in("a <worse> dog", ConventionName.INVOKE) == []


class Words(WithBundled, frozen=True):
    """Embeddings whose files name words."""

    def of_word(self, word: str) -> Found | None:
        return Found(self.bundled[word]) if word in self.bundled else None


def test_diffusers_reads_the_word_of_a_concept_and_of_each_vector() -> None:
    cat = Embedding("cat", {"": np.zeros((3, 768), np.float32)}, token="<cat-toy>")
    known = Words({"<cat-toy>": cat})
    asked = ConventionName.DIFFUSERS
    assert names_in("a <cat-toy> dog", asked, known) == ["cat.0", "cat.1", "cat.2"]
    assert names_in("a <cat-toy>_1 dog", asked, known) == ["cat.1"]
    assert names_in("a <cat-toy>_3", asked, known) == ["cat.0", "cat.1", "cat.2"]
    assert names_in("a cat-toy", asked, known) == []
    # In another case it is found, but only as its first vector.
    assert names_in("a <Cat-Toy> dog", asked, known) == ["cat.0"]
    assert names_in("a <CAT-TOY>_2 dog", asked, known) == ["cat.2"]


def test_the_words_beyond_diffusers_chunk_are_found() -> None:
    cat = Embedding("cat", {"": np.zeros((3, 768), np.float32)})
    known, convention = Words({"<cat>": cat}), TOOL[ConventionName.DIFFUSERS]
    text = "dog " * 73 + "<cat> bird"
    count = count_tokens(text, CLIP, convention, reader=reader_of(convention, known))
    assert (count.used, count.capacity) == (77, 75)
    # An embedding is cut between its vectors.
    assert names_in(text, ConventionName.DIFFUSERS, known) == ["cat.0", "cat.1"]
    assert count.cut_at is not None
    assert text.index("<cat>") <= count.cut_at <= text.index(" bird")
    text = "<cat> " + "dog " * 75
    count = count_tokens(text, CLIP, convention, reader=reader_of(convention, known))
    assert count.cut_at is not None
    assert text[: count.cut_at].count("dog") == 72


def test_no_beginning_of_a_name_is_told_of() -> None:
    convention = TOOL[ConventionName.COMFY]
    text = "embedding:bad " + "dog " * 56 + "embedding:bad " * 20
    count = count_tokens(text, CLIP, convention, reader=reader_of(convention))
    assert count.chunk_starts
    assert count.embedding_remarks == ()


def test_changing_and_negative_prompts_name_embeddings_too() -> None:
    convention = TOOL[ConventionName.A1111]
    reader = reader_of(convention)
    text = "a [cat toy:bad:5] x"
    assert count_tokens(text, CLIP, convention, reader=reader).used == 6
    assert count_tokens(text, CLIP, convention, reader=reader, negative=True).used == 6


def test_weights_lie_on_every_vector() -> None:
    convention = TOOL[ConventionName.A1111]
    chunks = chunks_of("a (cat toy:1.5)", convention, reader_of(convention))
    np.testing.assert_allclose(chunks.weights[0, :7], [1, 1, 1.5, 1.5, 1.5, 1.5, 1])
    assert (chunks.parts[0, 2:6] == 1).all()
    assert chunks.parts[0, 6] == NO_PART


def told_of(prompt: str, tool: ConventionName, known: Embeddings, *encoders: Encoder) -> str:
    reader = reader_of(TOOL[tool], known, encoders or SD1)
    chunks = chunks_of(prompt, TOOL[tool], reader)
    assert chunks.vectors is None
    (message,) = reader.warnings
    return message


def test_an_embedding_of_another_model_is_told_and_its_name_is_words() -> None:
    for_sd2 = WithBundled({"bad": embedding("bad", 1024)})
    message = told_of("a bad dog", ConventionName.A1111, for_sd2)
    assert "for Stable Diffusion 2, not for this model" in message
    both = WithBundled({"bad": embedding("bad", 768, 1280)})
    message = told_of("a bad dog", ConventionName.A1111, both)
    assert "for SDXL" in message
    assert "for Stable Diffusion 1" in told_of("a bad dog", ConventionName.A1111, ALL, *SDXL)


def test_comfy_takes_the_vectors_that_an_encoder_has() -> None:
    both = WithBundled({"bad": embedding("bad", 768, 1280)})
    convention = TOOL[ConventionName.COMFY]
    for encoders, encoder in ((SD1, SD1[0]), (SDXL, SDXL[0]), (SDXL, SDXL[1])):
        reader = reader_of(convention, both, encoders, encoder)
        assert chunks_of("embedding:bad", convention, reader).vectors is not None
        assert not reader.warnings


def test_a_missing_embedding_is_told() -> None:
    message = told_of("a embedding:nope dog", ConventionName.COMFY, ALL)
    assert message == 'The embedding "nope" was not found; the picture was made without it.'


class Damaged(WithBundled, frozen=True):
    """Embeddings whose files are damaged."""

    def named(self, name: str) -> Found | None:
        return Found(error=damaged(Path("bad.pt"), sentence("it ends early")))


def test_a_damaged_embedding_is_told() -> None:
    known = Damaged({"bad": embedding("bad", 768)})
    message = told_of("a bad dog", ConventionName.A1111, known)
    assert message == 'The embedding "bad" was not used: bad.pt is damaged: it ends early.'


def test_an_embedding_without_room_is_told() -> None:
    known = WithBundled({"bad": Embedding("bad", {"": np.zeros((76, 768), np.float32)})})
    assert "has 76 vectors; at most 75" in told_of("a bad dog", ConventionName.A1111, known)


def test_a_name_of_two_files_is_told() -> None:
    path, other = Path("a/bad.pt"), Path("b/bad.pt")
    two = Embedding("bad", {"": np.zeros((1, 768), np.float32)}, path, others=(other,))
    convention = TOOL[ConventionName.A1111]
    reader = reader_of(convention, WithBundled({"bad": two}))
    assert chunks_of("bad", convention, reader).vectors is not None
    (message,) = reader.warnings
    assert str(path) in message
    assert str(other) in message


def test_a_convention_without_spellings_reads_no_name() -> None:
    convention = replace(TOOL[ConventionName.A1111], embedding_spellings=())
    assert chunks_of("a bad dog", convention, reader_of(convention)).vectors is None


def test_plain_chunking_keeps_an_embedding_whole() -> None:
    convention = replace(TOOL[ConventionName.A1111], chunking=Chunking.PLAIN)
    reader = reader_of(convention)
    chunks = chunks_of("dog, " * 36 + "cat toy", convention, reader)
    assert placed(chunks, reader)[0] == []
    assert [place for place, *_ in placed(chunks, reader)[1]] == [1, 2, 3, 4]


MARKS = st.sampled_from(
    ["bad", "cat toy", "<", ">", "embedding:", "<embed:", "<bad>", "_1", " ", ",", "(", ")", ":1.2",
     "[", "]", "\\", "BREAK", "a", "\n", "\0", "ü", "\ud800", "long"]
)  # fmt: skip


@given(st.lists(MARKS, max_size=30).map("".join), st.sampled_from(list(ConventionName)))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_and_counted_alike(text: str, tool: ConventionName) -> None:
    convention = TOOL[tool]
    try:
        reader = reader_of(convention)
        chunks = chunks_of(text, convention, reader)
    except EngineError:
        return
    vectors = chunks.vectors
    if vectors is not None:
        assert vectors.shape == chunks.ids.shape
        assert vectors.max() < len(reader.vectors)
        assert (vectors[:, 0] == NO_VECTOR).all()
    passages = read_prompt(text, convention, 20).timelines[0].passages
    if len(passages) == 1 and len(passages[0].passage) == 1:
        counted = count_tokens(text, CLIP, convention, reader=reader_of(convention))
        assert counted.used >= chunks.used
