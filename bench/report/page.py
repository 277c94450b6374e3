"""The page: one HTML file that needs no other and no network."""

import pathlib

import jinja2
from markupsafe import Markup

from bench.report import palette
from bench.report.svg import inline_svg
from bench.report.table import Cell, Table
from bench.report.turns import MEANING

HERE = pathlib.Path(__file__).parent
PHONE_CHARACTERS = 32  # in a row of a table that is one on a phone, too
TIGHT_CHARACTERS = 105  # in a row of a table that is set in small letters
UNFOLDED_CELLS = 50  # that a table may have to be open at first

# Whose figures one would tell first. A page begins with three.
TOLD_FIRST = ("read_amp", "ranges", "skip", "levels", "filters", "toylsm", "frontier", "space", "scale", "sieve")
NUM_HIGHLIGHTS = 3


def highlights(sections):
    """[(section, its highlight)]"""
    told = {each.name: each for each in sections if each.highlight}
    return [(told[name], told[name].highlight) for name in TOLD_FIRST if name in told][:NUM_HIGHLIGHTS]


def verdict(target):
    return Cell("met", "", target.remark, "met") if target.met else Cell("not met", "", target.remark, "missed")


def tables_of(section):
    formulas = Table(
        "Formulas",
        ["Figure", "Formula", "Measured constants"],
        [[each.what, each.formula, each.constants] for each in section.formulas],
    )
    targets = Table(
        f"Targets: {section.num_met} of {len(section.targets)} met",
        ["To be reached", "Verdict", "Measured", "Target"],
        [[each.what, verdict(each), each.figure, each.limit] for each in section.targets],
    )
    return [table for table in (formulas, *section.tables, targets) if table.rows]


def table_classes(table):
    if table.has_sentences:
        yield "texts"
    elif table.characters > TIGHT_CHARACTERS:
        yield "tight"
    if table.characters > PHONE_CHARACTERS:
        yield "rows"


def machine_rows(environment, command, date):
    rocksdb = environment["rocksdb"]
    if "AVX2" not in rocksdb:
        rocksdb += "; whether its filters were built with AVX2 is not known"
    return [
        ("Date", date),
        ("Command", command),
        ("Processor", environment["cpu"]),
        ("Cores", environment["cores"]),
        ("Memory", f"{environment['memory_bytes'] / 2**30:.1f} GiB"),
        ("System", environment["operating_system"]),
        ("RocksDB", rocksdb),
        ("blocksieve's kernel", environment["kernel"]),
        ("Compiler", environment["compiler"]),
        ("Build type", environment["build_type"]),
    ]


def render(sections, machine):
    loader = jinja2.FileSystemLoader(HERE)
    templates = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )

    def svg(figure, name):
        return Markup(inline_svg(figure, name + "-svg", name))

    style = (HERE / "page.css").read_text(encoding="utf-8")
    return templates.get_template("page.html.j2").render(
        sections=sections,
        highlights=highlights(sections),
        machine=machine,
        meaning_of_spreads=MEANING,
        table_classes=table_classes,
        unfolded_cells=UNFOLDED_CELLS,
        svg=svg,
        tables_of=tables_of,
        verdict=verdict,
        light=Markup(palette.css_variables("light")),
        dark=Markup(palette.css_variables("dark")),
        style=Markup(style),
    )
