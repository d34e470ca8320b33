"""The registry of families: a list of modules, each of which defines a `FAMILY`."""

import importlib
import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import ModuleType

import msgspec

from engine.api.checkpoints import FamilyName
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.family import Family

# Families are asked in this order to recognise a file.
_MODULES = (
    "engine.families.sd1",
    "engine.families.sd2",
    "engine.families.sdxl",
    "engine.families.sdxl_refiner",
    "engine.families.flux",
    "engine.families.zimage",
    "engine.families.chroma",
    "engine.families.sd3",
    "engine.families.flux2",
)

_LOG = logging.getLogger(__name__)


class BrokenFamily(msgspec.Struct, frozen=True):
    """A family whose module could not be imported."""

    name: str
    reason: str


class FamilyRegistry:
    """The families, imported at first use; a family that fails to import does not stop others."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        self._modules = modules
        self._loaded: dict[str, Family | BrokenFamily] = {}

    def __iter__(self) -> Iterator[Family]:
        """Iterate over the families that could be imported, in order."""
        return (family for family in self._all() if isinstance(family, Family))

    @property
    def modules(self) -> tuple[str, ...]:
        """The names of the families' modules."""
        return self._modules

    @property
    def broken(self) -> tuple[BrokenFamily, ...]:
        """The families that could not be imported, in order."""
        return tuple(family for family in self._all() if isinstance(family, BrokenFamily))

    @property
    def names(self) -> tuple[str, ...]:
        """The families' names, in order."""
        return tuple(family.name for family in self)

    @property
    def listed(self) -> tuple[FamilyName, ...]:
        """The families' names and full titles, in order."""
        return tuple(
            FamilyName(
                name=family.name,
                title=family.full_title or family.title,
                about=family.about,
                variants=tuple(family.variants.items()),
            )
            for family in self
        )

    @property
    def titles(self) -> str:
        """The families' titles, separated by commas for a sentence."""
        return ", ".join(family.title for family in self)

    @property
    def problem(self) -> str:
        """A sentence that names the broken families, with a space before it; empty for none."""
        words = "; ".join(f"{family.name} ({family.reason})" for family in self.broken)
        return f" Families that could not be loaded: {words}." if words else ""

    def named(self, name: str) -> Family:
        """Return the family with this name. Raises EngineError(REQUEST_INVALID) for no family."""
        family = next((family for family in self if family.name == name), None)
        if family is None:
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                sentence("There is no family {name!r}.", name=name),
                sentence(
                    "Families: {names}.{problem}", names=", ".join(self.names), problem=self.problem
                ),
            )
        return family

    def of_base_model(self, base_model: str) -> Family | None:
        """Return the family that a card's `base_model` names; None for an unknown name."""
        word = base_model.casefold()
        return next((family for family in self if family.matches_base_model(word)), None)

    def add(self, module: str) -> None:
        """Register the family of another module, after the others."""
        self._modules = (*self._modules, module)

    @contextmanager
    def added(self, *modules: str) -> Generator[None]:
        """Register the families of other modules for the duration of a `with` block."""
        before = self._modules
        self._modules = (*before, *modules)
        try:
            yield
        finally:
            self._modules = before

    def _all(self) -> Iterator[Family | BrokenFamily]:
        for name in self._modules:
            if name not in self._loaded:
                self._loaded[name] = _load(name)
            yield self._loaded[name]


def _load(name: str) -> Family | BrokenFamily:
    try:
        return _family_of(importlib.import_module(name))
    except Exception as error:  # noqa: BLE001 (whatever a family's module raises, the others must still work)
        _LOG.exception("The family %s could not be loaded", name)
        return BrokenFamily(name.rpartition(".")[2], f"{type(error).__name__}: {error}")


def _family_of(module: ModuleType) -> Family:
    family: object = module.FAMILY
    if not isinstance(family, Family):
        raise TypeError(f"FAMILY is a {type(family).__name__}")
    return family


FAMILIES = FamilyRegistry(_MODULES)
