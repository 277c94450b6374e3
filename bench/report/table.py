"""Tables, and what their cells say of figures that were measured in turns."""

from dataclasses import dataclass

NOISE, ONE_TURN = "within the noise", "one turn"
ROW_NAME_CHARACTERS, BETWEEN_COLUMNS, SENTENCE = 18, 2, 40


@dataclass(frozen=True)
class Cell:
    """A figure with its spread."""

    value: str
    spread: str = ""
    remark: str = ""  # what keeps it from being taken for more than it is
    tone: str = ""  # of a verdict: "met" or "missed"

    def __str__(self):
        return self.value + (f" ({self.spread})" if self.spread else "") + (f", {self.remark}" if self.remark else "")


def timed(of, text):
    """A cell of a Spread; `text` writes each of its numbers."""
    if of.turns == 1:
        return Cell(text(of.median), remark=ONE_TURN)
    return Cell(text(of.median), f"{text(of.low)}–{text(of.high)}")


def compared(of, text, same=1):
    """The same of a ratio, which says so if the turns do not tell it from `same`."""
    cell = timed(of, text)
    return Cell(cell.value, cell.spread, cell.remark or ("" if of.is_beyond(same) else NOISE))


@dataclass
class Table:
    caption: str
    headers: list  # of texts, the first of the rows' names; lines are separated by "\n"
    rows: list  # of lists of texts and cells
    note: str = ""

    @classmethod
    def of(cls, caption, items, columns, note=""):
        """A row for each of `items`; `columns` are pairs of a header and a function: an item's text."""
        rows = [[text(item) for _, text in columns] for item in items]
        return cls(caption, [header for header, _ in columns], rows, note)

    @property
    def header_groups(self):
        """[(what they have in common, headers)]. A header whose first line is empty shares that of the one
        before it; others are groups of their own, and have nothing in common."""
        groups = []
        for header in self.headers:
            if header.startswith("\n"):
                common, members = groups[-1]
                if not common:
                    common, members[0] = members[0].split("\n", 1)
                members.append(header[1:])
                groups[-1] = (common, members)
            else:
                groups.append(("", [header]))
        return groups

    @property
    def full_headers(self):
        """Each as it reads alone."""
        return [" ".join(f"{common} {each}".split()) for common, members in self.header_groups for each in members]

    @property
    def has_sentences(self):
        return any(isinstance(cell, str) and len(cell) > SENTENCE for row in self.rows for cell in row[1:])

    @property
    def characters(self):
        """About as many as stand side by side in a row, whose name may be broken into lines."""
        headers = [member for _, members in self.header_groups for member in members]
        widths = [max(map(len, header.split("\n"))) for header in headers]
        for row in self.rows:
            for i, cell in enumerate(row):
                widths[i] = max(widths[i], *map(len, (cell.value, cell.spread) if isinstance(cell, Cell) else (cell,)))
        return min(widths[0], ROW_NAME_CHARACTERS) + sum(width + BETWEEN_COLUMNS for width in widths[1:])
