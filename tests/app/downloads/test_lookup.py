"""A pasted link's target is asked of its own host alone, and said before anything comes."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import trustme

from app.downloads.errors import DownloadCode, DownloadError
from app.downloads.fetch import fetch
from app.downloads.links import Link, Site, is_unencrypted, read_link
from app.downloads.lookup import look_up, sender_of, source_of, whole_size
from app.downloads.model_pages import OfferedFile
from engine.api.model_files import ModelKind
from tests.app.downloads.conftest import Sites, vouched_for
from tests.app.downloads.faulty_server import FaultyServer, give, redirect, refuse, running, tunnel
from tests.app.downloads.fetching import CONTENT, QUICK
from tests.app.downloads.model_sites import (
    MODEL,
    SHA256,
    VERSION,
    by_path,
    civitai_model,
    civitai_version,
    json_page,
    repository,
)

PAGE = f"https://civitai.com/models/{MODEL}/wai-illustrious"
FILE = "https://huggingface.co/someone/mix/blob/main/mix.safetensors"
DIGEST = SHA256(CONTENT).hexdigest()


@pytest.fixture
def sites(
    authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sites]:
    """Both sites and a host of files behind a proxy, with certificates that are trusted."""
    context = vouched_for(authority, "civitai.com", "huggingface.co", "cdn.test", "files.test")
    trusted = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(trusted))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with running(FaultyServer(CONTENT), context) as server, tunnel(server.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        yield Sites(server, proxy)


def link(text: str) -> Link:
    found = read_link(text)
    assert found is not None
    return found


def never() -> bool:
    return False


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f" civitai.com/models/{MODEL}\n", ("civitai", str(MODEL), "", "", "")),
        (f"{PAGE}?modelVersionId=11&tab=x", ("civitai", str(MODEL), "11", "", "")),
        (
            f"https://civitai.com/api/download/models/{VERSION}?type=Model",
            ("civitai", "", str(VERSION), "", ""),
        ),
        # The site's other domains, whose API is that of the first.
        (
            f"https://civitai.red/models/{MODEL}/x?modelVersionId=11",
            ("civitai", str(MODEL), "11", "", ""),
        ),
        (f"civitai.green/models/{MODEL}", ("civitai", str(MODEL), "", "", "")),
        (f"https://civitai.com/model-versions/{VERSION}", ("civitai", "", str(VERSION), "", "")),
        (
            f"https://civitai.com/api/v1/model-versions/{VERSION}",
            ("civitai", "", str(VERSION), "", ""),
        ),
        (f"https://civitai.com/api/v1/models/{MODEL}", ("civitai", str(MODEL), "", "", "")),
        (
            f"urn:air:sdxl:checkpoint:civitai:{MODEL}@{VERSION}",
            ("civitai", str(MODEL), str(VERSION), "", ""),
        ),
        (f"urn:air:sd1:lora:civitai:{MODEL}", ("civitai", str(MODEL), "", "", "")),
        (
            f"urn:air:sd1:lora:civitai:{MODEL}@{VERSION}.safetensors",
            ("civitai", str(MODEL), str(VERSION), "", ""),
        ),
        (FILE, ("hugging_face", "", "", "someone/mix", "mix.safetensors")),
        ("https://huggingface.co/a/b/tree/main", ("hugging_face", "", "", "a/b", "")),
        (
            "https://huggingface.co/a/b/tree/main/in%20it/below/",
            ("hugging_face", "", "", "a/b", ""),
        ),
        (
            "https://huggingface.co/a/b/resolve/v1/sub%20folder/x.safetensors?download=true",
            ("hugging_face", "", "", "a/b", "sub folder/x.safetensors"),
        ),
        ("https://huggingface.co/someone/mix", ("hugging_face", "", "", "someone/mix", "")),
        ("https://files.test/a/ink%20wash.safetensors", ("other", "", "", "", "")),
        ("https://localhost:8443/ink.safetensors", ("other", "", "", "", "")),
        ("https://nas/ink.safetensors", ("other", "", "", "", "")),
        ("https://192.168.1.5/ink.safetensors", ("other", "", "", "", "")),
    ],
)
def test_links_are_read_as_people_copy_them(text: str, found: tuple[str, ...]) -> None:
    parsed = link(text)
    assert (
        parsed.site.value,
        parsed.model,
        parsed.version,
        parsed.repository,
        parsed.file,
    ) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a cat",
        "http://files.test/a.safetensors",
        "https://user:secret@files.test/a.safetensors",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://civitai.com/images/1",
        "https://civitai.red/images/1",
        "urn:air:sd1:lora:elsewhere:1",
        "urn:isbn:0451450523",
        "https://huggingface.co/datasets/a/b",
        "https://files.test/",
        "https://nas/",
        "red/green",
    ],
)
def test_other_texts_are_no_links(text: str) -> None:
    assert read_link(text) is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("http://files.test/a.safetensors", True),
        ("HTTP://nas:8080/a.safetensors", True),
        ("http://", False),
        ("https://files.test/", False),
        ("a cat", False),
    ],
)
def test_addresses_without_encryption_are_told_from_no_addresses(text: str, plain: bool) -> None:
    assert is_unencrypted(text) == plain


def test_a_link_says_which_host_is_asked() -> None:
    for text in (PAGE, f"www.civitai.com/models/{MODEL}", f"civitai.red/models/{MODEL}"):
        assert link(text).host == "civitai.com"
    assert link("https://hf.co/a/b").host == "huggingface.co"


def test_a_page_of_civitai_says_what_its_file_is(sites: Sites) -> None:
    sites.server.otherwise = by_path(api_v1=json_page(civitai_model(CONTENT)))
    page = look_up(link(PAGE), never)
    assert page.title == "WAI-illustrious-SDXL · v16.0"
    assert page.base_model == "Illustrious"
    assert page.licence == "commercial use: Image, RentCivit; credit: needed"
    assert page.files == (
        OfferedFile(
            name="waiIllustrious_v160.safetensors",
            url=f"https://civitai.com/api/download/models/{VERSION}",
            size=len(CONTENT),
            sha256=DIGEST,
            kind=ModelKind.CHECKPOINT,
            about="fp16 · pruned · SafeTensor",
        ),
    )
    assert json.loads(page.card)["baseModel"] == "Illustrious"
    assert {request.host for request in sites.server.asked} == {"civitai.com"}


def test_a_download_link_of_civitai_leads_to_its_version_of_the_model(sites: Sites) -> None:
    version = json.dumps({**civitai_version(CONTENT), "id": 11}).encode()
    sites.server.script = [json_page(version), json_page(civitai_model(CONTENT, "LORA"))]
    page = look_up(link("https://civitai.com/api/download/models/11"), never)
    assert page.title.endswith("v1")
    assert page.files[0].kind is ModelKind.LORA
    assert [request.path for request in sites.server.asked] == [
        "/api/v1/model-versions/11",
        f"/api/v1/models/{MODEL}",
    ]


def test_a_download_link_of_civitai_leads_to_the_file_that_it_names(sites: Sites) -> None:
    page = json.loads(civitai_model(CONTENT))
    (first,) = page["modelVersions"][0]["files"]
    full = {"metadata": {"format": "SafeTensor", "size": "full", "fp": "fp32"}, "primary": None}
    vae = {"name": "x.vae.pt", "type": "VAE", "primary": None}
    page["modelVersions"][0]["files"] = [first, {**first, **full}, {**first, **vae}]
    sites.server.otherwise = by_path(
        api_v1_models=json_page(json.dumps(page).encode()),
        api_v1_model=json_page(json.dumps(civitai_version(CONTENT)).encode()),
    )

    def first_of(query: str) -> OfferedFile:
        url = f"https://civitai.com/api/download/models/{VERSION}{query}"
        return look_up(link(url), never).files[0]

    assert first_of("").about == "fp16 · pruned · SafeTensor"
    assert first_of("?type=Model&format=SafeTensor&size=full&fp=fp32").about.startswith("fp32")
    assert first_of("?type=VAE&format=SafeTensor").kind is ModelKind.VAE
    assert first_of("?type=Training+Data&token=x").about == "fp16 · pruned · SafeTensor"


def test_a_file_of_hugging_face_has_its_hash_and_licence(sites: Sites) -> None:
    sites.server.otherwise = json_page(repository(CONTENT))
    page = look_up(link(FILE), never)
    (file,) = page.files
    assert (file.name, file.size, file.sha256) == ("mix.safetensors", len(CONTENT), DIGEST)
    assert file.url == "https://huggingface.co/someone/mix/resolve/main/mix.safetensors"
    assert page.licence == "openrail++"
    assert sites.server.asked[0].path == "/api/models/someone/mix/revision/main?blobs=true"
    assert look_up(link("https://huggingface.co/someone/mix"), never).files == (file,)


def test_a_folder_of_a_repository_has_its_own_files(sites: Sites) -> None:
    sites.server.otherwise = json_page(repository(CONTENT))
    (file,) = look_up(link("https://huggingface.co/someone/mix/tree/main/unet"), never).files
    assert file.url.endswith("/resolve/main/unet/model.safetensors")
    with pytest.raises(DownloadError):
        look_up(link("https://huggingface.co/someone/mix/tree/main/vae"), never)


def test_a_repository_whose_weights_are_all_in_folders_has_them(sites: Sites) -> None:
    names = ("split_files/vae/ae.safetensors", "split_files/unet/big.safetensors", "x.md")
    siblings = [{"rfilename": name, "size": 5} for name in names]
    sites.server.otherwise = json_page(repository(b"", siblings=siblings))
    files = look_up(link("https://huggingface.co/someone/mix"), never).files
    assert [(file.name, file.about) for file in files] == [
        ("ae.safetensors", "split_files/vae"),
        ("big.safetensors", "split_files/unet"),
    ]
    # Parts of a diffusers folder are of no use alone.
    siblings = [{"rfilename": name} for name in ("model_index.json", "unet/x.safetensors")]
    sites.server.otherwise = json_page(repository(b"", siblings=siblings))
    with pytest.raises(DownloadError):
        look_up(link("https://huggingface.co/someone/mix"), never)


@pytest.mark.parametrize("content", [b"{}", b"[", repository(b"", siblings=[]), b"\xff"])
def test_an_answer_without_a_file_makes_no_sense(sites: Sites, content: bytes) -> None:
    sites.server.otherwise = json_page(content)
    for text in (PAGE, FILE):
        with pytest.raises(DownloadError) as refused:
            look_up(link(text), never)
        assert refused.value.code is DownloadCode.WRONG_ANSWER


def test_names_from_a_site_cannot_leave_the_folder(sites: Sites) -> None:
    content = civitai_model(CONTENT, name="../../.bashrc.safetensors")
    sites.server.otherwise = json_page(content)
    (file,) = look_up(link(PAGE), never).files
    assert "/" not in file.name
    assert not file.name.startswith(".")


def test_the_host_that_would_send_a_file_is_found_without_being_asked(sites: Sites) -> None:
    sites.server.script = [redirect("https://cdn.test/x?signed=1")]
    file = OfferedFile(name="a.safetensors", url="https://files.test/a.safetensors")
    assert sender_of(file, never).host == "cdn.test"
    assert [request.host for request in sites.server.asked] == ["files.test"]
    sites.server.script = [redirect("https://cdn.test/x")]
    assert whole_size(file, ("cdn.test", "files.test"), never) == len(CONTENT)
    # Without the person's word the other host is not asked.
    sites.server.script = [redirect("https://cdn.test/x")]
    with pytest.raises(DownloadError) as refused:
        whole_size(file, ("files.test",), never)
    assert refused.value.code is DownloadCode.REDIRECT_REFUSED


def test_a_file_that_was_moved_on_its_host_is_traced_to_the_one_that_sends_it(
    sites: Sites, tmp_path: Path
) -> None:
    """Hugging Face leads from a repository's old name to its new one."""
    way = [redirect("/new/mix/resolve/main/a.safetensors", 307), redirect("https://cdn.test/x")]
    sites.server.script = list(way)
    file = OfferedFile(
        name="a.safetensors", url="https://files.test/a.safetensors", size=len(CONTENT)
    )
    sender = sender_of(file, never)
    assert sender.host == "cdn.test"
    assert [(request.host, request.path) for request in sites.server.asked] == [
        ("files.test", "/a.safetensors"),
        ("files.test", "/new/mix/resolve/main/a.safetensors"),
    ]
    sites.server.script = list(way)
    source = source_of(file, (sender.host,))
    path = fetch(source, tmp_path, on_progress=lambda _: None, cancelled=never, terms=QUICK)
    assert path.read_bytes() == CONTENT
    sites.server.script = [redirect("/round", 307)] * 20
    with pytest.raises(DownloadError) as refused:
        sender_of(file, never)
    assert refused.value.code is DownloadCode.REDIRECT_REFUSED


def test_a_web_page_is_not_offered_as_a_file(sites: Sites) -> None:
    sites.server.otherwise = give(b"<!doctype html>", Content_Type="text/html; charset=utf-8")
    file = OfferedFile(name="view", url="https://files.test/file/1/view")
    with pytest.raises(DownloadError) as refused:
        sender_of(file, never)
    assert refused.value.code is DownloadCode.WEB_PAGE


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        ("attachment", ""),
        ("attachment; filename=a.safetensors", "a.safetensors"),
        ('attachment; filename="a b.safetensors"; size=5', "a b.safetensors"),
        ('attachment; filename="a;b.safetensors"', "a;b.safetensors"),
        ('attachment; filename="a\\"b.pt"', "a_b.pt"),
        ("attachment; filename*=UTF-8''ink%20wash.safetensors", "ink wash.safetensors"),
        (
            "inline; filename=\"x.pt\"; filename*=utf-8'en'%E5%A2%A8.safetensors",
            "墨.safetensors",
        ),
        # As servers write it that know no better: UTF-8 where Latin-1 is meant to be.
        ('attachment; filename="墨.safetensors"'.encode().decode("latin-1"), "墨.safetensors"),
        ("attachment; filename*=UTF-8''..%2F..%2Fevil.pt", "_.._evil.pt"),
        ("attachment; filename*=EBCDIC''x; filename=a.pt", "a.pt"),
    ],
)
def test_a_server_names_its_file_as_browsers_take_it(sites: Sites, stated: str, name: str) -> None:
    sites.server.otherwise = give(CONTENT, Content_Disposition=stated)
    file = OfferedFile(name="download", url="https://files.test/download")
    assert sender_of(file, never).name == name


def test_a_key_goes_to_its_own_host_and_no_further(sites: Sites, tmp_path: Path) -> None:
    def key_of(host: str) -> str:
        return "secret" if host == "civitai.com" else ""

    terms = msgspec.structs.replace(QUICK, key_of=key_of)
    sites.server.script = [
        json_page(civitai_model(CONTENT)),
        redirect("https://cdn.test/x"),
        redirect("https://cdn.test/x"),
    ]
    page = look_up(link(PAGE), never, terms)
    sender = sender_of(page.files[0], never, terms)
    source = source_of(page.files[0], (sender.host,))
    path = fetch(source, tmp_path, on_progress=lambda _: None, cancelled=never, terms=terms)
    assert path.read_bytes() == CONTENT
    keys = {(request.host, request.headers.get("authorization")) for request in sites.server.asked}
    assert keys == {("civitai.com", "Bearer secret"), ("cdn.test", None)}


def test_a_site_that_wants_to_know_who_asks_is_told_of(sites: Sites) -> None:
    sites.server.otherwise = refuse(401)
    with pytest.raises(DownloadError) as refused:
        look_up(link(PAGE), never)
    assert (refused.value.problem.code, refused.value.problem.status) == (DownloadCode.STATUS, 401)


def test_a_file_without_a_stated_hash_is_taken_by_its_size(sites: Sites, tmp_path: Path) -> None:
    file = OfferedFile(name="a.safetensors", url="https://files.test/a", size=len(CONTENT))
    path = fetch(
        source_of(file, ()), tmp_path, on_progress=lambda _: None, cancelled=never, terms=QUICK
    )
    assert path.read_bytes() == CONTENT


def test_sites_are_known_by_their_links() -> None:
    assert {link(text).site for text in (PAGE, FILE, "https://files.test/a.pt")} == set(Site)
