"""The time of a job on a device, as a number of trials of the device.

A trial's time is `PrecisionFigures.milliseconds`; `engine.devices.trial_network` is what it runs.
"""

# The trials that take as long as a guided step of SD 1.5 at 512x512: 12.2 on OpenVINO in bfloat16.
_TRIALS_PER_STEP = 12.0
# The weights of SD 1.5's denoiser, the cells of its latent, and its predictions in a guided step.
_WEIGHTS, _CELLS, _CONTEXTS = 860e6, 64 * 64, 2
# The products of a prediction there: most of its layers work at a fraction of the cells.
_PRODUCTS = 340e9
# Those of CLIP's ViT-H/14, the encoder of most image prompts, for a picture: each of its weights is
# used once for each of 256 patches and one token more.
_SEEN_PRODUCTS = 632e6 * 257


def denoising_trials(weights: float, cells: float, predictions: float) -> float:
    """Return the trials that so many predictions of a denoiser take.

    `weights` are the denoiser's parameters, `cells` those of a latent; both scale the time.
    """
    steps = predictions / _CONTEXTS
    return steps * _TRIALS_PER_STEP * (weights / _WEIGHTS) * (cells / _CELLS)


def upscaling_trials(weights: float, pixels: float) -> float:
    """Return the trials that an upscaler takes over so many pixels of the picture before.

    Nearly all of its `weights` are those of convolutions, used once for each pixel.
    """
    return _TRIALS_PER_STEP * weights * pixels / (_CONTEXTS * _PRODUCTS)


def seeing_predictions(weights: float) -> float:
    """Return the predictions of a denoiser over one cell that take as long as seeing a picture.

    That is what the encoder of an image prompt does. `weights` are the denoiser's parameters.
    """
    return _SEEN_PRODUCTS / _PRODUCTS * _CELLS * _WEIGHTS / weights
