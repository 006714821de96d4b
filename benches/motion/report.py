"""Tables with what is asked and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass, field


def number(item: object) -> str:
    """Text of a cell; numbers with three digits."""
    if isinstance(item, bool) or not isinstance(item, float):
        return str(item)
    if item != item:
        return "nan"
    return f"{item:.3g}" if 1e-3 <= abs(item) < 1e5 or item == 0 else f"{item:.1e}"


@dataclass
class Table:
    """Rows of what was measured; the last two columns are `asked` and the verdict."""

    title: str
    head: list[str]
    rows: list[list[str]] = field(default_factory=list)
    failures: int = 0

    def add(self, cells: list[object], asked: str, holds: bool | None) -> None:
        """Adds a row; without a verdict it is for information."""
        verdict = "" if holds is None else "holds" if holds else "FAILS"
        self.failures += holds is False
        self.rows.append([*(number(cell) for cell in cells), asked, verdict])

    def __str__(self) -> str:
        rows = [[*self.head, "asked", ""], *self.rows]
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
        lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        return "\n".join([f"\n## {self.title}\n", *lines])
