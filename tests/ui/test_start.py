"""The command with a window: what it loads, what it leaves alone, and a second start."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.single_instance import SingleInstance, Start
from tests.app.supervised import PATIENCE_MS

ROOT = Path(__file__).parents[2]
# Runs the window until its first event loop turn and says which modules are there.
OPEN = """
import sys
from PySide6.QtCore import QTimer
from ui.application import Application
made = Application.__init__
def init(self):
    made(self)
    QTimer.singleShot(0, self.quit)
Application.__init__ = init
from app.__main__ import open_window
status = open_window()
print(*sorted(sys.modules))
sys.exit(status)
"""
# Opens the gallery on a folder that never answers, and closes the window while it is read.
HELD_UP = """
import os, sys, threading
from PySide6.QtCore import QCoreApplication, QTimer
import app.ending
from app.session import Session
app.ending.PATIENCE_S = 1.0
listed, held = os.scandir, threading.Event()
def scandir(path="."):
    if os.environ["SAFELIGHT_OUTPUT"] in os.fspath(path):
        held.set()
        threading.Event().wait()
    return listed(path)
os.scandir = scandir
started = Session.start
def start(self):
    started(self)
    self.gallery_index
    timer = QTimer(self)
    timer.timeout.connect(lambda: held.is_set() and QCoreApplication.quit())
    timer.start(20)
Session.start = start
from app.__main__ import open_window
sys.exit(open_window())
"""
# Opens the window, reads the code of its pages, and says whose sources Python keeps.
SOURCES = """
import linecache, os, sys
from app.__main__ import open_window
import app.logs
begin = app.logs.start_logging
def start_logging(folder):
    begin(folder)
    from PySide6.QtCore import QCoreApplication, QTimer
    from ui.read_ahead import read_pages
    for _ in read_pages():
        pass
    QTimer.singleShot(0, QCoreApplication.quit)
app.logs.start_logging = start_logging
status = open_window()
print(*(path for path in linecache.cache if f"{os.sep}ui{os.sep}" in path))
sys.exit(status)
"""
# Leaves an object of Qt to the collector of garbage while another thread makes many objects, and
# says which thread it ended on.
GARBAGE = """
import sys, threading
from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer
from app.__main__ import open_window
from app.session import Session
started, ended_on = Session.start, []
def say():
    ended_on.append(threading.current_thread().name)
def start(self):
    started(self)
    timer = QTimer(self)
    timer.timeout.connect(lambda: ended_on and QCoreApplication.quit())
    timer.start(20)
    cycle = QObject()
    cycle.itself = cycle
    cycle.destroyed.connect(say, Qt.ConnectionType.DirectConnection)
    thread = threading.Thread(target=lambda: [[] for _ in range(200_000)], name="another")
    del cycle
    thread.start()
    thread.join()
Session.start = start
status = open_window()
print(*ended_on)
sys.exit(status)
"""
COMMAND = """
import sys
from app.__main__ import main
sys.argv = ["safelight", "models"]
try:
    main()
finally:
    print(*sorted(sys.modules))
"""


def run(code: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def loaded(done: "subprocess.CompletedProcess[str]") -> set[str]:
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@cache
def at_start() -> set[str]:
    """The modules that are loaded once the window is open."""
    return loaded(run(OPEN))


def test_the_command_line_never_loads_qt() -> None:
    assert {name for name in loaded(run(COMMAND)) if name.startswith(("PySide6", "ui"))} == set()


def test_the_window_never_loads_the_engine() -> None:
    heavy = ("numpy", "onnx", "openvino", "PIL", "tokenizers", "backends", "engine.server")
    assert "ui.main_window" in at_start()
    assert {name for name in at_start() if name.split(".")[0] in heavy or name in heavy} == set()


def test_no_module_is_read_as_text_once_more_as_the_window_imports_it() -> None:
    # PySide looks for modules that give Qt's methods other names, and Python keeps what it read.
    done = run(SOURCES)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1:] == [""]


def test_no_reader_of_pictures_is_loaded_before_there_is_a_picture() -> None:
    assert {name for name in at_start() if name.startswith("engine.metadata.readers")} == set()


def test_the_gallery_is_opened_before_the_readers_of_its_pictures_are_loaded() -> None:
    modules = loaded(run("import sys, ui.gallery.page; print(*sys.modules)"))
    assert "app.gallery.index" in modules
    assert {name for name in modules if name.startswith("engine.metadata.readers")} == set()


def test_no_code_of_packs_or_connections_is_loaded_at_the_start() -> None:
    parts = {"app.packs.installation", "app.packs.catalogue", "tomllib", "urllib3", "ssl"}
    assert at_start() & parts == set()


def test_nothing_of_layers_and_upscales_is_loaded_before_there_is_one() -> None:
    parts = {
        "app.form.control_defaults",
        "ui.layer_labels",
        "ui.listed_files",
        "ui.panels.layer_card",
        "ui.panels.second_pass_card",
        "ui.upscale_popup",
        "ui.upscale_sizes",
    }
    assert at_start() & parts == set()


def test_the_window_collects_garbage_on_its_own_thread() -> None:
    done = run(GARBAGE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["MainThread"]


def test_no_dialog_is_loaded_before_it_is_opened() -> None:
    parts = {"ui.panels.paint_panel", "ui.widgets.mask_layer", "ui.item_models.lora_item_model"}
    assert {name for name in at_start() if name.startswith("ui.dialogs.") or name in parts} == set()


def test_the_app_starts_with_the_environment_variables_of_others() -> None:
    nothing = dict.fromkeys(
        (
            "LD_LIBRARY_PATH",
            "PATH",
            "QT_PLUGIN_PATH",
            "QT_QPA_PLATFORM_PLUGIN_PATH",
            "XDG_RUNTIME_DIR",
        ),
        "/nonexistent",
    )
    others = nothing | {
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
        "LANG": "xx_XX.UTF-8",
        "LC_ALL": "C",
        "PYTHONDONTWRITEBYTECODE": "x",
        "QT_SCALE_FACTOR": "2",
        "QT_STYLE_OVERRIDE": "nonsense",
        "SAFELIGHT_THEME": "nonsense",
    }
    assert "ui.main_window" in loaded(run(OPEN, **others))


def test_the_window_starts_without_fonts(tmp_path: Path) -> None:
    fonts = tmp_path / "fonts.conf"
    fonts.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
        f"<fontconfig><dir>{tmp_path}</dir><cachedir>{tmp_path}</cachedir></fontconfig>"
    )
    assert "ui.main_window" in loaded(run(OPEN, FONTCONFIG_FILE=str(fonts)))


def test_the_window_closes_while_a_folder_never_answers() -> None:
    output = Path(os.environ["SAFELIGHT_OUTPUT"])
    (output / "one").mkdir(parents=True)
    window = subprocess.Popen([sys.executable, "-c", HELD_UP], cwd=ROOT)
    try:
        assert window.wait(60) == 0
    finally:
        window.kill()


def test_a_second_start_hands_its_files_over(qtbot: QtBot, tmp_path: Path) -> None:
    first = SingleInstance(Path(os.environ["SAFELIGHT_STATE"]))
    opened: list[tuple[str, ...]] = []
    first.opened.connect(opened.append)
    assert first.claim() is Start.FIRST
    file = tmp_path / "a.safetensors"
    file.touch()
    second = subprocess.Popen([sys.executable, "-m", "app", str(file)], cwd=ROOT)
    qtbot.waitUntil(lambda: bool(opened), timeout=PATIENCE_MS)
    assert second.wait(60) == 0
    assert opened == [(str(file),)]
    first.release()
