"""The digests by which files that a picture's record states are found under other paths."""

from typing import TypeVar

import msgspec

# The digests of fields of layers and second passes that state files.
_DIGESTS = {
    "network": "digest",
    "adapter": "digest",
    "encoder": "encoder_digest",
    "preprocessor_weights": "preprocessor_digest",
    "upscaler": "upscaler_digest",
    "checkpoint": "checkpoint_digest",
}
StatingT = TypeVar("StatingT", bound=msgspec.Struct)


def without_old_digests(before: msgspec.Struct, after: StatingT) -> StatingT:
    """Return `after` without the digests of files for which it states others than `before`.

    Such a digest would lead from the new file, once that is missing, to the old one.
    """
    names = after.__struct_fields__
    old = {
        digest: None
        for name, digest in _DIGESTS.items()
        if name in names and getattr(before, name) != getattr(after, name)
    }
    return msgspec.structs.replace(after, **old) if old else after
