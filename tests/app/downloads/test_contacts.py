"""Every host that is asked is kept, with the first and the last time."""

from pathlib import Path

from app.downloads.contacts import Contact, Contacts, noting_terms
from tests.app.downloads.conftest import Sites
from tests.app.downloads.fetching import QUICK, get, source_of


def test_a_download_leaves_the_hosts_that_it_asked(sites: Sites, tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert Contacts(state).all == ()
    get(source_of("https://files.test/file.bin"), tmp_path, noting_terms(state, QUICK))
    assert [contact.host for contact in Contacts(state).all] == ["files.test"]


def test_the_first_and_the_last_time_are_kept(tmp_path: Path) -> None:
    now = [1000.0]
    contacts = Contacts(tmp_path, lambda: now[0])
    for host, at in (("a", 1000.0), ("b", 2000.0), ("a", 3000.0), ("a", 3010.0)):
        now[0] = at
        contacts.note(host)
    assert contacts.all == (Contact("a", 1000, 3000), Contact("b", 2000, 2000))


def test_a_damaged_file_stops_no_download(tmp_path: Path) -> None:
    (tmp_path / "hosts.json").write_bytes(b"\0")
    contacts = Contacts(tmp_path)
    contacts.note("a")
    assert [contact.host for contact in contacts.all] == ["a"]
    (tmp_path / "hosts.json").unlink()
    (tmp_path / "hosts.json").mkdir()
    assert contacts.all == ()
