"""`safelight updates`: look for a newer version, install it beside this one, go back."""

import argparse
import os

import msgspec

from app.cli.terminal import ByteBar, print_error, print_json, print_note, say
from app.downloads.contacts import noting_terms
from app.paths import find_paths, typed_text
from app.updates.errors import UpdateError
from app.updates.offers import Offer
from app.updates.places import PLACE_VARIABLE, is_web
from app.updates.updates import Updates
from app.versions.trees import own_tree
from engine.api.values import ErrorCode, ErrorInfo


class UpdatesOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON output of `safelight updates --json`.

    `next_version` begins with the next start if it is not this one; `back_to` is the version that
    `safelight updates back` leads to. Empty texts: there is none.
    """

    version: str
    place: str
    next_version: str
    back_to: str
    offer: Offer | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = ("status", "check", "install", "back")
    parser.add_argument("action", nargs="?", choices=actions, default="status")
    parser.add_argument(
        "--from",
        dest="place",
        metavar="PLACE",
        help=f"the web address or folder with updates; default: {PLACE_VARIABLE}, or the makers'",
    )
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Do what was asked; only `check` and `install` ask the place for anything."""
    paths = find_paths()
    environment = dict(os.environ)
    if options.place:
        environment[PLACE_VARIABLE] = _absolute(options.place)
    updates = Updates(
        paths.versions, paths.state, own_tree(), environment, noting_terms(paths.state)
    )
    try:
        offer = _act(updates, options.action, quiet=options.json)
    except UpdateError as error:
        print_error(ErrorInfo(ErrorCode.NOT_AVAILABLE, error.message, error.hint, error.detail))
        return 1
    if options.json:
        print_json(
            UpdatesOutput(
                version=updates.version,
                place=updates.place,
                next_version=updates.next_version,
                back_to=updates.back_to,
                offer=offer,
            )
        )
    return 0


def _act(updates: Updates, action: str, *, quiet: bool) -> Offer | None:
    """Carry out one action and, unless `quiet`, say what came of it; return a found offer."""
    offer = updates.check() if action in ("check", "install") else None
    if offer and action == "install":
        _install(updates, offer, quiet=quiet)
    goal = updates.go_back() if action == "back" else ""
    if quiet:
        return offer
    if action == "check":
        _tell_offer(updates, offer)
    elif action == "install":
        _tell_next(updates)
    elif action == "back":
        say(f"Version {goal} begins with the next start.")
    else:
        _tell_status(updates)
    return offer


def _install(updates: Updates, offer: Offer, *, quiet: bool) -> None:
    if not quiet:
        source = ", ".join(offer.hosts) or updates.place
        print_note(f"Version {offer.version}: {_megabytes(offer.download_bytes)} from {source}.")
    progress = ByteBar("Downloading", offer.download_bytes)
    try:
        updates.install(offer, progress.show, progress.clear, lambda: False)
    finally:
        progress.clear()


def _tell_offer(updates: Updates, offer: Offer | None) -> None:
    if offer is None:
        _tell_next(updates)
        return
    size = _megabytes(offer.download_bytes)
    say(f"Version {offer.version} of {offer.date} can be installed: a download of {size}.")
    if offer.gone_back_from:
        say("It was installed before, and left.")
    for line in offer.notes.splitlines():
        say(f"  {line}")


def _tell_next(updates: Updates) -> None:
    if updates.next_version:
        say(f"Version {updates.next_version} begins with the next start.")
    else:
        say(f"Version {updates.version} is the newest.")


def _tell_status(updates: Updates) -> None:
    say(
        f"This is version {updates.version}." if updates.version else "This is not an installation."
    )
    if updates.next_version:
        say(f"Version {updates.next_version} begins with the next start.")
    if updates.back_to:
        say(f"`safelight updates back` goes back to version {updates.back_to}.")
    for news in updates.news():
        say(f"{news.message} {news.hint}")
    say(f"Updates are looked for at {updates.place}." if updates.place else "No place is known.")


def _absolute(place: str) -> str:
    return place if is_web(place) else os.path.abspath(typed_text(place))  # noqa: PTH100


def _megabytes(count: int) -> str:
    return f"{-(-count // 1_000_000):,} MB"
