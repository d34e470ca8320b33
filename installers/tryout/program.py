"""A Safelight that is tried, with folders of a user's own."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from installers.tree import REPOSITORY

PROMPT = "a red house by the sea at night"
_PATIENCE_S = 600
# Lines of a command's output that a message repeats.
_SHOWN = 30
# What a program prints that is not well, though it goes on.
_BAD_SIGNS = ("platform dependent libraries", "Traceback (most recent call last)")


class TryoutError(Exception):
    """Something in the tree that is not as it should be; the message says what."""


@dataclass(frozen=True)
class Program:
    """The command that starts Safelight, for one user."""

    command: tuple[str, ...]
    home: Path
    # The folder that it is started in.
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def variables(self) -> dict[str, str]:
        """Return the environment: nothing of the present one but where programs are."""
        plain = {"HOME": str(self.home), "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"}
        return {"PATH": os.environ["PATH"], **plain, **self.environment}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start it with pipes to its output, and one for what it reads."""
        return subprocess.Popen(
            [*self.command, *arguments], cwd=self.folder, env=self.variables(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            errors="replace",
        )  # fmt: skip

    def run(self, *arguments: str, status: int = 0) -> str:
        """Return what a command prints. Raises TryoutError if it fails, or prints a bad sign."""
        return self.end(self.start(*arguments), *arguments, status=status)

    def end(self, process: subprocess.Popen[str], *arguments: str, status: int = 0) -> str:
        """Return what a command that was started printed; raises as `run` does."""
        try:
            out, errors = process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise TryoutError(f"{_named(arguments)} did not end in {_PATIENCE_S} s.") from None
        if process.returncode != status:
            said = _last(errors or out)
            raise TryoutError(
                f"{_named(arguments)} ended with {process.returncode}, not {status}:\n{said}"
            )
        for sign in _BAD_SIGNS:
            if sign in errors:
                raise TryoutError(f"{_named(arguments)} printed:\n{_last(errors)}")
        return out

    def answer(self, *arguments: str) -> Any:
        """Return what a command prints with --json."""
        text = self.run(*arguments, "--json")
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise TryoutError(f"{_named(arguments)} --json printed:\n{_last(text)}") from error

    def picture(self, name: str, *arguments: str) -> Path:
        """Make a small picture on the processor and return its path."""
        return self.finished(self.picturing(name, *arguments), name)

    def picturing(self, name: str, *arguments: str) -> subprocess.Popen[str]:
        """Start to make a small picture on the processor; `finished` waits for it."""
        options = ("--backend", "cpu", "--steps", "4", "--seed", "1", "--size", "128x128")
        path = str(self.home / name)
        return self.start("generate", *options, "--out", path, *arguments, PROMPT)

    def finished(self, process: subprocess.Popen[str], name: str) -> Path:
        """Return the path of a picture once it is made; raises as `run` does."""
        self.end(process, "generate", name)
        path = self.home / name
        if not path.is_file():
            raise TryoutError(f"generate ended well, but there is no {path}.")
        return path


def installed(root: Path, home: Path) -> Program:
    """Return the program of a tree, for a user with this home folder."""
    home.mkdir(parents=True, exist_ok=True)
    return Program((str(root / "safelight"),), home, home)


def checked_out(home: Path) -> Program:
    """Return the program of this checkout, with everything that its packages have."""
    home.mkdir(parents=True, exist_ok=True)
    return Program((sys.executable, "-m", "app"), home, REPOSITORY)


def _named(arguments: Sequence[str]) -> str:
    return f"`safelight {' '.join(arguments)}`"


def _last(text: str) -> str:
    return "\n".join(text.splitlines()[-_SHOWN:])
