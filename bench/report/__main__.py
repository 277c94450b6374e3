# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of benchmarks, or makes a page of them, from the JSON files that they wrote."""

import argparse
import pathlib
import sys
import textwrap

from bench.report.page import render
from bench.report.tables import SPREAD_MEANING, ReportError, Section, aligned


def paragraph(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def plain_text(section):
    machine = "RocksDB {rocksdb}. blocksieve's kernel: {kernel}.".format_map(section.machine)
    parts = [*map(paragraph, (machine, *section.paragraphs, SPREAD_MEANING))]
    for table in section.tables:
        parts += [paragraph(table.caption), aligned(table), paragraph(table.note)]
    parts += [f"Details: {section.path}", *map(paragraph, section.headlines)]
    return "\n\n".join(filter(None, parts))


def main():
    parser = argparse.ArgumentParser(prog="bench.report", description=__doc__)
    path = pathlib.Path
    parser.add_argument("--results", type=path, required=True, help="directory of the JSON files")
    parser.add_argument("--other", nargs=2, action="append", default=[], metavar=("LABEL", "DIR"),
                        help="results with another RocksDB")
    parser.add_argument("--page", type=path, metavar="DIR", help="write DIR/index.html instead")
    parser.add_argument("--command", default="", help="how the jobs were run")
    parser.add_argument("jobs", nargs="+", metavar="JOB", help="in the order of the page")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(errors="replace")  # a locale's encoding may lack characters such as ≤
    others = {label: path(directory) for label, directory in arguments.other}
    try:
        sections = [Section(job, arguments.results, others) for job in arguments.jobs]
        if not arguments.page:
            print("\n\n".join(map(plain_text, sections)))
            return
        arguments.page.mkdir(parents=True, exist_ok=True)
        page = arguments.page / "index.html"
        page.write_text(render(sections, arguments.command), encoding="utf-8")
        print(f"report: {page}", file=sys.stderr)
    except (ReportError, OSError) as error:
        sys.exit(f"bench/run: {error}")


if __name__ == "__main__":
    main()
