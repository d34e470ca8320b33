"""Shapes of weights under canonical names, and checks of a configuration against the shapes."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.shared.keys.numbering import Numbering, damaged
from engine.weights.sources import Weight


class Shapes:
    """The shapes of a component's weights. For a missing weight, EngineError names its key."""

    def __init__(self, weights: Mapping[str, Weight], path: Path) -> None:
        self.path = path
        self._weights = weights
        self._numbering = Numbering(weights, path)

    def __contains__(self, name: str) -> bool:
        return name in self._weights

    def of(self, name: str, rank: int | None = None) -> tuple[int, ...]:
        """Return the shape of a weight, which must exist and have `rank` dimensions, none zero.

        Raises EngineError(CHECKPOINT_CORRUPT).
        """
        weight = self._weights.get(name)
        if weight is None:
            raise damaged(self.path, sentence("it lacks {name!r}", name=name))
        if not all(weight.shape) or (rank is not None and len(weight.shape) != rank):
            raise damaged(
                self.path,
                sentence("{name!r} has the shape {list}", name=name, list=list(weight.shape)),
            )
        return weight.shape

    def first(self, ending: str, rank: int | None) -> tuple[int, ...]:
        """Return the shape of the first weight whose name ends with `ending`; see `of`."""
        name = next((name for name in self._weights if name.endswith(ending)), ending)
        return self.of(name, rank)

    def count(self, prefix: str) -> int:
        """Count the numbered children of `prefix`; see `Numbering.count`."""
        return self._numbering.count(prefix)

    def blocks(self, prefix: str, first: str) -> int:
        """Count the numbered children of `prefix`, which has at least one.

        Raises EngineError(CHECKPOINT_CORRUPT) for none, which names the weight `first` of child 0.
        """
        count = self.count(prefix)
        if not count:
            raise damaged(self.path, sentence("it lacks {value!r}", value=f"{prefix}.0.{first}"))
        return count


def require_usual(file: Path, unusual: Sequence[str], advice: Sentence) -> None:
    """Raise EngineError(CHECKPOINT_UNKNOWN_FAMILY) where a configuration has unusual settings.

    `unusual` are the settings that are not run, as `diffusers_configs.unusual` lists them; `advice`
    says what to choose instead.
    """
    if unusual:
        raise EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            sentence(
                "{parent}/{file} asks for what this version does not run: {names}.",
                parent=file.parent.name,
                file=file.name,
                names=", ".join(unusual),
            ),
            advice,
        )


def check_claims(file: Path, claims: Iterable[tuple[str, object, object]]) -> None:
    """Check the claims of a configuration file: (field, stated value, value in the weights).

    Raises EngineError(CHECKPOINT_MISMATCH) for the first claim that differs.
    """
    for field, stated, found in claims:
        if stated != found:
            raise mismatch(file, f"{field} = {stated}", f"{found}")


def mismatch(file: Path, stated: str, found: str) -> EngineError:
    """Return the error for a configuration that contradicts the folder's weights."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence(
            "{parent}/{file} says {stated}, but the weights have {found}.",
            parent=file.parent.name,
            file=file.name,
            stated=stated,
            found=found,
        ),
        sentence("The folder mixes files of two models; download it again."),
    )


def check_divides(path: Path, width: int, parts: int, what: str) -> None:
    """Raise EngineError(CHECKPOINT_MISMATCH) unless `parts` divides `width`; `what` names parts."""
    if parts < 1 or width % parts:
        raise EngineError(
            ErrorCode.CHECKPOINT_MISMATCH,
            sentence(
                "{path} is {width} wide, which {parts} {what} do not divide.",
                path=path.name,
                width=width,
                parts=parts,
                what=what,
            ),
            sentence("It may be of another family, or its configuration of another model."),
        )
