"""A gallery of many pictures: the first index, opening, searching, and memory."""

import shutil
import subprocess

import msgspec

from benchmarks.child import ROOT, PeerError
from benchmarks.gallery_page import PageFigures
from benchmarks.gallery_pictures import make_pictures
from benchmarks.gallery_session import GalleryFigures
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.setting import Setting

_COUNT, _QUICK_COUNT = 100_000, 10_000
_OPEN_MS = 300.0
_SEARCH_MS = 100.0
_PAGE_MS = 8.0
_FRAME_MS = 16.0
_MEMORY_MB = 400.0


def gallery(setting: Setting) -> Findings:
    """Index pictures, then open the index again, each in a process of the app's environment.

    The files are small, and in the page cache if they were just made: the first index is the time
    of the processor, to which a disk adds its own.
    """
    count = _QUICK_COUNT if setting.quick else _COUNT
    folder = setting.folder / f"gallery-{count}"
    make_pictures(folder / "pictures", count, setting.say)
    for kept in ("cache", "state"):
        shutil.rmtree(folder / kept, ignore_errors=True)
    first, again = _session(setting, str(folder)), _session(setting, str(folder))
    page = _page(setting, str(folder))
    name = f"{again.pictures} pictures"
    tables = (
        Table(f"A gallery of {name}", ("", "measured"), _rows(first, again, page)),
        Table(
            f"Searches in {name}",
            ("", "median ms", "first after a change, ms"),
            tuple(
                (search, took, again.first_searches_ms[search])
                for search, took in again.searches_ms.items()
            ),
            "Until ids are there.",
        ),
    )
    return Findings(tables, _targets(name, first, again, page))


def _rows(
    first: GalleryFigures, again: GalleryFigures, page: PageFigures
) -> tuple[tuple[str, float], ...]:
    return (
        ("first index, s", first.scanned_s),
        ("first index, files a second", first.pictures / first.scanned_s),
        ("longest stall of the main thread meanwhile, ms", first.longest_stall_ms),
        ("open to the first 200 rows, ms", again.opened_ms),
        ("scan of unchanged folders, s", again.scanned_s),
        ("200 rows, ms", again.page_ms),
        ("counts to filter by, ms", again.facets_ms),
        ("private memory after the first index, MB", first.memory / 1e6),
        ("private memory, MB", again.memory / 1e6),
        ("index on disk, MB", again.index_bytes / 1e6),
        ("page: click to a drawn grid, ms", page.opened_ms),
        ("page: frame while scrolling, median, ms", page.frame_ms),
        ("page: frame while scrolling, 95th percentile, ms", page.frame_95_ms),
        ("page: frame while scrolling, 99th percentile, ms", page.frame_99_ms),
        ("page: longest frame, ms", page.longest_frame_ms),
        ("page: words to a drawn grid, ms", page.search_ms),
        ("page: another width, ms", page.resize_ms),
        ("page: private memory of the window, MB", page.memory / 1e6),
    )


def _targets(
    name: str, first: GalleryFigures, again: GalleryFigures, page: PageFigures
) -> tuple[Target, ...]:
    slowest = max(again.searches_ms.values())
    slowest_first = max(again.first_searches_ms.values())
    return (
        Target(f"gallery: open {name}", again.opened_ms, _OPEN_MS, "ms"),
        Target("gallery: slowest search", slowest, _SEARCH_MS, "ms"),
        Target("gallery: slowest search after a change", slowest_first, _SEARCH_MS, "ms"),
        Target("gallery: words to a drawn grid", page.search_ms, _SEARCH_MS, "ms"),
        Target("gallery: 200 rows", again.page_ms, _PAGE_MS, "ms"),
        Target("gallery: private memory", first.memory / 1e6, _MEMORY_MB, "MB"),
        Target("gallery: page open", page.opened_ms, _OPEN_MS, "ms"),
        Target("gallery: frame while scrolling, 95 of 100", page.frame_95_ms, _FRAME_MS, "ms"),
        Target("gallery: memory of the window", page.memory / 1e6, _MEMORY_MB, "MB"),
    )


def _session(setting: Setting, folder: str) -> GalleryFigures:
    return msgspec.json.decode(
        _run(setting, "benchmarks.gallery_session", folder), type=GalleryFigures
    )


def _page(setting: Setting, folder: str) -> PageFigures:
    return msgspec.json.decode(_run(setting, "benchmarks.gallery_page", folder), type=PageFigures)


def _run(setting: Setting, module: str, folder: str) -> str:
    command = [str(setting.python), "-m", module, folder]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        raise PeerError(f"the session ended with {run.returncode}: {run.stderr.strip()[-500:]}")
    return run.stdout
