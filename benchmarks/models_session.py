"""The page of models over 5,000 files: `python -m benchmarks.models_session`, prints JSON.

Lists them with an empty cache and again with a warm one, as the next start of the program does.
Real engine and real widgets, drawn off-screen; the files are sparse.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

FILES = 5000
_PATIENCE_S = 600.0


class ModelsFigures(msgspec.Struct, frozen=True):
    """The times to list the files, and the window's longest pauses meanwhile."""

    first_s: float
    warm_s: float
    warm_stall_ms: float
    warm_busiest_ms: float
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
        first_s, *_ = _listed(application)
        # What was written within the last seconds may change unnoticed, and is not kept.
        time.sleep(3)
        _listed(application)
        warm_s, stall_ms, busiest_ms, search_ms = _listed(application)
        figures = ModelsFigures(first_s, warm_s, stall_ms, busiest_ms, search_ms)
        sys.stdout.write(msgspec.json.encode(figures).decode())
        sys.stdout.flush()


def write_files(models: Path) -> None:
    """Write LoRAs in fifty folders, as a person with many has them."""
    from tests.checkpoints.files import write_sparse

    layer = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn2_to_k"
    shapes = {f"{layer}.lora_down.weight": (8, 768), f"{layer}.lora_up.weight": (640, 8)}
    for number in range(FILES):
        folder = models / "Lora" / f"style {number % 50}"
        folder.mkdir(parents=True, exist_ok=True)
        write_sparse(folder / f"file {number}.safetensors", shapes)


def _listed(application: object) -> tuple[float, float, float, float]:
    """Open the page in a new session; return the seconds to the whole list, and the pauses."""
    from PySide6.QtWidgets import QMainWindow

    from app.__main__ import make_session
    from app.engine.process import EngineState
    from app.paths import find_paths
    from benchmarks.stalls import StallWatch
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
    watch = StallWatch()
    watch.start()
    begun = time.perf_counter()
    window.show()
    store = session.models.store
    _wait(lambda: store.is_listed and page.yours.item_model.rowCount() == FILES)
    seconds = time.perf_counter() - begun
    stalls = watch.stop()
    begun = time.perf_counter()
    page.yours.search.setText("file 49")
    search_ms = (time.perf_counter() - begun) * 1000
    longest = max((stall.seconds for stall in stalls), default=0.0)
    page.close_background()
    session.close()
    window.close()
    return seconds, longest * 1000, watch.busiest_s * 1000, search_ms


def _wait(condition: Callable[[], bool]) -> None:
    from PySide6.QtCore import QCoreApplication, QEventLoop

    deadline = time.monotonic() + _PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)


if __name__ == "__main__":
    main()
