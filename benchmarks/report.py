"""The results as tables for people, and the same numbers as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

Cell = str | float


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; floats are rounded when it is printed."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """A figure that must reach a limit; `measured` is None if it could not be measured."""

    what: str
    measured: float | None
    limit: float
    unit: str
    # True if the measured value must be at least the limit, as for a signal-to-noise ratio.
    at_least: bool = False
    reason: str = ""

    @property
    def reached(self) -> bool | None:
        """True if the limit was kept; None if nothing was measured."""
        if self.measured is None:
            return None
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


@dataclass(frozen=True, slots=True)
class Findings:
    """The results of one section."""

    tables: tuple[Table, ...]
    targets: tuple[Target, ...] = ()


def markdown(table: Table) -> str:
    """Return the table as Markdown, its columns aligned to be readable as plain text."""
    cells = [tuple(_text(cell) for cell in row) for row in (table.columns, *table.rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.columns))]
    numeric = [
        bool(table.rows) and all(_is_number(row[i]) for row in table.rows)
        for i in range(len(table.columns))
    ]
    lines = [_line(row, widths, numeric) for row in cells]
    rule = [
        ("-" * (w - 1) + ":") if right else "-" * w
        for w, right in zip(widths, numeric, strict=True)
    ]
    lines.insert(1, _line(rule, widths, numeric))
    text = f"### {table.title}\n\n" + "\n".join(lines) + "\n"
    return f"{text}\n{table.note}\n" if table.note else text


def targets_table(targets: Sequence[Target]) -> Table:
    """Return a table of every target with its measurement."""
    rows = tuple(_target_row(target) for target in targets)
    return Table("Targets", ("what", "must reach", "measured", "reached"), rows)


def write_json(path: Path, machine: dict[str, object], sections: dict[str, Findings]) -> None:
    """Write all results, with a description of the machine."""
    found = {
        name: {
            "tables": [asdict(table) for table in findings.tables],
            "targets": [
                {**asdict(target), "reached": target.reached} for target in findings.targets
            ],
        }
        for name, findings in sections.items()
    }
    document = {"machine": machine, "sections": found}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _target_row(target: Target) -> tuple[str, ...]:
    bound = "at least" if target.at_least else "at most"
    limit = f"{bound} {_quantity(target.limit, target.unit)}"
    if target.measured is None:
        return (target.what, limit, target.reason or "not measured", "-")
    measured = _quantity(target.measured, target.unit)
    return (target.what, limit, measured, "yes" if target.reached else "NO")


def _line(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = (
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(row, widths, numeric, strict=True)
    )
    return "| " + " | ".join(padded) + " |"


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else _number(cell)


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, float) or cell == "-"


def _quantity(value: float, unit: str) -> str:
    return f"{_number(value)} {unit}".rstrip()


def _number(value: float) -> str:
    if 0 < abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:.3f}" if abs(value) < 0.1 else f"{value:.2f}"
