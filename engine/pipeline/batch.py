"""The pictures of a job, which differ in their seeds and in the words chosen for wildcards."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from engine.api.lora import LoraMode
from engine.api.noise_rules import BatchSeeds
from engine.api.record import ResolvedRequest
from engine.api.second_passes import SecondPass
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.architecture import Texts, texts_of
from engine.pipeline.image_prompts import WITHOUT_IMAGE_PROMPTS, JobImagePrompts
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.picture_loras import ReadLoras, no_loras
from engine.pipeline.place import Placement
from engine.preprocessors.map_maker import MakeMaps, plain_maps
from engine.upscalers.reading import Upscaler, read_upscaler

# Takes a prompt with wildcards and a seed; returns the prompt with words in place of wildcards.
ReplaceWildcards = Callable[[str, int], str]


class ResolvedJob(msgspec.Struct, frozen=True, eq=False):
    """A request without gaps, the checkpoints it runs on, and the number of its pictures.

    Without `replace_wildcards`, text that looks like wildcards is left in the prompt. `read_loras`
    reads the LoRAs of each picture, once its wildcards are replaced. The prompts may name
    `embeddings`. All pictures have the same `image_prompts`.
    """

    request: ResolvedRequest
    checkpoints: JobCheckpoints
    count: int = 1
    replace_wildcards: ReplaceWildcards | None = None
    read_loras: ReadLoras = no_loras
    embeddings: Embeddings = NO_EMBEDDINGS
    image_prompts: JobImagePrompts = WITHOUT_IMAGE_PROMPTS
    # Read the LoRAs of second passes with checkpoints of their own; None for a pass without one.
    second_loras: tuple[ReadLoras | None, ...] = ()
    read_upscaler: Callable[[Path], Upscaler] = read_upscaler
    make_maps: MakeMaps = plain_maps

    def loras_of(self, number: int) -> ReadLoras:
        """Return the reader of the LoRAs of a second pass, by its number from 0."""
        own = self.second_loras[number] if number < len(self.second_loras) else None
        return own or self.read_loras

    def pictures(self, places: range) -> Iterator["BatchPicture"]:
        """Yield the pictures at these places of the batch."""
        for place in places:
            alone = request_of_picture(self.request, place, self.count, self.replace_wildcards)
            yield BatchPicture(place, alone, texts_of(alone))


class BatchPicture(msgspec.Struct, frozen=True):
    """One picture of a job: its place in the batch, and the request that makes it alone."""

    place: int
    request: ResolvedRequest
    texts: Texts

    def request_on(
        self, placement: Placement, lora_mode: LoraMode | None = None
    ) -> ResolvedRequest:
        """Return the request with the choices made for it, for the record.

        These are the backend, precision, bits of weights and VAE tile in use, and the mode of its
        LoRAs; None where none acts.
        """
        return msgspec.structs.replace(
            self.request,
            backend=placement.backend,
            precision=placement.precision,
            weight_bits=placement.weight_bits,
            text_weight_bits=placement.text_weight_bits,
            vae_tile=placement.vae_tile,
            lora_mode=lora_mode or self.request.lora_mode,
        )


def request_of_picture(
    request: ResolvedRequest, index: int, count: int, replace_wildcards: ReplaceWildcards | None
) -> ResolvedRequest:
    """Return the request that makes only the picture at place `index` of a batch of `count`.

    A1111 increments the seed for each picture, or the variation seed where there is one
    (`processing.py`, `process_images_inner`); ComfyUI and diffusers draw the noise of a whole batch
    from one generator, and ComfyUI's window replaces the words of a prompt once for all of it.
    Variations of one picture have its words for wildcards. A seed of a second pass's own is the
    same in all pictures, as a fixed one of a second sampler in ComfyUI.
    """
    seeds, seed = request.seed_options, request.seed
    if request.convention.batch_seeds is BatchSeeds.ONE_STREAM:
        size = max(seeds.batch_size, seeds.batch_index + count)
        place = seeds.batch_index + index
        seeds = msgspec.structs.replace(seeds, batch_index=place, batch_size=size)
    elif seeds.variation_seed is not None:
        seeds = msgspec.structs.replace(seeds, variation_seed=seeds.variation_seed + index)
    else:
        seed += index

    def replaced(text: str) -> str:
        return text if replace_wildcards is None else replace_wildcards(text, seed)

    prompt, negative = replaced(request.prompt), replaced(request.negative_prompt)
    changes: dict[str, Any] = {}
    if replace_wildcards is not None:
        changes["prompt_template"] = None if prompt == request.prompt else request.prompt
        template = None if negative == request.negative_prompt else request.negative_prompt
        changes["negative_template"] = template
    return msgspec.structs.replace(
        request,
        seed=seed,
        seed_options=seeds,
        prompt=prompt,
        negative_prompt=negative,
        second_passes=tuple(_second(second, replaced) for second in request.second_passes),
        **changes,
    )


def _second(wanted: SecondPass, replaced: Callable[[str], str]) -> SecondPass:
    """Return a second pass for one picture, without wildcards."""
    return msgspec.structs.replace(
        wanted,
        prompt=None if wanted.prompt is None else replaced(wanted.prompt),
        negative_prompt=(
            None if wanted.negative_prompt is None else replaced(wanted.negative_prompt)
        ),
    )
