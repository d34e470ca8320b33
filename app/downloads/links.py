"""Links to models as people paste them: pages of Civitai and Hugging Face, and plain files."""

import re
from enum import StrEnum
from urllib.parse import parse_qs, quote, unquote, urlsplit

import msgspec

from app.downloads.source import host_of

_CIVITAI = ("civitai.com", "www.civitai.com")
_HUGGING_FACE = ("huggingface.co", "www.huggingface.co", "hf.co")
_PAGE = re.compile(r"/models/(\d{1,12})(?:/[^/]*)?/?")
_DOWNLOAD = re.compile(r"/api/download/models/(\d{1,12})/?")
_NUMBER = re.compile(r"\d{1,12}")
_NAME = r"[\w.-]{1,100}"
_FILE = re.compile(rf"/({_NAME}/{_NAME})/(?:blob|resolve|raw)/([^/]{{1,100}})/(.+)")
_REPOSITORY = re.compile(rf"/({_NAME}/{_NAME})(?:/tree/([^/]{{1,100}}))?/?")
# Parts of Hugging Face's site that are no repositories of models.
_NO_OWNERS = frozenset({"api", "datasets", "docs", "papers", "spaces", "settings", "collections"})


class Site(StrEnum):
    """The sites whose pages are understood."""

    CIVITAI = "civitai"
    HUGGING_FACE = "hugging_face"
    OTHER = "other"


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A link, split into what a site is asked for.

    Of Civitai `model` or `version` is set; of Hugging Face the repository, its revision, and the
    path of a file, empty for the whole repository.
    """

    site: Site
    url: str
    model: str = ""
    version: str = ""
    repository: str = ""
    revision: str = "main"
    file: str = ""

    @property
    def host(self) -> str:
        """The host that is asked first."""
        return host_of(self.url)


def read_link(text: str) -> Link | None:
    """Return the link in a text that was pasted; None if it is no encrypted web address."""
    url = _encoded(text.strip())
    if "://" not in url:
        url = f"https://{url}"
    try:
        host = host_of(url)
    except ValueError:
        return None
    parts = urlsplit(url)
    if host in _CIVITAI:
        return _civitai(url, parts.path, parse_qs(parts.query))
    if host in _HUGGING_FACE:
        return _hugging_face(parts.path)
    is_file = parts.path.rpartition("/")[2] != "" and "." in host
    is_loopback = host == "127.0.0.1" and parts.scheme == "http"
    if is_file and (parts.scheme == "https" or is_loopback):
        return Link(site=Site.OTHER, url=url)
    return None


def file_name_in(url: str) -> str:
    """Return the last part of a URL's path, decoded."""
    return unquote(urlsplit(url).path.rpartition("/")[2])


def hugging_face_url(link: Link, file: str) -> str:
    """Return the URL of a file in a link's repository."""
    return f"https://huggingface.co/{link.repository}/resolve/{link.revision}/{quote(file)}"


def _civitai(url: str, path: str, query: dict[str, list[str]]) -> Link | None:
    page, download = _PAGE.fullmatch(path), _DOWNLOAD.fullmatch(path)
    if download is not None:
        return Link(site=Site.CIVITAI, url=url, version=download[1])
    if page is None:
        return None
    version = query.get("modelVersionId", [""])[0]
    version = version if _NUMBER.fullmatch(version) else ""
    return Link(site=Site.CIVITAI, url=url, model=page[1], version=version)


def _hugging_face(path: str) -> Link | None:
    file, whole = _FILE.fullmatch(path), _REPOSITORY.fullmatch(path)
    found = file or whole
    if found is None or found[1].partition("/")[0] in _NO_OWNERS:
        return None
    return Link(
        site=Site.HUGGING_FACE,
        url=f"https://huggingface.co/{found[1]}",
        repository=found[1],
        revision=found[2] or "main",
        file=unquote(file[3]) if file else "",
    )


def _encoded(text: str) -> str:
    return quote(text, safe="!#$%&'()*+,/:;=?@[]~-._")
