"""Finding out the prediction type of a denoiser from its file.

Shapes do not show the prediction type, so `_RULES` lists the other sources in order of precedence:
EDM's keys, a sidecar file next to the checkpoint, the checkpoint's keys and metadata, an earlier
probe run of the denoiser, cards, and the file's name. Without any answer, the denoiser predicts
noise. Keys come before metadata, which merging tools copy from one of the models, or write by what
they took the model for.
"""

import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.api.sentences import Sentence, as_it_is, joined, sentence
from engine.api.values import ErrorCode, PredictionType
from engine.checkpoints.diffusers_configs import NoiseConstants, SchedulerFile, unusual
from engine.checkpoints.faults import unreadable
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.sidecars import Card, cards_of
from engine.errors import EngineError
from engine.families.shared.stable_diffusion.edm import EdmLevels, edm_of_file, edm_of_scheduler


class Training(msgspec.Struct, frozen=True):
    """The prediction type, and its evidence as text that follows "because" in a sentence."""

    prediction: PredictionType
    evidence: Sentence
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
# As A1111 reads it in configurations of SD 2 and of SDXL (`configs/sd_xl_v.yaml`).
_PARAMETERIZATION = re.compile(
    r"^\s*(parameterization:\s*[\"']?(?P<ldm>v|eps)\b"
    r"|target:\s*[\"']?[\w.]*\bdenoiser_scaling\.(?P<sgm>V|Eps)Scaling\b)",
    re.MULTILINE,
)
_SIDECAR_BYTES = 64 * 1024
# Matches the beginning of base models on cards that are SD 2, in lower case.
SD_2_NAMES = re.compile(r"sd ?2|sd_v2|stable-diffusion-v2")


def training_of_file(
    index: TensorIndex, guess: Callable[[], Training | None] = lambda: None
) -> Training:
    """Return the training of a single file's denoiser: stated, else guessed, else epsilon."""
    answers = (rule(index) for rule in _RULES)
    usual = Training(PredictionType.EPSILON, sentence("nothing says otherwise"), is_stated=False)
    answer = next((answer for answer in answers if answer), None) or guess() or usual
    kohya = "ss_zero_terminal_snr"
    if index.metadata.get(kohya, "").lower() == "true":
        return _to_noise_alone(answer, _stated_by_metadata(kohya))
    if "ztsnr" in index.tensors:
        return _to_noise_alone(answer, _stated_by_key("ztsnr"))
    return answer


def _to_noise_alone(training: Training, evidence: Sentence) -> Training:
    evidence = joined([training.evidence, evidence])
    return msgspec.structs.replace(training, zero_terminal_snr=True, evidence=evidence)


def _stated_by_metadata(words: str) -> Sentence:
    return sentence("metadata: {words}", words=words)


def _stated_by_key(key: str) -> Sentence:
    return sentence("key {key}", key=key)


def training_of_folder(scheduler: SchedulerFile | None, folder: Path) -> Training:
    """Return the training that a diffusers folder's scheduler states.

    Raises EngineError(CHECKPOINT_UNKNOWN_FAMILY) for an unsupported scheduler configuration.
    """
    if scheduler is None:
        return Training(PredictionType.EPSILON, sentence("the folder has no scheduler"))
    where = "scheduler/scheduler_config.json"
    levels = edm_of_scheduler(scheduler)
    if levels is not None:
        evidence = f"{where}: {scheduler.class_name}, prediction_type {scheduler.prediction_type}"
        return Training(levels[0], as_it_is(evidence), levels=levels[1])
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
    return Training(prediction, as_it_is(evidence), scheduler.rescale_betas_zero_snr)


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
    stated = found["ldm"] or found["sgm"].lower()
    words = f"{sidecar.name}: parameterization {stated}"
    return Training(_PREDICTIONS[stated], as_it_is(words))


def _from_modelspec(index: TensorIndex) -> Training | None:
    stated = index.metadata.get("modelspec.prediction_type", "").lower()
    prediction = _PREDICTIONS.get(stated)
    if prediction is None:
        return None
    words = f"modelspec.prediction_type {stated}"
    return Training(prediction, _stated_by_metadata(words))


def _from_comfy(index: TensorIndex) -> Training | None:
    """Read ComfyUI's note in a checkpoint that it saved (`comfy_extras/nodes_model_merging.py`).

    "epsilon" is also written of a model that nothing marks, so only "v" tells anything.
    """
    name = "modelspec.predict_key"
    if index.metadata.get(name, "").lower() != "v":
        return None
    return Training(PredictionType.V, _stated_by_metadata(f"{name} v"))


def _from_edm_keys(index: TensorIndex) -> Training | None:
    """Read EDM's keys; this rule comes first, since other sources may not distinguish EDM."""
    found = edm_of_file(index)
    return Training(found[0], found[2], levels=found[1]) if found else None


def _from_key(index: TensorIndex) -> Training | None:
    if "v_pred" not in index.tensors:
        return None
    return Training(PredictionType.V, _stated_by_key("v_pred"))


def _from_kohya(index: TensorIndex) -> Training | None:
    name = "ss_v_parameterization"
    if index.metadata.get(name, "").lower() != "true":
        return None
    return Training(PredictionType.V, _stated_by_metadata(name))


def _from_probe(index: TensorIndex) -> Training | None:
    if not index.probed:
        return None
    return Training(index.probed, sentence("one step of the denoiser shows it"))


def _from_cards(index: TensorIndex) -> Training | None:
    """Read the training from the name of the base model on a card, such as "SD 2.1 768"."""
    card = next((card for card in cards_of(index) if _is_of_sd2_768(card)), None)
    return Training(PredictionType.V, as_it_is(card.words), is_stated=False) if card else None


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
    return Training(
        PredictionType.SAMPLE,
        sentence("the file is called {name}", name="1step_x0"),
        is_stated=False,
    )


_RULES: tuple[Callable[[TensorIndex], Training | None], ...] = (
    _from_edm_keys,
    _from_sidecar,
    _from_key,
    _from_modelspec,
    _from_comfy,
    _from_kohya,
    _from_probe,
    _from_cards,
    _from_name,
)
