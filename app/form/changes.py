"""Changes that replace the form's values and can be undone."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject

from app.background import Background
from app.form.fields import NO_EXTRAS, Form
from app.form.generation import GenerationState, settings_of
from app.form.masks import keep_mask
from app.form.picture_settings import PictureSettings, read_settings
from app.library.checkpoint_store import CheckpointStore
from app.notices.notices import NoticeState
from app.notices.remedies import NoticeAction
from engine.api.checkpoints import CheckpointInfo
from engine.api.request import GenerateRequest
from engine.api.values import ErrorInfo, InputRole


class Reuse(StrEnum):
    """The parts of a picture's settings that are used."""

    ALL_BUT_SEED = "all_but_seed"
    PROMPT = "prompt"
    SEED = "seed"
    EVERYTHING = "everything"


class MaskEnd(StrEnum):
    """The ways to leave the mask dialog."""

    USED = "used"
    # With Esc or the dialog's frame; the painting is kept.
    CLOSED = "closed"
    DROPPED = "dropped"


class FormChanges(QObject):
    """Changes the form and adds a notice with an undo action, unless no value changed."""

    def __init__(
        self,
        form: GenerationState,
        checkpoints: CheckpointStore,
        notices: NoticeState,
        background: Background,
        masks: Path,
        parent: QObject | None = None,
    ) -> None:
        """`masks` is the folder where painted masks are kept."""
        super().__init__(parent)
        self._form = form
        self._checkpoints = checkpoints
        self._notices = notices
        self._background = background
        self._masks = masks

    def undo(self, before: Form) -> None:
        """Put earlier values back into the form; this change can be undone, too."""
        self.apply(self.tr("The form is as it was before."), lambda: self._form.put(before))

    def reset(self) -> None:
        """Leave size, steps, guidance, sampler and schedule to the checkpoint again."""
        self.apply(self.tr("Settings are back at the model's defaults."), self._form.clear_choices)

    def drop_extras(self) -> None:
        """Drop the settings of a loaded picture that have no control in the form."""

        def drop() -> None:
            self._form.extras = NO_EXTRAS

        self.apply(self.tr("What came with the picture is dropped."), drop)

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

    def keep_all(self, end: MaskEnd) -> None:
        """Paint all of the start picture, without a mask."""
        self._end_mask(None, end)

    def paint_within(self, make_png: Callable[[], bytes], end: MaskEnd) -> None:
        """Make and keep a mask on another thread, then paint within it."""

        def take(kept: Path | ErrorInfo) -> None:
            if isinstance(kept, ErrorInfo):
                self._notices.tell_error(kept)
                return
            self._end_mask(str(kept), end)

        self._background.run(lambda: keep_mask(self._masks, make_png()), take)

    def use_settings(self, path: Path, what: Reuse = Reuse.ALL_BUT_SEED) -> None:
        """Fill the form from a picture's metadata, read on another thread."""
        starter = self._checkpoints.starter
        answer = self._checkpoints.answer(starter)
        digest = answer.digest if isinstance(answer, CheckpointInfo) else None

        def take(settings: PictureSettings | ErrorInfo) -> None:
            if isinstance(settings, ErrorInfo):
                self._notices.tell_error(settings)
            else:
                self._take(settings, what, path.name[:80])

        self._background.run(lambda: read_settings(path, starter, digest), take)

    def _end_mask(self, mask: str | None, end: MaskEnd) -> None:
        form = self._form
        before = form.form
        had_mask = form.input_path(InputRole.MASK) is not None
        form.paint_within(mask)
        if end is MaskEnd.DROPPED:
            painted = form.form
            form.put(before)
            if painted != before:
                self._tell(self.tr("What you painted is dropped."), painted)
        elif form.form != before and (had_mask or end is MaskEnd.CLOSED):
            message = self.tr("What you painted is in force: only that is drawn anew.")
            if mask is None:
                message = self.tr("The mask is removed: all of the picture is drawn anew.")
            self._tell(message, before)

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
                    lambda: self._take_all(request, with_seed=with_seed),
                    settings.remarks,
                )

    def _take_prompt(self, request: GenerateRequest) -> None:
        self._form.prompt = request.prompt
        self._form.negative_prompt = request.negative_prompt

    def _take_seed(self, request: GenerateRequest) -> None:
        form = self._form
        form.seed, form.seed_locked = request.seed, True
        form.extras = msgspec.structs.replace(form.extras, seed_options=request.seed_options)

    def _take_all(self, request: GenerateRequest, *, with_seed: bool) -> None:
        form = self._form
        if not with_seed:
            request = msgspec.structs.replace(
                request,
                seed=form.seed if form.seed_locked else None,
                seed_options=form.extras.seed_options,
            )
        if request.checkpoint is not None:
            self._checkpoints.add(Path(request.checkpoint))
        # The count is the form's, not the picture's.
        form.load_request(msgspec.structs.replace(request, count=form.count))

    def apply(
        self, message: str, change: Callable[[], None], remarks: tuple[str, ...] = ()
    ) -> None:
        """Change the form and tell of it; nothing is told if no value changed."""
        before = self._form.form
        change()
        if self._form.form != before:
            self._tell(message, before, remarks)
        elif remarks:
            self._notices.tell(message, details=remarks)

    def _tell(self, message: str, before: Form, remarks: tuple[str, ...] = ()) -> None:
        self._notices.tell(
            message,
            details=remarks,
            actions=(NoticeAction.UNDO_CHANGE,),
            undo=lambda: self.undo(before),
        )
