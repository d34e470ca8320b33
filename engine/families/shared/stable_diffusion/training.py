"""Finding out the prediction type of a denoiser from its file.

Shapes do not show the prediction type, so `_RULES` lists the other sources in order of precedence:
EDM's keys, a sidecar file next to the checkpoint, the checkpoint's metadata and keys, an earlier
probe run of the denoiser, cards, and the file's name. Without any answer, the denoiser predicts
noise.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from engine.api.sentences import sentence
from engine.api.values import ErrorCode, PredictionType
from engine.checkpoints.diffusers_configs import NoiseConstants, SchedulerFile, unusual
from engine.checkpoints.faults import unreadable
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.sidecars import Card, cards_of
from engine.errors import EngineError
from engine.families.shared.stable_diffusion.edm import EdmLevels, edm_of_file, edm_of_scheduler


@dataclass(frozen=True, slots=True)
class Training:
    """The prediction type, and its evidence as text that follows "because" in a sentence."""

    prediction: PredictionType
    evidence: str
    # True if the training levels reach pure noise (Lin et al. 2023).
    zero_terminal_snr: bool = False
    # True if the file states the prediction type; else a probe run may correct it.
    is_stated: bool = True
    # The noise levels of training; None for training by timesteps.
    levels: EdmLevels | None = None


_PREDICTIONS = {
    "v": PredictionType.V,
    "v_prediction": PredictionType.V,
    "eps": PredictionType.EPSILON,
    "epsilon": PredictionType.EPSILON,
    "sample": PredictionType.SAMPLE,
}
_PARAMETERIZATION = re.compile(r"^\s*parameterization:\s*[\"']?(v|eps)\b", re.MULTILINE)
_SIDECAR_BYTES = 64 * 1024
# Matches the beginning of base models on cards that are SD 2, in lower case.
SD_2_NAMES = re.compile(r"sd ?2|sd_v2|stable-diffusion-v2")


def training_of_file(
    index: TensorIndex, guess: Callable[[], Training | None] = lambda: None
) -> Training:
    """Return the training of a single file's denoiser: stated, else guessed, else epsilon."""
    answers = (rule(index) for rule in _RULES)
    usual = Training(PredictionType.EPSILON, "nothing says otherwise", is_stated=False)
    answer = next((answer for answer in answers if answer), None) or guess() or usual
    kohya = "ss_zero_terminal_snr"
    if index.metadata.get(kohya, "").lower() == "true":
        return replace(
            answer, zero_terminal_snr=True, evidence=f"{answer.evidence}; metadata: {kohya}"
        )
    if "ztsnr" in index.tensors:
        return replace(answer, zero_terminal_snr=True, evidence=f"{answer.evidence}; key ztsnr")
    return answer


def training_of_folder(scheduler: SchedulerFile | None, folder: Path) -> Training:
    """Return the training that a diffusers folder's scheduler states.

    Raises EngineError(CHECKPOINT_UNKNOWN_FAMILY) for an unsupported scheduler configuration.
    """
    if scheduler is None:
        return Training(PredictionType.EPSILON, "the folder has no scheduler")
    where = "scheduler/scheduler_config.json"
    levels = edm_of_scheduler(scheduler)
    if levels is not None:
        evidence = f"{where}: {scheduler.class_name}, prediction_type {scheduler.prediction_type}"
        return Training(levels[0], evidence, levels=levels[1])
    prediction = _PREDICTIONS.get(scheduler.prediction_type)
    odd = unusual(scheduler, NoiseConstants)
    if prediction is None or odd:
        what = ", ".join(odd) or f"prediction_type = {scheduler.prediction_type!r}"
        raise EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            sentence(
                "{folder} was trained in a way this version does not run: {where} says {what}.",
                folder=folder.name,
                where=where,
                what=what,
            ),
            sentence("Choose a model trained with Stable Diffusion's own noise schedule."),
        )
    ending = ", rescale_betas_zero_snr" if scheduler.rescale_betas_zero_snr else ""
    evidence = f"{where}: prediction_type {scheduler.prediction_type}{ending}"
    return Training(prediction, evidence, scheduler.rescale_betas_zero_snr)


def _from_sidecar(index: TensorIndex) -> Training | None:
    sidecar = index.path.with_suffix(".yaml")
    if not sidecar.is_file():
        return None
    try:
        with sidecar.open("rb") as file:
            text = file.read(_SIDECAR_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise unreadable(sidecar, error) from error
    found = _PARAMETERIZATION.search(text)
    if not found:
        return None
    return Training(_PREDICTIONS[found[1]], f"{sidecar.name}: parameterization {found[1]}")


def _from_modelspec(index: TensorIndex) -> Training | None:
    stated = index.metadata.get("modelspec.prediction_type", "").lower()
    prediction = _PREDICTIONS.get(stated)
    if prediction is None:
        return None
    return Training(prediction, f"metadata: modelspec.prediction_type {stated}")


def _from_edm_keys(index: TensorIndex) -> Training | None:
    """Read EDM's keys; this rule comes first, since other sources may not distinguish EDM."""
    found = edm_of_file(index)
    return Training(found[0], found[2], levels=found[1]) if found else None


def _from_key(index: TensorIndex) -> Training | None:
    return Training(PredictionType.V, "key v_pred") if "v_pred" in index.tensors else None


def _from_kohya(index: TensorIndex) -> Training | None:
    stated = index.metadata.get("ss_v_parameterization", "").lower()
    return (
        Training(PredictionType.V, "metadata: ss_v_parameterization") if stated == "true" else None
    )


def _from_probe(index: TensorIndex) -> Training | None:
    return Training(index.probed, "one step of the denoiser shows it") if index.probed else None


def _from_cards(index: TensorIndex) -> Training | None:
    """Read the training from the name of the base model on a card, such as "SD 2.1 768"."""
    card = next((card for card in cards_of(index) if _is_of_sd2_768(card)), None)
    return Training(PredictionType.V, card.words, is_stated=False) if card else None


def _is_of_sd2_768(card: Card) -> bool:
    """Tell whether a card names SD 2 for 768 pixels, the only base model known to predict v."""
    is_sd2 = SD_2_NAMES.match(card.base_model.casefold()) is not None
    return is_sd2 and "768" in card.base_model


def _from_name(index: TensorIndex) -> Training | None:
    """Recognise the one-step SDXL-Lightning by its file name; it predicts the picture.

    huggingface.co/ByteDance/SDXL-Lightning: sdxl_lightning_1step_x0, prediction_type "sample".
    """
    if "1step_x0" not in index.path.stem.lower():
        return None
    return Training(PredictionType.SAMPLE, "the file is called 1step_x0", is_stated=False)


_RULES: tuple[Callable[[TensorIndex], Training | None], ...] = (
    _from_edm_keys,
    _from_sidecar,
    _from_modelspec,
    _from_key,
    _from_kohya,
    _from_probe,
    _from_cards,
    _from_name,
)
