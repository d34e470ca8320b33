"""A report says what is needed and nothing private."""

from pathlib import Path

from app.notices.report import error_report
from engine.api.values import ErrorCode, ErrorInfo


def test_a_report_holds_everything_but_the_home_folder() -> None:
    home = Path.home()
    error = ErrorInfo(
        ErrorCode.CHECKPOINT_CORRUPT, f"{home}/a is broken.", "Get it again.", f"at {home}/b"
    )
    report = error_report(error)
    for part in ("checkpoint_corrupt", "~/a is broken.", "Get it again.", "at ~/b", "Safelight"):
        assert part in report
    assert str(home) not in report


def test_a_report_is_bounded_in_length() -> None:
    error = ErrorInfo(ErrorCode.INTERNAL, "Broken.", "", "x" * 10_000_000)
    assert len(error_report(error)) <= 20_000
