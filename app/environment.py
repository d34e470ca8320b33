"""Environment variables of other programs, which must reach neither the engine nor our Qt."""

from collections.abc import MutableMapping

from PySide6.QtCore import QProcessEnvironment

# What changes which code a process runs: Python's own settings, preloaded libraries, another Qt.
_FOREIGN = frozenset({"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "__PYVENV_LAUNCHER__"})
_FOREIGN_PREFIXES = ("PYTHON", "DYLD_", "QT_", "QML")
_FOREIGN_QT = ("QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH")
_LIBRARY_PATH = "SAFELIGHT_LIBRARY_PATH"


def engine_environment() -> QProcessEnvironment:
    """The environment for the engine: ours, without what would change the code it runs.

    Where a system has its GPU libraries only on LD_LIBRARY_PATH, SAFELIGHT_LIBRARY_PATH gives the
    engine one.
    """
    # Qt's copy keeps values as they are, also those that are not valid text.
    environment = QProcessEnvironment.systemEnvironment()
    for name in environment.keys():  # noqa: SIM118 (not a mapping)
        if _is_foreign(name):
            environment.remove(name)
    if library_path := environment.value(_LIBRARY_PATH):
        environment.insert("LD_LIBRARY_PATH", library_path)
    return environment


def forget_foreign_qt(variables: MutableMapping[str, str]) -> None:
    """Remove what would make our Qt load another Qt's plugins; before a QApplication is made."""
    for name in _FOREIGN_QT:
        variables.pop(name, None)


def _is_foreign(name: str) -> bool:
    # Names are without case on Windows.
    name = name.upper()
    return name in _FOREIGN or name.startswith(_FOREIGN_PREFIXES)
