"""Recognising denoisers trained as in EDM (Karras et al. 2022), by keys and schedulers.

Two are known: Playground 2.5, whose latents have their own normalisation, and CosXL. The keys are
those of ComfyUI (`comfy/supported_models.py`, SDXL.model_type), the schedulers those of diffusers.
"""

import numpy as np

from backends.base import DType
from engine.api.sentences import Sentence, sentence
from engine.api.values import PredictionType
from engine.checkpoints.diffusers_configs import SchedulerFile
from engine.checkpoints.index import TensorIndex
from engine.families.latents import LatentStatistics
from engine.families.shared.keys.numbering import damaged
from engine.sampling.schedules.edm import EdmLevels
from engine.weights.sources import as_source

_MEAN, _DEVIATION = "edm_mean", "edm_std"
_HIGHEST, _LOWEST = "edm_vpred.sigma_max", "edm_vpred.sigma_min"
_EDM_SCHEDULERS = ("EDMEulerScheduler", "EDMDPMSolverMultistepScheduler")
_PREDICTIONS = {"epsilon": PredictionType.EDM, "v_prediction": PredictionType.EDM_V}
_MOST_CHANNELS = 64


# Defaults for files without levels: ComfyUI's for Playground 2.5, and the defaults of
# `ModelSamplingContinuousEDM`.
_USUAL_LEVELS = {
    PredictionType.EDM: EdmLevels(0.002, 80.0, 0.5),
    PredictionType.EDM_V: EdmLevels(0.002, 120.0, 1.0),
}


def usual_levels(prediction: PredictionType) -> EdmLevels | None:
    """Return the default levels of a prediction type; None for types trained by timesteps."""
    return _USUAL_LEVELS.get(prediction)


def edm_of_file(index: TensorIndex) -> tuple[PredictionType, EdmLevels, Sentence] | None:
    """Read an EDM denoiser's prediction type, levels and evidence from keys; None for others.

    Raises EngineError(CHECKPOINT_CORRUPT) for invalid levels.
    """
    if _MEAN in index.tensors and _DEVIATION in index.tensors:
        keys = sentence("keys {first}, {second}", first=_MEAN, second=_DEVIATION)
        return PredictionType.EDM, _USUAL_LEVELS[PredictionType.EDM], keys
    if _HIGHEST not in index.tensors:
        return None
    usual = _USUAL_LEVELS[PredictionType.EDM_V]
    highest = _number(index, _HIGHEST)
    lowest = _number(index, _LOWEST) if _LOWEST in index.tensors else usual.sigma_min
    levels = EdmLevels(lowest, highest, usual.sigma_data)
    if not 0 < lowest < highest < np.inf:
        raise damaged(
            index.path,
            sentence(
                "its levels go from {lowest:g} to {highest:g}", lowest=lowest, highest=highest
            ),
        )
    key = sentence("key {key} is {value:g}", key=_HIGHEST, value=highest)
    return PredictionType.EDM_V, levels, key


def statistics_of_file(index: TensorIndex) -> LatentStatistics | None:
    """Read the statistics that normalise the latents from keys; None for files without them.

    Raises EngineError(CHECKPOINT_CORRUPT) for invalid statistics.
    """
    if _MEAN not in index.tensors or _DEVIATION not in index.tensors:
        return None
    mean, deviation = _numbers(index, _MEAN), _numbers(index, _DEVIATION)
    if len(mean) != len(deviation) or not all(0 < value < np.inf for value in deviation):
        raise damaged(
            index.path,
            sentence(
                "{mean} and {deviation} are no means and deviations",
                mean=_MEAN,
                deviation=_DEVIATION,
            ),
        )
    return LatentStatistics(mean, deviation)


def edm_of_scheduler(scheduler: SchedulerFile) -> tuple[PredictionType, EdmLevels] | None:
    """Read an EDM denoiser's prediction type and levels from its scheduler; None for others."""
    continuous = scheduler.timestep_type == "continuous"
    prediction = _PREDICTIONS.get(scheduler.prediction_type)
    if scheduler.class_name not in _EDM_SCHEDULERS:
        # EulerDiscreteScheduler with continuous timesteps also gives the network log(sigma) / 4.
        if not continuous or prediction is not PredictionType.EDM_V:
            return None
        data = 1.0
    else:
        data = 0.5 if scheduler.sigma_data is None else scheduler.sigma_data
    if prediction is None:
        return None
    low = 0.002 if scheduler.sigma_min is None else scheduler.sigma_min
    high = 80.0 if scheduler.sigma_max is None else scheduler.sigma_max
    return prediction, EdmLevels(low, high, data)


def _number(index: TensorIndex, key: str) -> float:
    values = _numbers(index, key)
    if len(values) != 1:
        raise damaged(
            index.path,
            sentence("{key} has {count} numbers instead of one", key=key, count=len(values)),
        )
    return values[0]


def _numbers(index: TensorIndex, key: str) -> tuple[float, ...]:
    tensor = index.tensors[key]
    if not 1 <= tensor.elements <= _MOST_CHANNELS:
        raise damaged(
            index.path, sentence("{key} has the shape {list}", key=key, list=list(tensor.shape))
        )
    values = as_source(tensor).read_as(DType.F32).reshape(-1)
    if not np.isfinite(values).all():
        raise damaged(index.path, sentence("{key} holds what is no number", key=key))
    return tuple(float(value) for value in values)
