"""The list of everything in an installer, as CycloneDX 1.6, for people who look for known flaws.

It is made of the pinned inputs, so that the same inputs give the same bytes.
"""

import uuid
from collections.abc import Sequence
from typing import Literal
from urllib.parse import quote

import msgspec

from installers.inputs import File, Target
from installers.licences import Part

_SCHEMA = "http://cyclonedx.org/schema/bom-1.6.schema.json"
# How the lock names the sources of Debian's packages.
_DEBIAN_SOURCE = ".orig"
# The name space of the serial numbers, which are made of the content.
_SERIALS = uuid.UUID("6ec9f1f5-5b6b-5f0e-9d0d-2f4c5cb7a1de")


class _Hash(msgspec.Struct, frozen=True):
    alg: Literal["SHA-256"]
    content: str


class _Licence(msgspec.Struct, frozen=True):
    expression: str


class _Reference(msgspec.Struct, frozen=True):
    type: Literal["distribution"]
    url: str


class _Component(msgspec.Struct, frozen=True, omit_defaults=True, rename={"ref": "bom-ref"}):
    type: Literal["application", "library"]
    ref: str
    name: str
    version: str
    licenses: tuple[_Licence, ...]
    purl: str
    hashes: tuple[_Hash, ...] = ()
    external_references: tuple[_Reference, ...] = msgspec.field(
        default=(), name="externalReferences"
    )


class _Dependency(msgspec.Struct, frozen=True, rename={"depends_on": "dependsOn"}):
    ref: str
    depends_on: tuple[str, ...]


class _Metadata(msgspec.Struct, frozen=True):
    component: _Component


class _Document(msgspec.Struct, frozen=True, rename="camel"):
    schema: str = msgspec.field(name="$schema")
    bom_format: Literal["CycloneDX"]
    spec_version: Literal["1.6"]
    serial_number: str
    version: int
    metadata: _Metadata
    components: tuple[_Component, ...]
    dependencies: tuple[_Dependency, ...]


def sbom(version: str, target: Target, parts: Sequence[Part]) -> bytes:
    """Return the list for one system's installers of one version of Safelight, as JSON."""
    own_url = f"pkg:generic/safelight@{quote(version)}?os={target}"
    own = _Component(
        "application", own_url, "Safelight", version, (_Licence("Apache-2.0"),), own_url
    )
    components = tuple(_component(part) for part in parts)
    content = msgspec.json.encode((own, components))
    document = _Document(
        schema=_SCHEMA,
        bom_format="CycloneDX",
        spec_version="1.6",
        serial_number=f"urn:uuid:{uuid.uuid5(_SERIALS, content.hex())}",
        version=1,
        metadata=_Metadata(own),
        components=components,
        dependencies=(
            _Dependency(own.ref, tuple(component.ref for component in components)),
            *(_Dependency(component.ref, ()) for component in components),
        ),
    )
    return msgspec.json.format(msgspec.json.encode(document)) + b"\n"


def _component(part: Part) -> _Component:
    url = package_url(part.file)
    return _Component(
        "library",
        url,
        _name(part.file),
        part.file.version,
        (_Licence(part.licence),),
        url,
        (_Hash("SHA-256", part.file.sha256),),
        (_Reference("distribution", part.file.url),),
    )


def package_url(file: File) -> str:
    """Return a pinned file's package URL (purl): of PyPI, of Debian, or by its address."""
    name, version = quote(_name(file)), quote(file.version)
    if file.file_name.endswith(".whl"):
        return f"pkg:pypi/{name}@{version}?file_name={quote(file.file_name)}"
    if file.name.endswith(_DEBIAN_SOURCE):
        return f"pkg:deb/debian/{name}@{version}?arch=source"
    return f"pkg:generic/{name}@{version}?download_url={quote(file.url, safe='')}"


def _name(file: File) -> str:
    return file.name.removesuffix(_DEBIAN_SOURCE)
