"""Space above the least possible, and memory while building."""

from bench.report.declare import Highlight, Lines, Section, Table, Target, Value

ABOVE = "above the least space"
LARGE = (200_000, 1_000_000)
# Powers of two are whole columns of a ribbon; at other rates some keys have a column more.
SHARED = (0.3, 0.2, 0.1, 0.05, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5)
WHOLE = (2**-6, 2**-8, 2**-10, 2**-12, 2**-16)
SHOWN = {"name": "ribbon", "target_fpr": 2**-8}


def large_target(rates, limit):
    return Target("ribbon, space above the least", ABOVE,
                  {"name": "ribbon", "target_fpr": rates, "keys": LARGE}, ("keys", "target_fpr"),
                  at_most=limit)


SECTION = Section(
    title="Space above the limit",
    lead="How much more than log2(1 / measured FPR) bits per key, which no filter can go below, "
    "filters take, all bytes of the block counted; by rate and number of keys.",
    values={"above": Value(ABOVE, SHOWN, "last"), "bits": Value("bits per key", SHOWN, "last"),
            "fpr": Value("FPR", SHOWN, "last")},
    highlight=Highlight("{above}", "above the least space that a filter of that rate can take",
                        "{bits} per key for a rate of {fpr}, a ribbon of {bits[keys]}."),
    targets=(
        Target("ribbon, space above the least", ABOVE, SHOWN, ("keys",),
               at_most={100: 0.35, 300: 0.10, 1_000: 0.04, 3_000: 0.018, 10_000: 0.012}),
        large_target(2**-4, 0.012), large_target(WHOLE, 0.006), large_target(SHARED, 0.025),
        Target("ribbon, memory to build beyond the filter", "memory to build", {"name": "ribbon"},
               ("keys",), at_most={10_000_000: 10.5}),
    ),
    tables=(
        Table("{name}: space above the least possible", ("target_fpr",), None, {"metric": ABOVE},
              "keys", "Target FPR", each="name"),
        Table("Memory while building, beyond the finished filter, at 1 %", ("name", "keys"),
              ["memory to build"], head="Filter"),
    ),
    plots=(
        Lines("Space of {name} filters above the least possible", "Ribbons get to the limit as they "
              "grow; Bloom filters do not.", "keys", ABOVE,
              {"target_fpr": (2**-4, 2**-8, 0.01, 2**-16)}, ("target_fpr",), "name", log="x",
              y_label="above log2(1/FPR) bits per key"),
    ),
    labels={"keys": "{:,} keys", "target_fpr": "share"},
    digits={ABOVE: 2, "bits per key": 4},
)
