"""The sections of the settings but for shortcuts, privacy and about."""

import os
from collections.abc import Callable, Iterator

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QWidget

from app.notices.notices import NoticeState
from app.paths import usual_folders
from app.session import Session
from app.settings.values import stated
from app.settings_state import SettingsState
from engine.api.saving import PictureFormat
from ui.actions import ActionName, Actions
from ui.bind import bind_shown
from ui.picture_actions import open_folder
from ui.settings.devices_section import DevicesSection
from ui.settings.fields import FileNameField, FolderField
from ui.settings.labels import format_choices, language_choices, look_choices
from ui.settings.restart_offer import RestartOffer
from ui.settings.rows import CONTROL_WIDTH, Section, SettingRow, about, choice_row, switch_row
from ui.side_windows import SideWindows
from ui.theme.theme import Theme
from ui.widgets.number_field import WholeField
from ui.widgets.slider_field import SliderField
from ui.widgets.tick_box import TickBox

_LEAST_USUAL_QUALITY = 50
translate = QCoreApplication.translate


def look_section(session: Session, theme: Theme) -> Section:
    """Return the section on how the window looks."""
    return Section(translate("Settings", "Look"), _look_rows(session, theme))


def _look_rows(session: Session, theme: Theme) -> Iterator[SettingRow]:
    settings = session.settings
    words = translate("Settings", "theme colours dark mode light accessibility")
    yield choice_row(
        theme, settings, "look", translate("Settings", "Colours"), look_choices(), words
    )
    language = choice_row(
        theme,
        settings,
        "language",
        translate("Settings", "Language"),
        language_choices(),
        translate("Settings", "language German English translation"),
    )
    language.column.addWidget(RestartOffer(session, "language"))
    yield language
    yield switch_row(
        settings,
        "reduce_motion",
        translate("Settings", "Reduce motion"),
        translate("Settings", "animation accessibility"),
    )


def pictures_section(session: Session, theme: Theme) -> Section:
    """Return the section on the files of pictures."""
    return Section(translate("Settings", "Pictures"), _picture_rows(session, theme))


def _picture_rows(session: Session, theme: Theme) -> Iterator[SettingRow]:
    settings = session.settings
    yield _folder_row(
        session, theme, "pictures_folder", "SAFELIGHT_OUTPUT", translate("Settings", "Folder")
    )
    yield SettingRow(
        translate("Settings", "File names"),
        about("file_name"),
        below=FileNameField(session, theme),
        words=translate("Settings", "pattern naming placeholder"),
    )
    yield choice_row(
        theme, settings, "picture_format", translate("Settings", "Format"), format_choices()
    )
    yield _quality_row(settings)
    yield switch_row(
        settings,
        "metadata",
        translate("Settings", "Settings in each picture"),
        translate("Settings", "metadata prompt privacy"),
    )
    yield switch_row(
        settings,
        "sidecars",
        translate("Settings", "Stars beside pictures"),
        translate("Settings", "rating XMP sidecar darktable digiKam Lightroom"),
    )
    yield switch_row(settings, "previews", translate("Settings", "Previews"))


def folders_section(session: Session, theme: Theme, window: Callable[[], QWidget]) -> Section:
    """Return the section on the folders of models; `window` is the one to open others over."""
    return Section(translate("Settings", "Folders"), _folder_rows(session, theme, window))


def _folder_rows(
    session: Session, theme: Theme, window: Callable[[], QWidget]
) -> Iterator[SettingRow]:
    yield _folder_row(
        session, theme, "models_folder", "SAFELIGHT_MODELS", translate("Settings", "Models")
    )
    loras = QPushButton(translate("Settings", "LoRA folders…"))
    loras.clicked.connect(lambda: _show_lora_folders(session, window()))
    yield SettingRow(
        translate("Settings", "LoRAs"),
        translate("Settings", "Further folders with LoRAs, also those of other tools."),
        [loras],
    )
    yield _folder_row(
        session,
        theme,
        "wildcards_folder",
        "SAFELIGHT_WILDCARDS",
        translate("Settings", "Wildcards"),
    )


def machine_section(
    session: Session, theme: Theme, actions: Actions, window: Callable[[], QWidget]
) -> Section:
    """Return the section on what computes; `window` is the one to open others over."""
    return Section(translate("Settings", "Devices"), _device_rows(session, theme, actions, window))


def _device_rows(
    session: Session, theme: Theme, actions: Actions, window: Callable[[], QWidget]
) -> Iterator[SettingRow]:
    def show_runtimes(pack: str) -> None:
        SideWindows(session, theme, window()).show_runtimes(pack)

    yield SettingRow(
        translate("Settings", "Devices"),
        translate("Settings", "What computes the pictures, and how fast it is."),
        below=DevicesSection(session, show_runtimes),
        words=translate("Settings", "graphics card GPU processor memory cache"),
    )
    yield _action_row(
        actions[ActionName.RUNTIMES],
        translate("Settings", "Runtimes"),
        translate("Settings", "Parts that make Safelight faster on certain devices."),
        translate("Settings", "packs CUDA DirectML OpenVINO"),
    )
    yield _action_row(
        actions[ActionName.DOWNLOADS],
        translate("Settings", "Downloads"),
        translate("Settings", "What is being downloaded, and what has arrived."),
    )


def updates_section(session: Session, actions: Actions) -> Section:
    """Return the section on newer versions."""
    return Section(translate("Settings", "Updates"), _update_rows(session, actions))


def _update_rows(session: Session, actions: Actions) -> Iterator[SettingRow]:
    updates = session.updates
    automatic = TickBox()
    bind_shown(
        automatic,
        updates.state.automatic_changed,
        lambda: updates.state.automatic,
        automatic.setChecked,
    )
    automatic.clicked.connect(updates.set_automatic)
    possible = updates.available and bool(updates.place)
    automatic.setVisible(possible)
    sentence = (
        translate("Settings", "Asks {place} once a day, when Safelight starts.").format(
            place=updates.place
        )
        if possible
        else translate(
            "Settings",
            "Safelight was not installed by one of its own installers, so it is not updated"
            " from here.",
        )
    )
    yield SettingRow(
        translate("Settings", "Check automatically"),
        sentence,
        [automatic],
        words=translate("Settings", "updates version"),
    )
    yield _action_row(
        actions[ActionName.UPDATES],
        translate("Settings", "Versions"),
        translate("Settings", "Look for a newer version now, or go back to the one before."),
        translate("Settings", "updates"),
    )


def file_row(settings: SettingsState, notices: NoticeState) -> SettingRow:
    """Return the row on the file of the settings."""
    opened = QPushButton(translate("Settings", "Open its folder"))
    opened.clicked.connect(lambda: open_folder(str(settings.path.parent), notices))
    words = translate(
        "Settings", "All settings are in {path}. What you change there acts at once, too."
    )
    return SettingRow(
        translate("Settings", "File of the settings"),
        words.format(path=settings.path),
        [opened],
        words="toml",
    )


def _folder_row(session: Session, theme: Theme, name: str, variable: str, title: str) -> SettingRow:
    field = FolderField(session, theme, name, title, usual_folders()[name])
    if os.environ.get(variable):
        field.lock(variable)
    sentence = about(name)
    follows = name == "pictures_folder"
    if not follows:
        later = translate("Settings", "Another folder is used from the next start on.")
        sentence = f"{sentence} {later}"
    row = SettingRow(title, sentence, below=field, words=translate("Settings", "folder path"))
    if not follows:
        row.column.addWidget(RestartOffer(session, name))
    return row


def _quality_row(settings: SettingsState) -> SettingRow:
    low, high = stated()["quality"].bounds
    title = translate("Settings", "Quality")
    field = SliderField("", WholeField(low, high), (_LEAST_USUAL_QUALITY, high))
    field.field.setAccessibleName(title)
    field.slider.setAccessibleName(title)
    field.setFixedWidth(CONTROL_WIDTH)
    bind_shown(field, settings.changed, lambda: settings.now.quality, field.show_value)
    bind_shown(
        field,
        settings.changed,
        lambda: settings.now.picture_format is not PictureFormat.PNG,
        field.setEnabled,
    )

    def take(value: int) -> None:
        settings.change(quality=value)

    field.edited.connect(take)
    field.reset.connect(lambda: settings.change(quality=stated()["quality"].default))
    return SettingRow(title, about("quality"), [field], words="JPEG WebP")


def _action_row(action: QAction, title: str, sentence: str, words: str = "") -> SettingRow:
    button = QPushButton(action.text())
    button.clicked.connect(action.trigger)
    return SettingRow(title, sentence, [button], words=words)


def _show_lora_folders(session: Session, window: QWidget) -> None:
    # Here, as the window starts sooner without its dialogs.
    from ui.dialogs.lora_folders_dialog import LoraFoldersDialog

    LoraFoldersDialog(session, window).open()
