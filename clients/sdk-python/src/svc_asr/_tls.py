"""Trust in the certificates of a private authority."""

from __future__ import annotations

import os
import ssl

from .errors import SvcError


def trusting(ca: str | os.PathLike[str]) -> ssl.SSLContext:
    """Returns a context that trusts the certificates in a file, besides those that the system trusts."""
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise SvcError("invalid_ca", "The ca file cannot be read. Pass a PEM file.") from error
    return context
