"""Each picture of a batch has a request of its own."""

import msgspec

from engine.api.conventions import CONVENTIONS
from engine.api.limits import MAX_SEED
from engine.api.record import ResolvedRequest
from engine.api.request import SeedOptions
from engine.api.second_passes import SecondPass
from engine.api.values import ConventionName
from engine.pipeline.batch import request_of_picture
from tests.metadata.records import PLAIN_REQUEST


def batch(request: ResolvedRequest) -> list[ResolvedRequest]:
    return [request_of_picture(request, index, 3, None) for index in range(3)]


def test_seeds_count_up() -> None:
    first = PLAIN_REQUEST.seed
    assert [picture.seed for picture in batch(PLAIN_REQUEST)] == [first, first + 1, first + 2]
    assert {picture.seed_options for picture in batch(PLAIN_REQUEST)} == {SeedOptions()}


def test_with_a_variation_its_seed_counts_up_and_the_seed_stays() -> None:
    seeds = SeedOptions(variation_seed=40, variation_strength=0.1)
    pictures = batch(msgspec.structs.replace(PLAIN_REQUEST, seed_options=seeds))
    assert {picture.seed for picture in pictures} == {PLAIN_REQUEST.seed}
    assert [picture.seed_options.variation_seed for picture in pictures] == [40, 41, 42]


def test_one_stream_gives_places_in_the_batch() -> None:
    comfy = msgspec.structs.replace(
        PLAIN_REQUEST,
        convention=CONVENTIONS[ConventionName.COMFY],
        seed_options=SeedOptions(batch_index=2),
    )
    pictures = batch(comfy)
    assert {picture.seed for picture in pictures} == {PLAIN_REQUEST.seed}
    assert [picture.seed_options.batch_index for picture in pictures] == [2, 3, 4]
    assert {picture.seed_options.batch_size for picture in pictures} == {5}
    # The last one's request makes it again alone.
    assert request_of_picture(pictures[2], 0, 1, None) == pictures[2]


def test_wildcards_are_chosen_by_the_pictures_own_seed_and_the_template_is_kept() -> None:
    def replace_wildcards(text: str, seed: int) -> str:
        return text.replace("__n__", str(seed))

    asked = msgspec.structs.replace(PLAIN_REQUEST, prompt="cat __n__", seed=5)
    picture = request_of_picture(asked, 1, 2, replace_wildcards)
    assert (picture.prompt, picture.prompt_template) == ("cat 6", "cat __n__")
    assert (picture.negative_prompt, picture.negative_template) == ("blurry", None)


def test_pictures_of_one_generator_share_their_words() -> None:
    """ComfyUI's window replaces them once, before it queues a batch."""
    for tool in (ConventionName.COMFY, ConventionName.DIFFUSERS):
        asked = msgspec.structs.replace(
            PLAIN_REQUEST, prompt="cat __n__", seed=5, convention=CONVENTIONS[tool]
        )
        pictures = [
            request_of_picture(asked, index, 3, lambda text, seed: text.replace("__n__", str(seed)))
            for index in range(3)
        ]
        assert {picture.prompt for picture in pictures} == {"cat 5"}
        # So the prompt as it was typed makes one of them again.
        again = msgspec.structs.replace(
            asked, seed_options=pictures[2].seed_options, seed=pictures[2].seed
        )
        assert (
            request_of_picture(again, 0, 1, lambda text, seed: text.replace("__n__", str(seed)))
            == pictures[2]
        )


def test_variations_of_a_picture_have_its_words() -> None:
    # As in the window, which makes a job of each, and with A1111's scripts for wildcards.
    seeds = SeedOptions(variation_seed=40, variation_strength=0.1)
    asked = msgspec.structs.replace(
        PLAIN_REQUEST,
        prompt="cat __n__",
        seed=5,
        seed_options=seeds,
        second_passes=(SecondPass(prompt="__n__", seed=MAX_SEED),),
    )
    pictures = [
        request_of_picture(asked, index, 3, lambda text, seed: text.replace("__n__", str(seed)))
        for index in range(3)
    ]
    assert {picture.prompt for picture in pictures} == {"cat 5"}
    passes = {picture.second_passes for picture in pictures}
    assert passes == {(SecondPass(prompt="5", seed=MAX_SEED),)}
