#!/usr/bin/env python3
"""Plots a run of bench/run skip.

Usage: plot.py FILE.json DIR      (FILE as the benchmark writes it)

Against the number of granules: data blocks read per scan, and the time that the analysis of an index
takes.
"""

import json
import sys
from itertools import groupby

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  after the choice of the backend

COLOURS = {False: "tab:blue", True: "tab:orange"}  # by "rewritten"
STATES = {False: "compacted", True: "a fifth rewritten"}
RIVAL_COLOUR = "tab:gray"


def save(figure, path):
    figure.savefig(path, dpi=120)
    print(f"plot: {path}", file=sys.stderr)


def plot_reads(run, directory):
    def by_column(scan):
        return scan["dataset"], scan["column"]

    columns = [(name, list(scans)) for name, scans in groupby(sorted(run["scans"], key=by_column), key=by_column)]
    figure, all_axes = pyplot.subplots(2, (len(columns) + 1) // 2, figsize=(12, 9), squeeze=False)
    for axes, ((dataset, column), scans) in zip(all_axes.flat, columns):
        for rewritten, colour in COLOURS.items():
            points = sorted((s for s in scans if s["rewritten"] == rewritten), key=lambda s: s["granules"])
            granules = [s["granules"] for s in points]
            for field, style, label in (
                ("full_scan_blocks", ":", "full scan"),
                ("data_blocks_per_query", "o-", "read"),
                ("granule_blocks_per_query", "--", "matching granules"),
                ("oracle_blocks_per_query", "-.", "matching rows (oracle)"),
            ):
                axes.plot(
                    granules,
                    [s[field] for s in points],
                    style,
                    color=colour,
                    markersize=4,
                    linewidth=1.8 if "o" in style else 1,
                    label=f"{label}, {STATES[rewritten]}",
                )
            for scan in points:
                if scan["granule_rows"] == run["default_granule_rows"]:
                    axes.plot(scan["granules"], scan["data_blocks_per_query"], "o", color=colour, markersize=9)
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="granules (large dot: default size)",
            ylabel="data blocks per scan",
            title=f"{dataset} rows, {column}",
        )
        axes.grid(alpha=0.3)
    for axes in list(all_axes.flat)[len(columns):]:
        axes.remove()
    handles, labels = all_axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=4, fontsize="small")
    figure.suptitle("Data blocks read by a scan for one value, nothing cached")
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    save(figure, f"{directory}/skip-reads.png")


def plot_analysis(run, directory):
    figure, axes = pyplot.subplots(figsize=(8, 5.5))
    analyses = sorted(run["analyses"], key=lambda a: (a["distinct_values"], a["granules"]))
    for (values, points), style in zip(groupby(analyses, key=lambda a: a["distinct_values"]), ("o-", "s--")):
        points = list(points)
        granules = [a["granules"] for a in points]
        for field, name, colour in (
            ("separate_nanoseconds", "filter by filter", RIVAL_COLOUR),
            ("nanoseconds", "transposed, all at once", "tab:blue"),
        ):
            axes.plot(
                granules,
                [a[field] / 1000 for a in points],
                style,
                color=colour,
                markersize=5,
                label=f"{name}, {values:,} values each",
            )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="granules",
        ylabel="microseconds",
        title="Analysis of an index for one value",
    )
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    save(figure, f"{directory}/skip-analysis.png")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        run = json.load(file)
    plot_reads(run, sys.argv[2])
    plot_analysis(run, sys.argv[2])


if __name__ == "__main__":
    main()
