"""One line of the table."""
from dataclasses import asdict, dataclass


@dataclass
class Row:
    # What is done, and what the same is done by.
    name: str
    against: str
    # Ours over theirs, or the number itself where there is nothing to compare it with.
    value: float
    unit: str = "x"
    # What it must not exceed, and what it should not; at least, where `at_least`.
    bar: float | None = None
    aim: float | None = None
    at_least: bool = False
    # Medians of either side, in `measured`.
    ours: float | None = None
    theirs: float | None = None
    measured: str = ""
    # How good the pictures are, for a person.
    quality: str = ""
    note: str = ""

    def meets(self, mark):
        return self.value >= mark if self.at_least else self.value <= mark

    @property
    def verdict(self):
        """`aim` or `bar` where it is met, `over` where not even the bar is; else nothing."""
        if self.aim is not None and self.meets(self.aim):
            return "aim"
        if self.bar is not None:
            return "bar" if self.meets(self.bar) else "over"
        return ""

    def json(self):
        return {**asdict(self), "verdict": self.verdict}


def number(value):
    if value is None:
        return ""
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 20 else f"{value:.2f}"


def table(rows):
    """The rows in columns, as text."""
    head = ("what", "against", "ours", "theirs", "", "ratio", "bar", "aim", "met", "quality, notes")
    lines = [head]
    for row in rows:
        sign = ">=" if row.at_least else "<="
        marks = [f"{sign} {number(mark)}" if mark is not None else "" for mark in (row.bar, row.aim)]
        lines.append((
            row.name, row.against, number(row.ours), number(row.theirs), row.measured,
            number(row.value) + ("" if row.unit == "x" else f" {row.unit}"), *marks, row.verdict,
            "; ".join(text for text in (row.quality, row.note) if text)))
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)
