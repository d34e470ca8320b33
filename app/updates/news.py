"""The news of versions that were left because they failed, for a person at the next start."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from app.updates.wholeness import damage_of
from app.versions.state import CANNOT_RUN, LeftVersion
from app.versions.trees import version_folder


class News(msgspec.Struct, frozen=True):
    """A version was left: what happened, and what to do about it, in sentences."""

    message: str
    hint: str


def news_of(left: Sequence[LeftVersion], versions: Path, version: str) -> list[News]:
    """Return the news of versions that nobody was told of; `version` is the one that runs now.

    Reads the trees of those versions, for files that are missing: a second each.
    """
    return [_news(one, versions, version) for one in left if not one.told]


def _news(left: LeftVersion, versions: Path, version: str) -> News:
    verb = "could not be run" if left.reason == CANNOT_RUN else "did not start"
    message = f"Version {left.version} {verb}, so {version or 'the one before'} is used again."
    tree = Path(version_folder(str(versions), left.version))
    damage = damage_of(tree) if tree.is_dir() else []
    if damage:
        more = f" and {len(damage) - 1} more" if len(damage) > 1 else ""
        return News(
            message,
            f"Files of it are missing or changed: {damage[0]}{more}. If an antivirus program took "
            "them, allow them there; then install the version again.",
        )
    return News(message, f"It can be installed again. The reason: {left.detail}.")
