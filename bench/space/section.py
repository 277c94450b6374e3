"""Filter size above the lower bound, and memory to build."""

from bench.report.declare import Plot, Section, Table, Target, Value

ABOVE = "above the lower bound"
# At powers of two, all keys have as many ribbon columns; at other FPRs, some have one more.
SHARED = (0.3, 0.2, 0.1, 0.05, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5)
WHOLE = (2**-6, 2**-8, 2**-10, 2**-12, 2**-16)
SHOWN = {"name": "ribbon", "target_fpr": 2**-8}
LIMITS = {1_000: {(2**-8,): 0.04}, 10_000: {(2**-8,): 0.012},
          1_000_000: {(2**-4,): 0.012, WHOLE: 0.006, SHARED: 0.025}}

SECTION = Section(
    title="Size above the lower bound",
    lead="The size of filter blocks above log2(1 / measured FPR) bits per key, the lower bound for "
    "all filters, by false-positive rate (FPR) and number of keys.",
    values={"above": Value(ABOVE, SHOWN), "bits": Value("bits per key", SHOWN),
            "fpr": Value("FPR", SHOWN)},
    result=("{above}", "above the lower bound for the size of a filter",
            "{bits} per key at an FPR of {fpr}, in a ribbon of {bits[keys]}."),
    targets=(
        *(Target(ABOVE, {"name": "ribbon", "keys": keys, "target_fpr": rates},
                 ("keys", "target_fpr"), limit)
          for keys, limits in LIMITS.items() for rates, limit in limits.items()),
        Target("memory to build", {"name": "ribbon", "keys": 10_000_000}, ("keys",), 10.5)),
    tables=(
        Table("{name}: size above the lower bound", ("target_fpr",), None, {"metric": ABOVE},
              "keys", "Target FPR", each="name"),
        Table("Peak memory to build, besides the finished filter, FPR 1 %", ("name", "keys"),
              ["memory to build"], head="Filter"),
    ),
    plots=(
        Plot("Size of {name} filters above the lower bound", "Large ribbons approach the lower "
             "bound, log2(1/FPR) bits per key; Bloom filters do not.", ABOVE, "keys",
             {"target_fpr": (2**-4, 2**-8, 0.01, 2**-16)}, "target_fpr", each="name", log="x"),
    ),
    labels={"keys": "{:,} keys", "target_fpr": "{:.3g}"},
    digits={ABOVE: 2, "bits per key": 4},
)
