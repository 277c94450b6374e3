"""The page: one HTML file that needs no other and no network."""

import pathlib

import jinja2
from markupsafe import Markup

from bench.report import palette
from bench.report.svg import inline_svg

HERE = pathlib.Path(__file__).parent


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
        machine=machine,
        svg=svg,
        light=Markup(palette.css_variables("light")),
        dark=Markup(palette.css_variables("dark")),
        style=Markup(style),
    )
