"""Scale: what up to 10^12 keys take, computed from what was measured."""

import math
from functools import partial

from bench.report import palette, text
from bench.report.figure import Figure, label, line, log_axis, plain, power_of_ten
from bench.report.section import Formula, Highlight, Section, at_least, at_most
from bench.report.table import Table, timed
from bench.report.turns import spread

COLOURS = (palette.ORANGE, palette.GREEN, palette.BLUE)


def keys_text(keys):
    return f"N\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{power_of_ten(keys)}"


def askings(run):
    return list(run["computed"][0]["filters"])


def with_extrapolation(axes, computed, field, measured_to, colour, title):
    """A line, dashed from the largest number of keys that was measured on."""
    inside = [each for each in computed if each["keys"] <= measured_to]
    line(axes, inside, "keys", field, "-", colour)
    line(axes, computed[max(0, len(inside) - 1) :], "keys", field, "--", colour, title)


def draw_trees(run, field, y, log_y_text, axes):
    for asked, colour in zip(askings(run), COLOURS):
        points = [tree for tree in run["trees"] if tree["asked"] == asked]
        largest = max(tree["keys"] for tree in points)
        computed = [{"keys": each["keys"], **each["filters"][asked]} for each in run["computed"]]
        with_extrapolation(axes, computed, field, largest, colour, asked)
        line(axes, points, "keys", field, "o", colour)
    log_axis(axes.xaxis)
    log_axis(axes.yaxis, log_y_text)
    label(axes, x="keys", y=y)


def draw_analysis(run, axes):
    points = [{**each, "seconds": spread(each["seconds"])} for each in run["analyses"]]
    with_extrapolation(axes, run["computed"], "analysis_seconds", points[-1]["rows"], palette.BLUE, "computed")
    line(axes, points, "rows", "seconds", "o", palette.BLUE)
    log_axis(axes.xaxis)
    log_axis(axes.yaxis, lambda value, _: text.seconds_text(value, 1))
    label(axes, x="rows", y="analysis for one value, one thread")


def draw_filters(run, field, y, axes):
    for kind, colour in (("ribbon", palette.BLUE), ("bloom", palette.GREEN)):
        points = [{**each, field: spread(each[field])} for each in run["filters"] if each["kind"] == kind]
        line(axes, points, "keys", field, "o-", colour, kind)
    log_axis(axes.xaxis)
    axes.set_ylim(0, None)
    label(axes, x="keys of one filter", y=y)


def largest_ribbon(run):
    return max((each for each in run["filters"] if each["kind"] == "ribbon"), key=lambda each: each["keys"])


def formulas(run):
    constants = run["constants"]
    largest = largest_ribbon(run)
    of_filter = f"one ribbon of {largest['keys']:,} keys"
    of_indexes = f"{run['analyses'][-1]['files']:,} indexes of {constants['keys_per_file']:,} rows"
    ratio = f"{constants['size_ratio']:g}"
    per_file = power_of_ten(constants["keys_per_file"])
    return [
        Formula(
            "Levels D, keys of level i",
            f"D = 1 + ⌊log_T(N / {per_file})⌋;  nᵢ = N · T^(i−1) · (T − 1) / (T^D − 1)",
            f"None: the model. Size ratio T = {ratio}, every level one sorted run at rest, level 0 empty, files of "
            f"up to {per_file} keys, ribbon filters.",
        ),
        Formula(
            "FPR of level i",
            "pᵢ = target_fpr, or so that Σ nᵢ · bits(pᵢ) is least at Σ pᵢ = wasted_reads, or Σ pᵢ least at "
            "Σ nᵢ · bits(pᵢ) = N · bits_per_key",
            "None: the lookup table's bits(p), spread as blocksieve/rate_allocation.h does.",
        ),
        Formula(
            "Memory of filters",
            "M(N) = g · Σ nᵢ · bits(pᵢ) / 8",
            f"g = {constants['block_bytes_over_table']:.5f}: bytes of {of_filter}, over the lookup table's.",
        ),
        Formula(
            "Wasted reads per lookup of an absent key",
            "W(N) = f · Σ pᵢ",
            f"f = {constants['fpr_over_table']:.4f}: measured FPR of {of_filter}, over the lookup table's.",
        ),
        Formula(
            "Index analysis for one value",
            f"A(N) = t · N / {per_file}",
            f"t = {text.seconds_text(constants['analysis_seconds_per_file'])}: per index, of {of_indexes}, in granules "
            f"of {constants['granule_rows']} rows with a value each; open, in memory, one thread.",
        ),
        Formula(
            "Memory of the skip index",
            "V(N) = v · N",
            f"v = {constants['index_bytes_per_row']:.4f} bytes per row: of the same, at an FPR of 1 %.",
        ),
    ]


def computed_table(run):
    """A formula beside its figures."""
    largest_tree = max(tree["keys"] for tree in run["trees"])
    decades = [each for each in run["computed"] if math.log10(each["keys"]).is_integer()]
    rows = [["Levels", "D"] + [str(each["levels"]) for each in decades]]
    for what, formula, field, written in (
        ("Memory of filters", "g · Σ nᵢ · bits(pᵢ) / 8", "memory_bytes", text.bytes_text),
        ("Wasted reads per lookup", "f · Σ pᵢ", "wasted_reads", text.significant),
    ):
        for asked in askings(run):
            figures = [written(each["filters"][asked][field]) for each in decades]
            rows.append([f"{what}, {asked}", formula, *figures])
    per_file = power_of_ten(run["constants"]["keys_per_file"])
    times = [text.seconds_text(each["analysis_seconds"]) for each in decades]
    rows.append(["Memory of the skip index", "v · N", *(text.bytes_text(each["index_bytes"]) for each in decades)])
    rows.append(["Index analysis for one value", f"t · N / {per_file}", *times])
    headers = [
        keys_text(each["keys"]) + ("" if each["keys"] <= largest_tree else "\nextrapolated") for each in decades
    ]
    return Table(
        "From a million keys to a million million",
        ["Figure", "Formula", *headers],
        rows,
        "Computed by the formulas; extrapolated beyond the largest tree whose filters were all built.",
    )


def off_formula(run, tree, field):
    """How far a tree that was built is off what is computed for it, as a part of that."""
    computed = next(each for each in run["computed"] if each["keys"] == tree["keys"])
    return tree[field] / computed["filters"][tree["asked"]][field] - 1


def tree_table(run):
    return Table.of(
        "Trees whose filters were all built, against the formulas",
        run["trees"],
        [
            ("Asked for, keys", lambda tree: f"{tree['asked']}, {keys_text(tree['keys'])}"),
            ("Files", lambda tree: text.count(tree["files"])),
            ("Memory", lambda tree: text.bytes_text(tree["memory_bytes"])),
            ("Bits\nper key", lambda tree: f"{8 * tree['memory_bytes'] / tree['keys']:.3f}"),
            ("Off M(N)", lambda tree: f"{100 * off_formula(run, tree, 'memory_bytes'):+.2f} %"),
            ("Wasted\nreads", lambda tree: text.significant(tree["wasted_reads"])),
            ("Off W(N)", lambda tree: f"{100 * off_formula(run, tree, 'wasted_reads'):+.1f} %"),
            ("Keys\ndenied", lambda tree: text.count(tree["false_negatives"])),
        ],
        "Every filter was asked for every one of its keys; keys denied are those it said no to.",
    )


def filter_table(run):
    return Table.of(
        "Single filters at a target of 1 %, built for real",
        run["filters"],
        [
            ("Filter", lambda each: f"{each['kind']}, {each['keys']:,} keys"),
            ("Size", lambda each: text.bytes_text(each["bytes"])),
            ("Bits\nper key", lambda each: f"{each['bits_per_key']:.3f}"),
            ("Measured\nFPR", lambda each: text.percent(each["fpr"])),
            ("Build, ns\nper key", lambda each: timed(spread(each["build_ns_per_key"]), text.significant)),
            ("Absent\nkey, ns", lambda each: timed(spread(each["absent_ns"]), text.significant)),
            ("Peak memory\nto build", lambda each: text.bytes_text(each["peak_build_bytes"])),
            ("Keys\ndenied", lambda each: text.count(each["false_negatives"])),
        ],
        f"Keys of 16 bytes, hashing included; {run['filters'][0]['probes']:,} absent keys each.",
    )


def analysis_table(run):
    return Table.of(
        "Index analysis for one value, measured",
        run["analyses"],
        [
            ("Files", lambda each: text.count(each["files"])),
            ("Granules", lambda each: text.count(each["granules"])),
            ("Size of\nindexes", lambda each: text.bytes_text(each["bytes"])),
            ("Time for\nall of them", lambda each: timed(spread(each["seconds"]), text.seconds_text)),
            ("\nper file", lambda each: timed(spread(each["seconds"]).scaled(1 / each["files"]), text.seconds_text)),
        ],
        "Few indexes are in the processor's caches, many are not; the formula takes the last row's time.",
    )


def targets(run):
    def most_off(field):
        return 100 * max(abs(off_formula(run, tree, field)) for tree in run["trees"])

    denied = sum(each["false_negatives"] for each in run["filters"] + run["trees"])
    yield at_most("keys that their filter denies", denied, 0)
    yield at_least("keys of the largest filter built", largest_ribbon(run)["keys"], 3e8)
    for each in run["filters"]:
        what = f"measured FPR against target: {each['kind']}, {each['keys']:.0e} keys"
        yield at_most(what, each["fpr"] / each["target_fpr"], 1.01, " x")
    yield at_most("memory of the built trees, off the formula by at most", most_off("memory_bytes"), 1, " %")
    yield at_most("wasted reads of the same, off the formula by at most", most_off("wasted_reads"), 10, " %")


def highlight(run):
    asked = run["filters"] + run["trees"]
    return Highlight(
        text.count(sum(each["false_negatives"] for each in asked)),
        "keys denied by a filter that has them",
        f"{text.count(sum(each['keys'] for each in asked))} keys were asked for, of filters of up to "
        f"{text.count(max(each['keys'] for each in run['filters']))} keys and of whole trees.",
    )


def section(run):
    return Section(
        name="scale",
        title="Scale: 10⁶ to 10¹² keys",
        lead="What filters and skip indexes take in large databases: computed by the formulas below, from constants "
        "measured on this machine. Dots are measurements, dashed lines extrapolations beyond them.",
        targets=list(targets(run)),
        highlight=highlight(run),
        machine=[f"blocksieve's kernel: {run['kernel']}. {run['seconds']:.0f} s."],
        formulas=formulas(run),
        tables=[computed_table(run), tree_table(run), filter_table(run), analysis_table(run)],
        figures=[
            Figure(
                "scale-memory",
                "Memory of all filters, M(N)",
                "Memory over keys for three ways of asking for filters. Dots: trees whose filters were all built; dashed: "
                "extrapolated.",
                partial(draw_trees, run, "memory_bytes", "bytes of filters", lambda size, _: text.bytes_text(size, 1)),
            ),
            Figure(
                "scale-wasted-reads",
                "Wasted reads per lookup of an absent key, W(N)",
                "With the same rate everywhere they grow with every level; spread over the levels they do not. Dots: "
                "measured; dashed: extrapolated.",
                partial(draw_trees, run, "wasted_reads", "data blocks read in vain", plain),
            ),
            Figure(
                "scale-analysis",
                "Index analysis for one value, A(N)",
                "Time to ask the skip indexes of all files, in memory, over rows. Dots: measured; dashed: extrapolated. The "
                "indexes of few files are in the processor's caches, so that they lie below the line.",
                partial(draw_analysis, run),
            ),
            Figure(
                "scale-probe",
                "Probe of an absent key in one filter",
                "Time of a probe over the number of keys in one filter.",
                partial(draw_filters, run, "absent_ns", "ns per absent key"),
            ),
            Figure(
                "scale-build",
                "Building one filter",
                "Time per key over the number of keys in one filter.",
                partial(draw_filters, run, "build_ns_per_key", "ns per key"),
            ),
        ],
    )
