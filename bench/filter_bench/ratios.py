#!/usr/bin/env python3
"""Prints the ratios of a filter_bench run, blocksieve against stock RocksDB and against the limits.

Usage: ratios.py FILE.json      (filter_bench --benchmark_format=json --benchmark_repetitions=N)

Every figure is the median of the run's repetitions. A ratio above its target is marked.
"""

import json
import statistics
import sys
from collections import defaultdict

SIZES = (10_000, 1_000_000, 10_000_000)

# What is compared: title, numerator, denominator, and the target at each size (None: none set).
RATIOS = [
    ("absent key, against stock Bloom 10", "absent/blocksieve_bloom", "absent/stock_bloom", (0.40, 0.40, 0.70)),
    ("present key, against stock Bloom 10", "present/blocksieve_bloom", "present/stock_bloom", (None,) * 3),
    ("batch of 32, against stock Bloom 10", "batch32/blocksieve_bloom", "batch32/stock_bloom", (0.50,) * 3),
    ("build, against stock Bloom 10", "build/blocksieve_bloom", "build/stock_bloom", (0.60,) * 3),
    ("absent key, against hash + one line", "absent/blocksieve_bloom", "absent/limit_hash_line", (1.6,) * 3),
    ("raw probe AVX-512, against one line", "raw/blocksieve_bloom_avx512", "raw/limit_line", (1.2, 1.2, None)),
    ("raw probe AVX2, against one line", "raw/blocksieve_bloom_avx2", "raw/limit_line", (1.2, 1.2, None)),
    ("raw probe scalar, against one line", "raw/blocksieve_bloom_scalar", "raw/limit_line", (None,) * 3),
    ("ribbon: absent, against stock Bloom 10", "absent/blocksieve_ribbon", "absent/stock_bloom", (0.55, 0.55, 0.85)),
    ("ribbon: absent, against stock Ribbon", "absent/blocksieve_ribbon", "absent/stock_ribbon", (0.30,) * 3),
    ("ribbon: batch of 32, against stock Bloom 10", "batch32/blocksieve_ribbon", "batch32/stock_bloom", (0.55,) * 3),
    ("ribbon: build, against stock Ribbon", "build/blocksieve_ribbon", "build/stock_ribbon", (0.70, 0.40, 0.25)),
    ("ribbon: raw AVX-512, against one line", "raw/blocksieve_ribbon_avx512", "raw/limit_line", (None, 4.0, None)),
    ("ribbon: raw AVX2, against AVX-512", "raw/blocksieve_ribbon_avx2", "raw/blocksieve_ribbon_avx512", (1.35,) * 3),
]


def medians(report):
    """Counter name -> benchmark name -> median over repetitions."""
    samples = defaultdict(lambda: defaultdict(list))
    for run in report["benchmarks"]:
        if run.get("error_occurred"):
            sys.exit(f"{run['name']}: {run['error_message']}")
        if run["run_type"] != "iteration":
            continue
        for counter in ("ns_per_key", "bits_per_key", "fpr"):
            if counter in run:
                samples[counter][run["run_name"].split("/repeats:")[0]].append(run[counter])
    return {
        counter: {name: statistics.median(values) for name, values in by_name.items()}
        for counter, by_name in samples.items()
    }


def print_times(nanoseconds):
    names = sorted({name.rsplit("/", 1)[0] for name in nanoseconds})
    print(f"{'ns per key':44}" + "".join(f"{size:>12,}" for size in SIZES))
    for name in names:
        values = [nanoseconds.get(f"{name}/{size}") for size in SIZES]
        print(f"{name:44}" + "".join(f"{'':>12}" if v is None else f"{v:12.2f}" for v in values))


def print_space(bits_per_key, fpr):
    print(f"\n{'bits per key (FPR)':44}" + "".join(f"{size:>20,}" for size in SIZES))
    for name in sorted({name.rsplit("/", 1)[0] for name in bits_per_key}):
        cells = [f"{name}/{size}" for size in SIZES]
        print(
            f"{name.split('/')[1]:44}"
            + "".join(
                f"{bits_per_key[c]:10.3f} ({fpr[c]:7.3%})" if c in bits_per_key else f"{'':>20}"
                for c in cells
            )
        )


def ratio(nanoseconds, above, below, size):
    """None if one of them was not measured."""
    times = nanoseconds.get(f"{above}/{size}"), nanoseconds.get(f"{below}/{size}")
    return None if None in times else times[0] / times[1]


def print_ratios(nanoseconds):
    print(f"\n{'ratio (target)':44}" + "".join(f"{size:>16,}" for size in SIZES))
    for title, numerator, denominator, targets in RATIOS:
        cells = []
        for size, target in zip(SIZES, targets):
            measured = ratio(nanoseconds, numerator, denominator, size)
            if measured is None:
                cells.append(f"{'':>16}")
                continue
            wanted = "" if target is None else f" ({target:.2f})" + (" !" if measured > target else "  ")
            cells.append(f"{f'{measured:.2f}{wanted}':>16}")
        if any(cell.strip() for cell in cells):
            print(f"{title:44}" + "".join(cells))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        by_counter = medians(json.load(file))
    # Google Benchmark prints inverted rates in seconds; ours count billions of keys.
    nanoseconds = by_counter["ns_per_key"]
    print_times(nanoseconds)
    print_space(by_counter.get("bits_per_key", {}), by_counter.get("fpr", {}))
    print_ratios(nanoseconds)


if __name__ == "__main__":
    main()
