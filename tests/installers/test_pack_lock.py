"""The written part of packs.toml: `pack_lock` reads what it wrote, and changes nothing unasked."""

import tomllib

import pytest
from packaging.utils import parse_wheel_filename

from installers import pack_lock
from installers.index import PLATFORMS, IndexLacks, wheel

TEXT = pack_lock.PACKS.read_text(encoding="utf-8")


def test_a_renewal_of_no_pack_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    copy = tmp_path_factory.mktemp("packs") / "packs.toml"
    copy.write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr(pack_lock, "PACKS", copy)
    pack_lock.main(["no such pack"])
    assert copy.read_text(encoding="utf-8") == TEXT


def test_the_wheels_of_each_build_run_on_its_platform() -> None:
    tags = {(target.system, target.machine): set(target.tags) | {"any"} for target in PLATFORMS}
    for build in tomllib.loads(TEXT)["builds"]:
        fitting = tags[build["system"], build["machine"]]
        for pinned in build["wheels"]:
            _, _, _, own = parse_wheel_filename(pinned["url"].rpartition("/")[2])
            assert {tag.platform for tag in own} & fitting, pinned["url"]
            native = {tag.interpreter for tag in own} & {"cp313"}
            assert not native or build["python"] == "3.13"


def entry(name: str, **changes: object) -> dict[str, object]:
    return {
        "filename": name,
        "url": f"https://files.test/{name}",
        "size": 1,
        "hashes": {"sha256": "0" * 64},
        "yanked": False,
        **changes,
    }


def test_the_best_wheel_that_runs_there_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [
        entry("it-1.0.tar.gz"),
        entry("it-1.0-py3-none-any.whl"),
        entry("it-1.0-cp313-cp313-manylinux_2_28_x86_64.whl"),
        entry("it-1.0-cp313-cp313t-manylinux_2_28_x86_64.whl"),
        entry("it-1.0-cp313-cp313-manylinux_2_39_x86_64.whl"),
        entry("it-1.0-cp312-cp312-win_amd64.whl"),
        entry("it-2.0-py3-none-any.whl", yanked="broken"),
    ]
    monkeypatch.setattr("installers.index.index_files", lambda _name: files)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    linux, windows, mac = PLATFORMS
    found = wheel("it", "1.0", linux)
    assert (found.url.rpartition("/")[2], found.python) == (
        "it-1.0-cp313-cp313-manylinux_2_28_x86_64.whl",
        "3.13",
    )
    for target in (windows, mac):
        found = wheel("it", "1.0", target)
        assert (found.url.rpartition("/")[2], found.python) == ("it-1.0-py3-none-any.whl", "")
    with pytest.raises(IndexLacks, match=r"no wheel of it 2\.0"):
        wheel("it", "2.0", linux)
