"""Mach-O files of headers alone, written after Apple's <mach-o/loader.h> and <mach-o/fat.h>."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

ARM64 = (0x0100000C, 0)
X86_64 = (0x01000007, 3)
_DYLIB, _MH_MAGIC_64, _FAT_MAGIC = 6, 0xFEEDFACF, 0xCAFEBABE
_LC_LOAD_DYLIB, _LC_ID_DYLIB, _LC_RPATH = 0xC, 0xD, 0x8000001C
_LC_BUILD_VERSION, _LC_CODE_SIGNATURE, _LC_SEGMENT_64 = 0x32, 0x1D, 0x19
_LC_LOAD_WEAK_DYLIB = 0x80000018


@dataclass(frozen=True)
class Sample:
    """A library: its processor and what its header says."""

    cpu: tuple[int, int] = ARM64
    libraries: Sequence[str] = ("/usr/lib/libSystem.B.dylib",)
    weak_libraries: Sequence[str] = ()
    rpaths: Sequence[str] = ()
    minimum_system: tuple[int, int] = (13, 0)
    signed: bool = True

    def to_bytes(self) -> bytes:
        """Return the file."""
        loads = [_dylib(_LC_LOAD_DYLIB, name) for name in self.libraries]
        loads += [_dylib(_LC_LOAD_WEAK_DYLIB, name) for name in self.weak_libraries]
        loads += [_text(_LC_RPATH, struct.pack("<I", 12), path) for path in self.rpaths]
        major, minor = self.minimum_system
        version = major << 16 | minor << 8
        loads.append(struct.pack("<6I", _LC_BUILD_VERSION, 24, 1, version, version, 0))
        loads.append(_dylib(_LC_ID_DYLIB, "@rpath/libsample.dylib"))
        size = sum(map(len, loads)) + 72 + 16 * self.signed
        end = 32 + size
        segment = struct.pack(
            "<2I16s4Q4I", _LC_SEGMENT_64, 72, b"__LINKEDIT", 0, 4096, end, 64, 1, 1, 0, 0
        )
        if self.signed:
            loads.append(struct.pack("<4I", _LC_CODE_SIGNATURE, 16, end, 64))
        commands = segment + b"".join(loads)
        kind, count = _DYLIB, len(loads) + 1
        header = struct.pack("<8I", _MH_MAGIC_64, *self.cpu, kind, count, len(commands), 0, 0)
        return header + commands + b"code of this processor".ljust(64, b".")


def fat(*slices: bytes) -> bytes:
    """Return one file with the code of several processors, each at a multiple of 4096 bytes."""
    entries, content, offset = b"", b"", 4096
    for code in slices:
        cpu = struct.unpack("<2I", code[4:12])
        entries += struct.pack(">5I", *cpu, offset, len(code), 12)
        content = content.ljust(offset - 4096, b"\0") + code
        offset += -(-len(code) // 4096) * 4096
    header = struct.pack(">2I", _FAT_MAGIC, len(slices)) + entries
    return header.ljust(4096, b"\0") + content


def _dylib(command: int, name: str) -> bytes:
    return _text(command, struct.pack("<4I", 24, 0, 0x10000, 0x10000), name)


def _text(command: int, fields: bytes, text: str) -> bytes:
    body = fields + text.encode() + b"\0"
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<2I", command, 8 + len(body)) + body
