"""Tables of the checks that print some, in Markdown."""


def cell(value):
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def table(rows, heads=None):
    """Returns rows as a table. `heads` maps the members that it shows to their heads; by default all are their own."""
    heads = heads or {name: name for name in rows[0]}
    lines = ["| " + " | ".join(heads.values()) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(cell(row[name]) for name in heads) + " |" for row in rows]
    return "\n".join(lines)
