"""Finds out what a link leads to: the model, its files, and the hosts that would send them."""

import re
from collections.abc import Callable

import msgspec

from app.downloads.answers import REDIRECTS, is_web_page, next_address
from app.downloads.connection import Answer, Connection, ConnectionFailure, Stopped
from app.downloads.errors import DownloadCode, DownloadError, DownloadProblem
from app.downloads.file_names import safe_file_name, stated_file_name
from app.downloads.links import Link, Site, file_name_in
from app.downloads.model_pages import (
    OfferedFile,
    Page,
    civitai_model_of,
    civitai_page,
    hugging_face_page,
)
from app.downloads.requests import MOST_REDIRECTS, Asker
from app.downloads.source import Source, host_of
from app.downloads.terms import USUAL_TERMS, Terms
from app.downloads.texts import read_text

_CIVITAI = "https://civitai.com/api/v1"
_HUGGING_FACE = "https://huggingface.co/api/models"
# Pages of models with hundreds of versions and pictures have megabytes.
_MOST_BYTES = 16 << 20
_TOTAL = re.compile(r"bytes \d+-\d+/(\d{1,19})")
_LINKED_SIZE, _LINKED_HASH = "x-linked-size", "x-linked-etag"
_SHA256 = re.compile(r'"?([0-9a-f]{64})"?')
_FIRST_BYTE = {"Range": "bytes=0-0"}


class Sender(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a file's own address: the host that sends the file, and facts about it.

    A size of 0 and empty texts are unknown.
    """

    host: str
    size: int = 0
    sha256: str = ""
    name: str = ""


def look_up(link: Link, cancelled: Callable[[], bool], terms: Terms = USUAL_TERMS) -> Page:
    """Ask a link's host what the link leads to; no other host is asked.

    Raises DownloadError, with WRONG_ANSWER where the page has no file of weights.
    """
    try:
        match link.site:
            case Site.CIVITAI:
                model = link.model or civitai_model_of(
                    _read(f"{_CIVITAI}/model-versions/{link.version}", cancelled, terms)
                )
                content = _read(f"{_CIVITAI}/models/{model}", cancelled, terms)
                return civitai_page(content, link)
            case Site.HUGGING_FACE:
                url = f"{_HUGGING_FACE}/{link.repository}/revision/{link.revision}?blobs=true"
                return hugging_face_page(_read(url, cancelled, terms), link)
            case Site.OTHER:
                name = safe_file_name(file_name_in(link.url))
                return Page(title=name, files=(OfferedFile(name=name, url=link.url),))
    except ValueError as error:
        problem = DownloadProblem(
            code=DownloadCode.WRONG_ANSWER, file=link.url, host=link.host, detail=str(error)
        )
        raise DownloadError(problem) from error


def sender_of(
    file: OfferedFile, cancelled: Callable[[], bool], terms: Terms = USUAL_TERMS
) -> Sender:
    """Ask a file's address for its first byte, and read where that leads.

    It is followed to other places of the same host, as those of a repository that got another name,
    but to no other host. Raises DownloadError.
    """
    asker = Asker(file.name, (host_of(file.url),), terms, cancelled)
    asker.require_encrypted(file.url)
    place = file.url
    for _ in range(MOST_REDIRECTS + 1):
        answer = _first_answer(asker, file.url, place)
        if answer.status not in REDIRECTS:
            return _own_sender(file, answer, asker)
        goal = next_address(answer)
        host = asker.host_led_to(file.url, goal)
        if host not in asker.hosts:
            return _other_sender(host, answer)
        place = asker.redirected(file.url, goal)
    raise asker.round_error(file.url)


def whole_size(
    file: OfferedFile,
    hosts: tuple[str, ...],
    cancelled: Callable[[], bool],
    terms: Terms = USUAL_TERMS,
) -> int:
    """Ask the hosts that a person agreed to for a file's size, in bytes. Raises DownloadError."""
    asker = Asker(file.name, hosts, terms, cancelled)
    try:
        with asker.ask(file.url, _FIRST_BYTE) as (answer, _):
            size = _size(answer)
    except Stopped:
        problem = DownloadProblem(code=DownloadCode.CANCELLED, file=file.name)
        raise DownloadError(problem) from None
    if not size:
        raise asker.error(DownloadCode.WRONG_ANSWER, file.url, detail="it states no size")
    return size


def source_of(file: OfferedFile, hosts: tuple[str, ...]) -> Source:
    """Return the source of a file whose size is known; `hosts` are those a person agreed to."""
    return Source(file.url, (), file.name, file.size, file.sha256, hosts)


def _read(url: str, cancelled: Callable[[], bool], terms: Terms) -> bytes:
    return read_text(url, _MOST_BYTES, cancelled, terms)


def _first_answer(asker: Asker, url: str, place: str) -> Answer:
    """Return the head of the answer of a place that a URL led to."""
    terms = asker.terms
    try:
        terms.contacted(host_of(place))
        headers = _FIRST_BYTE | terms.headers_for(place)
        connection = Connection(place, headers, terms.stall_s, asker.stopped)
        try:
            return connection.head()
        finally:
            connection.close()
    except ConnectionFailure as failure:
        raise asker.error(failure.code, url, detail=failure.detail) from failure
    except Stopped:
        problem = DownloadProblem(code=DownloadCode.CANCELLED, file=asker.file)
        raise DownloadError(problem) from None


def _other_sender(host: str, answer: Answer) -> Sender:
    size = answer.headers.get(_LINKED_SIZE, "")
    found = _SHA256.fullmatch(answer.headers.get(_LINKED_HASH, ""))
    return Sender(
        host=host, size=int(size) if size.isdigit() else 0, sha256=found[1] if found else ""
    )


def _own_sender(file: OfferedFile, answer: Answer, asker: Asker) -> Sender:
    if answer.status not in (200, 206):
        raise asker.error(DownloadCode.STATUS, file.url, status=answer.status)
    if is_web_page(answer):
        raise asker.error(DownloadCode.WEB_PAGE, file.url)
    name = stated_file_name(answer.headers.get("content-disposition", ""))
    return Sender(host=host_of(file.url), size=_size(answer), name=name)


def _size(answer: Answer) -> int:
    total = _TOTAL.fullmatch(answer.headers.get("content-range", ""))
    if total is not None:
        return int(total[1])
    length = answer.headers.get("content-length", "")
    return int(length) if answer.status == 200 and length.isdigit() else 0
