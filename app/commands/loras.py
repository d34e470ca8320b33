"""Commands for the LoRAs of the form: add, remove and adjust them, and use what they suggest."""

import re
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject

from app.commands.state import AppState
from app.form.lora_list import LoraList, NamedLora
from app.form.trigger_words import has_words, with_words, without_words
from app.library.lora_store import LoraStore
from app.notices.remedies import NoticeAction
from app.queue.jobs import Job
from engine.api.conventions import Convention, convention_of
from engine.api.lora import MAX_LORA_STRENGTH, MAX_LORAS, LoraChoice
from engine.api.lora_files import FewStepSettings
from engine.api.prompt_rules import NetworkTags
from engine.api.weight_suffixes import weights_name

_NUMBER = re.compile(r"-?[0-9]*\.?[0-9]+")
_MOST_STRENGTHS = 2
# A notice names so many files, and shortens their names to so many characters.
_MOST_NAMED, _SHOWN_CHARACTERS = 4, 40


class LoraCommands(QObject):
    """Changes the list of LoRAs. What removes or replaces something can be undone by a notice."""

    def __init__(
        self,
        state: AppState,
        store: LoraStore,
        lora_list: LoraList,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._form, self._notices = state.form, state.notices
        self._store, self._list, self._changes = store, lora_list, state.changes
        self._noted: tuple[str, ...] = ()
        state.queue.job_added.connect(self._note_use)

    def open(self, path: Path) -> None:
        """Add a file that was dropped or chosen to the list; a notice offers to undo it."""
        message = self.tr("{name} is a LoRA, and is in the list now.")
        name = path.stem[:80]
        self._changes.apply(message.format(name=name), lambda: self.add(str(path)))

    def add(self, path: str) -> None:
        """Add a file at full strength; one that is in the list is switched on."""
        loras, places = self._form.loras, self._list.places_of(path)
        if places:
            self.change(places[0], enabled=True)
        elif len(loras) < MAX_LORAS:
            self._form.loras = (*loras, LoraChoice(file=path))
        else:
            self._notices.tell(self.tr("The list has room for {n} LoRAs.").format(n=MAX_LORAS))

    def remove(self, at: int) -> None:
        """Remove a LoRA from the list."""
        loras = self._form.loras
        name = weights_name(loras[at].file)[:80]
        rest = (*loras[:at], *loras[at + 1 :])
        self._put(self.tr("{name} is removed.").format(name=name), rest)

    def take_out(self, path: str) -> None:
        """Remove the LoRA with this file from the list without a notice."""
        places = self._list.places_of(path)
        rest = (lora for at, lora in enumerate(self._form.loras) if at not in places)
        self._form.loras = tuple(rest)

    def tell_changes(self, before: tuple[LoraChoice, ...]) -> None:
        """Tell which LoRAs have joined and left the list since it was `before`; undo is offered."""
        now = self._form.loras
        files, earlier = {lora.file for lora in now}, {lora.file for lora in before}
        added = [lora.file for lora in now if lora.file not in earlier]
        removed = [lora.file for lora in before if lora.file not in files]
        if now == before:
            return
        undone = self.tr("The list of LoRAs is as it was before.")
        self._notices.tell(
            self._changes_words(added, removed),
            actions=(NoticeAction.UNDO_CHANGE,),
            undo=lambda: self._put(undone, before),
        )

    def change(self, at: int, **changes: float | bool | str | None) -> None:
        """Change fields of a LoRA in the list, by their names in `LoraChoice`."""
        loras = self._form.loras
        changed = msgspec.structs.replace(loras[at], **changes)
        self._form.loras = (*loras[:at], changed, *loras[at + 1 :])

    def toggle_words(self, words: str) -> None:
        """Add trigger words to the prompt, or remove them if the prompt has them."""
        prompt = self._form.prompt
        act = without_words if has_words(prompt, words) else with_words
        self._form.prompt = act(prompt, words)

    def use_settings(self, settings: FewStepSettings) -> None:
        """Use the sampler, schedule, steps and guidance that a LoRA was made for."""
        form = self._form

        def use() -> None:
            form.sampler, form.schedule = settings.sampler, settings.schedule
            form.steps, form.guidance = settings.steps, settings.guidance

        message = self.tr("Sampler, schedule, steps and guidance are those of {title}.")
        self._changes.apply(message.format(title=settings.title), use)

    def replace(self, at: int, path: Path) -> None:
        """Use another file for a LoRA of the list; its strengths stay."""
        loras = self._form.loras
        found = msgspec.structs.replace(loras[at], file=str(path))
        message = self.tr("{name} is used now.").format(name=path.stem[:80])
        self._put(message, (*loras[:at], found, *loras[at + 1 :]))

    def replace_named(self, named: NamedLora, path: Path) -> None:
        """Use a file for a LoRA that the prompt names: it moves from the prompt to the list.

        A tag that says more than strengths stays, under the file's name; then the file's folder is
        looked into from now on.
        """
        form = self._form
        tag = re.compile(rf"\s*<(?:lora|lyco|loractl):\s*{re.escape(named.name)}\s*(:[^<>]*)?>")
        found = tag.search(form.prompt)
        if found is None:
            return
        strengths = _strengths(found[1] or "", convention_of(form.convention))
        if strengths is None:
            self._rename(found, named.name, path)
            return
        strength, text = strengths
        choice = LoraChoice(file=str(path), strength=strength, text_strength=text)

        def move() -> None:
            form.prompt = tag.sub("", form.prompt).strip()
            form.loras = (*form.loras, choice)

        message = self.tr("{name} moved from the prompt to the list.")
        self._changes.apply(message.format(name=named.name[:80]), move)

    def _rename(self, tag: re.Match[str], name: str, path: Path) -> None:
        """Write a file's name into a tag of the prompt, with its folder where others have it."""
        info, new = self._store.info(str(path)), path.stem
        if info is None:
            self._store.add_folder(path.parent)
        elif self._store.find(new) != info:
            new = info.name
            if self._store.find(new) != info:
                message = self.tr("Two files are called {name} in their folders: rename one.")
                self._notices.tell(message.format(name=new[:80]))
                return
        before = self._form.prompt
        # A file may be called as the tag is, or as a part of that.
        begin, colon, rest = tag[0].partition(":")
        renamed = f"{begin}{colon}{rest.replace(name, new, 1)}"

        def write() -> None:
            self._form.prompt = f"{before[: tag.start()]}{renamed}{before[tag.end() :]}"

        message = self.tr("{name} is called {new} in the prompt now.")
        self._changes.apply(message.format(name=name[:80], new=new[:80]), write)

    def _changes_words(self, added: list[str], removed: list[str]) -> str:
        parts: list[str] = []
        if added:
            parts.append(self.tr("Added to the list: {names}.").format(names=self._names(added)))
        if removed:
            text = self.tr("Removed from the list: {names}.")
            parts.append(text.format(names=self._names(removed)))
        return " ".join(parts) or self.tr("The list of LoRAs has changed.")

    def _names(self, files: list[str]) -> str:
        names = [_shortened(weights_name(file)) for file in files[:_MOST_NAMED]]
        if len(files) > len(names):
            names.append(self.tr("{n} more").format(n=len(files) - len(names)))
        return ", ".join(names)

    def _put(self, message: str, loras: tuple[LoraChoice, ...]) -> None:
        def put() -> None:
            self._form.loras = loras

        self._changes.apply(message, put)

    def _note_use(self, job: Job) -> None:
        if job.generation is None:
            return
        wanted = job.generation.loras
        paths = tuple(
            row.info.path
            for row in self._list.rows
            if row.info is not None and row.choice in wanted
        )
        if paths != self._noted:
            self._noted = paths
            self._store.memory.note_use(paths)


def _shortened(name: str) -> str:
    return name if len(name) <= _SHOWN_CHARACTERS else f"{name[: _SHOWN_CHARACTERS - 1].rstrip()}…"


def _strengths(arguments: str, convention: Convention) -> tuple[float, float | None] | None:
    """Return a tag's strengths for the denoiser and the text encoders; None if it says more.

    `arguments` begins with a colon, or is empty. None as the second strength: the same.
    """
    given = [part.strip() for part in arguments.split(":")[1:]]
    if len(given) > _MOST_STRENGTHS or not all(map(_NUMBER.fullmatch, given)):
        return None
    numbers = [float(part) for part in given]
    if any(abs(number) > MAX_LORA_STRENGTH for number in numbers):
        return None
    if len(numbers) < _MOST_STRENGTHS:
        return (numbers[0] if numbers else 1.0), None
    first, second = numbers
    is_denoiser_first = convention.network_tags is NetworkTags.DENOISER_FIRST
    return (first, second) if is_denoiser_first else (second, first)
