"""Scale: what up to 10^12 keys take, computed from what was measured."""

import math

from bench.report import palette, text
from bench.report.figure import Figure, label, log_axis, plain, power_of_ten
from bench.report.section import Formula, Section, Table, at_least, at_most

COLOURS = (palette.ORANGE, palette.GREEN, palette.BLUE)


def keys_text(keys):
    return f"N\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{power_of_ten(keys)}"


def askings(run):
    return list(run["computed"][0]["filters"])


def with_extrapolation(axes, computed, figure_of, measured_to, colour, title):
    """A line, dashed from the largest number of keys that was measured on."""
    inside = [each for each in computed if each["keys"] <= measured_to]
    outside = computed[max(0, len(inside) - 1) :]
    axes.plot([each["keys"] for each in inside], [figure_of(each) for each in inside], "-", color=colour, label=title)
    axes.plot([each["keys"] for each in outside], [figure_of(each) for each in outside], "--", color=colour)


def draw_trees(run, field, y, log_y_text):
    def draw(axes):
        for asked, colour in zip(askings(run), COLOURS):
            points = [tree for tree in run["trees"] if tree["asked"] == asked]
            with_extrapolation(
                axes,
                run["computed"],
                lambda each: each["filters"][asked][field],
                max(tree["keys"] for tree in points),
                colour,
                asked,
            )
            axes.plot([tree["keys"] for tree in points], [tree[field] for tree in points], "o", color=colour)
        axes.plot([], [], "o", color=palette.GREY, label="measured")
        axes.plot([], [], "--", color=palette.GREY, label="extrapolated")
        log_axis(axes.xaxis)
        log_axis(axes.yaxis, log_y_text)
        label(axes, x="keys", y=y)

    return draw


def draw_analysis(run):
    def draw(axes):
        points = run["analyses"]
        with_extrapolation(
            axes,
            run["computed"],
            lambda each: each["analysis_seconds"],
            points[-1]["rows"],
            palette.BLUE,
            "computed",
        )
        rows = [each["rows"] for each in points]
        axes.plot(rows, [each["seconds"] for each in points], "o", color=palette.BLUE, label="measured")
        axes.plot([], [], "--", color=palette.GREY, label="extrapolated")
        log_axis(axes.xaxis)
        log_axis(axes.yaxis, lambda value, _: text.seconds_text(value, 1))
        label(axes, x="rows", y="analysis for one value, one thread")

    return draw


def draw_filters(run, field, y):
    def draw(axes):
        for kind, colour in (("ribbon", palette.BLUE), ("bloom", palette.GREEN)):
            points = [each for each in run["filters"] if each["kind"] == kind]
            keys = [each["keys"] for each in points]
            axes.plot(keys, [each[field] for each in points], "o-", color=colour, label=kind)
        log_axis(axes.xaxis)
        axes.set_ylim(0, None)
        label(axes, x="keys of one filter", y=y)

    return draw


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
    rows.append(["Memory of the skip index", "v · N", *(text.bytes_text(each["index_bytes"]) for each in decades)])
    rows.append(
        [
            "Index analysis for one value",
            f"t · N / {per_file}",
            *(text.seconds_text(each["analysis_seconds"]) for each in decades),
        ]
    )
    headers = [
        keys_text(each["keys"]) + ("" if each["keys"] <= largest_tree else "\nextrapolated")
        for each in decades
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
    rows = []
    for tree in run["trees"]:
        rows.append(
            [
                f"{tree['asked']}, {keys_text(tree['keys'])}",
                text.count(tree["files"]),
                text.bytes_text(tree["memory_bytes"]),
                f"{8 * tree['memory_bytes'] / tree['keys']:.3f}",
                f"{100 * off_formula(run, tree, 'memory_bytes'):+.2f} %",
                text.significant(tree["wasted_reads"]),
                f"{100 * off_formula(run, tree, 'wasted_reads'):+.1f} %",
                text.count(tree["false_negatives"]),
            ]
        )
    return Table(
        "Trees whose filters were all built, against the formulas",
        [
            "Asked for, keys",
            "Files",
            "Memory",
            "Bits\nper key",
            "Off M(N)",
            "Wasted\nreads",
            "Off W(N)",
            "Keys\ndenied",
        ],
        rows,
        "Every filter was asked for every one of its keys; keys denied are those it said no to.",
    )


def filter_table(run):
    rows = [
        [
            f"{each['kind']}, {each['keys']:,} keys",
            text.bytes_text(each["bytes"]),
            f"{each['bits_per_key']:.3f}",
            text.percent(each["fpr"]),
            f"{each['build_ns_per_key']:.1f}",
            f"{each['absent_ns']:.1f}",
            text.bytes_text(each["peak_build_bytes"]),
            text.count(each["false_negatives"]),
        ]
        for each in run["filters"]
    ]
    return Table(
        "Single filters at a target of 1 %, built for real",
        [
            "Filter",
            "Size",
            "Bits\nper key",
            "Measured\nFPR",
            "Build, ns\nper key",
            "Absent\nkey, ns",
            "Peak memory\nto build",
            "Keys\ndenied",
        ],
        rows,
        f"Keys of 16 bytes, hashing included; {run['filters'][0]['probes']:,} absent keys each.",
    )


def analysis_table(run):
    rows = [
        [
            text.count(each["files"]),
            text.count(each["granules"]),
            text.bytes_text(each["bytes"]),
            text.seconds_text(each["seconds"]),
            text.seconds_text(each["seconds"] / each["files"]),
        ]
        for each in run["analyses"]
    ]
    return Table(
        "Index analysis for one value, measured",
        ["Files", "Granules", "Size of\nindexes", "All of them", "Per file"],
        rows,
        "Few indexes are in the processor's caches, many are not; the formula takes the last row's time.",
    )


def targets(run):
    def most_off(field):
        return 100 * max(abs(off_formula(run, tree, field)) for tree in run["trees"])

    return [
        at_most(
            "keys that their filter denies", sum(each["false_negatives"] for each in run["filters"] + run["trees"]), 0
        ),
        at_least("keys of the largest filter built", largest_ribbon(run)["keys"], 3e8),
        *(
            at_most(
                f"measured FPR against target: {each['kind']}, {each['keys']:.0e} keys",
                each["fpr"] / each["target_fpr"],
                1.01,
                " x",
            )
            for each in run["filters"]
        ),
        at_most("memory of the built trees, off the formula by at most", most_off("memory_bytes"), 1, " %"),
        at_most("wasted reads of the same, off the formula by at most", most_off("wasted_reads"), 10, " %"),
    ]


def section(run):
    return Section(
        name="scale",
        title="Scale: 10⁶ to 10¹² keys",
        lead="What filters and skip indexes take in large databases: computed by the formulas below, from constants "
        "measured on this machine. Dots are measurements, dashed lines extrapolations beyond them.",
        targets=targets(run),
        facts=[f"blocksieve's kernel: {run['kernel']}. {run['seconds']:.0f} s."],
        formulas=formulas(run),
        tables=[computed_table(run), tree_table(run), filter_table(run), analysis_table(run)],
        figures=[
            Figure(
                "scale-memory",
                "Memory of all filters, M(N)",
                "Lines: memory over keys for three ways of asking for filters; dots: trees whose filters were all "
                "built.",
                draw_trees(run, "memory_bytes", "bytes of filters", lambda value, _: text.bytes_text(value, 1)),
            ),
            Figure(
                "scale-wasted-reads",
                "Wasted reads per lookup of an absent key, W(N)",
                "Lines: with the same rate everywhere they grow with every level; spread over the levels they do not.",
                draw_trees(run, "wasted_reads", "data blocks read in vain", plain),
            ),
            Figure(
                "scale-analysis",
                "Index analysis for one value, A(N)",
                "Line: time to ask the skip indexes of all files, in memory, over rows; dots: measured. The indexes of "
                "few files are in the processor's caches, so that they lie below the line.",
                draw_analysis(run),
            ),
            Figure(
                "scale-probe",
                "Probe of an absent key in one filter",
                "Lines: time of a probe over the number of keys in one filter.",
                draw_filters(run, "absent_ns", "ns per absent key"),
            ),
            Figure(
                "scale-build",
                "Building one filter",
                "Lines: time per key over the number of keys in one filter.",
                draw_filters(run, "build_ns_per_key", "ns per key"),
            ),
        ],
    )
