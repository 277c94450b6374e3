"""Scale: the filters of up to 10^12 keys, computed from measurements."""

from bench.report.declare import Plot, Section, Table, Target, Value

KINDS = {"name": ("ribbon", "bloom")}
TREES = {"series": ("name", "from"), "log": "xy",
         "styles": {"built": "o", "computed": "-", "extrapolated": "--"}}
DENIED, LARGEST = "false negatives of all filters", "keys of the largest filter"

SECTION = Section(
    title="Scale: 10⁶ to 10¹² keys",
    lead="Size and wasted reads of the filters of large databases: measured, and computed by the "
    "formulas below. In plots, dots are measurements and dashed lines extrapolations.\n"
    "Keys of level i of D: D = 1 + ⌊log_T(N / 10⁶)⌋; nᵢ = N · T^(i−1) · (T − 1) / (T^D − 1), with "
    "a size ratio T of {size_ratio}, every level one sorted run, level 0 empty, files of up to 10⁶ "
    "keys, ribbon filters.\n"
    "False-positive rate (FPR) of level i: pᵢ = target_fpr; or the pᵢ with the least Σ nᵢ · "
    "bits(pᵢ) at Σ pᵢ = wasted_reads; or those with the least Σ pᵢ at Σ nᵢ · bits(pᵢ) = N · "
    "bits_per_key. bits(p) is from blocksieve's lookup table.\n"
    "Memory of filters: M(N) = g · Σ nᵢ · bits(pᵢ) / 8. Wasted reads per lookup of an absent key: "
    "W(N) = f · Σ pᵢ. g = {g:.5f} and f = {f:.4f} are the size and the FPR measured for one ribbon "
    "of {largest} keys, each relative to the lookup table.",
    values={"denied": Value(DENIED), "probed": Value("keys probed"), "largest": Value(LARGEST)},
    result=("{denied}", "false negatives", "{probed} keys were probed for, in filters of up to "
            "{largest} keys and in whole trees."),
    targets=(
        Target(DENIED, at_most=0),
        Target(LARGEST, at_least=3e8),
        Target("FPR, relative to the target", by=("name", "keys"), at_most=1.01),
        Target("largest deviation from M(N)", at_most=0.01),
        Target("largest deviation from W(N)", at_most=0.1),
    ),
    tables=(
        Table("10⁶ to 10¹² keys", ("name",), across="decade",
              where={"metric": "computed"}, head="Figure", note="Computed by the formulas; "
              "extrapolated beyond {largest_tree:,} keys, the largest tree that was built."),
        Table("Measured trees, compared with the formulas", ("name", "keys"),
              where={"from": "built"}, head="Goal, keys", note="Every filter was probed for each "
              "of its keys. A false negative is a key that its filter denies."),
        Table("Measured single filters, at a target FPR of 1 %", ("name", "keys"), where=KINDS,
              head="Filter", note="Keys of 16 bytes. Times include hashing. {probes:,} probes "
              "for absent keys."),
    ),
    plots=(
        Plot("Memory of all filters, M(N)", "Dots: measured trees; dashed: extrapolated.",
             "memory", "keys", **TREES),
        Plot("Wasted reads per lookup of an absent key, W(N)", "With one FPR on all levels they "
             "grow with the number of levels; with FPRs by level they do not.", "wasted reads",
             "keys", **TREES),
        Plot("Probe time for an absent key", "In larger filters, more probes miss the processor's "
             "caches.", "absent key", "keys", KINDS, log="x"),
        Plot("Build time of one filter", "Time per key, including hashing, by number of keys in "
             "the filter.", "build per key", "keys", KINDS, log="x"),
    ),
    labels={"keys": "{:,} keys", "from": {"built": "", "computed": "", "extrapolated": ""}},
    digits={"deviation from M(N)": 2, "deviation from W(N)": 2, "bits per key": 4},
)
