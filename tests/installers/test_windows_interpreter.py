"""The Windows interpreter is taken only as its authors signed it."""

import hashlib
import shutil
import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from installers.windows import signatures
from installers.windows.signatures import Catalogue, SignatureError, require_signed
from installers.windows.standard_library import signed_sources

needs_tools = pytest.mark.skipif(
    not (shutil.which("osslsigncode") and shutil.which("x86_64-w64-mingw32-gcc")),
    reason="osslsigncode or mingw-w64 is not installed",
)


class Listed(Catalogue):
    """A catalogue that lists these contents."""

    def __init__(self, contents: Iterable[bytes]) -> None:
        self._signed = b"".join(hashlib.sha256(content).digest() for content in contents)


def test_a_source_is_taken_from_whoever_carries_the_signed_one() -> None:
    signed = Listed([b"one\r\n", b"two\r\n"])
    tampered = {"one.py": b"import evil\n", "two.py": b"two\n"}
    genuine = {"one.py": b"one\n"}
    found = signed_sources(["one.py", "two.py"], (tampered, genuine), signed)
    assert found == {"one.py": b"one\n", "two.py": b"two\n"}


def test_a_module_that_nobody_carries_as_it_was_signed_stops_the_build() -> None:
    with pytest.raises(SignatureError, match=r"one\.py"):
        signed_sources(["one.py"], ({"one.py": b"changed"},), Listed([b"one\r\n"]))


def test_the_reviewed_exceptions_are_held_to_their_hashes() -> None:
    with pytest.raises(SignatureError, match="zipfile"):
        signed_sources(["zipfile/__init__.py"], ({"zipfile/__init__.py": b"x"},), Listed([]))


def test_only_what_a_catalogue_signs_counts() -> None:
    listed, added = hashlib.sha256(b"listed").digest(), hashlib.sha256(b"added").digest()
    content_info = der(0x30, der(0x06, b"\x2a") + der(0xA0, der(0x30, listed)))
    signed_data = der(0x30, der(0x02, b"\x01") + der(0x31, b"") + content_info + der(0x04, added))
    message = der(0x30, der(0x06, b"\x2a") + der(0xA0, signed_data))
    content = signatures._signed_content(message)  # pyright: ignore[reportPrivateUsage]
    assert listed in content
    assert added not in content


def der(tag: int, content: bytes) -> bytes:
    length = bytes([len(content)]) if len(content) < 128 else struct.pack(">BH", 0x82, len(content))
    return bytes([tag]) + length + content


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Windows program, signed with a time by someone who calls himself as one likes."""
    folder = tmp_path_factory.mktemp("signed")
    (folder / "main.c").write_text("int main(void) { return 0; }")
    run(folder, "x86_64-w64-mingw32-gcc", "main.c", "-o", "plain.exe")
    subject = f"/O={signatures.PYTHON_SIGNER}/CN={signatures.PYTHON_SIGNER}"
    days = "-days", "2", "-nodes", "-newkey", "rsa:2048", "-keyout", "key.pem", "-out", "cert.pem"
    usage = "-addext", "extendedKeyUsage=codeSigning"
    run(folder, "openssl", "req", "-x509", "-subj", subject, *usage, *days)
    run(folder, "osslsigncode", "sign", "-certs", "cert.pem", "-key", "key.pem", "-in", "plain.exe",
        "-out", "signed.exe")  # fmt: skip
    return folder / "signed.exe"


@needs_tools
def test_a_program_without_a_signature_is_refused(program: Path) -> None:
    with pytest.raises(SignatureError):
        require_signed(program.with_name("plain.exe"))


@needs_tools
def test_a_signature_in_the_right_name_of_a_stranger_is_refused(program: Path) -> None:
    with pytest.raises(SignatureError):
        require_signed(program)


def run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
