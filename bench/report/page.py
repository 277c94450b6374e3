"""The page: one HTML file that needs no other and no network."""

import datetime
import pathlib

import jinja2
from markupsafe import Markup

from bench.report.palette import css_variables
from bench.report.plot import plots
from bench.report.rows import SPREAD_MEANING
from bench.report.show import Cell, ShownTable, verdict_counts
from bench.report.svg import inline_svg

HERE = pathlib.Path(__file__).parent
UNFOLDED_CELLS = 50  # that a table may have to be open at first

# Whose figures one would tell first. A page begins with three.
TOLD_FIRST = "read_amp ranges skip levels filters toylsm frontier space scale sieve".split()
NUM_HIGHLIGHTS = 3
MISSED_FIRST = (False, True, None)


def highlights(sections):
    """[(section, its highlight)]"""
    told = {section.name: (section, section.highlight) for section in sections}
    found = [told[name] for name in TOLD_FIRST if name in told]
    return [each for each in found if each[1]][:NUM_HIGHLIGHTS]


def tables_of(section):
    """With the targets, those that are missed first."""
    verdicts = sorted(section.verdicts, key=lambda each: MISSED_FIRST.index(each.is_met))
    rows = [[each.what, each.cell, Cell(each.measured), Cell(each.limit)] for each in verdicts]
    headers = ["To be reached", "Verdict", "Measured", "Target"]
    targets = ShownTable(f"Targets: {verdict_counts(verdicts)}", headers, rows)
    return section.tables + ([targets] if rows else [])


def machine_rows(sections, command):
    facts = sections[0].facts
    timed = [section for section in sections if "seconds" in section.facts]
    now = datetime.datetime.now(datetime.timezone.utc)
    return [
        ("Date", now.strftime("%Y-%m-%d %H:%M UTC")),
        ("Command", command),
        ("Processor", f"{facts['cpu']}, {facts['cores']} cores"),
        ("Memory", f"{facts['memory_bytes'] / 2**30:.1f} GiB"),
        ("System", facts["operating_system"]),
        ("RocksDB", facts["rocksdb"]),
        ("blocksieve's kernel", facts["kernel"]),
        ("Compiler", f"{facts['compiler']}, {facts['build_type']}"),
        *((section.title, f"{section.facts['seconds']:.0f} s") for section in timed),
    ]


def render(sections, command):
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template("page.html.j2").render(
        sections=sections,
        highlights=highlights(sections),
        machine=machine_rows(sections, command),
        spread_meaning=SPREAD_MEANING,
        unfolded_cells=UNFOLDED_CELLS,
        plots=lambda section: list(plots(section)) if not section.suffix else [],
        svg=lambda plot, name: Markup(inline_svg(plot, name + "-svg", name)),
        tables_of=tables_of,
        verdict_counts=verdict_counts,
        light=Markup(css_variables(0)),
        dark=Markup(css_variables(1)),
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
    )
