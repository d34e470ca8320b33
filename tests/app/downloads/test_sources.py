"""Sources and names: what is not sound is refused, and names are files' on each system."""

import re
import string

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.downloads.errors import DownloadCode, DownloadProblem
from app.downloads.file_names import safe_file_name
from app.downloads.source import Source, host_of

SHA256 = "0" * 64
NO_ADDRESS = r"no web address|[Pp]ort|Invalid"
DEVICES = {"con", "prn", "aux", "nul", "com1", "lpt1", "com¹"}


@given(st.text())
@example("")
@example("..")
@example("../../etc/passwd")
@example("C:\\Windows\\x.dll")
@example("con.txt")
@example("LPT1")
@example("COM¹.safetensors")
@example("a.txt. . ")
@example("a\x00b")
@example("a\u202etxt.exe")
@example("\ud800")
@example("ä" * 300 + ".safetensors")
@example("x" * 300)
@example("a." + "b" * 300)
@example("  ...  ")
@example(". con")
def test_a_safe_name_is_one_plain_file_on_each_system(name: str) -> None:
    safe = safe_file_name(name)
    assert 0 < len(safe.encode()) <= 200
    assert not set(safe) & set('<>:"/\\|?*\x7f\u202e')
    assert min(safe) >= " "
    assert safe == safe.strip(" .")
    assert safe.partition(".")[0].lower() not in DEVICES
    assert safe_file_name(safe) == safe


@given(
    st.text(string.ascii_letters + string.digits + "_+-", min_size=4, max_size=80).filter(
        lambda name: not re.fullmatch("(com|lpt)[0-9]", name.lower())
    )
)
def test_the_name_of_a_wheel_is_kept(name: str) -> None:
    assert safe_file_name(f"{name}.whl") == f"{name}.whl"


def test_a_name_that_ends_like_a_device_is_kept() -> None:
    assert safe_file_name("falcon.safetensors") == "falcon.safetensors"


def test_a_long_name_keeps_its_suffix() -> None:
    assert safe_file_name("ü" * 300 + ".safetensors").endswith("ü.safetensors")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "files.test/x",
        "file:///etc/passwd",
        "ftp://files.test/x",
        "https://",
        "https:///x",
        "https://user@files.test/x",
        "https://user:password@files.test/x",
        "https://files.test:port/x",
        "https://files.test/a b",
        "https://files.test/a\r\nHost: evil.test",
        "https://files.test\\@evil.test/",
        "https://files.test/ü",
        "https://[",
    ],
)
def test_a_text_that_is_no_web_address_makes_no_source(url: str) -> None:
    with pytest.raises(ValueError, match=NO_ADDRESS):
        Source(url, (), "file.bin", 1, SHA256)
    with pytest.raises(ValueError, match=NO_ADDRESS):
        Source("https://files.test/x", (url,), "file.bin", 1, SHA256)


@given(st.text())
def test_any_text_has_a_host_or_raises_a_value_error(text: str) -> None:
    for url in (text, f"https://{text}"):
        try:
            host = host_of(url)
        except ValueError:
            continue
        assert host == host.lower() != ""
        assert not set(host) & set("@/\\")


@pytest.mark.parametrize(
    ("name", "size", "sha256"),
    [
        ("../x", 1, SHA256),
        ("", 1, SHA256),
        ("x", -1, SHA256),
        ("x", 1, "0" * 63),
        ("x", 1, "G" * 64),
        ("x", 1, "A" * 64),
    ],
)
def test_a_source_with_an_unsafe_name_or_no_hash_is_refused(
    name: str, size: int, sha256: str
) -> None:
    with pytest.raises(ValueError, match=r"name|SHA-256"):
        Source("https://files.test/x", (), name, size, sha256)
    text = msgspec.json.encode(
        {"url": "https://files.test/x", "mirrors": [], "file_name": name, "size": size}
        | {"sha256": sha256}
    )
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=Source)


def test_the_hosts_of_a_source_are_those_of_its_addresses_and_redirects() -> None:
    mirrors = ("https://mirror.test/x", "https://FILES.test:443/y")
    source = Source("https://files.test/x", mirrors, "x", 1, SHA256, ("cdn.test",))
    assert source.hosts == ("files.test", "mirror.test", "cdn.test")


@pytest.mark.parametrize("code", DownloadCode)
def test_every_problem_has_a_sentence_and_says_what_to_do(code: DownloadCode) -> None:
    facts = DownloadProblem(
        code=code, file="a.whl", host="files.test", folder="/x", bytes_needed=1, status=404,
        detail="no",
    )  # fmt: skip
    assert facts.message.endswith(".")
    assert "{" not in facts.message
    assert facts.hint.endswith(".") or code in (
        DownloadCode.CANCELLED, DownloadCode.ADDRESS_REFUSED
    )  # fmt: skip
    assert msgspec.json.decode(msgspec.json.encode(facts), type=DownloadProblem) == facts
