"""Prints tables, draws plots or makes the page from the JSON files that benchmarks wrote."""

import argparse
import importlib
import pathlib
import sys

from bench.report.rows import ReportError, read_results
from bench.report.show import ShownSection
from bench.report.text import plain_text

ROOMS = {"filters": "filter_bench"}  # of subcommands whose room has another name


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench.report", description=__doc__)
    path = pathlib.Path
    parser.add_argument("--results", type=path, required=True, help="directory of the JSON files")
    parser.add_argument("--other", type=path, metavar="DIR",
                        help="results with another RocksDB, which DIR is named after")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--table", action="store_true", help="print tables; takes only python3")
    what.add_argument("--plots", action="store_true", help="write plots beside the JSON")
    what.add_argument("--page", type=path, metavar="DIR", help="write DIR/index.html")
    parser.add_argument("--command", default="", help="how the jobs were run")
    parser.add_argument("jobs", nargs="+", metavar="JOB", help="in the order of the page")
    return parser.parse_args()


def sections_of(arguments):
    """[(section, its file)] of each job: with Debian's RocksDB and, if it was run, the other."""
    sections = []
    for job in arguments.jobs:
        declared = importlib.import_module(f"bench.{ROOMS.get(job, job)}.section").SECTION
        path = arguments.results / f"{job}.json"
        sections.append((ShownSection(job, declared, *read_results(path, job)), path))
        path = arguments.other / f"{job}.json" if arguments.other else None
        if path and path.exists():
            suffix = f", with RocksDB {arguments.other.name.removeprefix('rocksdb-')}"
            results = read_results(path, job)
            sections.append((ShownSection(f"{job}-other", declared, *results, suffix), path))
    return sections


def write_plots(sections, directory):
    from bench.report.plot import plots
    from bench.report.svg import save_png  # tables need no matplotlib

    for section in sections:
        for plot in plots(section) if not section.suffix else ():
            path = directory / f"{plot.name}.png"
            save_png(plot, path)
            print(f"plot: {path}", file=sys.stderr)


def write_page(sections, arguments):
    from bench.report.page import render  # tables need no jinja2

    html = render(sections, arguments.command)
    arguments.page.mkdir(parents=True, exist_ok=True)
    path = arguments.page / "index.html"
    path.write_text(html, encoding="utf-8")
    print(f"report: {path}", file=sys.stderr)


def main():
    arguments = parse_arguments()
    sys.stdout.reconfigure(errors="replace")  # a locale's encoding may lack some, such as ≤
    try:
        sections = sections_of(arguments)
        if arguments.page:
            write_page([section for section, _ in sections], arguments)
        elif arguments.plots:
            write_plots([section for section, _ in sections], arguments.results)
        else:
            for section, path in sections:
                print(plain_text(section, path))
    except (ReportError, OSError) as error:
        sys.exit(f"bench/run: {error}")


if __name__ == "__main__":
    main()
