"""Embeddings in prompts, through the whole pipeline.

An embedding whose vectors are those of words must make the picture that the words make.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from backends.base import Array, FileSlice
from backends.cpu import CpuBackend
from engine.api.embeddings import EmbeddingHash
from engine.api.lora import LoraChoice
from engine.api.values import ConventionName, SamplerName
from engine.checkpoints.files import read_index
from engine.embeddings.library import NO_EMBEDDINGS, EmbeddingLibrary, Embeddings
from engine.families.shared.clip.text_encoding import ClipTextPlan
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.lora.folder import LoraLookup
from engine.pipeline.batch import ResolvedJob
from engine.pipeline.loras import JobLoras
from engine.pipeline.picture_loras import PictureLoras
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve
from engine.text.tokenizers import load_tokenizer
from engine.weights.sources import mapped
from tests.checkpoints.arrays import write_arrays
from tests.pipeline.jobs import RESIDENCY, Result, a_request, run
from tests.pipeline.lora_files import FileLora
from tests.thinned import thinned

A1111, COMFY, DIFFUSERS, INVOKE = ConventionName
WORDS = "red horse"
TABLE = "text_model.embeddings.token_embedding.weight"


def vectors_of(checkpoint: Path, words: str) -> Array:
    """The vectors of words, float32 [tokens, width]."""
    (stored,) = (checkpoint / "text_encoder").glob("*.safetensors")
    table: FileSlice = read_index(stored).tensors[TABLE]
    return mapped(table)[load_tokenizer(checkpoint / "tokenizer").encode(words)]


@pytest.fixture(scope="module")
def library(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> EmbeddingLibrary:
    """One called zz, which means WORDS, one that means one word less, and one of another width."""
    folder = tmp_path_factory.mktemp("embeddings")
    vectors = vectors_of(tiny, WORDS)
    write_arrays(folder / "zz.safetensors", {"emb_params": vectors})
    write_arrays(folder / "less.safetensors", {"emb_params": vectors[:-1]})
    write_arrays(folder / "wide.safetensors", {"emb_params": np.ones((2, 768), np.float32)})
    (folder / "bad.pt").write_bytes(b"PK\x03\x04 no archive")
    return EmbeddingLibrary([folder])


def made(tiny: Path, prompt: str, known: Embeddings = NO_EMBEDDINGS, **changes: object) -> Result:
    wanted: dict[str, object] = {"convention": A1111, "steps": 4, "sampler": SamplerName.EULER}
    request = a_request(tiny, prompt=prompt, **(wanted | changes))
    return run(request, CpuBackend(), residency=RESIDENCY, embeddings=known)


def pixels(*arguments: object, **changes: object) -> NDArray[np.uint8]:
    return made(*arguments, **changes).pixels[0]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("tool", "spelling"),
    thinned(
        [
            (A1111, "zz"),
            (A1111, "ZZ"),
            (COMFY, "embedding:zz"),
            (COMFY, "<embed:zz>"),
            (DIFFUSERS, "<zz>"),
            (INVOKE, "<zz>"),
        ],
        [(A1111, "ZZ"), (COMFY, "embedding:zz"), (COMFY, "<embed:zz>"), (DIFFUSERS, "<zz>")],
    ),
)
def test_an_embedding_of_words_makes_their_picture(
    tool: ConventionName, spelling: str, tiny: Path, library: EmbeddingLibrary
) -> None:
    changes = {"convention": tool, "steps": 2}
    words = pixels(tiny, f"a {WORDS}, blue", **changes)
    named = made(tiny, f"a {spelling}, blue", library, **changes)
    np.testing.assert_array_equal(named.pixels[0], words)
    assert not named.warnings
    assert (named.pixels[0] != pixels(tiny, f"a {spelling}, blue", **changes)).any()
    (used,) = named.pictures[0].embeddings.values()
    assert used.name == "zz"


@pytest.mark.parametrize(
    ("prompt", "plain"),
    [
        ("(zz:1.4) blue", f"({WORDS}:1.4) blue"),
        ("[zz:blue:2] house", f"[{WORDS}:blue:2] house"),
        ("[blue|zz] house", f"[blue|{WORDS}] house"),
        ("blue BREAK zz", f"blue BREAK {WORDS}"),
        ("zz AND blue", f"{WORDS} AND blue"),
        ("blue, " * 45 + "zz", "blue, " * 45 + WORDS),
    ],
)
def test_an_embedding_goes_with_the_rest_of_the_grammar(
    prompt: str, plain: str, tiny: Path, library: EmbeddingLibrary
) -> None:
    np.testing.assert_array_equal(pixels(tiny, prompt, library), pixels(tiny, plain))


def test_an_embedding_in_the_negative_prompt_acts(tiny: Path, library: EmbeddingLibrary) -> None:
    named = made(tiny, "blue", library, negative_prompt="zz, house")
    words = pixels(tiny, "blue", negative_prompt=f"{WORDS}, house")
    np.testing.assert_array_equal(named.pixels[0], words)
    assert list(named.pictures[0].embeddings) == ["zz"]


def test_a_folder_of_embeddings_changes_no_prompt_that_names_none(
    tiny: Path, library: EmbeddingLibrary
) -> None:
    named = made(tiny, "a red house", library)
    np.testing.assert_array_equal(named.pixels[0], pixels(tiny, "a red house"))
    assert not named.pictures[0].embeddings


def test_an_embedding_that_cannot_be_used_is_told(tiny: Path, library: EmbeddingLibrary) -> None:
    for prompt, tool, reason in (
        ("a wide house", A1111, "for Stable Diffusion 1, not for this model"),
        ("a bad house", A1111, "was not used: bad.pt"),
        ("a embedding:none house", COMFY, '"none" was not found'),
        ("a embedding:wide house", COMFY, "left it out"),
    ):
        result = made(tiny, prompt, library, convention=tool)
        assert any(reason in warning.message for warning in result.warnings), prompt
    np.testing.assert_array_equal(
        pixels(tiny, "a wide house", library), pixels(tiny, "a wide house")
    )


def test_a_deleted_file_does_not_stop_a_job_that_was_read(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "zz.safetensors"
    write_arrays(path, {"emb_params": vectors_of(tiny, WORDS)})
    request = a_request(tiny, prompt="zz", convention=A1111)
    checkpoints = load_checkpoints(request)
    job = ResolvedJob(
        resolve(request, checkpoints), checkpoints, embeddings=EmbeddingLibrary([tmp_path])
    )
    read = read_job(job)
    path.unlink()
    (used,) = read.first.texts[0].embeddings(("zz", "blur")).values()
    np.testing.assert_array_equal(used.tensors[""], vectors_of(tiny, WORDS))


def test_a_network_is_another_one_only_where_a_prompt_names_an_embedding(
    tiny: Path, library: EmbeddingLibrary
) -> None:
    checkpoints = load_checkpoints(a_request(tiny))

    def networks(*prompts: str) -> list[object]:
        requests = [
            resolve(a_request(tiny, prompt=p, convention=A1111), checkpoints) for p in prompts
        ]
        plan = checkpoints.first.architecture.text.read(requests, library)
        assert isinstance(plan, ClipTextPlan)
        return list(plan.networks)

    plain = networks("a red house")
    assert networks("blue") == plain
    named = networks("zz")
    assert named != plain
    # Whichever embedding it is: compiled networks do not depend on it.
    assert networks("less", "blue") == named


def test_a_lora_hands_its_embeddings_to_the_prompt(tiny: Path, library: EmbeddingLibrary) -> None:
    (bundled,) = (library.named("zz"),)
    assert bundled is not None
    assert bundled.embedding is not None
    loras = PictureLoras(embeddings={"yy": msgspec.structs.replace(bundled.embedding, name="yy")})
    request = a_request(tiny, prompt="a yy, blue", convention=A1111)
    checkpoints = load_checkpoints(request)
    job = ResolvedJob(
        resolve(request, checkpoints), checkpoints, read_loras=lambda _request, _run: loras
    )
    found = read_job(job).first.texts[0].embeddings(("a yy, blue", "blur"))
    assert list(found) == ["yy"]


def shape_of(tiny: Path, prompt: str, known: Embeddings) -> Sequence[int]:
    request = a_request(tiny, prompt=prompt, convention=A1111)
    checkpoints = load_checkpoints(request)
    job = ResolvedJob(resolve(request, checkpoints), checkpoints, embeddings=known)
    return read_job(job).first.texts[0].shape((prompt, "blur"), guided=True)


def test_vectors_count_when_a_prompt_is_cut_into_chunks(
    tiny: Path, library: EmbeddingLibrary, tmp_path: Path
) -> None:
    long = np.zeros((70, vectors_of(tiny, "a").shape[1]), np.float32)
    write_arrays(tmp_path / "yy.safetensors", {"emb_params": long})
    known = EmbeddingLibrary([tmp_path])
    assert shape_of(tiny, "yy a a a a a", known) == (2, 77)
    assert shape_of(tiny, "yy a a a a a a", known) == (2, 154)
    assert shape_of(tiny, "yy a a a a a a", library) == (2, 77)


def test_an_embedding_of_another_name_is_found_by_its_hash(
    tiny: Path, library: EmbeddingLibrary
) -> None:
    known = library.named("zz")
    assert known is not None
    assert known.embedding is not None
    hashes = (EmbeddingHash(name="xx", hash=known.embedding.sha256[:12]),)
    named = made(tiny, "a xx, blue", library, embedding_hashes=hashes)
    np.testing.assert_array_equal(named.pixels[0], pixels(tiny, f"a {WORDS}, blue"))
    assert not named.warnings


def test_a_missing_embedding_is_told_with_its_hash(tiny: Path, library: EmbeddingLibrary) -> None:
    hashes = (EmbeddingHash(name="xx", hash="0123456789ab"),)
    (warning,) = made(tiny, "a XX, blue", library, embedding_hashes=hashes).warnings
    assert '"xx" was not found' in warning.message
    assert "0123456789ab" in warning.hint
    # It is no longer in the prompt.
    assert not made(tiny, "a blue", library, embedding_hashes=hashes).warnings


def test_an_embedding_that_a_lora_file_bundles_acts_with_it(tiny: Path, tmp_path: Path) -> None:
    vectors = vectors_of(tiny, WORDS)
    extra = {"bundle_emb.yy.string_to_param.*": vectors}
    FileLora(tmp_path / "style.safetensors", tiny, components=[], extra=extra)
    checkpoints = load_checkpoints(a_request(tiny))
    reader = JobLoras(checkpoints.first, LoraLookup((tmp_path,)), read_index)
    request = a_request(
        tiny,
        prompt="a yy, blue",
        convention=A1111,
        loras=(LoraChoice(file="style"),),
    )
    resolved = resolve(request, checkpoints)
    job = ResolvedJob(resolved, checkpoints, read_loras=reader)
    (used,) = read_job(job).first.texts[0].embeddings(("a yy, blue", "blur")).values()
    np.testing.assert_array_equal(used.tensors[""], vectors)
