"""Commands for presets: save, use, rename, move and remove them. Each can be undone."""

from collections.abc import Callable, Collection

import msgspec
from PySide6.QtCore import QObject

from app.commands.state import AppState
from app.form.presets import (
    MOST_PRESETS,
    Preset,
    PresetPart,
    PresetStore,
    preset_name,
    preset_of,
)
from app.notices.remedies import NoticeAction


class PresetCommands(QObject):
    """Changes the list of presets, and fills the form from one."""

    def __init__(self, state: AppState, store: PresetStore, parent: QObject) -> None:
        super().__init__(parent)
        self._form, self._checkpoints, self._notices = state.form, state.checkpoints, state.notices
        self.store, self._changes = store, state.changes

    def use(self, preset: Preset) -> None:
        """Fill the form with a preset's values."""
        self._changes.use_preset(preset)

    def save(self, name: str, parts: Collection[PresetPart]) -> None:
        """Keep these parts of the form under a name; a preset of that name is replaced."""
        new = preset_of(name, parts, self._form.form, self._checkpoints.starter)
        presets = self.store.presets
        if self.store.named(new.name) is not None:
            message = self.tr("The preset {name} is replaced.").format(name=new.name)
            self._put(message, [new if preset.name == new.name else preset for preset in presets])
        elif len(presets) >= MOST_PRESETS:
            text = self.tr("There is room for {n} presets.").format(n=MOST_PRESETS)
            self._notices.tell(text, self.tr("Remove one that you do not need."))
        else:
            self._put(self.tr("{name} is a preset now.").format(name=new.name), [*presets, new])

    def rename(self, preset: Preset, typed: str) -> bool:
        """Give a preset another name; return False if the name is empty or another's."""
        name = preset_name(typed)
        if name == preset.name:
            return True
        if not name or self.store.named(name) is not None:
            return False
        renamed = msgspec.structs.replace(preset, name=name)
        message = self.tr("{old} is called {name} now.").format(old=preset.name, name=name)
        self._put(message, [renamed if kept == preset else kept for kept in self.store.presets])
        return True

    def remove(self, preset: Preset) -> None:
        """Remove a preset."""
        message = self.tr("The preset {name} is removed.").format(name=preset.name)
        self._put(message, [kept for kept in self.store.presets if kept != preset])

    def move(self, preset: Preset, to: int) -> None:
        """Move a preset to another place in the list, counted from 0."""
        rest = [kept for kept in self.store.presets if kept != preset]
        rest.insert(to, preset)
        self.store.presets = tuple(rest)

    def _put(self, message: str, presets: list[Preset]) -> None:
        before = self.store.presets
        self.store.presets = after = tuple(presets)
        if after != before:
            self._notices.tell(
                message, actions=(NoticeAction.UNDO_CHANGE,), undo=self._undo_of(before, after)
            )

    def _undo_of(self, before: tuple[Preset, ...], after: tuple[Preset, ...]) -> Callable[[], None]:
        message = self.tr("The presets are as they were before.")
        return lambda: self._put(message, _without_change(self.store.presets, before, after))


def _without_change(
    now: tuple[Preset, ...], before: tuple[Preset, ...], after: tuple[Preset, ...]
) -> list[Preset]:
    """Return the presets of now without what changed from `before` to `after`.

    Later changes stay: what has another name or other values by now is left, and so is a name that
    another preset has.
    """
    made = [preset for preset in after if preset not in before]
    found = [preset for preset in now if preset not in made]
    if made and len(found) == len(now):
        return found
    for place, preset in enumerate(before):
        names = {other.name for other in found}
        if preset not in after and preset.name not in names and len(found) < MOST_PRESETS:
            found.insert(place, preset)
    return found
