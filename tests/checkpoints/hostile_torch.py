"""PyTorch files made to take memory or time, by classes; `python -m` prints what they take.

Each class is as large as it can be without being refused for its size alone. Files are written when
asked for; `FEW` are those that every run of the tests looks at.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.checkpoints.torch_file import listing_command

Write = Callable[[Path], None]
# Of everything a file may take.
MEMORY_BYTES = 256 << 20
SECONDS = 2.0
# Of tensors, just below and just above what is listed.
MANY, TOO_MANY = 49_000, 51_000
INSTRUCTIONS = 599_000
TENSOR = (
    b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n"
    b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQK\x00)))\x89}tR"
)


def text(value: str) -> bytes:
    """A text of protocol 2."""
    raw = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(raw)) + raw


def write_archive(path: Path, pickled: bytes, *others: tuple[str, bytes]) -> None:
    """The archive that torch would write around a pickle."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/data/0", bytes(16))
        for name, content in others:
            archive.writestr(name, content)


# --- pickles: what is between the protocol and the end ---


def shared(levels: int, begin: bytes, end: bytes) -> bytes:
    """Lists or tuples of the one below, each of as many of it as there is room for."""
    width = INSTRUCTIONS // levels - 4
    parts = [b"]q\x000"]
    for level in range(levels):
        below = b"h" + bytes([level])
        parts.append(begin + below * width + end + b"q" + bytes([level + 1]) + b"0")
    return b"".join(parts)[:-1]


def shared_dicts(levels: int, count: int = INSTRUCTIONS) -> bytes:
    """Dictionaries of dictionaries, under names, each of which is in the one above many times."""
    width = count // (2 * levels)
    names = [text(f"{number:x}") for number in range(width)]
    parts = [b"}q\x000"]
    for level in range(levels):
        below = b"h" + bytes([level])
        parts += [b"}(", *(name + below for name in names), b"uq" + bytes([level + 1]) + b"0"]
    return b"".join(parts)[:-1]


def shared_tensor(levels: int) -> bytes:
    """Nested dictionaries as in `shared_dicts` with one tensor, which has a name for each path."""
    names = [text(f"{number:x}") for number in range(40)]
    parts = [b"}" + text("t") + TENSOR + b"sq\x000"]
    for level in range(levels):
        below = b"h" + bytes([level])
        parts += [b"}(", *(name + below for name in names), b"uq" + bytes([level + 1]) + b"0"]
    return b"".join(parts)[:-1]


def under(prefix: str, count: int) -> bytes:
    """The same tensor under `count` names, all of them below a dictionary named `prefix`."""
    tensors = b"".join(text(f"{number:x}") + b"h\x00" for number in range(count))
    return TENSOR + b"q\x000}" + text(prefix) + b"}(" + tensors + b"us"


def named(count: int, length: int, sign: str = "a") -> bytes:
    """The same tensor under `count` names of their own."""
    tensors = b"".join(text(f"{number:x}{sign * length}") + b"h\x00" for number in range(count))
    return TENSOR + b"q\x000}(" + tensors + b"u"


def repeated(instructions: bytes, count: int = INSTRUCTIONS) -> bytes:
    """A list of what these instructions make."""
    return b"](" + instructions * count + b"e"


def memoized() -> bytes:
    """Numbers kept at places all over the memo."""
    places = (struct.pack("<I", number * 7919 % 2**32) for number in range(INSTRUCTIONS // 2))
    return b"](" + b"".join(b"N" + b"r" + place for place in places) + b"e"


def colliding(width: int) -> bytes:
    """Keys that Python files in the same place: multiples of 2^61 - 1."""
    numbers = (number * (2**61 - 1) for number in range(150_000))
    return b"}(" + b"".join(
        b"\x8a" + bytes([width]) + number.to_bytes(width, "little") + b"N" for number in numbers
    ) + b"u"  # fmt: skip


def wide(rank: int) -> bytes:
    """A tensor of so many dimensions."""
    return TENSOR.replace(b")))\x89}tR", b"(" + b"K\x01" * rank + b"tq\x01h\x01)\x89}tR")


def dictionary(value: bytes) -> bytes:
    """A pickle whose root has this under a name."""
    return b"\x80\x02}" + text("a") + value + b"s."


PICKLES: dict[str, Callable[[], bytes]] = {
    **{f"dictionaries shared over {n} levels": lambda n=n: shared_dicts(n) for n in range(2, 7)},
    "tensors shared over 4 levels": lambda: shared_tensor(4),
    "lists shared over 5 levels": lambda: shared(5, b"](", b"e"),
    "tuples shared over 5 levels": lambda: shared(5, b"(", b"t"),
    "dictionaries": lambda: repeated(b"}"),
    "lists": lambda: repeated(b"]"),
    "tuples": lambda: repeated(b")"),
    "tuples of one": lambda: repeated(b"N\x85", INSTRUCTIONS // 2),
    "dictionaries of one": lambda: repeated(b"}NNs", INSTRUCTIONS // 4),
    "lists of one": lambda: repeated(b"]Na", INSTRUCTIONS // 3),
    "sets": lambda: repeated(b"c__builtin__\nset\n)R", INSTRUCTIONS // 3),
    "sets of protocol 4": lambda: repeated(b"\x8f"),
    "orders": lambda: repeated(b"ccollections\nOrderedDict\n)R", INSTRUCTIONS // 3),
    "kept dictionaries": memoized,
    "deep dictionaries": lambda: b"}N" * 149_000 + b"}" + b"s" * 149_000,
    "deep lists": lambda: b"]" * 299_000 + b"a" * 298_999,
    "deep tuples": lambda: b"N" + b"\x85" * 598_000,
    "deep groups": lambda: b"(" * 299_000 + b"t" * 299_000,
    "doubled": lambda: b")" + b"2\x86" * 299_000,
    "copies": lambda: repeated(b"2"),
    "a name of 20 kB above tensors": lambda: under("a" * 20_000, MANY),
    "a name of 8 kB above tensors": lambda: under("a" * 8_000, MANY),
    "a name of 8 kB of escapes above tensors": lambda: under("\x01" * 4_000, MANY),
    "a name of 500 bytes above tensors": lambda: under("a" * 500, MANY),
    "a name of 500 signs above tensors": lambda: under("\U0001f600" * 500, MANY),
    "a name of 150 escapes above tensors": lambda: under("\x01" * 150, MANY),
    "names of 480 bytes": lambda: named(30_000, 480),
    "names of 250 bytes": lambda: named(MANY, 200),
    "names of 20 signs": lambda: named(MANY, 20, "\U0001f600"),
    "too many tensors": lambda: named(TOO_MANY, 1),
    "as many tensors as there may be": lambda: named(MANY, 20),
    "texts of a wide sign": lambda: repeated(text("a" * 24 + "\U0001f600")),
    "texts of 4 kB": lambda: repeated(text("a" * 4000), 16_000),
    "texts of 4 kB with a wide sign": lambda: repeated(text("a" * 4000 + "\U0001f600"), 4_000),
    "kept texts of a wide sign": lambda: repeated(
        text("a" * 45 + "\U0001f600") + b"r\0\0\0\0", 299_000
    ),
    "a text of 60 MB": lambda: text("a" * 60_000_000),
    "a text of 60 MB with a wide sign": lambda: text("a" * 60_000_000 + "\U0001f600"),
    "bytes": lambda: repeated(b"U\x20" + bytes(32)),
    "a line of 60 MB": lambda: b"V" + b"a" * 60_000_000 + b"\n",
    "lines of 4 kB": lambda: repeated(b"V" + b"a" * 4000 + b"\n", 15_000),
    "lines of escapes": lambda: repeated(b"V" + b"\\U0001f600" * 400 + b"\n", 15_000),
    "an integer of 60 MB": lambda: b"\x8b" + struct.pack("<I", 60_000_000) + b"\x7f" * 60_000_000,
    "integers of 255 bytes": lambda: repeated(b"\x8a\xff" + b"\x7f" * 255, 200_000),
    "integers of 8 bytes": lambda: repeated(b"\x8a\x08" + b"\x7f" * 8),
    "an integer of many digits": lambda: b"L" + b"9" * 1_000_000 + b"L\n",
    "integers of 4000 digits": lambda: repeated(b"L" + b"9" * 4000 + b"L\n", 15_000),
    "integers of 600 digits": lambda: repeated(b"L" + b"9" * 600 + b"L\n", 27_000),
    "keys of one place": lambda: colliding(10),
    "a tensor of 8 dimensions and one of 590,000": lambda: wide(590_000),
    "a text longer than the file": lambda: b"\x8d" + struct.pack("<Q", 1 << 40) + b"a",
    "a text longer than any": lambda: b"\x8d" + b"\xff" * 8 + b"a",
    "states": lambda: repeated(b"}Nb", INSTRUCTIONS // 3),
    "frames": lambda: (b"\x95" + bytes(8)) * INSTRUCTIONS + b"N",
    "marks": lambda: b"(" * INSTRUCTIONS,
}


# --- archives ---


def of_pickle(pickled: Callable[[], bytes]) -> Write:
    """A file with such a value in its dictionary."""
    return lambda path: write_archive(path, dictionary(pickled()))


def bare(pickled: Callable[[], bytes]) -> Write:
    """A file whose root it is."""
    return lambda path: write_archive(path, b"\x80\x02" + pickled() + b".")


def members(count: int) -> Write:
    """An archive of so many storages."""
    others = [(f"archive/data/{number}", b"") for number in range(1, count)]
    return lambda path: write_archive(path, dictionary(TENSOR), *others)


def compressed(path: Path) -> None:
    """Gigabytes of zeros in a few kilobytes."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("archive/data.pkl", "w", force_zip64=True) as member,
    ):
        for _ in range(64):
            member.write(bytes(1 << 20))


def twice(path: Path) -> None:
    """The same bytes in the list of members again and again."""
    write_archive(path, dictionary(TENSOR))
    raw = path.read_bytes()
    end = raw.rindex(b"PK\x05\x06")
    start = struct.unpack_from("<I", raw, end + 16)[0]
    listed = (raw[start:end]) * 15_000
    path.write_bytes(
        raw[:start] + listed
        + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 30_000, 30_000, len(listed), start, 0)
    )  # fmt: skip


def long_local_names(path: Path) -> None:
    """Members whose own headers claim names of 65,535 bytes."""
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 0, 0, 0xFFFF, 0)
    rows: list[bytes] = []
    for number in range(25_000):
        name = f"archive/data/{number}".encode()
        fields = (b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0)
        rows.append(struct.pack("<4s6H3I5H2I", *fields) + name)
    listed = b"".join(rows)
    start = len(local) + 0xFFFF
    path.write_bytes(
        local + bytes(0xFFFF) + listed
        + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 25_000, 25_000, len(listed), start, 0)
    )  # fmt: skip


def two_ends(path: Path) -> None:
    """A short record that says little, and a long one, which counts, that says gigabytes."""
    size = 3 << 30
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(size)
        file.seek(size)
        long = (b"PK\x06\x06", 44, 45, 45, 0, 0, 9, 9, size - 8, 8)
        file.write(struct.pack("<4sQ2H2I4Q", *long))
        file.write(struct.pack("<4sIQI", b"PK\x06\x07", 0, size, 1))
        file.write(struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 9, 9, 100, 8, 0))


def sparse(path: Path) -> None:
    """A terabyte without an end."""
    path.write_bytes(b"PK\x03\x04")
    os.truncate(path, 1 << 40)


def no_archive(content: bytes) -> Write:
    """A file that begins otherwise."""

    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def cut(path: Path) -> None:
    """Half of a long pickle."""
    write_archive(path, dictionary(repeated(b"}")))
    os.truncate(path, 300_000)


def comment(path: Path) -> None:
    """Ends within the comment."""
    write_archive(path, dictionary(TENSOR))
    raw = path.read_bytes()
    path.write_bytes(raw[:-2] + b"\xf0\xff" + b"PK\x05\x06" * 0x3FFC)


ARCHIVES: dict[str, Write] = {
    "members: 30,000": members(30_000),
    "members: 60,000": members(60_000),
    "a compressed pickle": compressed,
    "a list that repeats itself": twice,
    "long names of their own": long_local_names,
    "two ends": two_ends,
    "a terabyte": sparse,
    "ends in the comment": comment,
    "half of a long pickle": cut,
    "a pickle of 70 MB": lambda path: write_archive(path, dictionary(text("a" * 70_000_000))),
    "no archive, of protocol 2": no_archive(dictionary(b"]" * 300_000)),
    "a tape archive": no_archive(b"storages\0" + bytes(5_000_000)),
}


def corpus() -> dict[str, Write]:
    """Every file by its name."""
    roots = {
        name: make
        for name, make in PICKLES.items()
        if "above" in name or "tensors" in name or "names" in name or "dictionaries" in name
    }
    return {
        **{name: of_pickle(make) for name, make in PICKLES.items()},
        **{f"root: {name}": bare(make) for name, make in roots.items()},
        **ARCHIVES,
    }


FEW = (
    "root: dictionaries shared over 3 levels",
    "root: a name of 20 kB above tensors",
    "root: a name of 500 signs above tensors",
    "root: names of 480 bytes",
    "kept texts of a wide sign",
    "two ends",
)


@dataclass(frozen=True, slots=True)
class Taken:
    """The memory and time that listing a file took, and the beginning of the answer."""

    memory_bytes: int
    seconds: float
    cpu_seconds: float
    status: int
    answer: str


# A small process between: what a child takes at most begins with what its parent had.
_LAUNCHER = """
import json, os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={})
answer = child.stdout.read()
_, status, usage = os.wait4(child.pid, 0)
memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
cpu = usage.ru_utime + usage.ru_stime
taken = memory, time.perf_counter() - start, cpu, os.waitstatus_to_exitcode(status)
print(json.dumps((*taken, answer[:200].decode())))
"""


def measure(path: Path) -> Taken:
    """Run the program that lists a file's tensors."""
    command = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *listing_command(path)]
    return Taken(*json.loads(subprocess.run(command, capture_output=True, check=True).stdout))


def measured(names: Iterator[str], folder: Path) -> Iterator[tuple[str, Taken]]:
    """Each of these files, and what it took."""
    for name in names:
        path = folder / "hostile.ckpt"
        corpus()[name](path)
        yield name, measure(path)
        path.unlink()


def main() -> None:
    """Print what each file takes, and the most of all."""
    most: list[Taken] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, taken in measured(iter(corpus()), Path(folder)):
            most.append(taken)
            answer = taken.answer[:70] if taken.status == 0 else f"status {taken.status}"
            print(  # noqa: T201
                f"{name:48} {taken.memory_bytes / 1e6:6.0f} MB {taken.seconds:5.2f} s "
                f"{taken.cpu_seconds:5.2f} s of processor  {answer}"
            )
    memory, seconds = (
        max(taken.memory_bytes for taken in most),
        max(taken.cpu_seconds for taken in most),
    )
    print(json.dumps({"files": len(most), "most_mb": memory / 1e6, "most_cpu_s": seconds}))  # noqa: T201


if __name__ == "__main__":
    main()
