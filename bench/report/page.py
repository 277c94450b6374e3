"""The page: one self-contained HTML file."""

import datetime
import pathlib

import jinja2
from markupsafe import Markup

from bench.report.plot import data_uri, plots
from bench.report.rows import SPREAD_MEANING

HERE = pathlib.Path(__file__).parent
NUM_HIGHLIGHTS = 3  # main figures at the top of the page, from its first sections
UNFOLDED_CELLS = 40  # the most cells of a table that is initially open


def machine_facts(sections, command):
    facts = sections[0].facts
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
        *((section.title, f"{section.facts['seconds']:.0f} s") for section in sections),
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
        highlights=[section for section in sections if section.result][:NUM_HIGHLIGHTS],
        machine=machine_facts(sections, command),
        spread_meaning=SPREAD_MEANING,
        unfolded_cells=UNFOLDED_CELLS,
        plots=lambda section: list(plots(section)),
        data_uri=data_uri,
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
    )
