"""A model comes from a link: asked about, agreed to, downloaded, verified and listed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from pytestqt.qtbot import QtBot

from app.commands.getting import ModelGetting, Offer, Stage
from app.downloads.entries import DownloadState
from app.downloads.errors import DownloadCode
from app.downloads.site_keys import SiteKeys
from engine.api.model_files import ModelKind
from tests.app.downloads.conftest import Sites, vouched_for
from tests.app.downloads.faulty_server import (
    FaultyServer,
    drop_after,
    redirect,
    refuse,
    running,
    serve,
    stall_after,
    tunnel,
)
from tests.app.downloads.model_sites import (
    MODEL,
    SHA256,
    by_path,
    civitai_model,
    json_page,
    repository,
)
from tests.app.sessions import Staged
from tests.checkpoints.files import write_sparse
from tests.jobs.test_lora_index import KEYS

PAGE = f"https://civitai.com/models/{MODEL}"
CDN = "https://cdn.test/x.safetensors?signature=1"


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    """The bytes of a small LoRA."""
    return write_sparse(tmp_path / "content.safetensors", KEYS).read_bytes()


@pytest.fixture
def sites(
    authority: trustme.CA, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sites]:
    """Civitai, which sends its files from another host, and Hugging Face."""
    context = vouched_for(authority, "civitai.com", "huggingface.co", "cdn.test")
    trusted = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(trusted))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    for name in ("no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with running(FaultyServer(content), context) as server, tunnel(server.port) as proxy:
        for name in ("https_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        server.otherwise = by_path(
            api_v1=json_page(civitai_model(content, "LORA")),
            api_models=json_page(repository(content)),
            api_download=redirect(CDN),
        )
        yield Sites(server, proxy)


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot, sites: Sites) -> Iterator[Staged]:
    """A session on the real engine, which is not started."""
    staged = Staged(tmp_path / "own", qtbot, None)
    staged.session.downloads.start()
    yield staged
    staged.end()


def offered(staged: Staged, text: str) -> Offer:
    getting = staged.session.models.getting
    assert getting.look_up(text)
    staged.wait(lambda: getting.stage is not Stage.ASKING)
    assert getting.offer is not None, getting.problem
    return getting.offer


def placed(staged: Staged, kind: ModelKind) -> Path:
    """Return the place that the offer is said to go to."""
    found: list[Path] = []
    staged.session.models.getting.find_place(kind, found.append)
    staged.wait(lambda: bool(found))
    return found[0]


def state(getting: ModelGetting) -> DownloadState | None:
    return getting.entries[0].state if getting.entries else None


def test_nothing_is_asked_before_a_person_says_so(staged: Staged, sites: Sites) -> None:
    getting = staged.session.models.getting
    assert not getting.look_up("no link")
    assert getting.stage is Stage.IDLE
    assert sites.proxy.asked == []


def test_the_file_its_size_hash_and_hosts_are_said_before_anything_comes(
    staged: Staged, sites: Sites, content: bytes
) -> None:
    offer = offered(staged, PAGE)
    assert offer.hosts == ("civitai.com", "cdn.test")
    assert offer.file.size == len(content)
    assert offer.file.sha256 == SHA256(content).hexdigest()
    assert {request.host for request in sites.server.asked} == {"civitai.com"}
    assert not staged.paths.models.exists()
    staged.session.models.getting.cancel()
    assert staged.session.models.getting.offer is None


def test_a_model_that_a_person_agreed_to_arrives_in_its_folder_and_in_the_list(
    staged: Staged, sites: Sites, content: bytes
) -> None:
    session = staged.session
    offered(staged, PAGE)
    session.process.start()
    session.models.getting.download(ModelKind.LORA)
    path = staged.paths.models / "Lora" / "waiIllustrious_v160.safetensors"
    staged.wait(lambda: state(session.models.getting) is DownloadState.DONE)
    assert path.read_bytes() == content
    staged.wait(lambda: (info := session.models.store.info(str(path))) is not None and info.is_read)
    info = session.models.store.info(str(path))
    assert info is not None
    # The site's own description came with it.
    assert (info.kind, info.base_model) == (ModelKind.LORA, "Illustrious")
    assert info.trigger_words == ("masterpiece",)
    staged.wait(lambda: session.loras.info(str(path)) is not None)


def test_a_download_goes_on_where_it_broke_off(
    staged: Staged, sites: Sites, content: bytes
) -> None:
    offer = offered(staged, "https://huggingface.co/someone/mix/blob/main/mix.safetensors")
    assert offer.hosts == ("huggingface.co",)
    sites.server.script = [drop_after(1000)]
    staged.session.models.getting.download(ModelKind.CHECKPOINT)
    staged.wait(lambda: state(staged.session.models.getting) is DownloadState.DONE)
    assert (staged.paths.models / "mix.safetensors").read_bytes() == content
    assert sites.server.ranges[-1] == "bytes=1000-"


def test_other_bytes_than_the_site_stated_are_refused(
    staged: Staged, sites: Sites, content: bytes
) -> None:
    offered(staged, PAGE)
    sites.server.content = b"x" * len(content)
    staged.session.models.getting.download(ModelKind.LORA)
    staged.wait(lambda: state(staged.session.models.getting) is DownloadState.FAILED)
    problem = staged.session.models.getting.entries[0].problem
    assert problem is not None
    assert problem.code is DownloadCode.WRONG_HASH
    assert not list(staged.paths.models.rglob("*.safetensors"))


def test_a_file_of_a_name_that_is_taken_gets_another_and_replaces_nothing(
    staged: Staged, sites: Sites, content: bytes
) -> None:
    """Many repositories call their file `pytorch_lora_weights.safetensors`."""
    getting = staged.session.models.getting
    mine = staged.paths.models / "Lora" / "waiIllustrious_v160.safetensors"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"z" * len(content))
    mine.with_suffix(".civitai.info").write_bytes(b"{}")
    offered(staged, PAGE)
    new = mine.with_stem(f"{mine.stem}-2")
    assert placed(staged, ModelKind.LORA) == new
    assert placed(staged, ModelKind.CHECKPOINT) == staged.paths.models / mine.name
    getting.download(ModelKind.LORA)
    staged.wait(lambda: state(getting) is DownloadState.DONE)
    assert mine.read_bytes() == b"z" * len(content)
    assert mine.with_suffix(".civitai.info").read_bytes() == b"{}"
    assert new.read_bytes() == content
    assert new.with_suffix(".civitai.info").is_file()
    # The same file is not fetched a second time.
    asked_before = len(sites.server.asked)
    offered(staged, PAGE)
    assert placed(staged, ModelKind.LORA) == new
    getting.download(ModelKind.LORA)
    staged.wait(lambda: getting.stage is Stage.IDLE and state(getting) is DownloadState.DONE)
    assert len(getting.entries) == 1
    assert {request.path for request in sites.server.asked[asked_before:]}.isdisjoint(
        {"/x.safetensors"}
    )


def test_a_file_does_not_take_the_name_of_one_that_is_still_to_come(
    staged: Staged, sites: Sites, content: bytes
) -> None:
    getting = staged.session.models.getting
    other = {"sha256": "0" * 64, "size": len(content), "pointerSize": 135}
    first = {"rfilename": "mix.safetensors", "size": len(content), "lfs": other}
    link = "https://huggingface.co/{}/mix/blob/main/mix.safetensors"
    sites.server.otherwise = by_path(
        api_models_other=json_page(repository(content, siblings=[first])),
        api_models=json_page(repository(content)),
    )
    offered(staged, link.format("other"))
    sites.server.script = [stall_after(10)]
    getting.download(ModelKind.CHECKPOINT)
    # It is running before it asks; the next to ask would get its answer.
    staged.wait(lambda: sites.server.script == [])
    staged.session.downloads.pause(getting.entries[0].id)
    offered(staged, link.format("someone"))
    getting.download(ModelKind.CHECKPOINT)
    staged.wait(lambda: [e.state for e in getting.entries][1:] == [DownloadState.DONE])
    assert (staged.paths.models / "mix-2.safetensors").read_bytes() == content


def test_a_site_that_wants_a_key_gets_it_and_is_asked_again(
    staged: Staged, sites: Sites, content: bytes
) -> None:
    sites.server.script = [refuse(401)]
    getting = staged.session.models.getting
    assert getting.look_up(PAGE)
    staged.wait(lambda: getting.stage is Stage.FAILED)
    assert getting.wants_key
    getting.keep_key("civitai.com", " abc123 ")
    staged.wait(lambda: getting.stage is Stage.OFFERED)
    assert sites.server.asked[-1].headers["authorization"] == "Bearer abc123"
    assert SiteKeys(staged.paths.state).of("civitai.com") == "abc123"
    assert (staged.paths.state / "site-keys.json").stat().st_mode & 0o077 == 0
    with pytest.raises(ValueError, match="no key"):
        getting.keep_key("civitai.com", "two words\nInjected: yes")
    getting.keep_key("civitai.com", "")
    assert SiteKeys(staged.paths.state).of("civitai.com") == ""


def test_an_address_without_sense_is_told_of(staged: Staged, sites: Sites, content: bytes) -> None:
    getting = staged.session.models.getting
    page = civitai_model(content, "LORA", downloadUrl="ftp://elsewhere/x")
    sites.server.otherwise = by_path(api_v1=json_page(page))
    assert getting.look_up(PAGE)
    staged.wait(lambda: getting.stage is not Stage.ASKING)
    assert getting.problem is not None
    assert getting.problem.code is DownloadCode.WRONG_ANSWER


def test_an_address_that_is_not_encoded_is_asked_for_as_it_is_meant(
    staged: Staged, sites: Sites, content: bytes
) -> None:
    address = "https://civitai.com/api/download/models/1?type=Pruned Model"
    page = civitai_model(content, "LORA", downloadUrl=address)
    sites.server.otherwise = by_path(api_v1=json_page(page), api_download=redirect(CDN))
    assert offered(staged, PAGE).hosts == ("civitai.com", "cdn.test")
    assert sites.server.asked[-1].path.endswith("?type=Pruned%20Model")


def test_a_server_that_stalls_holds_nobody_up(staged: Staged, sites: Sites) -> None:
    sites.server.script = [stall_after(0)]
    getting = staged.session.models.getting
    assert getting.look_up(PAGE)
    getting.cancel()
    assert getting.stage is Stage.IDLE
    sites.server.otherwise = serve
    # The end of the session waits for the answer no longer than a person would.


def test_another_file_of_a_repository_can_be_chosen(
    staged: Staged, sites: Sites, content: bytes
) -> None:
    other = {"rfilename": "other.safetensors", "size": 5, "blobId": "4" * 40}
    page = repository(content).replace(b'"siblings": [', b'"siblings": [' + _json(other) + b", ")
    sites.server.otherwise = by_path(api_models=json_page(page))
    offer = offered(staged, "https://huggingface.co/someone/mix")
    assert [file.name for file in offer.page.files] == ["other.safetensors", "mix.safetensors"]
    getting = staged.session.models.getting
    getting.choose(1)
    staged.wait(lambda: getting.stage is Stage.OFFERED)
    assert getting.offer is not None
    assert getting.offer.file.name == "mix.safetensors"


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
