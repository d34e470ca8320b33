"""The settings: their names, values, bounds and defaults, each with a sentence about it."""

from enum import StrEnum
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from engine.api.saving import DEFAULT_NAME, DEFAULT_QUALITY, PictureFormat, Saving

_MOST_CHARACTERS = 4096


class Look(StrEnum):
    """The colours of the window."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"
    CONTRAST = "contrast"


class Language(StrEnum):
    """The language of the window; values but the first are ISO 639 codes."""

    SYSTEM = "system"
    ENGLISH = "en"
    GERMAN = "de"


def _about(sentence: str, **bounds: Any) -> msgspec.Meta:
    return msgspec.Meta(description=sentence, **bounds)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the user has set. An empty folder is the system's usual one."""

    pictures_folder: Annotated[
        str,
        _about("New pictures are saved in this folder.", max_length=_MOST_CHARACTERS),
    ] = ""
    models_folder: Annotated[
        str,
        _about(
            "Models are looked for in this folder and below it; LoRAs, embeddings and VAEs in its"
            " usual subfolders.",
            max_length=_MOST_CHARACTERS,
        ),
    ] = ""
    wildcards_folder: Annotated[
        str,
        _about(
            "Lists of words, such as animals.txt, which a prompt names as __animals__.",
            max_length=_MOST_CHARACTERS,
        ),
    ] = ""
    look: Annotated[Look, _about("The colours of the window.")] = Look.SYSTEM
    language: Annotated[Language, _about("The language of the window, from the next start on.")] = (
        Language.SYSTEM
    )
    reduce_motion: Annotated[
        bool, _about("The text cursor does not blink, and lists and menus open at once.")
    ] = False
    file_name: Annotated[
        str,
        _about(
            "The names of new pictures; words in braces stand for facts of each picture.",
            min_length=1,
            max_length=200,
        ),
    ] = DEFAULT_NAME
    picture_format: Annotated[
        PictureFormat,
        _about("PNG keeps every pixel; WebP and JPEG are smaller and lose a little."),
    ] = PictureFormat.PNG
    quality: Annotated[
        int,
        _about("The quality of WebP and JPEG: higher is better and larger.", ge=1, le=100),
    ] = DEFAULT_QUALITY
    metadata: Annotated[
        bool,
        _about("Keep the prompt and every setting in each picture, so that it can be made again."),
    ] = True
    sidecars: Annotated[
        bool,
        _about(
            "Write stars and rejections into a file beside each picture, which darktable, digiKam"
            " and Lightroom read."
        ),
    ] = False
    previews: Annotated[bool, _about("Show the picture while it is being made.")] = True
    shortcuts: Annotated[
        dict[str, Annotated[str, msgspec.Meta(max_length=100)]],
        _about("Keys of actions where they are not the usual ones; none for no key."),
    ] = {}

    @property
    def saving(self) -> Saving:
        """The way in which pictures are written."""
        return Saving(
            format=self.picture_format,
            quality=self.quality,
            name=self.file_name,
            metadata=self.metadata,
        )


USUAL = Settings()


class Stated(NamedTuple):
    """A setting as it is declared: its type with bounds, default, and the sentence about it."""

    name: str
    kind: Any
    default: Any
    about: str

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest whole number. Raises TypeError for another kind of value."""
        for meta in get_args(self.kind)[1:]:
            if meta.ge is not None and meta.le is not None:
                return meta.ge, meta.le
        raise TypeError(f"{self.name} has no bounds")


@cache
def stated() -> dict[str, Stated]:
    """Return the declared settings by name, in order."""
    hints = get_type_hints(Settings, include_extras=True)
    found: dict[str, Stated] = {}
    for name, kind in hints.items():
        assert get_origin(kind) is Annotated
        about = next(meta.description for meta in get_args(kind)[1:] if meta.description)
        found[name] = Stated(name, kind, getattr(USUAL, name), about)
    return found


def converted(name: str, value: Any) -> Any:
    """Return a plain value as that of a setting. Raises msgspec.ValidationError, KeyError."""
    return msgspec.convert(value, stated()[name].kind)
