"""Remedies for failures, in the words of the command line."""

import shlex
from collections.abc import Sequence
from typing import assert_never

from engine.api.remedies import (
    CheckDevices,
    ChooseCheckpoint,
    ChooseFolder,
    ChooseStartPicture,
    DeclareFamily,
    InstallPackages,
    InvertMask,
    MakeSmaller,
    NameLoraFolder,
    RaiseMemoryLimit,
    Remedy,
    SupplyParts,
    UseAnotherDevice,
    UseAnyDevice,
    UseAsPart,
)
from engine.api.values import ErrorInfo

# Packages whose build depends on the machine: the installer that finds it, and its command.
_FOUND_BY = {"torch": ("torchruntime", "`torchruntime install`, which finds the build for it")}


def advice(error: ErrorInfo) -> str:
    """Return the remedies for an error in a few sentences; empty where none is known."""
    return " ".join(filter(None, (error.hint, *map(remedy_words, error.remedies))))


def part_option(component: str) -> str:
    """Return the option that takes a part from another file."""
    return f"--{component.replace('_', '-')}"


def remedy_words(remedy: Remedy) -> str:  # noqa: C901 (a table)
    """Return a remedy in a sentence or two."""
    match remedy:
        case ChooseFolder():
            return "Choose another folder with --out."
        case ChooseCheckpoint():
            return "Choose one with --model."
        case ChooseStartPicture():
            return "Choose the picture to start from with --init FILE."
        case InvertMask():
            return "--mask-invert turns it round."
        case MakeSmaller():
            return "Make the picture smaller with --size."
        case RaiseMemoryLimit():
            return "Or raise --memory-limit, where one is given."
        case UseAnyDevice():
            return "Try --backend auto; `safelight doctor` says what is missing."
        case UseAnotherDevice():
            return "Try another backend with --backend; `safelight devices` lists them."
        case CheckDevices():
            return "`safelight devices --recheck` checks it."
        case InstallPackages(packages=packages):
            return " ".join(_installing(package) for package in packages)
        case SupplyParts():
            return _supplying(remedy)
        case UseAsPart(components=components):
            return f"Give this file beside it with {_any_of(components)}."
        case DeclareFamily(families=families):
            known = "If you know that it is one, say which"
            return f"{known}: --family, one of {', '.join(families)}."
        case NameLoraFolder():
            return "Or name the folder that has it with --lora-folder."
    assert_never(remedy)


def _installing(package: str) -> str:
    installer, then = _FOUND_BY.get(package, (package, ""))
    line = f"`python -m pip install {shlex.quote(installer)}`"
    return (
        f"Install it for this machine with {line} and {then}." if then else f"Install it: {line}."
    )


def _supplying(remedy: SupplyParts) -> str:
    options = " ".join(f"{part_option(component)} FILE" for component in remedy.components)
    words = f"Supply it with {options}: such a file alone, or a model to take it from."
    best = (f"{part_option(file.component)} {shlex.quote(file.path)}" for file in remedy.files)
    given = " ".join(best)
    return f"{words} Of your files these fit best: {given}" if given else words


def _any_of(components: Sequence[str]) -> str:
    return " or ".join(f"{part_option(component)} FILE" for component in components)
