"""Plug-in packages that are absent, broken, or for another system; and Windows ML's catalog."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportUnknownLambdaType=false
# (the runtime ships no complete types)

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from backends.base import BackendError
from backends.onnx_runtime.plugins import library_devices, plugin_devices
from backends.onnx_runtime.windows_ml import catalog_devices

PROVIDER = "MIGraphXExecutionProvider"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The `__init__.py` of a plug-in package that can be imported."""
    folder = tmp_path / "onnxruntime_ep_tried"
    folder.mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "onnxruntime_ep_tried", raising=False)
    return folder / "__init__.py"


def reason() -> str:
    """Why the package has no devices."""
    with pytest.raises(BackendError) as error:
        plugin_devices("onnxruntime_ep_tried")
    assert not error.value.out_of_memory
    return str(error.value)


def test_a_missing_package_is_named_as_the_reason() -> None:
    with pytest.raises(BackendError, match="onnxruntime-ep-not-there is not installed"):
        plugin_devices("onnxruntime_ep_not_there")


def test_a_package_in_a_read_only_folder_is_named_as_the_reason(package: Path) -> None:
    """TensorRT-RTX's makes links to libraries in its own folder."""
    package.write_text("import os\nos.symlink('lib.so.1', '/proc/lib.so')\n")
    assert reason().startswith("onnxruntime-ep-tried does not start: [Errno ")


def test_a_package_with_another_interface_is_named_as_the_reason(package: Path) -> None:
    package.write_text("def get_library_path():\n    return 'x'\n")
    assert "get_ep_names" in reason()


@pytest.mark.parametrize("content", [None, b"not a library"])
def test_a_library_that_does_not_load_is_named_as_the_reason(
    package: Path, content: bytes | None
) -> None:
    library = package.with_name("libtried.so")
    if content is not None:
        library.write_bytes(content)
    package.write_text(
        f"def get_library_path():\n    return {str(library)!r}\n"
        "def get_ep_names():\n    return ['TriedExecutionProvider']\n"
    )
    assert str(library) in reason()
    assert str(library) in reason()  # no less so the second time


def test_a_runtime_without_plug_ins_is_named_as_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime as ort

    monkeypatch.delattr(ort, "register_execution_provider_library")
    with pytest.raises(BackendError, match=f"^ONNX Runtime {ort.__version__} is too old to load x"):
        library_devices("x", "x.so", [PROVIDER])


# --- Windows ML ---


def test_the_catalog_exists_only_on_windows() -> None:
    if sys.platform == "win32":
        pytest.skip("this is Windows")
    with pytest.raises(BackendError, match="Windows ML is a part of Windows"):
        catalog_devices(PROVIDER)


def windows(monkeypatch: pytest.MonkeyPatch, *found: SimpleNamespace) -> None:
    """A Windows whose catalog has these; the names are those of `windowsml`, see the proofs."""
    module = ModuleType("windowsml")

    class EpCatalog:
        def __enter__(self) -> "EpCatalog":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def find_all_providers(self) -> list[SimpleNamespace]:
            return list(found)

    module.EpCatalog = EpCatalog  # pyright: ignore[reportAttributeAccessIssue]
    states = SimpleNamespace(Ready=0, NotReady=1, NotPresent=2)
    module.EpReadyState = states  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "windowsml", module)
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr("backends.onnx_runtime.windows_ml.find_spec", lambda _: module)


def provider(name: str, state: int, path: str = "", fault: str = "") -> SimpleNamespace:
    """One of the catalog's providers, in a state of `EpReadyState`."""

    def ensure_ready() -> None:
        if fault:
            raise OSError(fault)

    return SimpleNamespace(
        name=name, ready_state=state, library_path=path, ensure_ready=ensure_ready
    )


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ((), f"Windows ML offers no {PROVIDER} for this computer"),
        ((provider("OpenVINOExecutionProvider", 0),), f"Windows ML offers no {PROVIDER}"),
        ((provider(PROVIDER, 2),), "has not downloaded it"),
        ((provider(PROVIDER, 1, fault="0x80070005"),), "does not answer: 0x80070005"),
        # There and ready: its library is loaded, with the name in Windows ML's own spelling.
        ((provider(PROVIDER.upper(), 0, "/no/mgx.dll"),), "/no/mgx.dll"),
    ],
)
def test_a_provider_missing_in_the_catalog_is_named_as_the_reason(
    monkeypatch: pytest.MonkeyPatch, found: tuple[SimpleNamespace, ...], told: str
) -> None:
    windows(monkeypatch, *found)
    with pytest.raises(BackendError) as error:
        catalog_devices(PROVIDER)
    assert told in str(error.value)
