"""The seed that counts up from one picture of a batch to the next, as in a batch of the engine.

Where the seed's noise is varied it is the variation seed, so that all pictures are variations of
one (A1111's `processing.py`, `process_images_inner`).
"""

import msgspec

from engine.api.request import GenerateRequest


def counted_seed(request: GenerateRequest) -> int | None:
    """Return the seed that counts up; None while it is open."""
    options = request.seed_options
    return options.variation_seed if options.is_varied else request.seed


def with_counted_seed(request: GenerateRequest, seed: int | None) -> GenerateRequest:
    """Return a request with another seed of those that count up, or with a gap in its place."""
    options = request.seed_options
    if not options.is_varied:
        return msgspec.structs.replace(request, seed=seed)
    varied = msgspec.structs.replace(options, variation_seed=seed)
    return msgspec.structs.replace(request, seed_options=varied)
