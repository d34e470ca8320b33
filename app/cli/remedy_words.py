"""Remedies for failures, in the words of the command line."""

import shlex
from collections.abc import Sequence
from typing import assert_never

from app.packs.catalogue import Catalogue
from app.packs.sizes import megabytes
from engine.api.remedies import (
    CheckDevices,
    ChooseCheckpoint,
    ChooseFolder,
    ChooseStartPicture,
    DeclareControlKind,
    DeclareFamily,
    FreeCache,
    InstallPack,
    InvertMask,
    MakeSmaller,
    MoveKept,
    NameLoraFolder,
    RaiseMemoryLimit,
    Remedy,
    SaveHeld,
    StartFrom,
    SupplyParts,
    UseAnotherDevice,
    UseAnyDevice,
    UseAsPart,
)
from engine.api.values import ErrorInfo
from engine.errors import EngineError


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
        case MoveKept() | SaveHeld():
            return _keeping(remedy)
        case ChooseCheckpoint():
            return "Choose one with --model."
        case ChooseStartPicture():
            return "Choose the picture to start from with --init FILE."
        case StartFrom(path=path):
            return f"Or start from it with --init {shlex.quote(path)}."
        case InvertMask():
            return "--mask-invert turns it round."
        case MakeSmaller():
            return "Make the picture smaller with --size."
        case RaiseMemoryLimit():
            return "Or raise --memory-limit or --device-memory-limit, where one is given."
        case FreeCache():
            return "Or choose another folder for the cache with SAFELIGHT_CACHE."
        case UseAnyDevice():
            return "Try --backend auto; `safelight doctor` says what is missing."
        case UseAnotherDevice():
            return "Try another backend with --backend; `safelight devices` lists them."
        case CheckDevices():
            return "`safelight devices --recheck` checks it."
        case InstallPack(pack=pack):
            return _installing(pack)
        case SupplyParts():
            return _supplying(remedy)
        case UseAsPart(components=components):
            return f"Give this file beside it with {_any_of(components)}."
        case DeclareFamily(families=families):
            return f"If you know that it is one, say which: --family, one of {', '.join(families)}."
        case DeclareControlKind(kinds=kinds):
            return f"Say what the map shows with --control-kind, one of {', '.join(kinds)}."
        case NameLoraFolder():
            return "Or name the folder that has it with --lora-folder."
    assert_never(remedy)


def _keeping(remedy: MoveKept | SaveHeld) -> str:
    if isinstance(remedy, MoveKept):
        return f"The picture was kept as {remedy.path}."
    return "The window holds the finished picture in memory, and can save it elsewhere."


def _installing(name: str) -> str:
    """Return how a runtime pack is installed, or why it cannot be."""
    try:
        pack = Catalogue.read().named(name)
    except EngineError as error:
        return f"{error.message} {error.hint}"
    if not pack.unavailable:
        return f"Install it: `safelight packs install {name}`, {megabytes(pack.download_bytes)}."
    if pack.is_for_another_python:
        # An installed Safelight has the Python that packs are made for.
        return f"Install it: `python -m pip install --editable '.[{name}]'`."
    return f"The runtime pack {pack.title} has it. {pack.unavailable}"


def _supplying(remedy: SupplyParts) -> str:
    options = " ".join(f"{part_option(component)} FILE" for component in remedy.components)
    words = f"Supply it with {options}: such a file alone, or a model to take it from."
    best = (f"{part_option(file.component)} {shlex.quote(file.path)}" for file in remedy.files)
    given = " ".join(best)
    return f"{words} Of your files these fit best: {given}" if given else words


def _any_of(components: Sequence[str]) -> str:
    return " or ".join(f"{part_option(component)} FILE" for component in components)
