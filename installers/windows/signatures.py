"""Signatures of Windows programs and catalogues, verified by osslsigncode.

A file counts as signed if its digest is the signed one, and the certificates lead to a root in
roots.pem. Certificates are judged at the time of the signature, because those of the Python
Software Foundation are valid for days. Lists of revoked certificates are not asked for: an input is
pinned by its hash too, so that a certificate revoked later changes nothing in the bytes.
"""

import hashlib
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

PYTHON_SIGNER = "Python Software Foundation"
_ROOTS = Path(__file__).parent / "roots.pem"
_TIME = re.compile(r"Timestamp time: (\w{3} +\d+ [\d:]+ \d{4}) GMT")
_SIGNER = re.compile(r"Signer's certificate:\s.*?Subject: .*?/O=([^/\n]+)", re.DOTALL)
_DIGESTS = re.compile(r"(?:Current|Calculated) message digest +: ([0-9A-F]+)")
_SECOND = "Signature Index: 1"
_TRUSTED = "Signing certificate chain verified using:"


class SignatureError(Exception):
    """A file without a signature, or with one that does not hold."""


def require_signed(path: Path, signer: str = PYTHON_SIGNER) -> None:
    """Raise SignatureError unless a program, a library or a catalogue is signed by `signer`."""
    time = _TIME.search(_verify(path))
    if time is None:
        raise SignatureError(f"{path.name} has no signature with a time.")
    signed = datetime.strptime(time[1], "%b %d %H:%M:%S %Y").replace(tzinfo=UTC)
    text = _verify(path, "-time", str(int(signed.timestamp())))
    if _SECOND in text:
        raise SignatureError(f"{path.name} has several signatures.")
    if _TRUSTED not in text:
        raise SignatureError(f"The signature of {path.name} does not lead to a trusted root.")
    digests = set(_DIGESTS.findall(text))
    if path.suffix != ".cat" and len(digests) != 1:
        raise SignatureError(f"{path.name} is not the file that was signed.")
    found = _SIGNER.search(text)
    if found is None or found[1] != signer:
        raise SignatureError(f"{path.name} is signed by {found and found[1]}, not by {signer}.")


class Catalogue:
    """The hashes that a signed catalogue lists; raises SignatureError if it is not signed."""

    def __init__(self, path: Path) -> None:
        require_signed(path)
        # Only the signed content: a catalogue can be added to outside of it.
        self._signed = _signed_content(path.read_bytes())

    def lists(self, content: bytes) -> bool:
        """Return True if a file with this content is listed."""
        return hashlib.sha256(content).digest() in self._signed


def _verify(path: Path, *options: str) -> str:
    """Return osslsigncode's report; its exit status also counts lists that it was not given."""
    command = ("osslsigncode", "verify", "-CAfile", str(_ROOTS), "-ignore-timestamp", "-ignore-cdp")
    done = subprocess.run(
        (*command, *options, "-in", str(path)),
        check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace",
    )  # fmt: skip
    return done.stdout


def _signed_content(data: bytes) -> bytes:
    """Return the content that a PKCS #7 message signs (RFC 2315, 7 and 9.1)."""
    message = next(_elements(data))
    signed_data = next(_elements(list(_elements(message))[1]))
    _version, _algorithms, content_info, *_ = _elements(signed_data)
    return list(_elements(content_info))[1]


def _elements(data: bytes) -> Iterator[bytes]:
    """Yield the content of each DER element (X.690, 8.1)."""
    at = 0
    while at < len(data):
        length, at = data[at + 1], at + 2
        if length & 0x80:
            long = length & 0x7F
            length, at = int.from_bytes(data[at : at + long]), at + long
        yield data[at : at + length]
        at += length
