"""The pickle inside a PyTorch file, read without executing anything.

A pickle is a program, and Python's own reader runs whatever its author wrote. Here its instructions
are listed by `torch_instructions`, which runs nothing, and interpreted over inert values: an
allow-list of instructions, and an allow-list of names, each of which stands for one of our values.
No name is ever imported, and no object of the file is ever made. A "call" in a pickle is either one
of PyTorch's ways to describe a tensor, which gives a `TensorClaim`, or a harmless name that
checkpoints are known to carry, which gives an `Inert`. Anything else is refused by name.

Standard library only: it runs in a child process that should start at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn, cast

from engine.checkpoints.limits import MAX_DIMENSION, MAX_RANK
from engine.checkpoints.torch_instructions import (
    PickleDamaged,
    PickleRefused,
    Unread,
    instructions,
)

# Six times the instructions of a whole SDXL checkpoint; enough for 190,000 entries of a name and a
# number; about half a second of reading.
MAX_INSTRUCTIONS = 600_000

# Torch's storage types, mapped to the element types of safetensors.
_STORAGES = {
    "DoubleStorage": "F64",
    "FloatStorage": "F32",
    "HalfStorage": "F16",
    "BFloat16Storage": "BF16",
    "LongStorage": "I64",
    "IntStorage": "I32",
    "ShortStorage": "I16",
    "CharStorage": "I8",
    "ByteStorage": "U8",
    "BoolStorage": "BOOL",
    # Bytes of a type that the tensor names.
    "UntypedStorage": "",
}
_DTYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}
# Names that checkpoints carry besides weights: counters of the training, and the class of a
# callback.
_HARMLESS = frozenset(
    {
        ("collections", "OrderedDict"),
        ("collections", "defaultdict"),
        ("builtins", "set"),
        ("__builtin__", "set"),
        ("_codecs", "encode"),
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        ("numpy.core.multiarray", "scalar"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "scalar"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("torch", "Size"),
        ("torch", "device"),
        ("torch.nn.modules.container", "ParameterDict"),
        ("torch.nn.modules.container", "ParameterList"),
        ("pytorch_lightning.callbacks.model_checkpoint", "ModelCheckpoint"),
        ("pytorch_lightning.callbacks.early_stopping", "EarlyStopping"),
        ("pytorch_lightning.utilities.types", "AttributeDict"),
        ("pytorch_lightning.utilities.parsing", "AttributeDict"),
    }
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name that a pickle imports."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Inert:
    """A placeholder without behaviour for the result of calling a harmless name."""

    name: Name


@dataclass(frozen=True, slots=True)
class Storage:
    """A member of the archive: `key` under `data/`; `dtype` is empty if the tensor names it."""

    key: str
    dtype: str


@dataclass(frozen=True, slots=True)
class TensorClaim:
    """A pickle's description of a tensor: `offset` and `strides` in elements of its storage."""

    storage: Storage
    dtype: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


# The place in a storage's identity where files of before 2020 may have a part of another storage.
_VIEW_PLACE = 5


class _Mark:
    """The start of a group of values on the stack."""


_MARK = _Mark()


def read_pickle(file: BinaryIO, types: dict[str, str] | None = None) -> object:
    """Return the value of a pickle: dicts, lists, texts, numbers, `TensorClaim`s and `Inert`s.

    The element types of storages are added to `types` by their keys.

    Time and memory of each instruction are bounded; but the result may hold the same value in many
    places, so that walking through all of it may never end. Raises PickleRefused or PickleDamaged.
    """
    machine = _Machine({} if types is None else types)
    try:
        for count, (name, argument) in enumerate(instructions(file)):
            if count >= MAX_INSTRUCTIONS:
                raise PickleRefused(f"more than {MAX_INSTRUCTIONS} instructions")
            if name == "STOP":
                return machine.result()
            act = _ACTS.get(name)
            if act is None:
                raise PickleRefused(f"the instruction {name}")
            act(machine, argument)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise PickleDamaged(str(error) or type(error).__name__) from error
    raise PickleDamaged("it has no end")


class _Machine:
    """The stack and the memo of a pickle that is being read."""

    def __init__(self, types: dict[str, str]) -> None:
        self.types = types
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def result(self) -> object:
        value = self.stack.pop()
        if self.stack:
            raise PickleDamaged("values are left over")
        return value

    def push(self, value: object) -> None:
        self.stack.append(value)

    def since_mark(self) -> list[Any]:
        """Remove and return the values after the last mark; the mark is removed, too."""
        for place in range(len(self.stack) - 1, -1, -1):
            if self.stack[place] is _MARK:
                values = self.stack[place + 1 :]
                del self.stack[place:]
                return values
        raise PickleDamaged("a group has no beginning")

    def take(self, count: int) -> list[Any]:
        if len(self.stack) < count:
            raise PickleDamaged("a value is missing")
        values = self.stack[-count:]
        del self.stack[-count:]
        return values

    def memoize(self, place: int) -> None:
        self.memo[place] = self.stack[-1]


def _name(module: object, name: object) -> Name:
    if not isinstance(module, str) or not isinstance(name, str):
        raise PickleDamaged("a name is no text")
    known = (module, name) in _HARMLESS or (module, name) in _CALLS
    torchs = module == "torch" and (name in _STORAGES or name in _DTYPES)
    untyped = (module, name) == ("torch.storage", "UntypedStorage")
    if not (known or torchs or untyped):
        raise PickleRefused(f"{module}.{name}")
    return Name(module, name)


def _global(machine: _Machine, argument: str) -> None:
    module, _, name = argument.partition(" ")
    machine.push(_name(module, name))


def _stack_global(machine: _Machine, _: object) -> None:
    machine.push(_name(*machine.take(2)))


def _reduce(machine: _Machine, _: object) -> None:
    called, arguments = machine.take(2)
    machine.push(_call(called, arguments))


def _call(called: object, arguments: object) -> object:
    if not isinstance(called, Name) or not isinstance(arguments, tuple):
        raise PickleRefused("a call of what is no name")
    given = cast("tuple[Any, ...]", arguments)
    build = _CALLS.get((called.module, called.name))
    if build is not None:
        return build(given)
    if called.name == "OrderedDict" and not given:
        return {}
    return Inert(called)


def _build(machine: _Machine, _: object) -> None:
    """Run `__setstate__` or `__dict__.update`: sets attributes, which are ignored.

    The parameters of a ParameterDict are the exception: they are among its attributes.
    """
    (state,) = machine.take(1)
    target = machine.stack[-1]
    if not isinstance(target, (dict, Inert, TensorClaim)):
        raise PickleRefused(f"a state for {type(target).__name__}")
    if isinstance(target, dict) and isinstance(state, dict):
        parameters = cast("dict[Any, Any]", state).get("_parameters")
        if isinstance(parameters, dict):
            cast("dict[Any, Any]", target).update(cast("dict[Any, Any]", parameters))


def _new_object(machine: _Machine, _: object) -> None:
    """Run `cls.__new__(cls)`: a dictionary for a ParameterDict, filled by its state; else inert."""
    called, arguments = machine.take(2)
    if not isinstance(called, Name) or arguments != ():
        raise PickleRefused("a new object of what is no name")
    if (called.module, called.name) not in _HARMLESS:
        raise PickleRefused(f"a new object of {called.module}.{called.name}")
    machine.push({} if called.name == "ParameterDict" else Inert(called))


def _storage(machine: _Machine, _: object) -> None:
    (identity,) = machine.take(1)
    kind, of, key = identity[:3]
    if kind != "storage" or not isinstance(of, Name) or not isinstance(key, str):
        raise PickleRefused("a persistent object that is no storage")
    if len(identity) > _VIEW_PLACE and identity[_VIEW_PLACE] is not None:
        raise PickleRefused("a part of a storage")
    dtype = machine.types.setdefault(key, _STORAGES[of.name])
    if dtype != _STORAGES[of.name]:
        raise PickleDamaged("a storage has two types")
    machine.push(Storage(key, dtype))


def _tensor_v2(arguments: tuple[Any, ...]) -> TensorClaim:
    """Read torch._utils._rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks)."""
    storage, offset, shape, strides = arguments[:4]
    return _claim(storage, storage.dtype, offset, shape, strides)


def _tensor_v3(arguments: tuple[Any, ...]) -> TensorClaim:
    """Read torch._utils._rebuild_tensor_v3: version 2 with an element type of its own."""
    storage, offset, shape, strides, _, _, dtype = arguments[:7]
    return _claim(storage, _DTYPES[dtype.name], offset, shape, strides)


def _parameter(arguments: tuple[Any, ...]) -> TensorClaim:
    """Read torch._utils._rebuild_parameter(data, requires_grad, hooks)."""
    if not isinstance(arguments[0], TensorClaim):
        raise PickleDamaged("a parameter is no tensor")
    return arguments[0]


def _claim(
    storage: object, dtype: str, offset: object, shape: Sequence[int], strides: Sequence[int]
) -> TensorClaim:
    if len(shape) != len(strides) or len(shape) > MAX_RANK:
        raise PickleDamaged(f"a tensor has {len(shape)} sizes and {len(strides)} strides")
    sizes = (offset, *shape, *strides)
    whole = all(type(size) is int and 0 <= size < MAX_DIMENSION for size in sizes)
    if not isinstance(storage, Storage) or not whole or not dtype:
        raise PickleDamaged("a tensor is not described as tensors are")
    return TensorClaim(storage, dtype, cast("int", offset), tuple(shape), tuple(strides))


_CALLS: dict[tuple[str, str], Callable[[tuple[Any, ...]], object]] = {
    # Version 1, of PyTorch before 0.4: no more arguments than the first four.
    ("torch._utils", "_rebuild_tensor"): _tensor_v2,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): _tensor_v3,
    ("torch._utils", "_rebuild_parameter"): _parameter,
}


def _key(value: object) -> object:
    """Return a dictionary key; refuse values that can be nested: hashing them recurses."""
    if not isinstance(value, (str, int, float, bool, bytes, Name, Unread, type(None))):
        raise PickleRefused(f"a key that is a {type(value).__name__}")
    return value


def _set_items(machine: _Machine, items: Sequence[Any]) -> None:
    target = machine.stack[-1]
    if isinstance(target, Inert):
        return
    if not isinstance(target, dict) or len(items) % 2:
        raise PickleDamaged("entries of what is no dictionary")
    entries = cast("dict[Any, Any]", target)
    for place in range(0, len(items), 2):
        entries[_key(items[place])] = items[place + 1]


def _append(machine: _Machine, items: Sequence[Any]) -> None:
    target = machine.stack[-1]
    if not isinstance(target, list):
        raise PickleDamaged("elements of what is no list")
    cast("list[Any]", target).extend(items)


def _dictionary(items: Sequence[Any]) -> dict[Any, Any]:
    keys = map(_key, items[::2])
    return dict(zip(keys, items[1::2], strict=True))


def _refuse_set(_: _Machine, __: object) -> NoReturn:
    raise PickleRefused("a set")


def _nothing(_: _Machine, __: object) -> None:
    """Ignore an instruction that only helps readers of the file (PROTO, FRAME)."""


_Act = Callable[[_Machine, Any], object]
_PUSHED = (
    "BININT", "BININT1", "BININT2", "INT", "LONG", "LONG1", "LONG4", "BINFLOAT", "FLOAT",
    "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "UNICODE",
    "BINSTRING", "SHORT_BINSTRING", "STRING", "BINBYTES", "SHORT_BINBYTES",
)  # fmt: skip
_ACTS: dict[str, _Act] = {
    **dict.fromkeys(_PUSHED, _Machine.push),
    **dict.fromkeys(("PROTO", "FRAME"), _nothing),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Machine.memoize),
    "MEMOIZE": lambda m, _: m.memoize(len(m.memo)),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), lambda m, place: m.push(m.memo[place])),
    "MARK": lambda m, _: m.push(_MARK),
    "POP": lambda m, _: m.take(1),
    "POP_MARK": lambda m, _: m.since_mark(),
    "DUP": lambda m, _: m.push(m.stack[-1]),
    "NONE": lambda m, _: m.push(None),
    "NEWTRUE": lambda m, _: m.push(True),
    "NEWFALSE": lambda m, _: m.push(False),
    "EMPTY_TUPLE": lambda m, _: m.push(()),
    "TUPLE1": lambda m, _: m.push(tuple(m.take(1))),
    "TUPLE2": lambda m, _: m.push(tuple(m.take(2))),
    "TUPLE3": lambda m, _: m.push(tuple(m.take(3))),
    "TUPLE": lambda m, _: m.push(tuple(m.since_mark())),
    "EMPTY_LIST": lambda m, _: m.push([]),
    "LIST": lambda m, _: m.push(m.since_mark()),
    "APPEND": lambda m, _: _append(m, m.take(1)),
    "APPENDS": lambda m, _: _append(m, m.since_mark()),
    "EMPTY_DICT": lambda m, _: m.push({}),
    "DICT": lambda m, _: m.push(_dictionary(m.since_mark())),
    "SETITEM": lambda m, _: _set_items(m, m.take(2)),
    "SETITEMS": lambda m, _: _set_items(m, m.since_mark()),
    "GLOBAL": _global,
    "STACK_GLOBAL": _stack_global,
    "REDUCE": _reduce,
    "NEWOBJ": _new_object,
    "BUILD": _build,
    "BINPERSID": _storage,
    "EMPTY_SET": _refuse_set,
}
