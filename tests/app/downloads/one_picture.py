"""The app, from its start to its end: it opens the window, makes a picture and closes.

python -m tests.app.downloads.one_picture
"""

import sys

from PySide6.QtCore import QTimer

from app.__main__ import make_session
from app.paths import find_paths
from app.queue.jobs import Job, JobState
from app.single_instance import SingleInstance, Start
from ui.application import Application, make_window

_PATIENCE_MS = 240_000


def main() -> int:
    """Return 0 once the picture is made and its checkpoint was inspected."""
    application = Application()
    paths = find_paths()
    instance = SingleInstance(paths.state)
    assert instance.claim() is Start.FIRST
    session = make_session(paths)
    window = make_window(application, session)
    done = False

    def on_job(job: Job) -> None:
        nonlocal done
        if job.state.is_over:
            done = job.state is JobState.DONE
            # As a person does: a window that is destroyed while it is shown may crash.
            window.close()

    session.queue.job_changed.connect(on_job)
    window.show()
    session.start()
    session.generation.steps = 1
    session.generation.width = session.generation.height = 64
    session.jobs.generate()
    QTimer.singleShot(_PATIENCE_MS, window.close)
    application.exec()
    starter = session.checkpoints.answer(session.generation.checkpoint)
    print("inspected:", type(starter).__name__)  # noqa: T201
    session.close()
    window.close_background()
    instance.release()
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
