"""Prompts, their weights and their chunks become what the denoiser attends to."""

import math

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.api.conventions import CONVENTIONS, Convention
from engine.api.prompt_rules import Chunking, Emphasis, LengthMatching, PromptGrammar
from engine.api.values import ConventionName, ErrorCode
from engine.errors import EngineError
from engine.families.shared.prompts.conditioning import PromptConditioning
from engine.families.shared.prompts.prompt_embeddings import EncoderOutput, PromptEmbeddings, encode
from engine.families.shared.prompts.prompt_tokens import tokenize_prompts
from engine.text.tokenizers import load_clip_tokenizer

TOKENIZER = load_clip_tokenizer()
WIDTH = 6
TABLE = np.random.default_rng(0).standard_normal((TOKENIZER.end_id + 1, WIDTH), np.float32)
PLACES = np.random.default_rng(1).standard_normal((77, WIDTH), np.float32)
A1111, COMFY, DIFFUSERS, INVOKE = (
    ConventionName.A1111,
    ConventionName.COMFY,
    ConventionName.DIFFUSERS,
    ConventionName.INVOKE,
)
STEPS = 10

Tokens = NDArray[np.int64]
AttentionMask = NDArray[np.bool_] | None
Places = NDArray[np.int32] | None
Embedding = NDArray[np.float32]


def embed(ids: Tokens, seen: AttentionMask = None) -> Embedding:
    """A text encoder that looks tokens up, adds what all seen ones share, and has a mean."""
    looked_up = TABLE[ids] + PLACES + 1
    mask = np.ones(ids.shape, np.float32) if seen is None else seen.astype(np.float32)
    shared = (looked_up * mask[..., None]).sum(axis=1, keepdims=True) / 77
    return (looked_up + shared).astype(np.float32)


class Encoder:
    """`embed`, and the batches it was given."""

    def __init__(self) -> None:
        self.batches: list[tuple[Tokens, AttentionMask]] = []

    def __call__(self, ids: Tokens, seen: AttentionMask, places: Places = None) -> EncoderOutput:
        self.batches.append((ids, seen))
        vectors = embed(ids, seen)
        return EncoderOutput(vectors, vectors[:, 0] + vectors[:, -1])

    @property
    def rows(self) -> int:
        return sum(len(ids) for ids, _ in self.batches)


def a_convention(name: ConventionName = A1111, **changes: object) -> Convention:
    return msgspec.structs.replace(CONVENTIONS[name], **changes)


def conditioned(
    prompt: str,
    negative: str = "",
    convention: Convention | None = None,
    encoder: Encoder | None = None,
    steps: int = STEPS,
) -> PromptEmbeddings:
    plan = tokenize_prompts(prompt, negative, TOKENIZER, convention or a_convention(), steps)
    return encode(plan, encoder or Encoder())


def positive_of(prompt: str, convention: Convention | None = None, step: int = 0) -> Embedding:
    return conditioned(prompt, "", convention).at(step, guided=False)


def ids_of(*texts: str) -> Tokens:
    """One chunk of words, as CLIP reads them."""
    tokens = [token for text in texts for token in TOKENIZER.encode(text)]
    ids = np.full((1, 77), TOKENIZER.end_id, np.int64)
    ids[0, 0] = TOKENIZER.start_id
    ids[0, 1 : 1 + len(tokens)] = tokens
    return ids


def encoded(*texts: str) -> Embedding:
    """Several chunks one behind the other: [1, 77 * n, width]."""
    return np.concatenate([embed(ids_of(text)) for text in texts], axis=1)


@pytest.mark.parametrize("name", ConventionName)
def test_a_prompt_without_weights_is_what_the_encoder_says(name: ConventionName) -> None:
    encoder = Encoder()
    result = conditioned("a red house", "blurry", a_convention(name), encoder)
    both = result.at(0, guided=True)
    np.testing.assert_array_equal(both, np.concatenate([encoded("a red house"), encoded("blurry")]))
    np.testing.assert_array_equal(result.at(0, guided=False), encoded("a red house"))
    assert both.dtype == np.float32
    assert result.weights == (1.0,)
    assert len(encoder.batches) == 1  # everything in one run
    assert encoder.batches[0][1] is None


def test_an_empty_prompt_on_both_sides_is_encoded_once() -> None:
    encoder = Encoder()
    conditioned("", "", encoder=encoder)
    assert encoder.rows == 1


def original(plain: Embedding, weights: list[float]) -> Embedding:
    """A1111's emphasis of one chunk whose first words have these weights."""
    factors = np.ones((1, 77, 1), np.float32)
    factors[0, 1 : 1 + len(weights), 0] = weights
    scaled = plain * factors
    return (scaled * (plain.mean() / scaled.mean())).astype(np.float32)


def test_a1111_multiplies_and_restores_the_mean() -> None:
    result = positive_of("a (red:1.5) house")
    plain = encoded("a red house")
    np.testing.assert_allclose(result, original(plain, [1, 1.5]), rtol=1e-6)
    np.testing.assert_allclose(result.mean(), plain.mean(), rtol=1e-5)


def test_emphasis_without_normalisation_only_multiplies() -> None:
    result = positive_of("a (red:1.5) house", a_convention(emphasis=Emphasis.NO_NORM))
    expected = encoded("a red house")
    expected[:, 2] *= np.float32(1.5)
    np.testing.assert_array_equal(result, expected)


def test_a1111_restores_the_mean_of_each_chunk_by_itself() -> None:
    result = positive_of("(red:1.9) house BREAK blue BREAK (green:0.3)")
    assert result.shape == (1, 3 * 77, WIDTH)
    for chunk, (text, weight) in enumerate((("red house", 1.9), ("blue", 1.0), ("green", 0.3))):
        part = result[:, 77 * chunk : 77 * (chunk + 1)]
        np.testing.assert_allclose(part, original(encoded(text), [weight]), rtol=1e-5)


def test_a1111_restores_the_mean_over_all_texts_of_a_prompt_that_changes() -> None:
    # "red" until 3, then "blue" twice: the change at 5 changes nothing.
    result = conditioned("[(red:1.9):blue:3][::5]")
    red, blue = encoded("red"), encoded("blue")
    weighed = red.copy()
    weighed[:, 1] *= np.float32(1.9)
    before = (red.mean() + 2 * blue.mean()) / 3
    after = (weighed.mean() + 2 * blue.mean()) / 3
    for step, plain in ((3, weighed), (4, blue), (6, blue)):
        expected = plain * (before / after)
        np.testing.assert_allclose(result.at(step, guided=False), expected, rtol=1e-6)


def test_ignored_weights_are_no_words_and_literal_ones_are() -> None:
    ignored = positive_of("a (red:1.5) house", a_convention(emphasis=Emphasis.NONE))
    np.testing.assert_array_equal(ignored, encoded("a red house"))
    literal = positive_of("a (red:1.5) BREAK", a_convention(emphasis=Emphasis.LITERAL))
    np.testing.assert_array_equal(literal, encoded("a (red:1.5) BREAK"))


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.3])
def test_comfy_moves_away_from_the_empty_prompt(weight: float) -> None:
    result = positive_of(f"a (red:{weight}) house", a_convention(COMFY))
    plain, empty = encoded("a red house"), encoded("")
    expected = plain.copy()
    expected[:, 2] = empty[:, 2] + (plain - empty)[:, 2] * np.float32(weight)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-6)
    others = np.delete(np.arange(77), 2)
    np.testing.assert_array_equal(result[:, others], plain[:, others])


def test_diffusers_takes_parentheses_for_words() -> None:
    result = positive_of("a (red:1.5) house", a_convention(DIFFUSERS))
    np.testing.assert_array_equal(result, encoded("a (red:1.5) house"))


def test_a_weighted_negative_prompt_is_weighted() -> None:
    result = conditioned("house", "(blurry:1.4)", a_convention(COMFY)).at(0, guided=True)
    plain, empty = encoded("blurry"), encoded("")
    expected = empty[0, 1] + (plain - empty)[0, 1] * np.float32(1.4)
    np.testing.assert_allclose(result[1, 1], expected, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(result[:1], encoded("house"))


def compel_down(texts: str, hidden: list[int], weight: float) -> Embedding:
    """The sum of a prompt and of that without some positions, by compel's tangent."""
    ids, empty = ids_of(texts), encoded("")
    seen = np.ones((1, 77), np.bool_)
    seen[0, hidden] = False
    count = np.float32(math.tan((1 - weight) * math.pi / 2))

    def weighed(plain: Embedding) -> Embedding:
        plain = plain.copy()
        plain[:, hidden] = empty[:, hidden] + (plain - empty)[:, hidden] * np.float32(weight)
        return plain

    both = weighed(embed(ids)) + count * weighed(embed(ids, seen))
    return (both / (1 + count)).astype(np.float32)


def test_compel_weighs_down_by_leaving_words_unseen() -> None:
    encoder = Encoder()
    result = conditioned("a (red house)0.5 tree", "", a_convention(INVOKE), encoder)
    expected = compel_down("a red house tree", [2, 3], 0.5)
    np.testing.assert_allclose(result.at(0, guided=False), expected, rtol=1e-5, atol=1e-6)
    ids, seen = encoder.batches[0]
    assert len(ids) == 3  # the empty prompt, the whole one, and that without the words
    assert seen is not None
    np.testing.assert_array_equal(np.flatnonzero(~seen[2]), [2, 3])


def test_compel_weighs_up_like_comfy() -> None:
    up = positive_of("a (red)1.5 house", a_convention(INVOKE))
    same = positive_of("a (red:1.5) house", a_convention(COMFY))
    np.testing.assert_allclose(up, same, rtol=0, atol=1e-6)


def test_compel_blends_and_joins() -> None:
    blended = positive_of('("red", "blue").blend(1, 3)', a_convention(INVOKE))
    expected = (encoded("red") + 3 * encoded("blue")) / 4
    np.testing.assert_allclose(blended, expected, rtol=1e-5, atol=1e-6)
    plain_sum = positive_of('("red", "blue").blend(1, 3, no_normalize)', a_convention(INVOKE))
    np.testing.assert_allclose(plain_sum, 4 * expected, rtol=1e-5, atol=1e-5)
    joined = positive_of('("red", "blue").and(1, 0.5)', a_convention(INVOKE))
    empty = encoded("")
    second = empty + (encoded("blue") - empty) * np.float32(0.5)
    np.testing.assert_allclose(joined, np.concatenate([encoded("red"), second], 1), atol=1e-6)


def test_a_blend_of_unequal_lengths_is_filled_with_empty_prompts() -> None:
    long = " ".join(["house"] * 80)
    result = positive_of(f'("red", "{long}").blend()', a_convention(INVOKE))
    first = (encoded("red") + encoded(" ".join(["house"] * 75))) / 2
    second = (encoded("") + encoded(" ".join(["house"] * 5))) / 2
    np.testing.assert_allclose(result, np.concatenate([first, second], 1), rtol=1e-5, atol=1e-6)


LONG = " ".join(["house"] * 100)
LONG_PARTS = (" ".join(["house"] * 75), " ".join(["house"] * 25))
THREE = "red BREAK red BREAK red"


def test_repeated_prompts_meet_at_the_least_common_multiple() -> None:
    result = conditioned(LONG, THREE, a_convention(length_matching=LengthMatching.REPEAT))
    both = result.at(0, guided=True)
    assert both.shape == (2, 6 * 77, WIDTH)
    np.testing.assert_array_equal(both[:1], np.tile(encoded(*LONG_PARTS), (1, 3, 1)))
    np.testing.assert_array_equal(both[1:], np.tile(encoded("red"), (1, 6, 1)))
    # By itself it needs no more than it has.
    np.testing.assert_array_equal(result.at(0, guided=False), encoded(*LONG_PARTS))


def test_repeating_leaves_attention_as_it_is() -> None:
    """The claim that lets unpadded prompts run in one batch."""
    generator = np.random.default_rng(3)
    q, context = generator.standard_normal((5, 8)), generator.standard_normal((7, 8))

    def attend(keys: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = np.exp(q @ keys.T / math.sqrt(8))
        return scores / scores.sum(axis=1, keepdims=True) @ keys

    np.testing.assert_allclose(attend(np.tile(context, (3, 1))), attend(context), rtol=1e-12)


def test_empty_chunks_follow_the_shorter_prompt() -> None:
    convention = a_convention(length_matching=LengthMatching.EMPTY_CHUNKS)
    for prompt, negative in ((LONG, "blurry"), ("blurry", LONG)):
        both = conditioned(prompt, negative, convention).at(0, guided=True)
        short = both[1:] if prompt is LONG else both[:1]
        np.testing.assert_array_equal(short, encoded("blurry", ""))
    # The positive is as long where the negative is not run in this step.
    alone = conditioned("blurry", LONG, convention).at(0, guided=False)
    np.testing.assert_array_equal(alone, encoded("blurry", ""))


def test_the_last_vector_is_repeated_and_a_longer_negative_cut() -> None:
    convention = a_convention(length_matching=LengthMatching.REPEAT_LAST)
    both = conditioned(LONG, "blurry", convention).at(0, guided=True)
    last = np.repeat(encoded("blurry")[:, -1:], 77, axis=1)
    np.testing.assert_array_equal(both[1:], np.concatenate([encoded("blurry"), last], axis=1))
    both = conditioned("blurry", LONG, convention).at(0, guided=True)
    np.testing.assert_array_equal(both[1:], encoded(LONG_PARTS[0]))


def test_prompts_that_would_repeat_too_often_are_refused() -> None:
    convention = a_convention(length_matching=LengthMatching.REPEAT)
    with pytest.raises(EngineError, match="13 and of 11 times 75") as caught:
        tokenize_prompts("BREAK a " * 12, "BREAK a " * 10, TOKENIZER, convention, STEPS)
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert caught.value.hint


def test_composed_prompts_come_in_order_with_their_weights() -> None:
    result = conditioned("red AND blue:0.5 AND red", "blurry")
    assert result.weights == (1.0, 0.5, 1.0)
    expected = [encoded(text) for text in ("red", "blue", "red", "blurry")]
    np.testing.assert_array_equal(result.at(0, guided=True), np.concatenate(expected))
    np.testing.assert_array_equal(result.at(0, guided=False), np.concatenate(expected[:3]))


def test_a_shorter_composed_prompt_repeats_its_last_vector() -> None:
    result = positive_of(f"red AND {LONG}")
    last = np.repeat(encoded("red")[:, -1:], 77, axis=1)
    np.testing.assert_array_equal(result[:1], np.concatenate([encoded("red"), last], axis=1))
    np.testing.assert_array_equal(result[1:], encoded(*LONG_PARTS))


def test_a_negative_prompt_has_no_parts_and_no_tags() -> None:
    result = conditioned("a", "red AND blue").at(0, guided=True)
    np.testing.assert_array_equal(result[1:], encoded("red AND blue"))
    result = conditioned("a", "red <lora:x:1>").at(0, guided=True)
    np.testing.assert_array_equal(result[1:], encoded("red <lora:x:1>"))


def test_tags_and_comments_are_taken_out() -> None:
    plan = tokenize_prompts("red # note\n house<lora:x:0.5>", "", TOKENIZER, a_convention(), STEPS)
    assert [(tag.kind, tag.arguments) for tag in plan.tags] == [("lora", ("x", "0.5"))]
    result = encode(plan, Encoder()).at(0, guided=False)
    np.testing.assert_array_equal(result, encoded("red house"))


def test_a_prompt_that_changes_is_the_same_object_while_it_does_not() -> None:
    encoder = Encoder()
    result = conditioned("[red:blue:3] house", "[dark:light:6]", encoder=encoder)
    at = [result.at(step, guided=True) for step in range(STEPS)]
    # A text that ends at 3 is in effect in evaluations 0 to 3, as A1111 compares.
    expected = [("red", "dark")] * 4 + [("blue", "dark")] * 3 + [("blue", "light")] * 3
    for array, (first, second) in zip(at, expected, strict=True):
        np.testing.assert_array_equal(array[:1], encoded(f"{first} house"))
        np.testing.assert_array_equal(array[1:], encoded(second))
    assert len({id(array) for array in at}) == 3
    assert encoder.rows == 5


def test_alternation_encodes_each_text_once() -> None:
    encoder = Encoder()
    result = conditioned("[red|blue]", encoder=encoder)
    assert encoder.rows == 3
    seen = [result.at(step, guided=False) for step in range(6)]
    for array, text in zip(seen, ["red", "red", "blue", "red", "blue", "red"], strict=True):
        np.testing.assert_array_equal(array, encoded(text))


def test_beyond_the_last_evaluation_the_first_text_is_back() -> None:
    result = conditioned("[red:blue:3]")
    np.testing.assert_array_equal(result.at(STEPS, guided=False), encoded("blue"))
    np.testing.assert_array_equal(result.at(STEPS + 1, guided=False), encoded("red"))


def test_all_texts_of_a_prompt_that_changes_are_equally_long() -> None:
    result = conditioned(f"[red:{LONG}:3]")
    np.testing.assert_array_equal(result.at(0, guided=False), encoded("red", ""))
    np.testing.assert_array_equal(result.at(9, guided=False), encoded(*LONG_PARTS))


def test_many_chunks_are_encoded_in_batches() -> None:
    encoder = Encoder()
    text = "[" + "|".join(f"red {n}" for n in range(100)) + "]"
    result = conditioned(text, encoder=encoder, steps=100)
    assert [len(ids) for ids, _ in encoder.batches] == [64, 37]
    np.testing.assert_array_equal(result.at(99, guided=False), encoded("red 98"))


def test_diffusers_drops_what_does_not_fit_one_chunk() -> None:
    result = positive_of("house " * 160, a_convention(DIFFUSERS))
    np.testing.assert_array_equal(result, encoded("house " * 75))


@pytest.mark.parametrize("prompts", [("house " * 4801, ""), ("", "house " * 4801)])
def test_too_long_a_prompt_is_refused(prompts: tuple[str, str]) -> None:
    with pytest.raises(EngineError) as caught:
        tokenize_prompts(*prompts, TOKENIZER, CONVENTIONS[A1111], STEPS)
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert "4,801" in caught.value.message
    assert "4,800" in caught.value.message
    assert caught.value.hint


def test_the_longest_prompt_is_taken() -> None:
    convention = a_convention(length_matching=LengthMatching.EMPTY_CHUNKS)
    plan = tokenize_prompts("house " * 4800, "", TOKENIZER, convention, STEPS)
    assert encode(plan, Encoder()).at(0, guided=True).shape == (2, 64 * 77, WIDTH)


def test_too_many_pieces_are_refused() -> None:
    many = "|".join(f"red {n} BREAK {n} BREAK {n + 1000}" for n in range(400))
    with pytest.raises(EngineError, match="1,024 pieces") as caught:
        tokenize_prompts(f"[{many}]", "", TOKENIZER, a_convention(), 400)
    assert caught.value.code is ErrorCode.REQUEST_INVALID


@pytest.mark.parametrize("grammar", PromptGrammar)
@pytest.mark.parametrize("emphasis", Emphasis)
@pytest.mark.parametrize("chunking", Chunking)
@pytest.mark.parametrize("matching", LengthMatching)
def test_any_habits_go_together(
    grammar: PromptGrammar, emphasis: Emphasis, chunking: Chunking, matching: LengthMatching
) -> None:
    """A record may hold any."""
    convention = a_convention(
        grammar=grammar, emphasis=emphasis, chunking=chunking, length_matching=matching
    )
    prompt = f"[a (b:0.5)|(c)0.5 d BREAK {LONG}] AND (e)-"
    result = conditioned(prompt, "(x)0.3", convention)
    array = result.at(1, guided=True)
    assert len(array) == len(result.weights) + 1
    assert array.shape[1] % 77 == 0
    assert np.isfinite(array).all()


# --- texts as a whole ---


def pooled_row(text: str) -> Embedding:
    """The row that `Encoder` pools for the first chunk of a text."""
    pooled = conditioned(text).pooled_at(0, guided=False)
    assert pooled is not None
    return pooled[0]


def test_a_text_as_a_whole_is_its_first_chunks() -> None:
    long = "red, " * 60 + "blue"
    pooled = conditioned(long, "green").pooled_at(0, guided=True)
    assert pooled is not None
    assert pooled.shape == (2, WIDTH)
    np.testing.assert_array_equal(pooled[0], pooled_row("red, " * 37 + "red"))
    np.testing.assert_array_equal(pooled[1], pooled_row("green"))


def test_pooled_text_changes_with_the_prompt() -> None:
    changing = conditioned("[red:blue:0.5]")
    halves = [changing.pooled_at(step, guided=False) for step in (0, STEPS - 1)]
    np.testing.assert_array_equal(halves[0], [pooled_row("red")])
    np.testing.assert_array_equal(halves[1], [pooled_row("blue")])


def test_weights_of_words_leave_pooled_text_alone() -> None:
    np.testing.assert_array_equal(pooled_row("(red:1.5)"), pooled_row("red"))


def test_zeros_in_place_of_the_negative_prompt() -> None:
    given = conditioned("red", "blue")
    without = given.without_negative()
    assert not without.at(0, guided=True)[-1].any()
    pooled = without.pooled_at(0, guided=True)
    assert pooled is not None
    assert pooled[0].any()
    assert not pooled[-1].any()
    np.testing.assert_array_equal(without.at(0, guided=True)[0], given.at(0, guided=True)[0])


def test_encoders_side_by_side() -> None:
    first, second = conditioned("[red:blue:0.5]", "green"), conditioned("[cat:dog:0.5]", "green")
    joint = PromptConditioning((first, second))
    early, late = joint.context(0, guided=True), joint.context(STEPS - 1, guided=True)
    assert early.shape == (2, 77, 2 * WIDTH)
    np.testing.assert_array_equal(early[..., :WIDTH], first.at(0, guided=True))
    np.testing.assert_array_equal(late[..., WIDTH:], second.at(STEPS - 1, guided=True))
    assert joint.context(STEPS - 1, guided=True) is late
    assert joint.context(0, guided=True) is not late
    assert PromptConditioning((first,)).context(0, guided=True) is first.at(0, guided=True)


@pytest.mark.parametrize("guided", [True, False])
@pytest.mark.parametrize("matching", LengthMatching)
@pytest.mark.parametrize(
    ("prompt", "negative"),
    [
        ("red", ""),
        ("red BREAK house", "blur"),
        ("red", "blur BREAK grain BREAK dust"),
        ("red BREAK house", "blur BREAK grain BREAK dust"),
        ("red AND house BREAK sea", "blur"),
        ("[red:house BREAK sea:0.5]", "[blur|grain BREAK dust]"),
    ],
)
def test_the_plan_knows_the_shape_before_anything_is_encoded(
    prompt: str, negative: str, matching: LengthMatching, guided: bool
) -> None:
    """A device has to compile for the shape by then."""
    convention = a_convention(length_matching=matching)
    plan = tokenize_prompts(prompt, negative, TOKENIZER, convention, STEPS)
    given = encode(plan, Encoder()).at(0, guided=guided)
    assert plan.shape(guided=guided) == given.shape[:2]
