"""Links to models as people paste them: pages of Civitai and Hugging Face, and plain files."""

import re
from enum import StrEnum
from urllib.parse import parse_qs, quote, unquote, urlsplit

import msgspec

from app.downloads.source import host_of

# One site under several domains, which asks for a key and answers programs at the first.
_CIVITAI = ("civitai.com", "www.civitai.com", "civitai.red", "civitai.green")
_HUGGING_FACE = ("huggingface.co", "www.huggingface.co", "hf.co")
_PAGE = re.compile(r"(?:/api/v1)?/models/(\d{1,12})(?:/[^/]*)?/?")
_VERSION = re.compile(r"(?:/api/download/models|(?:/api/v1)?/model-versions)/(\d{1,12})/?")
# Civitai's names of resources (github.com/civitai/civitai/wiki/AIR).
_AIR = re.compile(
    r"(?i)urn:air:[\w-]*:[\w-]*:civitai:(?P<model>\d{1,12})(?:@(?P<version>\d{1,12}))?(?:[:.].*)?"
)
_NUMBER = re.compile(r"\d{1,12}")
_NAME = r"[\w.-]{1,100}"
_FILE = re.compile(rf"/({_NAME}/{_NAME})/(?:blob|resolve|raw)/([^/]{{1,100}})/(.+)")
_REPOSITORY = re.compile(rf"/({_NAME}/{_NAME})(?:/tree/([^/]{{1,100}})(?:/(.+?))?)?/?")
# Parts of Hugging Face's site that are no repositories of models.
_NO_OWNERS = frozenset({"api", "datasets", "docs", "papers", "spaces", "settings", "collections"})


class Site(StrEnum):
    """The sites whose pages are understood."""

    CIVITAI = "civitai"
    HUGGING_FACE = "hugging_face"
    OTHER = "other"


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A link, split into what a site is asked for.

    Of Civitai `model` or `version` is set, and `wanted` has what a link to a download says of its
    file. Of Hugging Face the repository and its revision are set, and the path of a file or a
    folder, both empty for the whole repository.
    """

    site: Site
    url: str
    model: str = ""
    version: str = ""
    wanted: tuple[tuple[str, str], ...] = ()
    repository: str = ""
    revision: str = "main"
    file: str = ""
    folder: str = ""

    @property
    def host(self) -> str:
        """The host that is asked first."""
        return host_of(self.url)


def read_link(text: str) -> Link | None:
    """Return the link in a text that was pasted; None if it is no encrypted web address."""
    air = _AIR.fullmatch(text.strip())
    if air is not None:
        return _civitai(f"/models/{air['model']}", {"modelVersionId": [air["version"] or ""]})
    url = encoded(text.strip())
    is_address = "://" in url
    if not is_address:
        url = f"https://{url}"
    try:
        host = host_of(url)
    except ValueError:
        return None
    parts = urlsplit(url)
    if host in _CIVITAI:
        return _civitai(parts.path, parse_qs(parts.query))
    if host in _HUGGING_FACE:
        return _hugging_face(parts.path)
    # A word with a slash is hardly an address; a machine of one's own is, where https:// is said.
    is_file = parts.path.rpartition("/")[2] != "" and (is_address or "." in host)
    is_loopback = host == "127.0.0.1" and parts.scheme == "http"
    if is_file and (parts.scheme == "https" or is_loopback):
        return Link(site=Site.OTHER, url=url)
    return None


def is_unencrypted(text: str) -> bool:
    """Return True for a web address that is not asked, as the answer could be anybody's."""
    url = encoded(text.strip())
    try:
        return bool(host_of(url)) and urlsplit(url).scheme == "http"
    except ValueError:
        return False


def encoded(text: str) -> str:
    """Return a URL in which every sign that none has is percent-encoded."""
    return quote(text, safe="!#$%&'()*+,/:;=?@[]~-._")


def file_name_in(url: str) -> str:
    """Return the last part of a URL's path, decoded."""
    return unquote(urlsplit(url).path.rpartition("/")[2])


def hugging_face_url(link: Link, file: str) -> str:
    """Return the URL of a file in a link's repository."""
    return f"https://huggingface.co/{link.repository}/resolve/{link.revision}/{quote(file)}"


def _civitai(path: str, query: dict[str, list[str]]) -> Link | None:
    url = f"https://{_CIVITAI[0]}{path}"
    page, version = _PAGE.fullmatch(path), _VERSION.fullmatch(path)
    if version is not None:
        wanted = tuple((name, values[0]) for name, values in query.items())
        return Link(site=Site.CIVITAI, url=url, version=version[1], wanted=wanted)
    if page is None:
        return None
    number = query.get("modelVersionId", [""])[0]
    number = number if _NUMBER.fullmatch(number) else ""
    return Link(site=Site.CIVITAI, url=url, model=page[1], version=number)


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
        folder=unquote(whole[3] or "") if whole else "",
    )
