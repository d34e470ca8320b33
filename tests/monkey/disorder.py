"""Deeds of others, to files and the engine, while the application is open."""

import os
import random
import shutil
import signal
from contextlib import suppress
from itertools import chain
from pathlib import Path

_PICTURES = (".png", ".jpg", ".webp")
_MODELS = (".safetensors", ".ckpt")


class Disorder:
    """Deletes, renames and damages files in the monkey's folder, and kills the engine."""

    def __init__(self, folder: Path, things: list[Path]) -> None:
        self._folder = folder
        self.things = things
        self.kills = 0

    def disturb(self, choose: random.Random) -> str:
        """Do one of them; return what was done."""
        deeds = (self._delete, self._rename, self._cut, self._add, self.move_folder)
        with suppress(OSError):
            return choose.choice(deeds)(choose)
        return "nothing"

    def kill_engine(self, application: int) -> None:
        """Kill the engine of this application at once."""
        # The processes that the application waits for wait for the engine themselves.
        for pid in chain.from_iterable(map(children, children(application))):
            with suppress(OSError):
                if b"engine" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                    os.kill(pid, signal.SIGKILL)
                    self.kills += 1

    def move_folder(self, choose: random.Random) -> str:
        """Take a folder away with all that is in it, or bring it back."""
        there = self._folder / choose.choice(("output", "models"))
        away = there.with_name(f"{there.name} away")
        if away.exists():
            # The application may have made another meanwhile.
            there.mkdir(exist_ok=True)
            for path in list(away.iterdir()):
                with suppress(OSError):
                    path.rename(there / path.name)
            shutil.rmtree(away)
            return f"brought {there.name} back"
        there.rename(away)
        return f"took {there.name} away"

    def _delete(self, choose: random.Random) -> str:
        path = self._some_file(choose)
        path.unlink()
        return f"deleted {path.name!r}"

    def _rename(self, choose: random.Random) -> str:
        path = self._some_file(choose)
        path.rename(path.with_stem(f"{path.stem[:60]} {choose.randrange(1000)}"))
        return f"renamed {path.name!r}"

    def _cut(self, choose: random.Random) -> str:
        path = self._some_file(choose)
        os.truncate(path, path.stat().st_size // 2)
        return f"cut {path.name!r}"

    def _add(self, choose: random.Random) -> str:
        thing = choose.choice(self.things)
        to = self._folder / choose.choice(("output", "models")) / thing.name
        if thing.is_file():
            shutil.copy(thing, to)
        return f"added {to.name!r}"

    def _some_file(self, choose: random.Random) -> Path:
        folder, kinds = choose.choice((("output", _PICTURES), ("models", _MODELS)))
        found = [path for path in (self._folder / folder).rglob("*") if path.suffix in kinds]
        if not found:
            raise FileNotFoundError(folder)
        return choose.choice(sorted(found))


def children(process: int) -> list[int]:
    """Return the processes that a process started, of those that still run."""
    told: set[str] = set()
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            told.update((task / "children").read_text().split())
    return [int(pid) for pid in told]
