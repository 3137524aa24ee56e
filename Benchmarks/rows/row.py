"""A row of the table."""
from dataclasses import asdict, dataclass


@dataclass
class Row:
    # What is measured, and what it is compared with.
    name: str
    against: str
    # The ratio of Upright to the other side, or the number itself if there is no other side.
    value: float
    unit: str = "x"
    # The upper limit, and the goal; lower limits if `at_least`.
    bar: float | None = None
    aim: float | None = None
    at_least: bool = False
    # The medians of both sides, in the unit `measured`.
    ours: float | None = None
    theirs: float | None = None
    measured: str = ""
    # The quality of the frames, as text.
    quality: str = ""
    note: str = ""

    def meets(self, mark):
        return self.value >= mark if self.at_least else self.value <= mark

    @property
    def verdict(self):
        """Returns `aim` or `bar` if that is met, `over` if the bar is not met; empty if there is none."""
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
    """Returns the rows in columns, as text."""
    head = ("what", "against", "upright", "other", "", "ratio", "bar", "aim", "met", "quality, notes")
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
