"""`safelight packs`: the runtimes that can be installed on demand, and those that are."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from app.cli.remedy_words import remedy_words
from app.cli.terminal import ByteBar, StatusLine, print_json, print_note, print_table, say
from app.downloads.contacts import noting_terms
from app.packs.catalogue import Catalogue, Pack
from app.packs.installation import Installation, Outcome, Progress, Stage, Wishes
from app.packs.sizes import megabytes
from app.packs.store import PackStore
from app.paths import find_paths, typed_path
from engine.api.remedies import InstallPack
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError


class PackOutput(msgspec.Struct, frozen=True):
    """A pack in the JSON output; `unavailable` says why it cannot be installed here.

    `installed` and `previous` are versions, empty for none. `active` is False for an installed
    pack that another one with an ONNX Runtime of its own keeps from being used.
    """

    id: str
    title: str
    summary: str
    version: str
    backends: tuple[str, ...]
    licences: tuple[str, ...]
    hosts: tuple[str, ...]
    download_bytes: int
    disk_bytes: int
    gain: str = ""
    gain_source: str = ""
    needs: str = ""
    unavailable: str = ""
    installed: str = ""
    active: bool = False
    previous: str = ""


class PacksOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight packs --json`."""

    folder: str
    packs: tuple[PackOutput, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.type = str
    parser.add_argument("--json", action="store_true")
    listing = actions.add_parser("list", help="list all packs")
    _take_json(listing)
    shown = _with_pack(actions.add_parser("show", help="show one pack and its licences"))
    _take_json(shown)
    install = _with_pack(actions.add_parser("install", help="download, try and use a pack"))
    _take_source(install)
    install.add_argument(
        "--accept-licences", action="store_true", help="accept the licences that `show` names"
    )
    _take_source(_with_pack(actions.add_parser("repair", help="fetch damaged files again")))
    _with_pack(actions.add_parser("roll-back", help="use the version before the present one"))
    _with_pack(actions.add_parser("remove", help="remove a pack"))


def run(options: argparse.Namespace) -> int:
    """Run one action. Raises EngineError."""
    store, catalogue = PackStore(find_paths().packs), Catalogue.read()
    match options.action:
        case "show":
            _show(_output(catalogue.named(options.pack), store), catalogue, as_json=options.json)
        case "install":
            _install(catalogue.named(options.pack), store, options)
        case "repair":
            pack = catalogue.named(options.pack)
            _say_repaired(_installation(store).repair(pack, _wishes(), source=_source(options)))
        case "roll-back":
            pack = catalogue.named(options.pack)
            _say_active(_installation(store).roll_back(pack, _wishes()))
        case "remove":
            _remove(options.pack, store)
        case _:
            outputs = tuple(_output(pack, store) for pack in catalogue.packs)
            _list(PacksOutput(str(store.folder), outputs), as_json=options.json)
    return 0


def _with_pack(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("pack", metavar="PACK")
    return parser


def _take_json(parser: argparse.ArgumentParser) -> None:
    """Declare an action's `--json`, which says nothing of one before the action."""
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS)


def _take_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="source",
        metavar="PATH",
        help="a folder that has the pack's wheels, or one of them; nothing is downloaded",
    )


def _source(options: argparse.Namespace) -> Path | None:
    return typed_path(options.source) if options.source else None


def _install(pack: Pack, store: PackStore, options: argparse.Namespace) -> None:
    source = _source(options)
    if not pack.unavailable:
        _tell_terms(pack, source)
        if pack.is_proprietary and not (options.accept_licences or _accepted()):
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                sentence("Nothing is installed, because the licences were not accepted."),
                sentence("--accept-licences accepts them."),
            )
    _say_active(_installation(store).install(pack, _wishes(), source=source))


def _installation(store: PackStore) -> Installation:
    return Installation(store, terms=noting_terms(find_paths().state))


def _tell_terms(pack: Pack, source: Path | None) -> None:
    """Say what comes from where, and under which licences, before anything does."""
    place = source or f"{', '.join(pack.hosts)}: {megabytes(pack.download_bytes)} to download"
    disk = megabytes(pack.disk_bytes)
    print_note(f"{pack.title} {pack.version} from {place}, {disk} on the disk.")
    for licence in pack.licences:
        print_note(f"Licence: {licence.name}, {licence.url}")


def _accepted() -> bool:
    """Ask a person at a terminal for a yes; nobody else can give it."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write("Do you accept these licences? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _wishes() -> Wishes:
    """Return wishes that draw progress on a terminal; Ctrl-C stops where it is."""
    line = StatusLine()
    bars: dict[Stage, ByteBar] = {}
    labels = {Stage.DOWNLOAD: "Downloading", Stage.UNPACK: "Unpacking"}

    def draw(progress: Progress) -> None:
        label = labels.get(progress.stage)
        if label is None:
            line.draw("Trying it, in a process of its own")
            return
        bar = bars.setdefault(progress.stage, ByteBar(label, progress.total))
        bar.show(min(progress.done, progress.total))

    return Wishes(on_progress=draw)


def _say_active(outcome: Outcome) -> None:
    StatusLine().clear()
    say(f"{outcome.pack.title} {outcome.pack.version} is in use. {outcome.verdict.sentence}")
    for other in outcome.gave_way:
        print_note(f"{other} is no longer in use: each of the two has an ONNX Runtime of its own.")


def _say_repaired(outcome: Outcome) -> None:
    StatusLine().clear()
    for name in outcome.repaired:
        say(f"{name} was damaged or missing and is in place again.")
    if not outcome.repaired:
        say(f"All files of {outcome.pack.title} {outcome.pack.version} are as they were installed.")
    say(outcome.verdict.sentence)


def _remove(pack: str, store: PackStore) -> None:
    if _installation(store).remove(pack):
        say(f"{pack} is removed.")
    else:
        say(f"{pack} is not used any more; its files go when the Safelight that uses it has ended.")


def _output(pack: Pack, store: PackStore) -> PackOutput:
    """Return a pack with its state in the store."""
    active = store.active().get(pack.id)
    here = store.listed(active) if active else store.resting(pack.id)
    previous = store.previous(pack.id)
    before = store.listed(previous) if previous else None
    return PackOutput(
        id=pack.id,
        title=pack.title,
        summary=pack.summary,
        version=pack.version,
        backends=pack.backends,
        licences=tuple(f"{licence.name}, {licence.url}" for licence in pack.licences),
        hosts=pack.hosts,
        download_bytes=pack.download_bytes,
        disk_bytes=pack.disk_bytes,
        gain=pack.gain,
        gain_source=pack.gain_source,
        needs=pack.needs,
        unavailable=pack.unavailable,
        installed=here.version if here else "",
        active=active is not None,
        previous=before.version if before else "",
    )


def _list(packs: PacksOutput, *, as_json: bool) -> None:
    if as_json:
        print_json(packs)
        return
    rows = [
        (pack.id, pack.version or "-", *_sizes(pack), _state(pack), pack.gain or "not measured yet")
        for pack in packs.packs
    ]
    print_table(("PACK", "VERSION", "DOWNLOAD", "DISK", "STATE", "GAIN"), rows)
    say()
    say(f"Installed packs are in {packs.folder}.")


def _sizes(pack: PackOutput) -> Iterable[str]:
    known = pack.download_bytes > 0
    return (megabytes(count) if known else "-" for count in (pack.download_bytes, pack.disk_bytes))


def _state(pack: PackOutput) -> str:
    if pack.installed and pack.active:
        newer = "" if pack.version in ("", pack.installed) else f", {pack.version} can be installed"
        return f"in use: {pack.installed}{newer}"
    if pack.active:
        return "damaged: repair it"
    if pack.installed:
        return "installed, gave way to another"
    return f"not here: {pack.unavailable}" if pack.unavailable else "can be installed"


def _show(pack: PackOutput, catalogue: Catalogue, *, as_json: bool) -> None:
    if as_json:
        print_json(pack)
        return
    facts = (
        ("", f"{pack.title} {pack.version}".strip()),
        ("", pack.summary),
        ("Backends", ", ".join(pack.backends)),
        ("Needs", pack.needs),
        ("Gain", f"{pack.gain} ({pack.gain_source})" if pack.gain else "not measured yet"),
        ("Download", ", ".join((*_sizes(pack), *pack.hosts)) if pack.download_bytes else ""),
        ("Licences", "; ".join(pack.licences)),
        ("State", _state(pack)),
        ("Before", pack.previous),
    )
    for name, text in facts:
        if text:
            say(f"{name}: {text}" if name else text)
    for wheel in catalogue.named(pack.id).wheels:
        say(f"{wheel.url} {wheel.size} sha256={wheel.sha256}")
    if pack.unavailable:
        say(remedy_words(InstallPack(pack=pack.id)))
