# SPDX-License-Identifier: Apache-2.0
"""usage: python3 -m bench.report.picture LEVELS_JSON DIR

Draws the wasted reads over filter memory that `bench/run levels` measured, as DIR/wasted_reads.svg
and, for dark pages, DIR/wasted_reads_dark.svg. Prints the figures, as README's text alternative."""

import json
import math
import pathlib
import sys

TABLE = "Wasted reads by memory: size ratio 10, dynamic levels"  # RocksDB's defaults
LINES = {"stock Bloom": ("RocksDB's Bloom", "#9a6700", "#d29922"),
         "stock Ribbon": ("RocksDB's Ribbon", "#bc4c00", "#f0883e"),
         "stock Bloom and Ribbon, by level (kind=stock)": ("RocksDB's, kind=stock", "#8250df", "#a371f7"),
         "blocksieve ribbon, by level": ("blocksieve's ribbon", "#0969da", "#4493f8")}
FILES = {"wasted_reads.svg": ("#fff", "#1f2328", "#d0d7de"), "wasted_reads_dark.svg": ("#0d1117", "#e6edf3", "#3b4554")}


def place(bits, reads):
    """7.5 to 10.25 bits per key; 0.001 to 0.2 blocks, on a logarithmic scale."""
    return 70 + (bits - 7.5) / 2.75 * 490, 270 - math.log(reads / 0.001) / math.log(200) * 214


def svg(points, text, is_dark, page, ink, grid):
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 330" font-family="sans-serif" '
             f'font-size="14" fill="{ink}"><title>{text}</title>',
             f'<rect width="800" height="330" rx="8" fill="{page}"/>',
             '<text x="20" y="30" font-weight="bold">Data blocks read per lookup of an absent key</text>',
             '<text x="315" y="316" text-anchor="middle">filter bits per key</text>']
    for reads in (0.001, 0.01, 0.1):
        y = place(8, reads)[1]
        parts.append(f'<path d="M70 {y:.1f}H560" stroke="{grid}"/>'
                     f'<text x="62" y="{y + 5:.1f}" text-anchor="end">{reads}</text>')
    parts += [f'<text x="{place(bits, 1)[0]:.1f}" y="292" text-anchor="middle">{bits}</text>' for bits in (8, 9, 10)]
    below = 0.0  # of the last label
    for name, (label, *colors) in LINES.items():
        color, places = colors[is_dark], [place(*point) for point in points[name]]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        below = max(below + 18, places[-1][1] + 5)
        parts.append(f'<g fill="{color}"><polyline points="{path}" fill="none" stroke="{color}" stroke-width="2.5"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in places]
        parts.append(f'<text x="568" y="{below:.1f}">{label}: {points[name][-1][1]:.4f}</text></g>')
    return "\n".join([*parts, "</svg>\n"])


def main():
    results, directory = map(pathlib.Path, sys.argv[1:])
    table, = (table for table in json.loads(results.read_text("utf-8"))["tables"] if table["caption"] == TABLE)
    points = {name: [tuple(cell["value"] for cell in line["cells"][:2]) for line in table["lines"]
                     if line["name"].rpartition(",")[0] == name] for name in LINES}
    text = "Data blocks read per lookup of an absent key, by filter bits per key. " + "; ".join(
        f"{label}: " + " and ".join(f"{reads:.4f} with {bits:.1f} bits" for bits, reads in points[name])
        for name, (label, *_) in LINES.items()) + "."
    print(text)
    for is_dark, (name, colors) in enumerate(FILES.items()):
        (directory / name).write_text(svg(points, text, is_dark, *colors), encoding="utf-8")


if __name__ == "__main__":
    main()
