"""Commands for earlier prompts: remember, use and forget them."""

from PySide6.QtCore import QObject

from app.commands.state import AppState
from app.form.prompt_history import PromptHistory, PromptRecall, WrittenPrompt
from app.notices.remedies import NoticeAction
from app.queue.jobs import Job


class PromptCommands(QObject):
    """Remembers the prompts of queued jobs. What removes or replaces something can be undone."""

    def __init__(self, state: AppState, history: PromptHistory, parent: QObject) -> None:
        super().__init__(parent)
        self._form, self._notices = state.form, state.notices
        self.history, self._changes = history, state.changes
        # The steps of Alt+Up and Alt+Down in the prompt.
        self.recall = PromptRecall(state.form, history)
        state.queue.job_added.connect(self._on_job_added)

    def use(self, prompt: WrittenPrompt) -> None:
        """Put an earlier prompt into the form, with its negative prompt."""

        def put() -> None:
            self._form.prompt, self._form.negative_prompt = prompt.texts

        self._changes.apply(self.tr("The prompts are replaced by earlier ones."), put)

    def remove(self, prompt: WrittenPrompt) -> None:
        """Forget a prompt."""
        before = self.history.prompts
        self.history.remove(prompt)
        self._tell(self.tr("The prompt is forgotten."), before)

    def clear(self) -> None:
        """Forget every prompt."""
        before = self.history.prompts
        self.history.prompts = ()
        self._tell(self.tr("All earlier prompts are forgotten."), before)

    def _tell(self, message: str, before: tuple[WrittenPrompt, ...]) -> None:
        left = set(self.history.prompts)
        forgotten = [prompt for prompt in before if prompt not in left]

        def undo() -> None:
            self.history.put_back(forgotten, before)

        if forgotten:
            self._notices.tell(message, actions=(NoticeAction.UNDO_CHANGE,), undo=undo)

    def _on_job_added(self, job: Job) -> None:
        request = job.generation
        if request is not None:
            self.history.add(request.prompt, request.negative_prompt)
