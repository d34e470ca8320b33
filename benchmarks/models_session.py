"""The page of models over 5,000 files: `python -m benchmarks.models_session`, prints JSON.

Lists them with an empty cache and again with a warm one, as the next start of the program does.
Real engine and real widgets, drawn off-screen; the files are sparse.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMainWindow

    from app.session import Session
    from ui.models.page import ModelsPage

FILES = 5000
_PATIENCE_S = 600.0


class ModelsFigures(msgspec.Struct, frozen=True):
    """The times to list the files, and the window's longest pauses meanwhile."""

    first_s: float
    warm_s: float
    warm_stall_ms: float
    warm_busiest_ms: float
    # The processor time of the window's and the engine's process for the warm list.
    warm_cpu_s: float
    search_ms: float


def main() -> None:
    """Measure, and print the figures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as private:
        folder = Path(private)
        for name in ("OUTPUT", "CACHE", "MODELS", "STATE", "LOGS", "CONFIG"):
            os.environ[f"SAFELIGHT_{name}"] = str(folder / name.lower())
        write_files(folder / "models")
        from ui.application import Application

        application = Application()
        first_s = _listed(application).first_s
        # What was written within the last seconds may change unnoticed, and is not kept.
        time.sleep(3)
        _listed(application)
        figures = msgspec.structs.replace(_listed(application), first_s=first_s)
        sys.stdout.write(msgspec.json.encode(figures).decode())
        sys.stdout.flush()


def write_files(models: Path) -> None:
    """Write files of every kind in many folders, as a person with several tools has them."""
    from app.paths import starter_checkpoint
    from tests.app.gallery.made import png
    from tests.checkpoints.files import header, write_raw
    from tests.families import listings, other_listings

    layer = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn2_to_k"
    lora = {f"{layer}.lora_down.weight": (8, 768), f"{layer}.lora_up.weight": (640, 8)}
    kinds = (
        ("Lora", 3600, lora),
        ("embeddings", 500, {"emb_params": (4, 768)}),
        ("VAE", 250, listings.ldm_vae()),
        ("Stable-diffusion/sd", 250, listings.original()),
        ("Stable-diffusion/xl", 200, listings.sdxl()),
        ("ControlNet", 100, other_listings.controlnet()),
    )
    for name, count, shapes in kinds:
        raw, size = header(shapes)
        for number in range(count):
            folder = models / name / f"style {number % 50}"
            folder.mkdir(parents=True, exist_ok=True)
            file = write_raw(folder / f"file {number}.safetensors", raw, size)
            if number % 4 == 0:
                file.with_suffix(".preview.png").write_bytes(png(number))
    # One less than a hundred, as the starter is a model, too.
    for number in range(99):
        folder = models / "diffusers" / f"folder {number}"
        shutil.copytree(starter_checkpoint(), folder, copy_function=os.symlink)


def _listed(application: object) -> ModelsFigures:
    """Open the page in a new session; return the figures of this list, as first and as warm."""
    from PySide6.QtWidgets import QMainWindow

    from app.__main__ import make_session
    from app.engine.process import EngineState
    from app.paths import find_paths
    from ui.actions import Actions
    from ui.models.page import ModelsPage
    from ui.theme.theme import Theme

    session = make_session(find_paths())
    session.process.start()
    _wait(lambda: session.process.state is EngineState.READY)
    # The engine answers its first query once its families are imported.
    _wait(lambda: bool(session.checkpoints.families))
    window = QMainWindow()
    theme = Theme(application)  # pyright: ignore[reportArgumentType]
    page = ModelsPage(session, theme, Actions(window))
    window.setCentralWidget(page)
    theme.dress(window)
    figures = _shown(session, window, page)
    page.close_background()
    session.close()
    window.close()
    return figures


def _shown(session: "Session", window: "QMainWindow", page: "ModelsPage") -> ModelsFigures:
    """Show the page until every file is listed, then search."""
    from benchmarks.stalls import StallWatch

    watch = StallWatch()
    watch.start()
    begun, cpu = time.perf_counter(), _cpu_s(session)
    window.show()
    store, rows = session.models.store, page.yours.item_model
    # Those that nothing here can use are a group of their own.
    _wait(lambda: len(store.models) == FILES and store.is_listed)
    _wait(lambda: 0 < rows.rowCount() == rows.group_size)
    seconds, cpu = time.perf_counter() - begun, _cpu_s(session) - cpu
    stalls = watch.stop()
    begun = time.perf_counter()
    page.yours.search.setText("file 49")
    search_ms = (time.perf_counter() - begun) * 1000
    longest = max((stall.seconds for stall in stalls), default=0.0)
    return ModelsFigures(seconds, seconds, longest * 1000, watch.busiest_s * 1000, cpu, search_ms)


def _cpu_s(session: "Session") -> float:
    """Return the processor time of this process and of the engine's, in seconds; Linux only."""
    hello = session.process.hello
    stat = Path(f"/proc/{hello.pid if hello is not None else 0}/stat")
    if not stat.exists():
        return time.process_time()
    ticks = stat.read_text().rpartition(")")[2].split()[11:13]
    return time.process_time() + sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _wait(condition: Callable[[], bool]) -> None:
    from PySide6.QtCore import QCoreApplication, QEventLoop

    deadline = time.monotonic() + _PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)


if __name__ == "__main__":
    main()
