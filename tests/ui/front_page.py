"""The picture of the window in README.md: `python -m tests.ui.front_page FILE`.

The real window and engine, and four pictures by the starter; dark, 1280x800. Where there is no
display it is drawn off the screen.
"""

import os
import sys
import tempfile
from pathlib import Path

from PySide6.QtGui import QGuiApplication

from tests.ui.screenshots import PROMPTS, Photographer
from ui.application import Application
from ui.theme.colours import DARK

SIZE = (1280, 800)


def main(path: Path) -> None:
    """Make the pictures, show the first of them, save what the window looks like."""
    if not os.environ.get("DISPLAY"):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = Application()
    with tempfile.TemporaryDirectory() as private:
        photographer = Photographer(application, path.parent, Path(private))
        session = photographer.session
        try:
            photographer.theme.use_colours(DARK)
            session.start()
            photographer.wait_for("engine", photographer.is_ready)
            for prompt in reversed(PROMPTS):
                session.generation.prompt = prompt
                session.jobs.generate()
            photographer.wait_for_jobs(len(PROMPTS))
            # The foot of the window names the device, not that it is being looked for.
            devices = session.devices
            photographer.wait_for("devices", lambda: bool(devices.chosen) and not devices.checking)
            # Only now: at the start the window takes no more than the screen has.
            photographer.window.resize(*SIZE)
            photographer.settle(2)
            photographer.window.grab().save(str(path))
        finally:
            session.close()
            photographer.window.close_background()
    QGuiApplication.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
