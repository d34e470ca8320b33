"""compel's grammar and weights beside compel itself, and tokens that are not seen."""
# pyright: basic, reportMissingImports=false
# torch, transformers and compel are absent from the environment that is type-checked.

import random

import msgspec
import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
compel = pytest.importorskip("compel")
pyparsing = pytest.importorskip("pyparsing")

from compel.embeddings_provider import SplitLongTextMode  # noqa: E402
from compel.prompt_parser import (  # noqa: E402
    Blend,
    CrossAttentionControlSubstitute,
    PromptParser,
)

from engine.api.conventions import CONVENTIONS  # noqa: E402
from engine.api.prompt_rules import Chunking, LengthMatching  # noqa: E402
from engine.api.values import ConventionName  # noqa: E402
from engine.errors import EngineError  # noqa: E402
from engine.families.shared.prompts.prompt_embeddings import EncoderOutput, encode  # noqa: E402
from engine.families.shared.prompts.prompt_tokens import tokenize_prompts  # noqa: E402
from engine.graphs.clip_text import ClipTextConfig, clip_text  # noqa: E402
from engine.text.compel import parse_compel  # noqa: E402
from engine.text.prompt import WeightedText  # noqa: E402
from engine.text.tokenizers import load_clip_tokenizer  # noqa: E402
from tests.oracle.clip import small_clip  # noqa: E402
from tests.oracle.networks import Case, label, targets  # noqa: E402

PIECES = [
    *(
        "(",
        ")",
        "(",
        ")",
        '"',
        "a",
        "b",
        " ",
        " ",
        "+",
        "-",
        "++",
        "1.3",
        ".5",
        "-0.5",
        "2",
        ",",
        ".",
    ),
    *(".swap(", ".attend(", ".blend(", ".and(", "useLora(", "withLora(x,0.5)", "no_normalize", "="),
    *("\\(", '\\"', "\\", "\\\\\\(", '"a b"', "(a b)", '("a", "b")', '"a \\"b\\""'),
]
REFUSED = [
    '("a", "b").blend(1)',
    '("a", "b").blend(1, 1) c',
    '("a", "b").blend(x, 1)',
    '("a", "b").and(1, 2, 3)',
    '("a", "b.swap(c)").blend(1, 1)',
    '("a", "withLora(x)").blend(1, 1)',
]
SENTENCES = "the red house stands by the sea, near a hill. " * 6
PROMPTS = [
    "",
    "a red house",
    "a red++ house-- (by the sea)1.3",
    "(a (very big)1.2 house)0.8, (blue)0.5 sky",
    "(faint)0 (gone)-0.5 rest",
    '("a red house", "a blue (sea)0.7").blend(0.7, 0.3)',
    '("a", "b", "c").blend(1, 2, -0.5, no_normalize)',
    '("a red house", "by the sea++", "x").and(1, 0.5, 2)',
    'a "quoted (text)1.4"++ and \\(escaped\\)',
    "a cat.swap(dog) runs, withLora(x, 0.5)",
    f"(start)1.2 {SENTENCES} (end of all)0.6 rest",
    "x" * 400 + " (y)0.4",
    f"{'word ' * 60} (a weighed part over the seam of the chunks, long enough)0.7 {SENTENCES}",
    f'("{SENTENCES}", "short").blend(1, 1)',
]


PARSER = PromptParser()


def theirs_read(text: str):
    """Phrases, shares and weights as compel parses them, None where it refuses."""
    try:
        conjunction = PARSER.parse_conjunction(text)
    except (pyparsing.ParseException, PromptParser.ParsingException, ValueError):
        return None
    parts = []
    for prompt, weight in zip(conjunction.prompts, conjunction.weights, strict=True):
        if isinstance(prompt, Blend):
            shares = (tuple(prompt.weights), prompt.normalize_weights)
            parts.append((tuple(map(fragments, prompt.prompts)), *shares, weight))
        else:
            parts.append(((fragments(prompt),), (1.0,), True, weight))
    return parts


def fragments(prompt):
    found = []
    for child in prompt.children:
        own = child.original if isinstance(child, CrossAttentionControlSubstitute) else [child]
        found += [(fragment.text, fragment.weight) for fragment in own]
    return tuple(found)


def ours_read(text: str):
    try:
        prompt = parse_compel(text)
    except EngineError:
        return None
    return [
        (
            tuple(
                tuple((part.text, part.weight) for part in p if isinstance(part, WeightedText))
                for p in mixture.phrases
            ),
            mixture.shares,
            mixture.normalized,
            mixture.weight,
        )
        for mixture in prompt.parts
    ]


def test_the_grammar_equals_compels() -> None:
    generator = random.Random(20261121)
    texts = [*PROMPTS, ',,a ",b", x', "a\tb\n(c\td)+", '"a\nb"+']
    for _ in range(500):
        chosen = (generator.choice(PIECES) for _ in range(generator.randint(1, 9)))
        texts.append("".join(chosen).replace("_", " "))
    for text in texts:
        theirs = theirs_read(text)
        # Of LoRAs alone compel makes nothing, and then fails to encode it.
        if theirs != []:
            assert ours_read(text) == theirs, text


@pytest.mark.parametrize("text", REFUSED)
def test_prompts_that_compel_refuses_are_refused(text: str) -> None:
    assert theirs_read(text) is None
    with pytest.raises(EngineError, match="At character"):
        parse_compel(text)


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return small_clip(tmp_path_factory.mktemp("tokenizer"))


@pytest.mark.parametrize("prompt", PROMPTS, ids=range(len(PROMPTS)))
@pytest.mark.parametrize("mode", [SplitLongTextMode.SENTENCES, SplitLongTextMode.BRUTAL])
def test_the_encoding_equals_compels(clip, prompt: str, mode: SplitLongTextMode) -> None:
    tokenizer, module = clip
    reference = compel.Compel(
        tokenizer, module, truncate_long_prompts=False, split_long_text_mode=mode
    )
    with torch.no_grad():
        theirs = reference(prompt).numpy()

    def encode_tokens(ids, seen, _):
        mask = None if seen is None else torch.from_numpy(seen.astype(np.int64))
        with torch.no_grad():
            output = module(torch.from_numpy(ids), mask).last_hidden_state.numpy()
        return EncoderOutput(output)

    convention = msgspec.structs.replace(
        CONVENTIONS[ConventionName.INVOKE],
        chunking=Chunking.SENTENCE if mode is SplitLongTextMode.SENTENCES else Chunking.PLAIN,
        length_matching=LengthMatching.EMPTY_CHUNKS,
    )
    plan = tokenize_prompts(prompt, "", load_clip_tokenizer(), convention, 20)
    ours = encode(plan, encode_tokens).at(0, guided=False)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4 * np.abs(theirs).max())


@pytest.mark.parametrize("target", list(targets()), ids=label)
def test_masked_out_tokens_have_no_effect_as_in_transformers(target, clip) -> None:
    _, module = clip
    config = ClipTextConfig(49408, 32, 64, layers=2, heads=4)
    generator = np.random.default_rng(1)
    tokens = generator.integers(0, 49406, (3, 77))
    seen = np.ones((3, 77), np.float32)
    seen[1, 3:9] = seen[2, 1:76] = 0

    def call(module):
        mask = torch.from_numpy(seen.astype(np.int64))
        return module(torch.from_numpy(tokens), mask).last_hidden_state

    feeds = {"tokens": tokens, "attention_mask": seen}
    emit = lambda g: clip_text(g, config, attention_mask=True)  # noqa: E731
    Case(emit, feeds, module, call, "text_model.").check(target)
