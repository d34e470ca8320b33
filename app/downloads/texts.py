"""Small texts of web servers, such as lists of what can be downloaded."""

from collections.abc import Callable
from urllib.parse import urljoin

from app.downloads.answers import is_encoded, is_web_page
from app.downloads.connection import Stopped
from app.downloads.errors import DownloadCode, DownloadError, DownloadProblem
from app.downloads.requests import Asker, Setback
from app.downloads.source import host_of
from app.downloads.terms import USUAL_TERMS, Terms


def read_text(
    url: str, most_bytes: int, cancelled: Callable[[], bool], terms: Terms = USUAL_TERMS
) -> bytes:
    """Return the content of a URL, unverified; its host alone is connected to.

    Raises DownloadError, with WRONG_SIZE for more than `most_bytes`, and ValueError for a URL that
    is not of a web server.
    """
    host, name = host_of(url), url.rpartition("/")[2]
    asker = Asker(name, (host,), terms, cancelled)
    asker.require_encrypted(url)
    failures = 0
    try:
        while True:
            try:
                return _read(asker, url, most_bytes)
            except Setback as setback:
                failures += 1
                if failures >= terms.tries:
                    raise DownloadError(setback.problem) from setback
                asker.wait(setback.wait_s or terms.wait_s(failures))
    except Stopped:
        raise DownloadError(DownloadProblem(code=DownloadCode.CANCELLED, file=name)) from None


def address_in(folder: str, name: str) -> str:
    """Return the URL of a name in the folder of a URL; a name that is a whole URL stays."""
    return urljoin(folder if folder.endswith("/") else f"{folder}/", name)


def _read(asker: Asker, url: str, most_bytes: int) -> bytes:
    with asker.ask(url, {}) as (answer, connection):
        if is_web_page(answer):
            raise asker.error(DownloadCode.WEB_PAGE, url)
        if answer.status != 200 or is_encoded(answer):
            raise asker.error(DownloadCode.WRONG_ANSWER, url)
        content = bytearray()
        for chunk in connection.body():
            content += chunk
            if len(content) > most_bytes:
                raise asker.error(DownloadCode.WRONG_SIZE, url)
    return bytes(content)
