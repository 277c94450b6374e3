#!/usr/bin/env python3
"""Prints the frontier of a run.

Usage: frontier.py FILE.json      (as bench/frontier writes it)

For every stock configuration it looks for one of ours with no higher false-positive rate, less space
and a faster probe, and says so where there is none.
"""

import json
import math
import sys
from itertools import groupby


def beats(ours, stock):
    return (
        ours["fpr"] <= stock["fpr"]
        and ours["bits_per_key"] < stock["bits_per_key"]
        and ours["absent_ns"] < stock["absent_ns"]
    )


def winner(stock, configurations):
    """The smallest of ours that is better in everything; None if nothing is."""
    winners = [c for c in configurations if c["stock"] and beats(c, stock)]
    return min(winners, key=lambda c: c["bits_per_key"], default=None)


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
    for stock in (c for c in configurations if not c["stock"]):
        print(row(stock))
        better = winner(stock, configurations)
        if better:
            print(row(better, "less of everything"))
            continue
        unbeaten += 1
        for configuration in configurations:
            if configuration["stock"] == f"{stock['family']} {stock['setting']}":
                print(row(configuration, "NOT BETTER"))
    return unbeaten


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    unbeaten = total = 0
    for keys, group in groupby(rows, key=lambda c: c["keys"]):
        configurations = list(group)
        unbeaten += print_size(keys, configurations)
        total += sum(1 for c in configurations if not c["stock"])
    print(
        f"\nFor {total - unbeaten} of {total} stock configurations there is one of blocksieve's with no"
        " higher false-positive rate, less space and a faster probe."
    )


if __name__ == "__main__":
    main()
