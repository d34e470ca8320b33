"""Lists of updates: signed, current, and of the right channel, or nothing of them is used."""

from datetime import date

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey

from app.updates.errors import UpdateCode, UpdateError
from app.updates.manifest import (
    Archive,
    Release,
    UpdateList,
    best_release,
    read_list,
    require_current,
)
from app.updates.signatures import PUBLIC_KEYS, trusted_keys, verified_content
from app.updates.updates import Updates
from installers.update_manifest import add_release, public_key, signed
from tests.app.updates.publishing import Publisher
from tests.app.updates.trees import NEW, NEWER, OLD, Home

TODAY = date(2026, 11, 23)
ARCHIVE = Archive(
    system="linux",
    machine="x86_64",
    name="a.tar.xz",
    size=1,
    disk_bytes=1,
    sha256="0" * 64,
    urls=("a.tar.xz",),
)
LIST = UpdateList(
    format=1,
    channel="stable",
    sequence=7,
    published="2026-11-20",
    expires="2027-01-01",
    releases=(Release(version=NEW, date="2026-11-20", minimum=OLD, archives=(ARCHIVE,)),),
)
OTHER = SigningKey(b"o" * 32)


def code_of(error: pytest.ExceptionInfo[UpdateError]) -> UpdateCode:
    assert error.value.message.endswith(".")
    return error.value.code


def release(version: str, minimum: str = OLD) -> Release:
    return msgspec.structs.replace(LIST.releases[0], version=version, minimum=minimum)


# --- signatures ---


def test_a_signed_text_gives_its_content(key: SigningKey) -> None:
    assert (
        verified_content(signed(b"content\n\nmore", key), (public_key(key),)) == b"content\n\nmore"
    )


def test_one_of_several_keys_is_enough(key: SigningKey) -> None:
    """An old Safelight reads a list that is signed by the old key and its successor."""
    text = signed(b"content", OTHER, key)
    for trusted in (key, OTHER):
        assert verified_content(text, (public_key(trusted),)) == b"content"


def test_a_text_by_another_key_is_refused(key: SigningKey) -> None:
    with pytest.raises(UpdateError) as error:
        verified_content(signed(b"content", OTHER), (public_key(key),))
    assert code_of(error) is UpdateCode.NOT_SIGNED


def test_a_signature_under_the_name_of_a_trusted_key_is_refused(key: SigningKey) -> None:
    forged = signed(b"content", OTHER).replace(public_key(OTHER).encode(), public_key(key).encode())
    with pytest.raises(UpdateError):
        verified_content(forged, (public_key(key),))


def test_a_signature_of_a_bare_content_is_refused(key: SigningKey) -> None:
    """The purpose is signed too: no other text that the key signed serves as a list."""
    import base64

    bare = base64.b64encode(key.sign(b"content").signature).decode()
    text = f"safelight-signature {public_key(key)} {bare}\n\ncontent".encode()
    with pytest.raises(UpdateError):
        verified_content(text, (public_key(key),))


@given(st.integers(min_value=0), st.integers(1, 255))
def test_a_text_with_any_byte_changed_is_refused(place: int, change: int) -> None:
    text = bytearray(signed(b'{"format": 1}', OTHER))
    text[place % len(text)] ^= change
    with pytest.raises(UpdateError):
        verified_content(bytes(text), (public_key(OTHER),))


@given(st.integers(0, 300))
def test_a_text_that_is_cut_off_is_refused(length: int) -> None:
    text = signed(b'{"format": 1}', OTHER)
    with pytest.raises(UpdateError):
        verified_content(text[: min(length, len(text) - 1)], (public_key(OTHER),))


@given(st.binary(max_size=500))
def test_any_other_text_is_refused(text: bytes) -> None:
    with pytest.raises(UpdateError):
        verified_content(text, (public_key(OTHER),))


def test_a_senseless_key_trusts_nothing(key: SigningKey) -> None:
    for trusted in ("", "x", "A" * 44, public_key(key)[:-4]):
        with pytest.raises(UpdateError):
            verified_content(signed(b"content", key), (trusted,))


def test_the_variable_replaces_the_makers_keys() -> None:
    assert trusted_keys({}) == PUBLIC_KEYS
    assert trusted_keys({"SAFELIGHT_UPDATE_KEYS": "a, b"}) == ("a", "b")
    assert trusted_keys({"SAFELIGHT_UPDATE_KEYS": " "}) == PUBLIC_KEYS


# --- content ---


def test_a_list_is_read_as_it_was_written() -> None:
    assert read_list(msgspec.json.encode(LIST)) == LIST


def test_fields_of_newer_lists_are_skipped() -> None:
    content = msgspec.json.encode({**msgspec.to_builtins(LIST), "more": [1]})
    assert read_list(content) == LIST


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"sequence": 0},
        {"expires": "tomorrow"},
        {"expires": "2026-02-31"},
        {"releases": [{"version": "../2"}]},
        {"releases": None},
        {"channel": 1},
    ],
    ids=str,
)
def test_a_list_without_sense_is_refused(change: dict[str, object]) -> None:
    content = msgspec.json.encode({**msgspec.to_builtins(LIST), **change})
    with pytest.raises(UpdateError) as error:
        read_list(content)
    assert code_of(error) is UpdateCode.DAMAGED_LIST


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../a"},
        {"name": "a/b"},
        {"name": ".a"},
        {"sha256": "0" * 63},
        {"sha256": "G" * 64},
        {"size": -1},
        {"disk_bytes": 1 << 60},
        {"urls": []},
    ],
    ids=str,
)
def test_an_archive_without_sense_is_refused(change: dict[str, object]) -> None:
    content = msgspec.to_builtins(LIST)
    archive = {**msgspec.to_builtins(ARCHIVE), **change}
    content["releases"] = [{**msgspec.to_builtins(LIST.releases[0]), "archives": [archive]}]
    with pytest.raises(UpdateError):
        read_list(msgspec.json.encode(content))


@given(st.binary(max_size=200))
def test_any_other_content_is_refused(content: bytes) -> None:
    with pytest.raises(UpdateError):
        read_list(content)


def test_an_older_list_is_refused() -> None:
    require_current(LIST, "stable", LIST.sequence, TODAY)
    with pytest.raises(UpdateError) as error:
        require_current(LIST, "stable", LIST.sequence + 1, TODAY)
    assert code_of(error) is UpdateCode.OLD_LIST


def test_an_expired_list_is_refused() -> None:
    require_current(LIST, "stable", 0, date(2026, 12, 31))
    with pytest.raises(UpdateError) as error:
        require_current(LIST, "stable", 0, date(2027, 1, 1))
    assert code_of(error) is UpdateCode.EXPIRED_LIST


def test_a_list_of_another_channel_is_refused() -> None:
    with pytest.raises(UpdateError) as error:
        require_current(LIST, "beta", 0, TODAY)
    assert code_of(error) is UpdateCode.OTHER_CHANNEL


# --- the choice ---


def best(*releases: Release, version: str = OLD, system: str = "linux") -> str:
    read = msgspec.structs.replace(LIST, releases=releases)
    found = best_release(read, version, system, "x86_64")
    return found[0].version if found else ""


def test_the_newest_release_is_chosen() -> None:
    assert best(release(NEWER), release(NEW)) == NEWER
    assert best(release("0.2.0rc1"), release("0.1.5")) == "0.2.0rc1"
    assert best(release("0.2.0rc1"), release(NEW)) == NEW


def test_no_release_that_is_as_old_is_chosen() -> None:
    assert best(release(OLD)) == best(release(NEW), version=NEW) == ""
    assert best(release(NEW), version="0.3.0") == ""
    assert best(release("0.1.0rc1")) == ""


def test_a_version_that_is_too_old_goes_by_the_release_between() -> None:
    assert best(release(NEWER, minimum=NEW), release(NEW)) == NEW
    assert best(release(NEWER, minimum=NEW), release(NEW), version=NEW) == NEWER


def test_a_release_without_an_archive_for_the_system_is_not_chosen() -> None:
    assert best(release(NEW), system="win32") == ""


# --- what is published ---


def test_each_list_has_a_higher_number(publisher: Publisher, key: SigningKey) -> None:
    publisher.publish(NEW)
    first = read_list(verified_content(publisher.list.read_bytes(), (public_key(key),)))
    publisher.publish(NEWER)
    add_release(publisher.folder, (), (key,))
    last = read_list(verified_content(publisher.list.read_bytes(), (public_key(key),)))
    assert (first.sequence, last.sequence) == (1, 3)
    assert [release.version for release in last.releases] == [NEWER, NEW]


def test_a_key_is_replaced_by_its_successor(publisher: Publisher, key: SigningKey) -> None:
    publisher.publish(NEW)
    add_release(publisher.folder, (), (key, OTHER))
    both = publisher.list.read_bytes()
    add_release(publisher.folder, (), (OTHER,))
    alone = publisher.list.read_bytes()
    for text, trusted in ((both, key), (both, OTHER), (alone, OTHER)):
        read = read_list(verified_content(text, (public_key(trusted),)))
        assert read.releases[0].version == NEW
    with pytest.raises(UpdateError):
        verified_content(alone, (public_key(key),))


def test_nothing_is_added_to_a_list_by_another_key(publisher: Publisher) -> None:
    archive = publisher.publish(NEW)
    before = publisher.list.read_bytes()
    with pytest.raises(UpdateError):
        add_release(publisher.folder, (archive,), (OTHER,))
    assert publisher.list.read_bytes() == before


def test_an_old_list_that_is_put_back_is_noticed(
    home: Home, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    old = publisher.list.read_bytes()
    publisher.publish(NEWER)
    offer = updates.check()
    assert offer is not None
    assert offer.version == NEWER
    publisher.list.write_bytes(old)
    with pytest.raises(UpdateError) as error:
        updates.check()
    assert code_of(error) is UpdateCode.OLD_LIST
    assert not home.versions.exists()
