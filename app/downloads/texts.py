"""Small texts of web servers, such as lists of what can be downloaded."""

from collections.abc import Callable

from app.downloads.connection import Stopped
from app.downloads.errors import DownloadCode, DownloadError, DownloadProblem
from app.downloads.requests import Asker, Setback
from app.downloads.source import host_of
from app.downloads.terms import USUAL_TERMS, Terms


def read_text(
    url: str, most_bytes: int, cancelled: Callable[[], bool], terms: Terms = USUAL_TERMS
) -> bytes:
    """Return the content of a URL, asked once. Raises DownloadError, also if it is longer.

    Raises ValueError for a URL that is not of a web server.
    """
    host, name = host_of(url), url.rpartition("/")[2]
    asker = Asker(name, (host,), terms, cancelled)
    asker.require_encrypted(url)
    content = bytearray()
    try:
        with asker.ask(url, {}) as (_, connection):
            for chunk in connection.body():
                content += chunk
                if len(content) > most_bytes:
                    raise asker.error(DownloadCode.WRONG_SIZE, url)
    except Setback as setback:
        raise DownloadError(setback.problem) from setback
    except Stopped:
        raise DownloadError(DownloadProblem(code=DownloadCode.CANCELLED, file=name)) from None
    return bytes(content)
