#!/usr/bin/env python3
"""Prints the frontier of a run, and plots it.

Usage: frontier.py FILE.json [DIR]      (FILE as bench/frontier writes it; plots go into DIR)

For every stock configuration it looks for one of ours with no higher false-positive rate, less space
and a faster probe, and says so where there is none.
"""

import json
import math
import sys
from itertools import groupby

COLOURS = {
    "stock Bloom": "tab:gray",
    "stock Ribbon": "tab:brown",
    "blocksieve bloom": "tab:cyan",
    "blocksieve ribbon": "tab:blue",
}


def beats(ours, stock):
    return (
        ours["fpr"] <= stock["fpr"]
        and ours["bits_per_key"] < stock["bits_per_key"]
        and ours["absent_ns"] < stock["absent_ns"]
    )


def row(configuration, note=""):
    limit = math.log2(1 / configuration["fpr"])
    return (
        f"{configuration['family']:18} {configuration['setting']:>10} {configuration['fpr']:10.4%}"
        f" {configuration['bits_per_key']:9.3f} {configuration['bits_per_key'] / limit:8.3f}"
        f" {configuration['absent_ns']:9.2f} {configuration['build_ns']:9.1f}  {note}"
    )


def print_size(keys, configurations):
    """Returns the number of stock configurations that nothing of ours beats."""
    print(f"\n{keys:,} keys of 16 bytes")
    print(
        f"{'':18} {'setting':>10} {'FPR':>10} {'bits/key':>9} {'× limit':>8} {'absent ns':>9} {'build ns':>9}"
    )
    unbeaten = 0
    ours = [c for c in configurations if c["stock"]]
    for stock in (c for c in configurations if not c["stock"]):
        print(row(stock))
        winners = [c for c in ours if beats(c, stock)]
        if winners:
            print(row(min(winners, key=lambda c: c["bits_per_key"]), "less of everything"))
        else:
            unbeaten += 1
            same_rate = [c for c in ours if c["stock"] == f"{stock['family']} {stock['setting']}"]
            for configuration in same_rate:
                print(row(configuration, "NOT BETTER"))
    return unbeaten


def plot(keys, configurations, directory):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (space, speed) = pyplot.subplots(1, 2, figsize=(12, 5))
    for family, colour in COLOURS.items():
        points = sorted(
            (c for c in configurations if c["family"] == family), key=lambda c: c["bits_per_key"]
        )
        bits = [c["bits_per_key"] for c in points]
        space.plot([c["fpr"] for c in points], bits, "o-", color=colour, label=family, markersize=4)
        speed.plot(bits, [c["absent_ns"] for c in points], "o-", color=colour, label=family, markersize=4)
    rates = sorted(c["fpr"] for c in configurations)
    space.plot(rates, [math.log2(1 / rate) for rate in rates], "k--", label="limit log2(1/FPR)")
    space.set(xscale="log", xlabel="false-positive rate", ylabel="bits per key", title="Space")
    space.invert_xaxis()
    speed.set(xlabel="bits per key", ylabel="ns per absent key", title="Probe", ylim=(0, None))
    for axes in (space, speed):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.suptitle(f"{keys:,} keys of 16 bytes")
    figure.tight_layout()
    path = f"{directory}/frontier-{keys}.png"
    figure.savefig(path, dpi=120)
    print(f"plot: {path}", file=sys.stderr)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    unbeaten = total = 0
    for keys, group in groupby(rows, key=lambda c: c["keys"]):
        configurations = list(group)
        unbeaten += print_size(keys, configurations)
        total += sum(1 for c in configurations if not c["stock"])
        if len(sys.argv) == 3:
            plot(keys, configurations, sys.argv[2])
    print(
        f"\nFor {total - unbeaten} of {total} stock configurations there is one of blocksieve's with no"
        " higher false-positive rate, less space and a faster probe."
    )


if __name__ == "__main__":
    main()
