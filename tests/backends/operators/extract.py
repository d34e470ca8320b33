"""Writes the tables of operators in this folder out of the sources they name.

`python -m tests.backends.operators.extract ONNXRUNTIME MIGRAPHX`, with checkouts of
https://github.com/microsoft/onnxruntime and https://github.com/ROCm/AMDMIGraphX at the commits in
`COMMITS`. The table of TensorRT-RTX is asked of its own parser, where the package is installed.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportMissingImports=false
# (TensorRT-RTX is absent from the environment that is type-checked)

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent
COMMITS = {
    "microsoft/onnxruntime": "b3ba580346293ed1cab35b59cf93ae1da56e65f7",
    "ROCm/AMDMIGraphX": "f729a52faf",
}
# Domain and name of an operator to the first and last version of it, and the element types.
Table = dict[str, list[tuple[int, int, list[str]]]]

_TENSOR = re.compile(r"tensor\((\w+)\)")
_DOMAINS = {"ai.onnx": "", "com.microsoft": "com.microsoft"}
_NEWEST = 1000


def kernels(text: str, provider: str) -> Table:
    """A provider's chapter of OperatorKernels.md.

    A kernel without an end of its range serves exactly the version it begins with
    (`KernelRegistry::VerifyKernelDef`).
    """
    chapter = text.split(f"## Operators implemented by {provider}")[1].split("\n## ")[0]
    table: Table = defaultdict(list)
    domain, name, fixed = "", "", set[str]()
    for line in chapter.splitlines():
        cells = line.strip()[1:-1].split("|") if line.startswith("|") else []
        if "Operator Domain" in line:
            domain = line.split("*")[-2]
        elif len(cells) == 4 and re.match(r"\[?\d", cells[2]) and domain in _DOMAINS:
            if cells[0]:
                name, fixed = cells[0], set(_TENSOR.findall(cells[1]))
            first, *rest = map(int, re.findall(r"\d+", cells[2]))
            types = sorted(fixed | set(_TENSOR.findall(cells[3])))
            table[_key(_DOMAINS[domain], name)].append((first, rest[0] if rest else first, types))
    return table


_RST_TYPES = {
    "FP16": "float16",
    "FP32": "float",
    "FP64": "double",
    "BOOL": "bool",
    **{f"{u}INT{n}": f"{u.lower()}int{n}" for u in ("", "U") for n in (8, 16, 32, 64)},
}


def migraphx(text: str) -> Table:
    """The matrix of MIGraphX's page, whose limit is in a sentence before it."""
    limit = re.search(r"supports operators up to Opset (\d+)", text)
    assert limit
    rows: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if cells[0] and not (rows and not cells[1]):
                rows.append(cells)
            elif rows:
                rows[-1] = [" ".join(pair).strip() for pair in zip(rows[-1], cells, strict=False)]
    table: Table = {}
    for name, supported, types, *_ in rows:
        if supported == "✅":
            found = sorted({_RST_TYPES[t] for t in re.split(r"[,\s]+", types) if t in _RST_TYPES})
            table[_key("", name)] = [(1, int(limit[1]), found)]
    return table


# By builder: what it takes in place of the types most take, from its HasSupportedInputsImpl.
_COREML_BASE = ["float", "float16", "int64"]
_COREML_TYPES = {
    "cast": ["float", "float16", "int32", "int64"],
    "gather": ["float", "int64"],
    "normalization": ["float", "float16"],
}
# In the list of ONNX Runtime 1.31 and not yet among the builders of `COMMITS`: each with the
# commit that its builder was read at. The wheel for macOS names both (TileOpBuilder ...).
COREML_LATER = {
    "Tile": ("1650d6fa1b2fa05b46e0c10bf85cb67f90bfe321", ["float", "float16", "int64"]),
    "Identity": ("2090ec9b37f72fcac0315c1ba9a81403029f31e4", _COREML_BASE),
}


def coreml(builders: Path) -> Table:
    """The operators whose builder makes a part of an ML program."""
    factory = (builders / "op_builder_factory.cc").read_text()
    base = (builders / "impl/base_op_builder.h").read_text()
    limit = re.search(r"GetMaxSupportedOpSet\(.*\{ return (\d+)", base)
    assert limit
    table: Table = {}
    for builder, name in re.findall(r"Create(\w+)OpBuilder\(\"(\w+)\"", factory):
        file = re.sub(r"(?<!^)(?=[A-Z][a-z])", "_", builder).lower()
        path = builders / "impl" / f"{file}_op_builder.cc"
        if not path.exists():
            path = builders / "impl" / f"{builder.lower()}_op_builder.cc"
        source = path.read_text() if path.exists() else ""
        if "SupportsMLProgram() const override { return true; }" in source:
            least = re.search(r"GetMinSupportedOpSet\(.*\{ return (\d+)", source)
            types = _COREML_TYPES.get(builder.lower(), _COREML_BASE)
            table[_key("", name)] = [(int(least[1]) if least else 1, int(limit[1]), types)]
    for name, (_, types) in COREML_LATER.items():
        table[_key("", name)] = [(1, int(limit[1]), types)]
    return table


_WEBGPU_KERNEL = re.compile(
    r"class ONNX_OPERATOR(_VERSIONED)?(?:_TYPED)?_KERNEL_CLASS_NAME\("
    r"kWebGpuExecutionProvider, (k\w+Domain), ([^;]*?)\)>?;"
)


def webgpu(root: Path) -> Table:
    """The kernels that the WebGPU provider declares; numbers are float or float16 on the device."""
    sources = (
        root / "onnxruntime/core/providers/webgpu/webgpu_execution_provider.cc",
        root / "onnxruntime/contrib_ops/webgpu/webgpu_contrib_kernels.cc",
    )
    types = ["bool", "float", "float16", "int32", "int64", "uint32"]
    table: Table = defaultdict(list)
    for source in sources:
        for versioned, domain, rest in _WEBGPU_KERNEL.findall(source.read_text()):
            words = [word.strip() for word in rest.split(",")]
            first, last = int(words[0]), int(words[1] if versioned else words[0])
            name = words[-1]
            key = _key("com.microsoft" if domain == "kMSDomain" else "", name)
            table[key].append((first, last, types))
    return table


def tensorrt_rtx() -> Table:
    """The operators that the installed parser supports, out of all names there are."""
    import tensorrt_rtx as trt
    from onnx import defs

    logger = trt.Logger(trt.Logger.ERROR)
    parser = trt.OnnxParser(trt.Builder(logger).create_network(0), logger)
    # NVIDIA's support matrix of TensorRT-RTX; FP64 is narrowed, FP8 and INT4 only when quantised.
    types = ["bfloat16", "bool", "float", "float16", "int32", "int64"]
    names = {schema.name for schema in defs.get_all_schemas() if schema.domain == ""}
    table = {_key("", n): [(1, _NEWEST, types)] for n in names if parser.supports_operator(n)}
    for name in ("FusedMatMul", "MultiHeadAttention", "SkipLayerNormalization"):
        if parser.supports_operator(name):
            table[_key("com.microsoft", name)] = [(1, 1, types)]
    return table


def _key(domain: str, name: str) -> str:
    return f"{domain}:{name}" if domain else name


def write(name: str, version: str, sources: list[str], table: Table) -> None:
    """One line an operator, so that a change shows."""
    lines = [
        f'  "{key}": {json.dumps(sorted({(a, b, tuple(t)) for a, b, t in entries}))}'
        for key, entries in sorted(table.items())
    ]
    head = f' "version": {json.dumps(version)},\n "sources": {json.dumps(sources)},\n'
    body = ' "operators": {\n' + ",\n".join(lines) + "\n }\n"
    (FOLDER / f"{name}.json").write_text("{\n" + head + body + "}\n")


def _of_onnxruntime(*paths: str) -> list[str]:
    root = f"https://github.com/microsoft/onnxruntime/blob/{COMMITS['microsoft/onnxruntime']}"
    return [f"{root}/{path}" for path in paths]


def tables(onnxruntime: Path, amd: Path) -> Iterator[tuple[str, str, list[str], Table]]:
    """Every table with its name, the version it is of and where it is from."""
    page = "docs/OperatorKernels.md"
    text = (onnxruntime / page).read_text()
    version = "ONNX Runtime 1.24 in development, October 2025"
    for name, provider in (("windows_directml", "Dml"), ("nvidia_cuda", "CUDA")):
        found = kernels(text, f"{provider}ExecutionProvider")
        yield name, version, _of_onnxruntime(page), found
    builders = "onnxruntime/core/providers/coreml/builders"
    later = [
        f"https://github.com/microsoft/onnxruntime/blob/{commit}/{builders}/impl/"
        f"{name.lower()}_op_builder.cc"
        for name, (commit, _) in COREML_LATER.items()
    ]
    sources = [*_of_onnxruntime(f"{builders}/op_builder_factory.cc"), *later]
    yield (
        "apple_coreml",
        f"{version}; {', '.join(COREML_LATER)} of 1.31",
        sources,
        coreml(onnxruntime / builders),
    )
    paths = (
        "onnxruntime/core/providers/webgpu/webgpu_execution_provider.cc",
        "onnxruntime/contrib_ops/webgpu/webgpu_contrib_kernels.cc",
    )
    yield "webgpu", version, _of_onnxruntime(*paths), webgpu(onnxruntime)
    page = "docs/dev/onnx_operators.rst"
    address = f"https://github.com/ROCm/AMDMIGraphX/blob/{COMMITS['ROCm/AMDMIGraphX']}/{page}"
    found = migraphx((amd / page).read_text())
    yield "amd_migraphx", "MIGraphX 2.16 in development, May 2026", [address], found


def main(onnxruntime: str, amd: str) -> None:
    for name, version, sources, table in tables(Path(onnxruntime), Path(amd)):
        write(name, version, sources, table)
    try:
        table = tensorrt_rtx()
    except ImportError:
        return
    import tensorrt_rtx as trt

    sources = [f"https://pypi.org/project/tensorrt-rtx/{trt.__version__}/"]
    write("nvidia_tensorrt_rtx", f"TensorRT-RTX {trt.__version__}", sources, table)


if __name__ == "__main__":
    main(*sys.argv[1:])
