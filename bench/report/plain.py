"""A section as plain text: what bench/run prints."""

import textwrap

from bench.report.table import Table
from bench.report.turns import MEANING

WIDTH = 100


def paragraph(text):
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def aligned(table):
    """The first column to the left, the others to the right, each as wide as it needs. Headers of
    fewer lines than others stand at the bottom."""
    headers = [header.split("\n") for header in table.headers]
    height = max(map(len, headers))
    lines = [*zip(*([""] * (height - len(header)) + header for header in headers))]
    lines += [[str(cell) for cell in row] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    texts = [
        "  ".join([first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:]))]).rstrip()
        for first, *others in lines
    ]
    texts.insert(height, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(texts)


def targets_table(section):
    def verdict(target):
        return ("met" if target.met else "MISSED") + (f", {target.remark}" if target.remark else "")

    rows = [[each.what, each.limit, each.figure, verdict(each)] for each in section.targets]
    return Table(
        f"Targets: {section.num_met} of {len(rows)} met", ["To be reached", "Target", "Measured", "Verdict"], rows
    )


def plain_text(section, path):
    """`path` has the details."""
    parts = ["\n".join(paragraph(fact) for fact in section.facts + section.machine), paragraph(section.lead)]
    if section.has_spreads:
        parts.append(paragraph(MEANING))
    for table in section.tables + ([targets_table(section)] if section.targets else []):
        parts += [paragraph(table.caption), aligned(table), paragraph(table.note)]
    parts.append("\n".join(filter(None, (f"Details: {path}", paragraph(section.headline)))))
    return "\n\n".join(filter(None, parts))
