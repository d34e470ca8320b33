"""Bounds of a request's fields that other code also needs.

No sensible request lies outside these ranges. `engine.api.fields.bounds_of` returns the bounds of
any field.
"""

MIN_SIDE, MAX_SIDE = 64, 8192
MAX_STEPS = 1000
MAX_GUIDANCE = 100.0
MAX_COUNT = 10_000
# The noise of the earlier pictures of the batch is drawn and discarded: a second at 512x512.
MAX_BATCH_INDEX = 1024
MAX_SEED = 2**64 - 1
MAX_CLIP_SKIP = 64
MAX_PROMPT_CHARACTERS = 1_000_000
