"""Whole pictures with embeddings beside diffusers, whose `load_textual_inversion` adds words."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
pytest.importorskip("transformers")
compel = pytest.importorskip("compel")

import msgspec  # noqa: E402
from compel.embeddings_provider import BaseTextualInversionManager  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from backends.base import Array  # noqa: E402
from engine.api.conventions import CONVENTIONS  # noqa: E402
from engine.api.prompt_rules import LengthMatching  # noqa: E402
from engine.api.values import ConventionName  # noqa: E402
from engine.embeddings.embedding import Embedding, Encoder  # noqa: E402
from engine.embeddings.library import EmbeddingLibrary, WithBundled  # noqa: E402
from engine.families.shared.prompts.prompt_embeddings import EncoderOutput, encode  # noqa: E402
from engine.families.shared.prompts.prompt_tokens import tokenize_prompts  # noqa: E402
from engine.text.embedded import EmbeddingReader, EmbeddingUse  # noqa: E402
from engine.text.tokenizers import load_clip_tokenizer  # noqa: E402
from tests.oracle.clip import small_clip  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    SIZE,
    check,
    euler,
    opened,
    our_pixels,
    their_pixels,
)
from tests.oracle.sdxl_folder import NARROW, WIDE, write_pipeline  # noqa: E402
from tests.tiny_checkpoint import write_checkpoint  # noqa: E402

# Vectors as large as these networks' words.
RANDOM = torch.Generator().manual_seed(3)


def vectors(count: int, width: int, size: float):
    return size * torch.randn((count, width), generator=RANDOM)


def ours(checkpoint: Path, folder: Path, backend_name: str, texts: dict) -> Array:
    return our_pixels(checkpoint, backend_name, embeddings=EmbeddingLibrary([folder]), **texts)


@pytest.fixture(scope="module")
def sd1(tmp_path_factory):
    """A checkpoint, a folder of two concepts, and diffusers' pipeline that knows both."""
    folder = tmp_path_factory.mktemp("sd1")
    checkpoint = write_checkpoint(folder / "tiny")
    kind = diffusers.StableDiffusionPipeline
    pipe = opened(kind, checkpoint, safety_checker=None, scheduler=euler())
    width = pipe.text_encoder.config.hidden_size
    for word, count in (("<hat>", 1), ("<cat-toy>", 3)):
        # A concept of one vector is saved without a second axis.
        values = vectors(count, width, 1.0)
        state = {word: values[0] if count == 1 else values}
        torch.save(state, folder / f"file{count}.bin")
        pipe.load_textual_inversion(str(folder), weight_name=f"file{count}.bin")
    return checkpoint, folder, pipe


@pytest.mark.parametrize(
    "texts",
    [
        {"prompt": "a red <cat-toy>, blue house", "negative_prompt": "blur"},
        {"prompt": "a red horse", "negative_prompt": "blur <hat>"},
        {"prompt": "<hat>a <cat-toy>_2,house", "negative_prompt": "<cat-toy>_1"},
        {"prompt": "a " * 73 + "<cat-toy> red", "negative_prompt": ""},
        {"prompt": "a <CAT-TOY> <other>", "negative_prompt": "blur"},
    ],
    ids=["several vectors", "negative", "single vectors", "cut", "other case"],
)
def test_pictures_of_concepts_equal_diffusers(sd1, texts: dict) -> None:
    checkpoint, folder, pipe = sd1
    expected = their_pixels(pipe, **SIZE, **texts)
    for backend_name in ("cpu", "intel_openvino"):
        check(ours(checkpoint, folder, backend_name, texts), expected)


@pytest.fixture(scope="module")
def sdxl(tmp_path_factory):
    """The same of SDXL, with one concept.

    Its texts are pooled at the largest token, as SDXL's own configuration makes it.
    """
    checkpoint = write_pipeline(tmp_path_factory.mktemp("sdxl"))
    for name in ("text_encoder", "text_encoder_2"):
        path = checkpoint / name / "config.json"
        config = json.loads(path.read_text())
        path.write_text(json.dumps(config | {"eos_token_id": 2}))
    pipe = opened(diffusers.StableDiffusionXLPipeline, checkpoint)
    folder = tmp_path_factory.mktemp("concepts")
    state = {"clip_l": vectors(2, NARROW, 0.3), "clip_g": vectors(2, WIDE, 0.3)}
    save_file(state, folder / "style.safetensors")
    for key, text, words in (
        ("clip_l", pipe.text_encoder, pipe.tokenizer),
        ("clip_g", pipe.text_encoder_2, pipe.tokenizer_2),
    ):
        pipe.load_textual_inversion(state[key], token="<style>", text_encoder=text, tokenizer=words)
    return checkpoint, folder, pipe


@pytest.mark.parametrize(
    "texts",
    [
        {"prompt": "a red <style>, blue house", "negative_prompt": "a blur"},
        {"prompt": "a red horse", "negative_prompt": "<style> blur"},
    ],
    ids=["prompt", "negative"],
)
def test_sdxls_pictures_equal_diffusers(sdxl, texts: dict) -> None:
    checkpoint, folder, pipe = sdxl
    check(ours(checkpoint, folder, "cpu", texts), their_pixels(pipe, **SIZE, **texts))


class Extended(BaseTextualInversionManager):
    """Puts an embedding's other vectors behind its first, as InvokeAI's manager does."""

    def __init__(self, first: int, count: int) -> None:
        self.first, self.others = first, list(range(first + 1, first + count))

    def expand_textual_inversion_token_ids_if_necessary(self, token_ids):
        return [
            token_id
            for token in token_ids
            for token_id in ([token, *self.others] if token == self.first else [token])
        ]


COUNT = 3


@pytest.fixture(scope="module")
def extended_clip(tmp_path_factory):
    """A text encoder to whose words the vectors of <style> were added, and the first's id."""
    tokenizer, module = small_clip(tmp_path_factory.mktemp("tokenizer"))
    first = len(tokenizer)
    tokenizer.add_tokens(["<style>", *(f"<style-!pad-{i}>" for i in range(1, COUNT))])
    module.resize_token_embeddings(len(tokenizer))
    module.get_input_embeddings().weight.data[first:].normal_(0, 0.3)
    return tokenizer, module, first


@pytest.mark.parametrize(
    "prompt",
    [
        "a <style> dog",
        "(a <style>)1.3 cat, <style>+",
        "a (red <style>)0.5 dog",
        '("a <style>", "a dog").blend(0.3, 0.7)',
        "cat " * 60 + ". dog <style> " + "cat " * 11 + "<style>",
        "cat " * 74 + "<style> dog",
        "a <other> dog",
    ],
)
def test_the_encoding_of_embeddings_equals_compels(extended_clip, prompt: str) -> None:
    tokenizer, module, first = extended_clip
    reference = compel.Compel(
        tokenizer,
        module,
        textual_inversion_manager=Extended(first, COUNT),
        truncate_long_prompts=False,
    )
    with torch.no_grad():
        theirs = reference(prompt).numpy()

    def encode_tokens(ids, seen, places):
        words = ids if places is None else np.where(places >= 0, first + places, ids)
        mask = None if seen is None else torch.from_numpy(seen.astype(np.int64))
        with torch.no_grad():
            output = module(torch.from_numpy(words), mask).last_hidden_state.numpy()
        return EncoderOutput(output)

    convention = msgspec.structs.replace(
        CONVENTIONS[ConventionName.INVOKE], length_matching=LengthMatching.EMPTY_CHUNKS
    )
    encoder = Encoder("clip_l", 32)
    style = Embedding("style", {"": np.zeros((COUNT, 32), np.float32)})
    use = EmbeddingUse(
        encoder, (encoder,), convention.embedding_spellings, WithBundled({"style": style})
    )
    words = load_clip_tokenizer()
    plan = tokenize_prompts(prompt, "", words, convention, 20, EmbeddingReader(words, use))
    ours = encode(plan, encode_tokens).at(0, guided=False)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4 * np.abs(theirs).max())
