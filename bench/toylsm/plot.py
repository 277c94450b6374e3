#!/usr/bin/env python3
"""Plots a run of bench/run toylsm.

Usage: plot.py FILE.json DIR      (FILE as the benchmark writes it)

What lookups read by set-up of the filters, and what scans read with and without a value index.
"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  after the choice of the backend


def bars(axes, names, series, **settings):
    """Horizontal bars, one group per name; `series` is [(label, colour, values)]."""
    height = 0.8 / len(series)
    for i, (label, colour, values) in enumerate(series):
        positions = [y + (i - (len(series) - 1) / 2) * height for y in range(len(names))]
        drawn = axes.barh(positions, values, height, color=colour, label=label)
        texts = [f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in values]
        axes.bar_label(drawn, texts, padding=2, fontsize="x-small")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(**settings)
    axes.margins(x=0.15)  # for the numbers
    axes.grid(alpha=0.3, axis="x")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=len(series), fontsize="small")


def plot(run, path):
    lookups = run["lookups"]
    scans = run["scans"]
    figure, axes = pyplot.subplots(2, 2, figsize=(14, 9))
    names = [lookup["filters"] for lookup in lookups]
    kinds = (("absent", "tab:blue"), ("present", "tab:orange"))
    bars(
        axes[0][0],
        names,
        [(f"{kind} keys", colour, [l[kind]["data_blocks_per_lookup"] for l in lookups]) for kind, colour in kinds],
        xlabel="data blocks per lookup",
        title=f"Lookups in {lookups[0]['runs']} runs",
    )
    bars(
        axes[0][1],
        names,
        [(f"{kind} keys", colour, [l[kind]["bytes_from_disk_per_lookup"] for l in lookups]) for kind, colour in kinds],
        xlabel="bytes from disk per lookup",
        title=f"Lookups, block cache of {run['cache_bytes'] / 1e6:.1f} MB",
    )
    filtered = [lookup for lookup in lookups if lookup["target_fpr"]]
    bars(
        axes[1][0],
        [lookup["filters"] for lookup in filtered],
        [
            ("all", "tab:gray", [l["filter_memory_bytes"] / 1024 for l in filtered]),
            ("in the cache", "tab:green", [l["resident_filter_bytes"] / 1024 for l in filtered]),
        ],
        xlabel="KiB of filters",
        title="After lookups in a contiguous 1 % of the keys",
    )
    bars(
        axes[1][1],
        [f"{scan['column']},\n{scan['state']}" for scan in scans],
        [
            ("oracle", "tab:gray", [s["oracle_blocks_per_query"] for s in scans]),
            ("value index", "tab:blue", [s["data_blocks_per_query"] for s in scans]),
            ("no value index", "tab:red", [s["full_scan_blocks"] for s in scans]),
        ],
        xlabel="data blocks per scan",
        xscale="log",
        title="Scans for one value",
    )
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    print(f"plot: {path}", file=sys.stderr)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        run = json.load(file)
    plot(run, f"{sys.argv[2]}/toylsm.png")


if __name__ == "__main__":
    main()
