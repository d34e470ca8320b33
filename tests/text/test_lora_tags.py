"""The LoRAs that prompts name by tags."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.conventions import CONVENTIONS, Convention
from engine.api.lora import MAX_LORAS
from engine.api.prompt_rules import NetworkTags, PromptFeature
from engine.api.values import ConventionName
from engine.errors import EngineError
from engine.text.lora_blocks import BlockWeights, block_weights
from engine.text.lora_presets import BlockPresets, own_presets
from engine.text.lora_strengths import RunLength
from engine.text.lora_tags import LoraTags, LoraUse, lora_tags
from engine.text.reading import read_prompt

A1111, COMFY = CONVENTIONS[ConventionName.A1111], CONVENTIONS[ConventionName.COMFY]
TEN = RunLength(10)


def with_tags(tags: NetworkTags, convention: Convention = A1111) -> Convention:
    return msgspec.structs.replace(convention, network_tags=tags)


def read(prompt: str, convention: Convention = A1111, run: RunLength = TEN) -> LoraTags:
    return lora_tags(prompt, convention, run)


def only(prompt: str, convention: Convention = A1111, run: RunLength = TEN) -> LoraUse:
    found = read(prompt, convention, run)
    assert found.remarks == ()
    assert len(found.uses) == 1
    return found.uses[0]


@pytest.mark.parametrize(
    ("tag", "denoiser", "text"),
    [
        ("<lora:ink>", 1, 1),
        ("<lora:ink:0.8>", 0.8, 0.8),
        ("<lora:ink:0.8:0.5>", 0.5, 0.8),
        ("<lyco:ink:0.8:0.5>", 0.5, 0.8),
        ("<loractl:ink:0.8>", 0.8, 0.8),
        ("<lora:ink:te=0.3>", 0.3, 0.3),
        ("<lora:ink:unet=0.3>", 0.3, 1),
        ("<lora:ink:0.8:te=0:unet=-2>", -2, 0),
        ("<lora:ink:0.8:unet=0>", 0, 0.8),
        ("<lora:ink: .5 >", 0.5, 0.5),
    ],
)
def test_a_tag_has_the_strengths_that_a1111_reads(tag: str, denoiser: float, text: float) -> None:
    use = only(f"a house {tag} at night")
    assert (use.name, use.strengths, use.text_strength) == ("ink", (denoiser,), text)


def test_swarms_first_strength_is_the_denoisers() -> None:
    use = only("<lora:ink:0.8:0.5>", with_tags(NetworkTags.DENOISER_FIRST, COMFY))
    assert (use.strengths, use.text_strength) == ((0.8,), 0.5)
    assert only("<lora:ink:0.8>", with_tags(NetworkTags.DENOISER_FIRST, COMFY)).text_strength == 0.8


@pytest.mark.parametrize("name", ["a fine style v1.5", "sub/folder/ink", "猫", "(x) [y]", "C+"])
def test_names_keep_their_characters(name: str) -> None:
    assert only(f"<lora:{name}:0.5>").name == name


def test_the_fourth_number_is_the_number_of_ranks() -> None:
    assert only("<lora:ink:1:1:8>").rank == 8
    assert only("<lora:ink:dyn=4>").rank == 4
    assert only("<lora:ink:1>").rank is None
    found = read("<lora:ink:dyn=many>")
    assert found.uses[0].rank is None
    assert "'many' is no number of ranks" in str(found.remarks[0][0])


def test_a_lora_that_is_named_twice_acts_twice_with_the_last_strength() -> None:
    found = read("<lora:ink:0.3> and <lora:line:1> <lora:ink:0.5>")
    assert [(use.name, use.strengths) for use in found.uses] == [
        ("ink", (0.5,)),
        ("line", (1.0,)),
        ("ink", (0.5,)),
    ]
    assert str(found.remarks[0][0]) == "The prompt names the LoRA ink 2 times."


def test_a_changing_lora_that_is_named_twice_has_the_first_tags_strengths() -> None:
    first, second = read("<lora:ink:0@0,1@1> <lora:ink:0.5>").uses
    assert first == second
    assert not first.is_constant


@pytest.mark.parametrize(
    "tag", ["<lora:ink:strong>", "<lora:ink:>", "<lora:ink:nan>", "<lora:ink:101>",
            "<lora:ink:1@x>", "<lora:ink:te=0.5x>", "<lora:ink:start=soon>"]
)  # fmt: skip
def test_a_tag_without_a_number_leaves_the_lora_out_and_says_so(tag: str) -> None:
    found = read(f"a house {tag}")
    assert found.uses == ()
    assert "made without it" in str(found.remarks[0][0])


def test_hypernetworks_are_named_and_left_out() -> None:
    found = read("<hypernet:anime:0.5> <lora:ink>")
    assert [use.name for use in found.uses] == ["ink"]
    assert str(found.remarks[0][0]) == "The hypernetwork anime in the prompt was left out."


def test_other_kinds_of_tags_are_told() -> None:
    assert str(read("<nonsense:x>").remarks[0][0]) == "<nonsense:x> in the prompt had no effect."


def test_strengths_of_an_enlarged_pass_are_told() -> None:
    found = read("<lora:ink:0.5:hr=1>")
    assert found.uses[0].strengths == (0.5,)
    assert str(found.remarks[0][0]).startswith("hr= in <lora:ink> has no effect")


def test_comments_hide_tags() -> None:
    assert only("a house # <lora:line:1>\n<lora:ink:1>").name == "ink"


def test_too_many_loras_are_refused() -> None:
    assert len(read("<lora:a:1>" * MAX_LORAS).uses) == MAX_LORAS
    with pytest.raises(EngineError, match="more than 128 LoRAs"):
        read("<lora:a:1>" * (MAX_LORAS + 1))


# --- conventions ---


def test_only_conventions_with_tags_read_them() -> None:
    for name, count in {"a1111": 1, "comfy": 0, "diffusers": 0, "invoke": 0}.items():
        convention = CONVENTIONS[ConventionName(name)]
        assert len(read("a <lora:ink:1> b", convention).uses) == count, name
    features = tuple(feature for feature in PromptFeature if feature is not PromptFeature.NETWORKS)
    without = msgspec.structs.replace(A1111, prompt_features=features)
    assert read("<lora:ink:1>", without).uses == ()


def test_tags_are_no_text_where_they_are_read_and_text_where_not() -> None:
    def words(convention: Convention) -> str:
        mixture = read_prompt("a <lora:ink:1>b", convention, 10).timelines[0].passages[0].passage[0]
        return repr(mixture)

    assert "lora" not in words(A1111)
    assert "lora" in words(COMFY)
    assert "lora" not in words(with_tags(NetworkTags.WHOLE_RUN, COMFY))
    assert "lora" in words(with_tags(NetworkTags.TEXT))


def test_compel_has_a_form_of_its_own() -> None:
    invoke = CONVENTIONS[ConventionName.INVOKE]
    use = only("a house withLora(ink, 0.5)", invoke)
    assert (use.name, use.strengths, use.text_strength) == ("ink", (0.5,), 0.5)


# --- strengths over the steps ---


def test_points_are_joined_by_lines_over_the_steps() -> None:
    use = only("<lora:ink:0@0,1@0.5>", run=RunLength(6))
    # The tool counts a step once it is over, and takes the last but one for the end.
    assert use.strengths == pytest.approx((0, 0, 0.5, 1, 1, 1))
    assert use.text_strength == 0


@pytest.mark.parametrize(
    ("text", "strengths"),
    [
        ("0.75@0;0.5@3;1@6", (0.75, 0.75, 0.6667, 0.5833, 0.5, 0.6667, 0.8333, 1, 1, 1)),
        ("1@6,0.75@0,0.5@3", (0.75, 0.75, 0.6667, 0.5833, 0.5, 0.6667, 0.8333, 1, 1, 1)),
        ("0.5@5,1@7", (0.5,) * 6 + (0.5, 0.75, 1, 1)),
        ("0.25~0.5,1~1", (0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.4375, 0.625, 0.8125, 1)),
        ("0@0.5,1@0.5", (0,) * 5 + (1,) * 5),
        ("0@0,1", (0, 0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1)),
    ],
)
def test_points_are_placed_by_steps_or_by_fractions(text: str, strengths: tuple[float]) -> None:
    assert only(f"<lora:ink:{text}>").strengths == pytest.approx(strengths, abs=1e-4)


def test_a_lone_number_before_points_is_the_whole_strength() -> None:
    assert only("<lora:ink:0.5,1@1>").strengths == (0.5,)


def test_every_evaluation_of_a_step_has_its_strength() -> None:
    use = only("<lora:ink:0@0,1@1>", run=RunLength(4, evaluations_per_step=2))
    assert use.strengths == (0, 0, 0, 0, 0.5, 0.5, 1, 1)


@pytest.mark.parametrize("steps", [1, 2])
def test_short_runs_have_the_first_strength(steps: int) -> None:
    assert only("<lora:ink:0.5@0,1@1>", run=RunLength(steps)).strengths == (0.5,)


def test_denoiser_and_text_encoders_have_points_of_their_own() -> None:
    use = only("<lora:ink:te=0.7@0,1@1:unet=0@0,1@1>", run=RunLength(4))
    assert (use.strengths, use.text_strength) == ((0, 0, 0.5, 1), 0.7)


def test_a_strength_in_brackets_changes_at_once() -> None:
    assert only("<lora:ink:[0.2:0.8:0.5]>").strengths == (0.2,) * 5 + (0.8,) * 5
    assert only("<lora:ink:[0:1:3]>").strengths == (0.0,) * 3 + (1.0,) * 7
    assert only("<lora:ink:[0|1]>").strengths == (0.0, 1.0) * 5
    use = only("<lora:ink:0.6:[0.2:0.8:0.5]:4>")
    assert (use.strengths[0], use.text_strength, use.rank) == (0.2, 0.6, 4)


def test_times_in_brackets_count_the_steps_that_were_asked_for() -> None:
    use = only("<lora:ink:[0:1:0.5]>", run=RunLength(6, asked=10))
    assert use.strengths == (0.0,) * 5 + (1.0,)


@pytest.mark.parametrize(
    ("text", "acting"),
    [
        ("start=4", range(4, 10)),
        ("stop=4", range(4)),
        ("step=2-8", range(2, 8)),
        ("start=1", range(10)),
        ("stop=1", range(0)),
        ("start=0.5", range(5, 10)),
        # The extension rounds, to a step at least.
        ("stop=0.37", range(4)),
        ("start=0.01", range(10)),
        ("start=4.0", range(4, 10)),
    ],
)
def test_start_and_stop_switch_the_denoisers_strength(text: str, acting: range) -> None:
    use = only(f"<lora:ink:0.5:{text}>")
    every = use.strengths * (10 if use.is_constant else 1)
    assert every == tuple(0.5 if step in acting else 0.0 for step in range(10))
    assert use.text_strength == 0.5


# --- tags within brackets ---


@pytest.mark.parametrize("prompt", ["[<lora:ink:1>::0.5] x", "[<lora:ink:1>|b] x"])
def test_a1111s_tags_in_brackets_act_throughout_and_that_is_told(prompt: str) -> None:
    found = read(prompt)
    assert [use.strengths for use in found.uses] == [(1.0,)]
    assert "from the first step to the last" in str(found.remarks[0][0])


@pytest.mark.parametrize(
    ("prompt", "acting"),
    [
        ("a [b <lora:ink:0.5>::0.3] c", range(3)),
        ("a [b:c <lora:ink:0.5>:0.3] c", range(3, 10)),
        ("a [b|<lora:ink:0.5>] c", range(1, 10, 2)),
        ("a (<lora:ink:0.5>:1.2) [b:c:0.3]", range(10)),
        ("a AND [b:<lora:ink:0.5>:4] :0.7", range(4, 10)),
        ("[[a:<lora:ink:0.5>:2]::8]", range(2, 8)),
    ],
)
def test_timed_tags_act_while_their_part_is_used(prompt: str, acting: range) -> None:
    use = only(prompt, with_tags(NetworkTags.TIMED))
    every = use.strengths * (10 if use.is_constant else 1)
    assert every == tuple(0.5 if step in acting else 0.0 for step in range(10))
    assert use.text_strength == (0.5 if 0 in acting else 0.0)


def test_a_timed_tag_may_follow_another_of_the_same_lora() -> None:
    first, second = read("[<lora:ink:1>:<lora:ink:0.2>:4]", with_tags(NetworkTags.TIMED)).uses
    assert first.strengths == (1.0,) * 4 + (0.0,) * 6
    assert second.strengths == (0.0,) * 4 + (0.2,) * 6


def test_timed_tags_do_not_change_the_text_that_is_encoded() -> None:
    text = "a [b <lora:ink:0.5>:c:0.3] d"
    assert (
        read_prompt(text, with_tags(NetworkTags.TIMED), 10).timelines
        == read_prompt(text, A1111, 10).timelines
    )


# --- weights by block ---


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("lbw=INALL", {"BASE": 1, "IN01": 1, "IN08": 1, "IN00": 0, "M00": 0, "OUT11": 0}),
        ("lbw=OUTD", {"BASE": 1, "M00": 0, "OUT03": 1, "OUT06": 1, "OUT07": 0}),
        ("lbw=ALL0.5", {"BASE": 0.5, "IN01": 0.5, "OUT00": 0}),
        ("lbw=0,1,2,3,4,5,6,7,8,9,10,11", {"BASE": 0, "IN04": 1, "M00": 5, "OUT05": 11}),
        ("lbw=" + ",".join(map(str, range(20))), {"IN00": 1, "IN08": 9, "M00": 10, "OUT08": 19}),
        ("lbw=" + ",".join(map(str, range(26))), {"IN00": 1, "IN11": 12, "M00": 13, "OUT11": 25}),
        ("w=NONE", {"BASE": 0, "OUT11": 0}),
        ("lbw=X,X+1,X-0.5,0,0,0,0,0,0,0,0,0:x=2", {"BASE": 2, "IN04": 3, "IN05": 1.5}),
        ("INS", {"BASE": 1, "IN01": 1, "IN05": 0}),
    ],
)
def test_weights_of_blocks_are_read(text: str, weights: dict[str, float]) -> None:
    blocks = only(f"<lora:ink:0.8:{text}>").blocks
    assert blocks is not None
    assert {name: blocks.factor(name) for name in weights} == weights
    assert blocks.factor(None) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("lbw=OUTT", "there is no preset called 'OUTT'"),
        ("lbw=1,2,3", "3 weights are given, and 12, 17, 20, 26 or 61 are possible"),
        ("lbw=a,0,0,0,0,0,0,0,0,0,0,0", "'a' is no weight"),
        ("lbwe=ATTNDEEP", "there is no set of elements called 'ATTNDEEP'"),
        ("lbwe=BAD", "'IN05-IN99:attn:1' is no rule of blocks, elements and a weight"),
        ("lbwe=HUGE", "'1e9' is no weight"),
    ],
)
def test_weights_that_cannot_be_read_are_told(text: str, why: str) -> None:
    elements = {"BAD": "IN05-IN99:attn:1", "HUGE": "::1e9"}
    found = lora_tags(f"<lora:ink:0.8:{text}>", A1111, TEN, BlockPresets({}, elements))
    assert found.uses == (LoraUse("ink", (0.8,), 0.8),)
    assert why in str(found.remarks[0][0])


@pytest.mark.parametrize(
    "text", ["lbwe=ATTNDEEPOFF", "lbw=ALL:lbwe=ATTNDEEPOFF", "ALL:ATTNDEEPOFF"]
)
def test_a_set_of_elements_is_read_with_and_without_weights_by_block(text: str) -> None:
    use = only(f"<lora:ink:0.8:{text}>")
    assert use.blocks is not None
    assert use.blocks.factor("IN05", "x_attn1_to_q") == 0
    assert use.blocks.factor("IN05", "x_proj_in") == 1
    assert use.blocks.factor("IN02", "x_attn1_to_q") == 1
    assert (use.strengths, use.text_strength, use.rank) == ((0.8,), 0.8, None)
    assert use.blocks.text.endswith("lbwe=ATTNDEEPOFF")


def test_random_weights_follow_from_the_seed_and_are_noted() -> None:
    prompt = "<lora:a:1:lbw=R,U,R,U,0,0,0,0,0,0,0,0> <lora:b:1:lbw=R,1,1,1,1,1,1,1,1,1,1,1>"

    def drawn(seed: int) -> list[BlockWeights | None]:
        return [use.blocks for use in lora_tags(prompt, A1111, TEN, seed=seed).uses]

    assert drawn(3) == drawn(3) != drawn(4)
    first, second = drawn(3)
    assert first is not None
    assert second is not None
    assert 0 <= first.factor("BASE") <= 1
    assert -0.5 <= first.factor("IN04") <= 1.5
    assert first.factor("BASE") != first.factor("IN05") != second.factor("BASE")
    noted = block_weights(first.text)
    assert isinstance(noted, BlockWeights)
    assert noted.weights == first.weights


def test_presets_of_ones_own_come_before_the_built_in_ones() -> None:
    lines = f"# A:1\r\nMINE:{','.join('2' * 12)}\nALL : {','.join('3' * 17)}\nSHORT:1,2\nbad"
    own = own_presets(
        [lines, f"MINE:{','.join('9' * 12)}"], ["SOFT:IN:attn:0.5,\nOUT:ff:0\r\n\r\nX:::2"]
    )
    blocks = {
        name: lora_tags(f"<lora:ink:1:{name}>", A1111, TEN, own).uses[0].blocks
        for name in ("lbw=MINE", "lbw=ALL", "lbw=NONE", "MINE", "lbwe=SOFT")
    }
    factors = {
        name: weights.factor("IN04", "a_attn1") for name, weights in blocks.items() if weights
    }
    assert factors == {"lbw=MINE": 2, "lbw=ALL": 3, "lbw=NONE": 0, "MINE": 2, "lbwe=SOFT": 0.5}
    assert own.elements.keys() >= {"SOFT", "X", "ATTNDEEPON"}
    assert "A" not in own.weights


# --- any text ---


@given(
    st.text(max_size=80) | st.text("<lora:ink>[]|0123456789.,@~=-:lbw X", max_size=80),
    st.sampled_from(NetworkTags),
    st.sampled_from(ConventionName),
)
def test_any_text_is_read_or_refused_in_words(
    text: str, tags: NetworkTags, name: ConventionName
) -> None:
    convention = with_tags(tags, CONVENTIONS[name])
    try:
        found = read(f"a {text} <lora:{text}> b", convention)
    except EngineError:
        return
    for use in found.uses:
        assert len(use.strengths) in (1, TEN.evaluations)
        assert all(-100 <= strength <= 100 for strength in (*use.strengths, use.text_strength))


def test_only_some_of_many_remarks_are_told() -> None:
    assert len(read("".join(f"<x:{number}>" for number in range(1000))).remarks) == 20
