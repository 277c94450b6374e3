# SPDX-License-Identifier: Apache-2.0
"""The page: one self-contained HTML file."""

import datetime
import html
import pathlib

from bench.report.charts import charts
from bench.report.tables import SPREAD_MEANING

NUM_HIGHLIGHTS = 3  # headlines at the top of the page, of its first sections
UNFOLDED_CELLS = 40  # the most cells of a table that is initially open


def element(tag, *content, **attributes):
    """`content` is HTML, or texts in lists, which are escaped."""
    names = "".join(f' {name.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
                    for name, value in attributes.items())
    inner = "".join(html.escape(each[0]) if isinstance(each, list) else each for each in content)
    return f"<{tag}{names}>{inner}</{tag}>\n"


def table_html(table):
    def cell_html(cell):
        more = [element("span", [text], class_=name)
                for name, text in (("spread", cell.spread), ("remark", cell.remark)) if text]
        return element("td", element("span", [cell.text], class_=cell.tone), *more)

    head = element("tr", *(element("th", [each], scope="col") for each in table.headers))
    rows = [element("tr", element("th", [name], scope="row"), *map(cell_html, cells))
            for name, *cells in table.rows]
    body = element("table", element("thead", head), element("tbody", *rows))
    note = element("p", [table.note], class_="note") if table.note else ""
    is_open = len(table.rows) * len(table.headers) <= UNFOLDED_CELLS
    return element("details", element("summary", [table.caption]),
                   element("div", body, class_="wide", tabindex="0", role="region",
                           aria_label=table.caption), note, **({"open": ""} if is_open else {}))


def section_html(section):
    paragraphs = [element("p", [text], class_="result") for text in section.headlines]
    paragraphs += [element("p", [text]) for text in section.paragraphs]
    return element("section", element("h2", [section.title]), *paragraphs,
                   element("div", *charts(section.job, section.raw), class_="charts"),
                   *map(table_html, section.tables), id=section.job)


def machine_html(sections, command):
    facts = sections[0].machine
    now = datetime.datetime.now(datetime.timezone.utc)
    rows = [("Date", now.strftime("%Y-%m-%d %H:%M UTC")), ("Command", command),
            ("Processor", f"{facts['cpu']}, {facts['cores']} cores"),
            ("Memory", f"{facts['memory_bytes'] / 2**30:.1f} GiB"),
            ("System", facts["operating_system"]), ("RocksDB", facts["rocksdb"]),
            ("blocksieve's kernel", facts["kernel"]),
            ("Compiler", f"{facts['compiler']}, {facts['build_type']}"),
            *((section.title, f"{section.seconds:.0f} s") for section in sections)]
    items = (element("div", element("dt", [name]), element("dd", [text])) for name, text in rows)
    return element("footer", element("h2", "Machine and build"), element("dl", *items))


def render(sections, command):
    highlights = [element("li", element("a", [section.headlines[0]], href=f"#{section.job}"))
                  for section in sections if section.headlines][:NUM_HIGHLIGHTS]
    links = [element("li", element("a", [section.title], href=f"#{section.job}"),
                     element("span", f" {section.num_missed} missed", class_="missed")
                     if section.num_missed else "") for section in sections]
    style = pathlib.Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    return "<!DOCTYPE html>\n" + element(
        "html",
        element("head", '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, '
                'initial-scale=1">\n', element("title", "blocksieve, measured"),
                element("style", style)),
        element("body", element("h1", "blocksieve, measured"),
                element("ul", *highlights, class_="highlights"),
                element("nav", element("ul", *links)), element("p", [SPREAD_MEANING]),
                element("main", *map(section_html, sections)), machine_html(sections, command)),
        lang="en")
