"""The `safelight` command: the window, or with arguments the command line.

It makes the long-lived objects. The command line never loads Qt, and the window
never loads the engine.
"""

import gc
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from app.faulty_start import say, say_of_import
from app.standard_streams import open_missing
from safelight_launcher import hand_over, opens_window, start_apart

if TYPE_CHECKING:
    from app.paths import Paths
    from app.session import Session
    from app.single_instance import SingleInstance
    from app.updates.running import RunningVersion
    from ui.application import Application

# The bytes of blocks outside the window's heap; thumbnails of 160 pixels have 100 KiB.
_LARGE_BLOCK = 64 << 10
# One for the window's own thread, one for all that work in the background.
_ARENAS = 2


def main() -> None:
    """Run `python -m app`, which does the same as the `safelight` command."""
    start_apart(sys.argv[1:])
    hand_over(sys.argv[1:])
    start(sys.argv[1:])


@say_of_import
def start(arguments: Sequence[str]) -> NoReturn:
    """Open the window, or run the command line, and exit with its status."""
    from app.updates.running import running_version

    open_missing()
    running = running_version()
    running.hold()
    if opens_window(arguments):
        sys.exit(open_window(arguments, running))
    from app.cli import run

    running.started()
    sys.exit(run(arguments))


def open_window(files: Sequence[str] = (), running: "RunningVersion | None" = None) -> int:
    """Show the window with these files open until it is closed; return the exit status.

    A second start hands its files to the running instance and returns. Where the surroundings do
    not let the window open, the version has started all the same.
    """
    from engine.heap import keep_heap_compact

    # Before there are threads.
    keep_heap_compact(_LARGE_BLOCK, _ARENAS)
    # What is imported stays. `_show` has garbage collected again, of which there is little by then.
    gc.disable()
    from app.quick_imports import read_no_sources

    read_no_sources()
    from app.display import import_problem, prepare_display
    from app.environment import forget_foreign_qt
    from app.updates.running import running_version

    running = running or running_version()
    forget_foreign_qt(os.environ)
    problem = prepare_display(os.environ)
    if problem is None:
        try:
            # Imported here: this import fails if a library of the system is missing.
            from ui.application import Application
        except ImportError as error:
            problem = import_problem(error)
        else:
            return _run(Application(), running, files)
    else:
        running.started()
    return say(problem.message, problem.hint)


def _run(application: "Application", running: "RunningVersion", files: Sequence[str]) -> int:
    from app.paths import find_paths
    from app.single_instance import SingleInstance, Start
    from app.versions.handover import start_again
    from engine.errors import EngineError

    try:
        paths = find_paths()
    except EngineError as error:
        running.started()
        return say(error.message, error.hint)
    instance = SingleInstance(paths.state)
    start = instance.claim(files)
    if start is Start.HANDED_OVER:
        return 0
    if start is Start.NOT_ANSWERING:
        running.started()
        return say("Safelight is open already, but does not answer.", "End it, then try again.")
    running.keep_files(paths.state, paths.config)
    status, restarts = _show(application, paths, instance, files)
    instance.release()
    if restarts:
        start_again()
    return status


def _show(
    application: "Application", paths: "Paths", instance: "SingleInstance", files: Sequence[str]
) -> tuple[int, bool]:
    """Show the window until it is closed; return its status, and whether to start again."""
    from app.ending import ends_in_time
    from app.event_loop import run_events
    from app.garbage import GarbageCollection
    from app.logs import start_logging
    from app.queue.wakefulness import Wakefulness
    from app.versions.kept_files import forget_files
    from ui.application import has_fonts, make_window

    start_logging(paths.logs)
    GarbageCollection(application)
    if not has_fonts():
        say("There are no fonts, so the window has no text.", "Install fonts-dejavu-core.")
    session = make_session(paths)
    for place in (paths.state, paths.config):
        forget_files(place, version("safelight"))
    window = make_window(application, session)

    def open_files(files: Sequence[str]) -> None:
        window.come_forward()
        for file in files:
            session.open_file(Path(file))

    wakefulness = Wakefulness(session.queue, session.background)
    instance.opened.connect(open_files)
    application.files_asked.connect(open_files)
    session.updates.restart_asked.connect(window.close)
    window.show()
    favour_the_gui_thread()
    session.start()
    open_files(files)
    status = run_events(application)
    with ends_in_time():
        wakefulness.end()
        session.close()
        window.close_background()
    return status, session.updates.restarts


def favour_the_gui_thread() -> None:
    """Make other threads yield to the GUI sooner, and garbage collection skip present objects."""
    sys.setswitchinterval(0.001)
    gc.freeze()


def make_session(paths: "Paths") -> "Session":
    """Return the session with its objects connected; nothing is started."""
    from app.engine.client import EngineClient
    from app.engine.process import EngineProcess
    from app.notices.faults import report_faults
    from app.paths import starter_checkpoint
    from app.queue.job_queue import JobQueue
    from app.session import Session

    process = EngineProcess(paths)
    client = EngineClient(process)
    session = Session(paths, starter_checkpoint(), process, client, JobQueue(client, paths.state))
    report_faults(session.notices)
    return session


if __name__ == "__main__":
    main()
