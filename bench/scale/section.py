"""Scale: the filters of up to 10^12 keys, computed from measurements."""

from bench.report.declare import Plot, Section, Table, Target, Value

KINDS = {"name": ("ribbon", "bloom")}
GOALS = {"name": ("target_fpr=0.01", "wasted_reads=0.01", "bits_per_key=10")}
DENIED, LARGEST = "false negatives of all filters", "keys of the largest filter"

SECTION = Section(
    title="Scale: 10⁶ to 10¹² keys",
    lead="Size and wasted reads of the filters of large databases, computed by the formulas below "
    "from measurements of single filters.\n"
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
            "{largest} keys."),
    targets=(
        Target(DENIED, at_most=0),
        Target(LARGEST, at_least=3e8),
        Target("FPR, relative to the target", by=("name", "keys"), at_most=1.01),
    ),
    tables=(
        Table("10⁶ to 10¹² keys", ("name",), across="decade",
              where={"metric": "computed"}, head="Figure", note="Computed by the formulas."),
        Table("Measured single filters, at a target FPR of 1 %", ("name", "keys"), where=KINDS,
              head="Filter", note="Keys of 16 bytes. Times include hashing. {probes:,} probes "
              "for absent keys, and one for each key; a false negative is a key that is denied."),
    ),
    plots=(
        Plot("Memory of all filters, M(N)", "Memory grows with the number of keys, whatever the "
             "goal.", "memory", "keys", GOALS, log="xy"),
        Plot("Wasted reads per lookup of an absent key, W(N)", "With one FPR on all levels they "
             "grow with the number of levels; with FPRs by level they do not.", "wasted reads",
             "keys", GOALS, log="xy"),
        Plot("Probe time for an absent key", "In larger filters, more probes miss the processor's "
             "caches.", "absent key", "keys", KINDS, log="x"),
        Plot("Build time of one filter", "Time per key, including hashing, by number of keys in "
             "the filter.", "build per key", "keys", KINDS, log="x"),
    ),
    labels={"keys": "{:,} keys"},
    digits={"bits per key": 4},
)
