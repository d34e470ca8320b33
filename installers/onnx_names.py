"""The names that onnx's modules take from onnx's compiled part while they are imported.

The compiled part (7 MB) checks and changes graphs and has the operators' schemas. Safelight writes
graphs, which is Python and protobuf, and its runtimes read them. In a tree this module has the
compiled part's place; calling anything of it raises NotImplementedError.
"""

import sys
from types import ModuleType

ONNX_ML = True


class _Named(type):
    """A class whose attributes are such classes too, for the names that onnx gives to others."""

    def __getattr__(cls, name: str) -> "_Named":
        if name.startswith("__"):
            raise AttributeError(name)
        return _Named(name, (_Unavailable,), {})


class _Unavailable(metaclass=_Named):
    def __new__(cls, *_: object, **__: object) -> "_Unavailable":
        raise NotImplementedError(f"This installation has no onnx {cls.__name__}.")


class _Missing(ModuleType):
    """A module in which each name is a class that cannot be called."""

    def __getattr__(self, name: str) -> _Named:
        return getattr(_Unavailable, name)


class CheckerContext:
    """Settings of the checker, which is not here; onnx makes one when it is imported."""


class LexicalScopeContext:
    """Names known to the checker; onnx makes one when it is imported."""


def schema_version_map() -> dict[str, tuple[int, int]]:
    """Return the oldest and newest version of each set of operators; there are no schemas."""
    return {"": (0, 0), "ai.onnx.ml": (0, 0)}


for _name in (
    "checker", "defs", "inliner", "parser", "printer", "shape_inference", "version_converter",
):  # fmt: skip
    _module = _Missing(f"{__name__}.{_name}")
    sys.modules[_module.__name__] = _module
    globals()[_name] = _module
vars(sys.modules[f"{__name__}.checker"]).update(
    CheckerContext=CheckerContext, LexicalScopeContext=LexicalScopeContext
)
vars(sys.modules[f"{__name__}.defs"]).update(schema_version_map=schema_version_map)
