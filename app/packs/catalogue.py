"""The packs that this version of Safelight knows, as `installers/packs.toml` lists them."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec

from app.code_folder import code_folder
from app.downloads.source import Source
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.packs import this_machine, this_python, this_system

_SYSTEMS = {"linux": "Linux", "windows": "Windows", "macos": "macOS"}


class Platform(msgspec.Struct, frozen=True):
    """A system, a processor's architecture and a version of Python that packs are built for."""

    system: str
    machine: str
    python: str

    @staticmethod
    def here() -> "Platform":
        """Return that of this process."""
        return Platform(this_system(), this_machine(), this_python())


class Licence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The licence of a pack's packages; a proprietary one is shown before the download."""

    name: str
    url: str
    proprietary: bool = False


class _Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a pack that are the same on each platform.

    `backends` are those it brings, `imports` the modules that its trial imports. A pack that
    replaces ONNX Runtime brings a build of its own, which hides the one of Safelight; only one
    such pack is active. `gain` is a measured or documented figure in words and `gain_source` where
    it is from; both are empty where none is known. `needs` says what the machine must have.
    `drop` are patterns of files that are not unpacked. `unavailable` is the reason why there are no
    wheels.
    """

    title: str
    summary: str
    licences: tuple[Licence, ...] = ()
    backends: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    replaces_onnxruntime: bool = False
    gain: str = ""
    gain_source: str = ""
    needs: str = ""
    drop: tuple[str, ...] = ()
    unavailable: str = ""


class Pack(_Facts, frozen=True, kw_only=True):
    """A runtime for one platform, as wheels; `disk_bytes` is without the files that are dropped."""

    id: str
    version: str = ""
    system: str = ""
    machine: str = ""
    # "3.13"; empty if it has no native modules of Python's.
    python: str = ""
    wheels: tuple[Source, ...] = ()
    disk_bytes: int = 0
    # True if only the version of Python is another than its wheels are for, as in a checkout.
    is_for_another_python: bool = False

    @property
    def download_bytes(self) -> int:
        """The bytes of all its wheels."""
        return sum(wheel.size for wheel in self.wheels)

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return f"{self.id}-{self.version}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that its installation connects to."""
        return tuple(dict.fromkeys(host for wheel in self.wheels for host in wheel.hosts))

    @property
    def is_proprietary(self) -> bool:
        """True if a person is to see a licence before the download."""
        return any(licence.proprietary for licence in self.licences)


class _Described(_Facts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pack as people describe it in the file."""

    # Distributions that its wheels ask for and nobody imports; left out when they are pinned.
    without: tuple[str, ...] = ()


class PinnedWheel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wheel of the package index, as the file has it."""

    url: str
    size: int
    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]

    def source(self) -> Source:
        """Return the wheel as a file to download."""
        return Source(self.url, (), self.url.rpartition("/")[2], self.size, self.sha256)


class Build(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The wheels of a pack for one platform, as `python -m installers.pack_lock` writes them."""

    pack: str
    version: str
    system: str
    machine: str
    python: str
    disk_bytes: int
    wheels: tuple[PinnedWheel, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    packs: dict[str, _Described]
    builds: tuple[Build, ...] = ()


class Catalogue:
    """The packs in their order of preference, each as it is on one platform."""

    def __init__(self, packs: Iterable[Pack]) -> None:
        self._packs = {pack.id: pack for pack in packs}

    @staticmethod
    def read(path: Path | None = None, platform: Platform | None = None) -> "Catalogue":
        """Read the list that came with Safelight, for this platform.

        Raises EngineError(NOT_AVAILABLE) if the file is missing or damaged.
        """
        path = path or catalogue_file()
        platform = platform or Platform.here()
        try:
            text = path.read_text(encoding="utf-8")
            content = msgspec.convert(tomllib.loads(text), _File)
            return Catalogue(
                _on(platform, name, described, content.builds)
                for name, described in content.packs.items()
            )
        except (OSError, ValueError) as error:
            raise EngineError(
                ErrorCode.NOT_AVAILABLE,
                sentence("The list of runtime packs cannot be read."),
                sentence("Install Safelight again."),
                f"{path}: {error}",
            ) from error

    @property
    def packs(self) -> tuple[Pack, ...]:
        """All packs, those without a build for this platform too."""
        return tuple(self._packs.values())

    def find(self, name: str) -> Pack | None:
        """Return the pack of this id, or None."""
        return self._packs.get(name)

    def named(self, name: str) -> Pack:
        """Return the pack of this id. Raises EngineError(REQUEST_INVALID) if there is none."""
        found = self.find(name)
        if found is None:
            known = ", ".join(self._packs)
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                sentence("There is no runtime pack {name!r}.", name=name),
                sentence("The packs are: {known}.", known=known),
            )
        return found


def catalogue_file() -> Path:
    """Return the path of the list that came with Safelight, which lies beside the app's code."""
    return Path(code_folder(), "installers", "packs.toml")


def _on(platform: Platform, name: str, described: _Described, builds: Iterable[Build]) -> Pack:
    """Return a pack as it is on a platform."""
    facts: dict[str, Any] = msgspec.structs.asdict(described)
    del facts["without"]
    own = [build for build in builds if build.pack == name]
    build = next((build for build in own if _fits(build, platform)), None)
    if build is None:
        facts["unavailable"] = described.unavailable or _why_none_fits(own, platform)
        anywhere = any(
            _fits(build, msgspec.structs.replace(platform, python=build.python)) for build in own
        )
        return Pack(id=name, is_for_another_python=anywhere, **facts)
    return Pack(
        id=name,
        **facts,
        version=build.version,
        system=build.system,
        machine=build.machine,
        python=build.python,
        wheels=tuple(wheel.source() for wheel in build.wheels),
        disk_bytes=build.disk_bytes,
    )


def _fits(build: Build, platform: Platform) -> bool:
    here = (build.system, build.machine) == (platform.system, platform.machine)
    return here and build.python in ("", platform.python)


def _why_none_fits(builds: list[Build], platform: Platform) -> str:
    """Return a sentence: other systems, another processor, or another Python."""
    of_the_system = [build for build in builds if build.system == platform.system]
    of_the_machine = [build for build in of_the_system if build.machine == platform.machine]
    if of_the_machine:
        python = of_the_machine[0].python
        return f"It is made for Python {python}; this is Python {platform.python}."
    if of_the_system:
        machines = " and ".join(dict.fromkeys(build.machine for build in of_the_system))
        return f"It is made for {machines} processors; this one is {platform.machine}."
    systems = " and ".join(dict.fromkeys(_SYSTEMS[build.system] for build in builds))
    return f"It is made for {systems}." if systems else "There are no packages for it."
