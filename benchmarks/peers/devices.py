"""The backend that a peer is asked to run on."""

from backends import registry
from backends.base import Backend


def backend_named(name: str) -> Backend:
    """Return the backend. Raises ValueError if there is none of that name."""
    reference = registry.find(name)
    if reference is None:
        raise ValueError(f"no backend {name}")
    return reference.create()
