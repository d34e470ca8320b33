"""What a request may ask for. Outside these ranges nothing a person means makes a picture."""

MIN_SIDE, MAX_SIDE = 64, 8192
MAX_STEPS = 1000
MAX_GUIDANCE = 100.0
MAX_COUNT = 10_000
# The noise of those before it is drawn and thrown away: this is a second of it at 512x512.
MAX_BATCH_INDEX = 1024
MAX_SEED = 2**64 - 1
# A checkpoint's text encoder may have fewer layers to skip.
MAX_CLIP_SKIP = 64
# Of a tile of the VAE, in pixels: less would be all overlap.
MIN_VAE_TILE = 256
# Of a mask: its blur, the padding around it, the feathered seam of a canvas that grows.
MAX_MASK_BLUR, MAX_MASK_PADDING, MAX_FEATHER = 64, 4096, 4096
# Of size conditioning: a side before the picture was scaled, and the refiner's score.
MAX_ORIGINAL_SIDE = 65_536
MAX_SCORE = 100.0
MAX_PROMPT_CHARACTERS = 1_000_000
# Of what a sampler or a schedule may be told, and of a picture's weight.
MAX_OPTION = 10_000.0
# What is added to a seed; both ends of it fit the messages between app and engine.
MAX_SEED_DELTA = 2**63 - 1
# Pictures that steer one picture.
MAX_INPUTS = 64
# Of a convention.
MAX_CONVENTION_SAMPLERS = 64
