"""Changes that replace the form's values and can be undone."""

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.form.examples import EXAMPLES, STARTER_EXAMPLES, another
from app.form.fields import Form
from app.form.generation import (
    NO_CHOICES,
    SIZE,
    Choices,
    GenerationState,
    choices_of,
    with_size_of,
)
from app.form.history import FormHistory
from app.form.kept_settings import settings_of
from app.form.layer_kinds import bare_name
from app.form.model_settings import ModelSettingsMemory
from app.form.picture_settings import PictureSettings, read_settings, settings_in_text
from app.form.presets import Preset, fields_of_parts
from app.library.checkpoint_declarations import CheckpointMemory
from app.library.checkpoint_store import CheckpointStore
from app.library.named_vaes import find_vae
from app.notices.notices import NoticeState
from app.notices.remedies import NoticeAction
from engine.api.checkpoints import CheckpointInfo
from engine.api.request import GenerateRequest
from engine.api.values import ErrorInfo
from engine.api.weight_suffixes import weights_name


class Reuse(StrEnum):
    """The parts of a picture's settings that are used."""

    ALL_BUT_SEED = "all_but_seed"
    PROMPT = "prompt"
    SEED = "seed"
    EVERYTHING = "everything"


# Of its notices only the latest is true: the one before tells of a form that is no more.
_TOPIC = "form"
_TEXTS = ("prompt", "negative_prompt")
# What is read to fill the form: of two readings alike the later wins, whichever ends first.
_READ = "settings for the form"


class FormChanges(QObject):
    """Changes the form and adds a notice with an undo action, unless no value changed."""

    # The settings that are remembered with a model other than the chosen one changed.
    remembered_changed = Signal()

    def __init__(
        self,
        form: GenerationState,
        checkpoints: CheckpointStore,
        models: ModelSettingsMemory,
        declarations: CheckpointMemory,
        notices: NoticeState,
        background: Background,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._form = form
        self._checkpoints = checkpoints
        self._models, self._declarations = models, declarations
        self._notices = notices
        self._background = background
        self._history = FormHistory(form, self)
        # "… is the model now", and the settings that came with it.
        form.checkpoint_changed.connect(self._end_told)

    def _end_told(self, *_: object) -> None:
        self._notices.end_topic(_TOPIC)

    def undo(self, before: Form, after: Form | None = None) -> None:
        """Put earlier values back into the form; this change can be undone, too.

        A text that the change to the values `after` left alone stays as somebody typed it since.
        """
        wanted = before if after is None else _with_texts(before, after, self._form.form)
        self.apply(self.tr("The form is as it was before."), lambda: self._form.put(wanted))

    def step_back(self) -> None:
        """Undo the latest change of the form, whatever made it; nothing without one."""
        self._history.back(self.undo)

    def step_forward(self) -> None:
        """Take the latest step back; nothing once the form was changed since."""
        message = self.tr("The form is as it was before you undid it.")
        self._history.forward(lambda form: self.apply(message, lambda: self._form.put(form)))

    def reset(self) -> None:
        """Leave size, method and all options of a picture to the checkpoint and the engine.

        What was remembered of this checkpoint's settings is forgotten with it.
        """
        self.apply(self.tr("Settings are back at the model's defaults."), self._form.clear_choices)

    def remembered(self, model: Path) -> Choices:
        """Return the user's settings with a model: the form's for the chosen one."""
        chosen = model == self._form.checkpoint
        return self._form.choices if chosen else self._models.of(model)

    def forget(self, model: Path) -> None:
        """Have a model begin with its own settings; the form is reset if it is the chosen one."""
        if model == self._form.checkpoint:
            self.reset()
            return
        before = self._models.of(model)

        def put(choices: Choices) -> None:
            self._models.put(model, choices)
            self.remembered_changed.emit()

        put(NO_CHOICES)
        self._notices.tell(
            self.tr("{name} begins with its own settings.").format(
                name=weights_name(model.name)[:80]
            ),
            actions=(NoticeAction.UNDO_CHANGE,),
            undo=lambda: put(before),
        )

    def surprise(self) -> None:
        """Put an example into the prompt, of what the chosen checkpoint can draw."""
        form = self._form
        is_starter = form.checkpoint == self._checkpoints.starter
        of_starter = tuple(example.prompt for example in STARTER_EXAMPLES)
        example = another(of_starter if is_starter else EXAMPLES, form.prompt)

        def put() -> None:
            form.prompt = example

        self.apply(self.tr("The prompt is an example now."), put)

    def choose_checkpoint(self, path: Path) -> None:
        """Use a listed checkpoint, with the settings that were last used with it.

        It is told only if settings changed: another choice undoes the rest.
        """
        form = self._form
        before = form.form
        self._put_checkpoint(path)
        if form.has_choices and form.choices != choices_of(before):
            self._tell(self.tr("The settings you last used with this model are back."), before)
        elif form.choices != choices_of(before):
            self._tell(self.tr("The settings are this model's defaults."), before)

    def open_checkpoint(self, path: Path, name: str = "") -> None:
        """Use a checkpoint where it lies, with the settings that were last used with it.

        It is told by `name`, or by that of its file.
        """
        self._checkpoints.add(path)
        message = self.tr("{name} is the model now.").format(
            name=(name or weights_name(path.name))[:80]
        )
        self.apply(message, lambda: self._put_checkpoint(path))

    def use_starter(self, prompt: str) -> None:
        """Use the starter as it is meant to be used, with a prompt of words that it knows."""
        form = self._form

        def use() -> None:
            self._put_checkpoint(self._checkpoints.starter)
            form.start_anew()
            form.inputs = ()
            form.clear_choices()
            form.prompt, form.negative_prompt = prompt, ""
            # A kept seed would draw the same picture at each click.
            form.seed_locked = False

        self.apply(self.tr("The prompt and the settings are those of the postcard."), use)

    def use_preset(self, preset: Preset) -> None:
        """Fill the form with a preset's values."""

        def put() -> None:
            # The model comes before the settings, which it replaces by those last used with it.
            for name in fields_of_parts(preset.parts):
                if name in SIZE and getattr(preset.form, name) is None and self._form.inputs:
                    # The size is that of the start picture.
                    continue
                value = getattr(preset.form, name)
                if name == "checkpoint":
                    model: Path = self._checkpoints.starter if value == Path() else value
                    self._checkpoints.add(model)
                    self._put_checkpoint(model)
                else:
                    setattr(self._form, name, value)

        self.apply(self.tr("The preset {name} is used.").format(name=preset.name), put)

    def start_from(self, path: str, width: int, height: int) -> None:
        """Start from a picture of this size, in its shape, without the mask of the one before."""
        form = self._form
        before = form.effective

        def start() -> None:
            form.start_from(path, width, height)

        size = form.size_to_start_from(width, height)
        name = Path(path).name[:80]
        parts = [self.tr("The next picture starts from {name}.").format(name=name)]
        if size != (before.width, before.height):
            text = self.tr("Its size is {width} × {height}, in the shape of that picture.")  # noqa: RUF001
            parts.append(text.format(width=size[0], height=size[1]))
        self.apply(" ".join(parts), start)

    def start_anew(self) -> None:
        """Start from noise again, in the checkpoint's own size."""
        message = self.tr("The start picture is removed, and the size is the model's.")
        self.apply(message, self._form.start_anew)

    def use_settings(self, path: Path, what: Reuse = Reuse.ALL_BUT_SEED) -> None:
        """Fill the form from a picture's metadata, read on another thread."""
        starter = self._checkpoints.starter
        answer = self._checkpoints.answer(starter)
        digest = answer.digest if isinstance(answer, CheckpointInfo) else None

        def take(settings: PictureSettings | ErrorInfo) -> None:
            if isinstance(settings, ErrorInfo):
                self._notices.tell_error(settings)
            else:
                found = settings.with_models(self._checkpoint_named)
                self._take(found, what, path.name[:80])

        find = self._vae_finder()

        def read() -> PictureSettings | ErrorInfo:
            settings = read_settings(path, starter, digest)
            return settings if isinstance(settings, ErrorInfo) else settings.with_vae(find)

        self._background.look(read, take, (_READ, what))

    def use_text(self, text: str) -> None:
        """Fill the form from a text with settings, as `tells_settings` finds it."""

        def take(settings: PictureSettings | None) -> None:
            if settings is None:
                return
            found = settings.with_models(self._checkpoint_named)
            message = self.tr("Settings and seed replaced by those of the pasted text.")
            self.apply(message, lambda: self._take_all(found, with_seed=True), found.remarks)

        find = self._vae_finder()

        def read() -> PictureSettings | None:
            settings = settings_in_text(text)
            return None if settings is None else settings.with_vae(find)

        self._background.look(read, take, _READ)

    def _vae_finder(self) -> Callable[[str], Path | None]:
        """Return what finds the user's VAE of a name, on another thread."""
        checkpoints = self._checkpoints
        return partial(find_vae, models=checkpoints.models, others=checkpoints.folders)

    def _checkpoint_named(self, stated: str) -> Path | None:
        """Return the checkpoint that another tool's name means: the chosen one, or the only one."""
        wanted, chosen = bare_name(stated), self._form.checkpoint
        entries = self._checkpoints.entries
        found = {entry.path for entry in entries if wanted and bare_name(entry.name) == wanted}
        if chosen in found:
            return chosen
        return found.pop() if len(found) == 1 else None

    def _put_checkpoint(self, path: Path) -> None:
        form = self._form
        if path == form.checkpoint:
            return
        self._models.note()
        choices = self._models.of(path)
        if form.inputs:
            # The size is that of the start picture.
            choices = with_size_of(choices, form)
        with form.at_once():
            form.checkpoint = path
            form.put_choices(choices)

    def _take(self, settings: PictureSettings, what: Reuse, name: str) -> None:
        request = settings_of(settings.request)
        match what:
            case Reuse.PROMPT:
                message = self.tr("Prompts replaced by those of {name}.")
                self.apply(message.format(name=name), lambda: self._take_prompt(request))
            case Reuse.SEED if request.seed is None:
                self._notices.tell(self.tr("{name} does not say its seed.").format(name=name))
            case Reuse.SEED:
                message = self.tr("The seed of {name} is kept for the next pictures.")
                self.apply(message.format(name=name), lambda: self._take_seed(request))
            case Reuse.ALL_BUT_SEED | Reuse.EVERYTHING:
                message = self.tr("Settings replaced by those of {name}.").format(name=name)
                with_seed = what is Reuse.EVERYTHING
                self.apply(
                    message,
                    lambda: self._take_all(settings, with_seed=with_seed),
                    settings.remarks,
                )

    def _take_prompt(self, request: GenerateRequest) -> None:
        self._form.prompt = request.prompt
        self._form.negative_prompt = request.negative_prompt

    def _take_seed(self, request: GenerateRequest) -> None:
        form = self._form
        form.seed, form.seed_locked = request.seed, True
        form.seed_options = request.seed_options

    def _take_all(self, settings: PictureSettings, *, with_seed: bool) -> None:
        form, request = self._form, settings_of(settings.request)
        if not with_seed:
            request = msgspec.structs.replace(
                request,
                seed=form.seed if form.seed_locked else None,
                seed_options=form.seed_options,
            )
        model = form.checkpoint
        if request.checkpoint is not None:
            model = Path(request.checkpoint)
            self._checkpoints.add(model)
        declared = None if settings.tells_reading else self._declarations.of(model)
        # The count is the form's, not the picture's.
        form.load_request(msgspec.structs.replace(request, count=form.count), declared)

    def apply(
        self, message: str, change: Callable[[], None], remarks: tuple[str, ...] = ()
    ) -> None:
        """Change the form and tell of it; nothing is told if no value changed."""
        before = self._form.form
        with self._form.at_once():
            change()
        if self._form.form != before:
            self._tell(message, before, remarks)
        elif remarks:
            self._notices.tell(message, details=remarks)

    def _tell(self, message: str, before: Form, remarks: tuple[str, ...] = ()) -> None:
        after = self._form.form
        self._notices.tell(
            message,
            details=remarks,
            actions=(NoticeAction.UNDO_CHANGE,),
            topic=_TOPIC,
            undo=lambda: self.undo(before, after),
        )


def _with_texts(before: Form, after: Form, now: Form) -> Form:
    """Return earlier values with those texts of now that a change to `after` did not touch."""
    kept = (name for name in _TEXTS if getattr(before, name) == getattr(after, name))
    return msgspec.structs.replace(before, **{name: getattr(now, name) for name in kept})
