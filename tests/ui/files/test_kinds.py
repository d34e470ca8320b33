"""The kinds of files that a question offers."""

from ui.files.kinds import FileKind, kinds_of


def test_kinds_are_read_as_qt_reads_them() -> None:
    assert kinds_of("Models (*.gguf *.pt);;All files (*)") == [
        FileKind("Models", ("*.gguf", "*.pt")),
        FileKind("All files", ("*",)),
    ]
    assert kinds_of("*.pth *.pt") == [FileKind("*.pth *.pt", ("*.pth", "*.pt"))]
    assert kinds_of("") == []
