"""Scale: what up to 10^12 keys take, computed from what was measured."""

from bench.report.declare import Plot, Section, Table, Target, Value

KINDS = {"name": ("ribbon", "bloom")}
TREES = {"series": ("name", "from"), "log": "xy",
         "styles": {"built": "o", "computed": "-", "extrapolated": "--"}}
DENIED, LARGEST = "keys denied by all", "keys of the largest filter"

SECTION = Section(
    title="Scale: 10⁶ to 10¹² keys",
    lead="What filters take in large databases: computed by the formulas below, from constants "
    "measured on this machine. Dots are measurements, dashed lines extrapolations.\n"
    "Keys of level i of D: D = 1 + ⌊log_T(N / 10⁶)⌋; nᵢ = N · T^(i−1) · (T − 1) / (T^D − 1), with "
    "a size ratio T of {size_ratio}, every level one sorted run at rest, level 0 empty, files of "
    "up to 10⁶ keys, ribbon filters.\n"
    "FPR of level i: pᵢ = target_fpr, or so that Σ nᵢ · bits(pᵢ) is least at Σ pᵢ = wasted_reads, "
    "or Σ pᵢ least at Σ nᵢ · bits(pᵢ) = N · bits_per_key, with bits(p) of the lookup table.\n"
    "Memory of filters: M(N) = g · Σ nᵢ · bits(pᵢ) / 8, with g = {g:.5f}: measured bytes of one "
    "ribbon of {largest} keys, over the lookup table's. Wasted reads per lookup of an absent key: "
    "W(N) = f · Σ pᵢ, with f = {f:.4f}: measured FPR of the same, over the lookup table's.",
    values={"denied": Value(DENIED), "asked": Value("keys asked for"), "largest": Value(LARGEST)},
    result=("{denied}", "keys denied by a filter that has them", "{asked} keys were asked for, of "
            "filters of up to {largest} keys and of whole trees."),
    targets=(
        Target(DENIED, at_most=0),
        Target(LARGEST, at_least=3e8),
        Target("FPR of target", by=("name", "keys"), at_most=1.01),
        Target("memory off the formula, at most", at_most=0.01),
        Target("wasted reads off the formula, at most", at_most=0.1),
    ),
    tables=(
        Table("From a million keys to a million million", ("name",), across="decade",
              where={"metric": "computed"}, head="Figure", note="Computed by the formulas; "
              "extrapolated beyond {largest_tree:,} keys, the largest tree that was built."),
        Table("Trees whose filters were all built, against the formulas", ("name", "keys"),
              where={"from": "built"}, head="Asked for", note="Every filter was asked for every "
              "one of its keys; keys denied are those it said no to."),
        Table("Single filters at a target of 1 %, built for real", ("name", "keys"), where=KINDS,
              head="Filter", note="Keys of 16 bytes, hashing included; {probes:,} absent keys."),
    ),
    plots=(
        Plot("Memory of all filters, M(N)", "Dots: trees whose filters were all built; dashed: "
             "extrapolated.", "memory", "keys", **TREES),
        Plot("Wasted reads per lookup of an absent key, W(N)", "With the same rate everywhere they "
             "grow with every level; spread over the levels they do not.", "wasted reads", "keys",
             **TREES),
        Plot("Probe of an absent key in one filter", "The larger the filter, the more cache misses "
             "a probe waits for.", "absent key", "keys", KINDS, log="x"),
        Plot("Building one filter", "Time per key over the number of keys in one filter, hashing "
             "included.", "build, a key", "keys", KINDS, log="x"),
    ),
    labels={"keys": "{:,} keys", "from": {"built": "", "computed": "", "extrapolated": ""}},
    digits={"off M(N)": 2, "off W(N)": 2, "bits per key": 4},
)
