"""One display and one window for all tests of a worker; what each test needs of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from app.display import prepare_display
from tests.app.known_hardware import write_verdicts
from tests.ui.real_window.display import display, missing_programs
from tests.ui.real_window.person import RealWindow

# A common laptop's: the least that the window must fit on.
SCREEN = (1366, 768)


@pytest.fixture(scope="session")
def real_display() -> Iterator[str]:
    """A display of a small laptop's size, with a window manager."""
    missing = missing_programs()
    if missing:
        pytest.skip(f"a real window needs {', '.join(missing)}: apt install xvfb openbox xdotool")
    with display(*SCREEN) as name:
        problem = prepare_display({"DISPLAY": name})
        if problem is not None:
            pytest.skip(f"{problem.message} {problem.hint}")
        yield name


@pytest.fixture(scope="session")
def _one_window(  # pyright: ignore[reportUnusedFunction]
    real_display: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealWindow]:
    folder = tmp_path_factory.mktemp("real window")
    write_verdicts(folder / "cache")
    window = RealWindow(folder, real_display)
    yield window
    window.close()


@pytest.fixture
def real_window(_one_window: RealWindow) -> RealWindow:
    """The window of all tests, as after the first start, with an empty prompt."""
    _one_window.put_back()
    return _one_window


class StartRealWindow(Protocol):
    """Starts the application in this test's own folders; again, after it ended."""

    def __call__(self, *files: str) -> RealWindow: ...


@pytest.fixture
def start_real_window(real_display: str, tmp_path: Path) -> Iterator[StartRealWindow]:
    """For tests that close the window, or kill it, and start it again."""
    started: list[RealWindow] = []
    folder = tmp_path / "person"
    write_verdicts(folder / "cache")

    def start(*files: str) -> RealWindow:
        started.append(RealWindow(folder, real_display, files))
        return started[-1]

    yield start
    for window in started:
        window.kill()
