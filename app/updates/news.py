"""The news of versions that were left because they failed, for a person at the next start."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from app.updates.wholeness import damage_of
from app.versions.state import CANNOT_RUN, LeftVersion
from app.versions.trees import version_folder
from engine.api.sentences import InEnglish, Sentence, sentence


class News(msgspec.Struct, InEnglish, frozen=True):
    """A version was left: what happened, and what to do about it, in sentences."""

    text: Sentence
    advice: Sentence


def news_of(left: Sequence[LeftVersion], versions: Path, version: str) -> list[News]:
    """Return the news of versions that nobody was told of; `version` is the one that runs now.

    Reads the trees of those versions, for files that are missing: a second each.
    """
    return [_news(entry, versions, version) for entry in left if not entry.told]


def _news(left: LeftVersion, versions: Path, version: str) -> News:
    values = {"version": left.version, "used": version or sentence("the one before")}
    if left.reason == CANNOT_RUN:
        message = sentence("Version {version} could not be run, so {used} is used again.", **values)
    else:
        message = sentence("Version {version} did not start, so {used} is used again.", **values)
    tree = Path(version_folder(str(versions), left.version))
    damage = damage_of(tree) if tree.is_dir() else []
    if not damage:
        again = sentence("It can be installed again. The reason: {reason}.", reason=left.detail)
        return News(message, again)
    files: object = damage[0]
    if len(damage) > 1:
        files = sentence("{file} and {n:,} more", file=damage[0], n=len(damage) - 1)
    return News(
        message,
        sentence(
            "Files of it are missing or changed: {files}. If an antivirus program took them, allow"
            " them there; then install the version again.",
            files=files,
        ),
    )
