"""Certificates that are trusted: the system's, and those that the environment names."""

import os
import ssl
from contextlib import suppress
from pathlib import Path

import truststore

# Files of certificates that people name for other programs, where a network inspects connections.
_NAMED_FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def trusted() -> ssl.SSLContext:
    """Return a context that trusts what the system trusts.

    Windows and macOS verify chains themselves, with what a company has installed there. On Linux
    the store is found where the distribution keeps it, as our OpenSSL may not be its own.
    """
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for file in dict.fromkeys(map(os.environ.get, _NAMED_FILES)):
        if file and Path(file).is_file():
            with suppress(OSError):  # ssl.SSLError is one: a file without certificates
                context.load_verify_locations(cafile=file)
    return context
