"""A catalogue of small packs, made on the spot, and a server on this machine that has them."""

import hashlib
import io
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from engine.packs import this_machine, this_system
from tests.app.downloads.faulty_server import Exchange, FaultyServer, running, serve

# A module that imports, and one whose import ends the process as a broken driver does.
GOOD = "SPEED = 2\n"
BROKEN = "import os\nos._exit(139)\n"


def wheel(module: str, code: str, *, padding: int = 0) -> bytes:
    """Return a wheel with one module, and `padding` bytes that do not compress."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(f"{module}.py", code)
        archive.writestr(f"{module}.bin", bytes(i * 7919 % 251 for i in range(padding)))
        archive.writestr(f"{module}-1.dist-info/METADATA", f"Name: {module}\n")
    return content.getvalue()


@dataclass
class Shop:
    """A server of wheels; `write` writes the catalogue that names them."""

    folder: Path
    server: FaultyServer
    wheels: dict[str, bytes] = field(default_factory=dict[str, bytes])
    versions: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    @property
    def catalogue(self) -> Path:
        """The catalogue's path."""
        return self.folder / "packs.toml"

    def offer(self, pack: str, code: str = GOOD, version: str = "1.0", padding: int = 0) -> None:
        """Have a pack, or another version of one, in the catalogue and on the server."""
        name = f"{pack}-{version}-py3-none-any.whl"
        self.wheels[name] = wheel(f"{pack}_runtime", code, padding=padding)
        self.versions[pack] = (version, name)
        self.write()

    def write(self) -> None:
        """Write the catalogue with the newest version of each pack."""
        lines: list[str] = []
        for pack in self.versions:
            lines += (
                f"[packs.{pack}]",
                f'title = "{pack.title()}"',
                'summary = "For tests."',
                f'imports = ["{pack}_runtime"]',
                'licences = [{ name = "MIT", url = "https://opensource.org/license/mit" }]',
            )
        for pack, (version, name) in self.versions.items():
            content = self.wheels[name]
            lines += (
                "[[builds]]",
                f'pack = "{pack}"',
                f'version = "{version}"',
                f'system = "{this_system()}"',
                f'machine = "{this_machine()}"',
                'python = ""',
                f"disk_bytes = {len(content) + 1000}",
                "[[builds.wheels]]",
                f'url = "http://127.0.0.1:{self.server.port}/{name}"',
                f"size = {len(content)}",
                f'sha256 = "{hashlib.sha256(content).hexdigest()}"',
            )
        self.catalogue.write_text("\n".join(lines))

    def serve(self, exchange: Exchange) -> None:
        """Answer with the wheel that is asked for."""
        exchange.content = self.wheels[exchange.asked.path.removeprefix("/")]
        serve(exchange)


@contextmanager
def open_shop(folder: Path) -> Generator[Shop]:
    """Run a shop without packs until the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with running(FaultyServer(b"")) as server:
        shop = Shop(folder, server)
        server.otherwise = shop.serve
        shop.write()
        yield shop
