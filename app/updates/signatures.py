"""Ed25519 signatures of lists of updates: the keys that are trusted, and the signed text.

A signed text is lines `safelight-signature KEY SIGNATURE`, an empty line, and the content. KEY is
the public key and SIGNATURE that of the bytes after the empty line, both in base64. So nothing is
parsed before its signature is checked, and there is no second form of the same content. Several
lines let a list be signed with an old key and its successor.
"""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence

from app.updates.ed25519 import verifies
from app.updates.errors import UpdateCode, UpdateError
from engine.api.sentences import sentence

# The key of this project's releases.
PUBLIC_KEYS: tuple[str, ...] = ("IMOxQa2MBb+gJpPa1F+l6ik9TmdP4QFymOYyfqveTjU=",)
KEYS_VARIABLE = "SAFELIGHT_UPDATE_KEYS"
# What is signed begins with its purpose, so that no other text signed by the key fits.
PURPOSE = b"safelight list of updates\n"
_LINE = re.compile(rb"safelight-signature ([A-Za-z0-9+/=]{44}) ([A-Za-z0-9+/=]{88})")
_MOST_SIGNATURES = 4


def trusted_keys(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the trusted public keys in base64: the project's, or those of SAFELIGHT_UPDATE_KEYS.

    The variable separates keys by commas; people who host their own versions set it.
    """
    named = environment.get(KEYS_VARIABLE, "")
    return tuple(filter(None, (key.strip() for key in named.split(",")))) or PUBLIC_KEYS


def verified_content(signed: bytes, keys: Sequence[str]) -> bytes:
    """Return the content of a signed text. Raises UpdateError(NOT_SIGNED) unless a key fits."""
    head, separator, content = signed.partition(b"\n\n")
    lines = [_LINE.fullmatch(line) for line in head.split(b"\n")[:_MOST_SIGNATURES]]
    found = [(line[1].decode(), line[2].decode()) for line in lines if line is not None]
    if not separator or not found:
        raise UpdateError(
            UpdateCode.NOT_SIGNED,
            sentence("There is something else in the place of the list of updates."),
            sentence(
                "If this network asks for a sign-in first, do so in a web browser, then try again."
            ),
        )
    if not any(key in keys and _fits(key, signature, content) for key, signature in found):
        raise UpdateError(
            UpdateCode.NOT_SIGNED,
            sentence("The list of updates is damaged, or is not by the makers of Safelight."),
            sentence("Nothing of it is used. Try again later."),
            f"signed by {', '.join(key for key, _ in found)}",
        )
    return content


def _fits(key: str, signature: str, content: bytes) -> bool:
    """Return True if the signature is that of the content by the key, both in base64."""
    try:
        raw = base64.b64decode(key, validate=True), base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return False
    return verifies(*raw, PURPOSE + content)
