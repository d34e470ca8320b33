"""Environment variables of other programs, which must reach neither the engine nor our Qt."""

from collections.abc import MutableMapping

from PySide6.QtCore import QProcessEnvironment

from engine.packs import FOLDER as PACKS_FOLDER
from safelight_launcher import OWN_LIBRARY_PATH, changes_code

_QT_PREFIXES = ("QT_", "QML")
_FOREIGN_QT = ("QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH")


def engine_environment(packs: str = "") -> QProcessEnvironment:
    """Return our environment for the engine, without variables that change the code it runs.

    SAFELIGHT_LIBRARY_PATH becomes the engine's LD_LIBRARY_PATH, for systems that find their GPU
    libraries only there. `packs` is the folder of runtime packs, which the engine searches first.
    """
    # Qt's copy keeps values as they are, also those that are not valid text.
    environment = QProcessEnvironment.systemEnvironment()
    for name in environment.keys():  # noqa: SIM118 (not a mapping)
        if changes_code(name) or name.upper().startswith(_QT_PREFIXES):
            environment.remove(name)
    if library_path := environment.value(OWN_LIBRARY_PATH):
        environment.insert("LD_LIBRARY_PATH", library_path)
    if packs:
        environment.insert(PACKS_FOLDER, packs)
    return environment


def forget_foreign_qt(variables: MutableMapping[str, str]) -> None:
    """Remove variables that make our Qt load another Qt's plug-ins; call before QApplication."""
    for name in _FOREIGN_QT:
        variables.pop(name, None)
