"""What makes each picture of a batch: its own seed, its own choice of wildcards."""

from collections.abc import Callable

import msgspec

from engine.api.conventions import BatchSeeds
from engine.api.record import ResolvedRequest

# A prompt with wildcards and a seed to the prompt without.
ReplaceWildcards = Callable[[str, int], str]


def request_of_picture(
    request: ResolvedRequest, index: int, count: int, replace_wildcards: ReplaceWildcards | None
) -> ResolvedRequest:
    """The request that makes the picture at this place of a batch of `count`, and no other.

    A1111 counts the seed up or, where a variation is asked for, the variation's (`processing.py`,
    `process_images_inner`); ComfyUI and diffusers draw a whole batch from one generator.
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
    picture = msgspec.structs.replace(request, seed=seed, seed_options=seeds)
    if replace_wildcards is None:
        return picture
    chosen = request.seed + index
    prompt = replace_wildcards(request.prompt, chosen)
    negative = replace_wildcards(request.negative_prompt, chosen)
    return msgspec.structs.replace(
        picture,
        prompt=prompt,
        negative_prompt=negative,
        prompt_template=None if prompt == request.prompt else request.prompt,
        negative_template=None if negative == request.negative_prompt else request.negative_prompt,
    )
