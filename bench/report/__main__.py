"""Prints tables, draws plots or makes the page from the JSON files that benchmarks wrote."""

import argparse
import importlib
import pathlib
import sys

from bench.report.rows import ReportError, read_results
from bench.report.show import ShownSection
from bench.report.text import plain_text

ROOMS = {"filters": "filter_bench"}  # for subcommands whose room has another name


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench.report", description=__doc__)
    path = pathlib.Path
    parser.add_argument("--results", type=path, required=True, help="directory of the JSON files")
    parser.add_argument("--other", type=path, metavar="DIR",
                        help="results with another RocksDB; DIR is named after its version")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--table", action="store_true", help="print tables; needs only python3")
    what.add_argument("--plots", action="store_true", help="write plots beside the JSON")
    what.add_argument("--page", type=path, metavar="DIR", help="write DIR/index.html")
    parser.add_argument("--command", default="", help="how the jobs were run")
    parser.add_argument("jobs", nargs="+", metavar="JOB", help="in the order of the page")
    return parser.parse_args()


def sections_of(arguments):
    """The sections of all jobs: with Debian's RocksDB and, if it was run, with the other."""
    for job in arguments.jobs:
        declared = importlib.import_module(f"bench.{ROOMS.get(job, job)}.section").SECTION
        yield ShownSection(job, declared, *read_results(arguments.results, job))
        if arguments.other and (arguments.other / f"{job}.json").exists():
            suffix = f", with RocksDB {arguments.other.name.removeprefix('rocksdb-')}"
            facts, rows = read_results(arguments.other, job)
            yield ShownSection(f"{job}-other", declared, facts, rows, suffix)


def show(sections, arguments):
    if arguments.table:
        print("\n\n".join(map(plain_text, sections)))
    elif arguments.plots:
        from bench.report.plot import plots, save  # tables need no matplotlib

        for plot in (plot for section in sections for plot in plots(section)):
            path = arguments.results / f"{plot.name}.png"
            save(plot, path, plot.title, dpi=150)
            print(f"plot: {path}", file=sys.stderr)
    else:
        from bench.report.page import render  # tables need no jinja2

        arguments.page.mkdir(parents=True, exist_ok=True)
        path = arguments.page / "index.html"
        path.write_text(render(sections, arguments.command), encoding="utf-8")
        print(f"report: {path}", file=sys.stderr)


def main():
    arguments = parse_arguments()
    sys.stdout.reconfigure(errors="replace")  # a locale's encoding may lack characters such as ≤
    try:
        show(list(sections_of(arguments)), arguments)
    except (ReportError, OSError) as error:
        sys.exit(f"bench/run: {error}")


if __name__ == "__main__":
    main()
