"""Draws the table as bars, in SVG. The limits of all rows are at the same position."""
from html import escape

from .row import number

LABEL, WIDTH, LINE, END = 400, 520, 22, 150
# The length of the scale, in multiples of a limit.
REACH = 1.5
COLOURS = {"aim": "#2e7d4f", "bar": "#3b6ea8", "over": "#c0392b"}


def svg(rows, caption):
    rows = [row for row in rows if row.bar]
    height = LINE * len(rows) + 70
    unit = WIDTH / REACH
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + WIDTH + END}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="100%" height="100%" fill="white"/>',
        f'<text x="10" y="20" font-size="14">{escape(caption)}</text>',
        f'<text x="{LABEL + unit}" y="42" text-anchor="middle" fill="#555">bar</text>',
    ]
    for index, row in enumerate(rows):
        y = 50 + index * LINE
        length = min(REACH, max(0, row.value / row.bar)) * unit
        label = row.name + (f" / {row.against}" if row.against else "")
        if len(label) > 66:
            label = label[:65] + "…"
        parts.append(
            f'<text x="{LABEL - 8}" y="{y + 14}" text-anchor="end" font-size="11">{escape(label)}</text>'
            f'<rect x="{LABEL}" y="{y + 3}" width="{length:.1f}" height="{LINE - 8}" '
            f'fill="{COLOURS.get(row.verdict, "#888")}"/>')
        if row.aim is not None:
            x = LABEL + min(REACH, row.aim / row.bar) * unit
            parts.append(f'<path d="M{x:.1f} {y + 1}v{LINE - 4}" stroke="#2e7d4f" stroke-width="2"/>')
        sign = "at least" if row.at_least else "bar"
        text = f"{number(row.value)}{'' if row.unit == 'x' else ' ' + row.unit} ({sign} {number(row.bar)})"
        parts.append(f'<text x="{LABEL + length + 6:.1f}" y="{y + 14}">{escape(text)}</text>')
    parts.append(
        f'<path d="M{LABEL + unit} 48V{height - 14}" stroke="#555" stroke-dasharray="4 3"/></svg>')
    return "\n".join(parts) + "\n"
