"""The settings in a picture's metadata, with remarks for the user."""

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtCore import QCoreApplication

from app.form.generation import MOST_CHARACTERS
from engine.api.request import GenerateRequest
from engine.api.values import ErrorInfo
from engine.errors import EngineError
from engine.file_paths import exists

translate = QCoreApplication.translate
# The beginning of the last line of settings as AUTOMATIC1111 and others write them.
_LINE = re.compile(r"^Steps: \d+, \S", re.MULTILINE)


class PictureSettings(msgspec.Struct, frozen=True):
    """A request to fill the form with; without a checkpoint the chosen one is kept.

    `remarks` are sentences on what could not be taken over. `model` and `model_of_pass` are names
    of checkpoints that another tool states, for the picture and for its second pass, `vae` that of
    a VAE, whose file is `vae_file`, empty if there is none.
    `tells_reading` is true if the request tells how its checkpoint is read, with all its parts.
    """

    request: GenerateRequest
    remarks: tuple[str, ...] = ()
    model: str = ""
    model_of_pass: str = ""
    vae: str = ""
    vae_file: str = ""
    tells_reading: bool = False

    def with_models(self, find: Callable[[str], Path | None]) -> "PictureSettings":
        """Return them with the checkpoints that `find` returns for names, without their remarks.

        The VAE is taken with the picture's own model alone: another one may have other latents.
        """
        # Here, as the window starts sooner without the readers of a dozen tools.
        from engine.metadata.readers.imported import (
            drawn_again_with,
            made_with_checkpoint,
            made_with_vae,
        )

        request, done = self.request, set[str]()
        model, again = find(self.model), find(self.model_of_pass)
        if model is not None and request.checkpoint is None:
            request = msgspec.structs.replace(request, checkpoint=str(model))
            done.add(made_with_checkpoint(self.model))
        if self.vae_file and request.checkpoint is not None:
            parts = msgspec.structs.replace(request.components, vae=self.vae_file)
            request = msgspec.structs.replace(request, components=parts)
            done.add(made_with_vae(self.vae))
        if again is not None and request.second_passes:
            first, *others = request.second_passes
            passed = msgspec.structs.replace(first, checkpoint=str(again))
            request = msgspec.structs.replace(request, second_passes=(passed, *others))
            done.add(drawn_again_with(self.model_of_pass))
        remarks = tuple(remark for remark in self.remarks if remark not in done)
        return msgspec.structs.replace(self, request=request, remarks=remarks)

    def with_vae(self, find: Callable[[str], Path | None]) -> "PictureSettings":
        """Return them with the file that `find` returns for the VAE, if they name one."""
        found = find(self.vae) if self.vae else None
        return self if found is None else msgspec.structs.replace(self, vae_file=str(found))


def read_settings(
    path: Path, starter: Path, starter_digest: str | None
) -> PictureSettings | ErrorInfo:
    """Return the settings of a picture of unknown origin. Reads the disk: not for the GUI thread.

    A recorded checkpoint whose file is missing is the starter if their digests are equal.
    """
    # Here, as the window starts sooner without the readers of a dozen tools.
    from engine.metadata.readers import read_request

    try:
        imported = read_request(path)
    except EngineError as error:
        return error.info
    request, remarks = imported.request, list(imported.warnings)
    wanted = request.checkpoint
    if wanted is not None and not exists(wanted):
        record = imported.record
        is_starter = record is not None and record.checkpoint_digest == starter_digest
        checkpoint = str(starter) if is_starter else None
        request = msgspec.structs.replace(request, checkpoint=checkpoint)
        if not is_starter:
            name = Path(wanted).name[:80]
            gone = translate(
                "settings", "Its model {name} is not there any more; the chosen one is kept."
            )
            remarks.append(gone.format(name=name))
    # Of a model that is not there a record tells nothing about the chosen one.
    tells_reading = imported.record is not None and request.checkpoint is not None
    request = _shortened(request, remarks)
    models = imported.model, imported.model_of_pass, imported.vae
    return PictureSettings(request, tuple(remarks), *models, tells_reading=tells_reading)


def tells_settings(text: str) -> bool:
    """Return True for a prompt with its settings below, as AUTOMATIC1111 writes both."""
    return _LINE.search(text) is not None


def settings_in_text(text: str) -> PictureSettings | None:
    """Return the settings that a text tells; None if it tells none."""
    # Here, as the window starts sooner without the readers of a dozen tools.
    from engine.metadata.readers import recognise
    from engine.metadata.texts import PARAMETERS_KEYWORD, TextChunk

    imported = recognise((TextChunk(PARAMETERS_KEYWORD, text),))
    if imported is None:
        return None
    remarks = list(imported.warnings)
    request = _shortened(imported.request, remarks)
    models = imported.model, imported.model_of_pass, imported.vae
    return PictureSettings(request, tuple(remarks), *models)


def _shortened(request: GenerateRequest, remarks: list[str]) -> GenerateRequest:
    """Return the request with prompts cut to MOST_CHARACTERS, and add a remark on a cut."""
    texts = {"prompt": request.prompt, "negative_prompt": request.negative_prompt}
    long = {name: text for name, text in texts.items() if len(text) > MOST_CHARACTERS}
    if not long:
        return request
    shortened = translate("settings", "Of its text the first {n} characters are used.")
    remarks.append(shortened.format(n=MOST_CHARACTERS))
    return msgspec.structs.replace(
        request, **{name: text[:MOST_CHARACTERS] for name, text in long.items()}
    )
