"""The report's section on space and on memory while building."""

from bench.report import palette, text
from bench.report.figure import Figure, label, log_axis, plain
from bench.report.section import Section, Table, targets_of

SHOWN_RATES = (2**-4, 2**-8, 0.01, 2**-16)
COLOURS = (palette.ORANGE, palette.BLUE, palette.GREEN, palette.PURPLE)


def of_kind(run, kind):
    return [each for each in run["space"] if each["kind"] == kind]


def rate_text(fpr):
    return text.percent(fpr, 2)


def draw(measurements):
    def draw_lines(axes):
        for rate, colour in zip(SHOWN_RATES, COLOURS):
            points = [each for each in measurements if each["target_fpr"] == rate]
            axes.plot(
                [each["keys"] for each in points],
                [each["over_limit"] for each in points],
                "o-",
                color=colour,
                label=f"FPR {rate_text(rate)}",
            )
        axes.axhline(1, linestyle="--", color=palette.TEXT, label="limit")
        log_axis(axes.xaxis)
        axes.yaxis.set_major_formatter(plain)
        label(axes, x="keys", y="bits per key, of log2(1/FPR)")

    return draw_lines


def table(kind, measurements):
    sizes = sorted({each["keys"] for each in measurements})
    by_cell = {(each["target_fpr"], each["keys"]): each for each in measurements}
    rates = list(dict.fromkeys(each["target_fpr"] for each in measurements))
    rows = [[rate_text(rate)] + [f"{by_cell[rate, size]['over_limit']:.4f}" for size in sizes] for rate in rates]
    return Table(
        f"{kind}: bits per key over log2(1 / measured FPR)", ["Target FPR", *(f"{size:,} keys" for size in sizes)], rows
    )


def memory_table(run):
    rows = [[each["kind"], text.count(each["keys"]), f"{each['bytes_per_key']:.2f}"] for each in run["build_memory"]]
    return Table(
        "Memory while building, beyond the finished filter, at 1 %", ["Filter", "Keys", "Resident bytes\nper key"], rows
    )


def section(run):
    kinds = list(dict.fromkeys(each["kind"] for each in run["space"]))
    return Section(
        name="space",
        title="Space above the limit",
        lead="Bits per key, all bytes of the block counted, over log2(1 / measured FPR), which no filter can go below; "
        "by rate and number of keys.",
        targets=targets_of(run),
        tables=[*(table(kind, of_kind(run, kind)) for kind in kinds), memory_table(run)],
        figures=[
            Figure(
                f"space-{kind}",
                f"Space of {kind} filters, of the limit",
                "Lines: how many times the least possible space a filter takes, over the number of its keys.",
                draw(of_kind(run, kind)),
            )
            for kind in kinds
        ],
    )
