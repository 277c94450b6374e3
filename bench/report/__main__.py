"""Prints tables, draws plots or makes the page from the JSON files that jobs of bench/run wrote."""

import argparse
import datetime
import json
import pathlib
import sys

from bench.report import jobs
from bench.report.figure import save_png
from bench.report.plain import plain_text


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench.report", description=__doc__)
    parser.add_argument("--results", type=pathlib.Path, required=True, help="directory of the JSON files")
    parser.add_argument("--other", type=pathlib.Path, metavar="DIR",
                        help="results of the same jobs with another RocksDB, which DIR is named after")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--table", action="store_true", help="print tables and targets; takes nothing but python3")
    what.add_argument("--plots", action="store_true", help="write plots beside the JSON")
    what.add_argument("--page", type=pathlib.Path, metavar="DIR", help="write DIR/index.html")
    parser.add_argument("--environment", type=pathlib.Path, help="what bench's program `environment` printed")
    parser.add_argument("--command", default="", help="how the jobs were run")
    parser.add_argument("jobs", nargs="+", metavar="JOB", help="in the order of the page")
    arguments = parser.parse_args()
    if arguments.page and not arguments.environment:
        parser.error("--page needs --environment")
    return arguments


def sections_of(arguments):
    """Of each job: that of Debian's RocksDB and, if there is one, that of the other."""
    sections = []
    for name in arguments.jobs:
        job = jobs.find(name)
        sections.append(job.section(arguments.results))
        if arguments.other and (arguments.other / job.file).exists():
            section = job.section(arguments.other)
            other = f"with RocksDB {arguments.other.name.removeprefix('rocksdb-')}"
            section.title += f", {other}"
            section.facts.insert(0, f"The same {other}:")
            section.name += "-other"
            section.figures = []
            sections.append(section)
    return sections


def print_tables(sections, arguments):
    # What a locale's encoding lacks, such as ≤, is no reason to print nothing.
    sys.stdout.reconfigure(errors="replace")
    for section in sections:
        name = section.name.removesuffix("-other")
        directory = arguments.results if name == section.name else arguments.other
        print(plain_text(section, directory / jobs.find(name).file))


def write_plots(sections, directory):
    for section in sections:
        for figure in section.figures:
            path = directory / f"{figure.name}.png"
            save_png(figure, path)
            print(f"plot: {path}", file=sys.stderr)


def write_page(sections, arguments):
    from bench.report.page import machine_rows, render  # tables and plots need no jinja2

    environment = json.loads(arguments.environment.read_text(encoding="utf-8"))
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    html = render(sections, machine_rows(environment, arguments.command, date))
    arguments.page.mkdir(parents=True, exist_ok=True)
    path = arguments.page / "index.html"
    path.write_text(html, encoding="utf-8")
    print(f"report: {path}", file=sys.stderr)


def main():
    arguments = parse_arguments()
    try:
        sections = sections_of(arguments)
        if arguments.page:
            write_page(sections, arguments)
        elif arguments.plots:
            write_plots(sections, arguments.results)
        else:
            print_tables(sections, arguments)
    except (jobs.ReportError, OSError) as error:
        sys.exit(f"bench/run: {error}")


if __name__ == "__main__":
    main()
