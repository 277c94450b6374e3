"""Seeks with an upper bound in RocksDB: what filters of ranges save, and what they cost."""

from functools import partial
from statistics import mean, median

from bench.report import palette, text
from bench.report.figure import Figure, bars, log_axis, plain
from bench.report.section import Section, Table, Target, at_least, at_most

# Others than blocksieve's, and those whose filters and indexes are cut into partitions.
OTHERS = ("no_filter", "prefix_bloom", "first_key")
OTHERS_PARTITIONED = ("points_partitioned", "prefix_bloom_partitioned")
PEERS = {"ranges": OTHERS, "ranges_partitioned": OTHERS_PARTITIONED}
OURS = {"ranges": "full", "ranges_partitioned": "partitioned"}
COLUMNS = {
    "no_filter": "No\nfilter",
    "prefix_bloom": "Prefix\nBloom",
    "first_key": "First-key\nindex",
    "ranges": "Ranges",
    "points_partitioned": "Partitioned:\nno ranges",
    "prefix_bloom_partitioned": "\nprefix Bloom",
    "ranges_partitioned": "\nranges",
}
FOUND = {role: COLUMNS[role] for role in ("no_filter", "prefix_bloom", "first_key", "ranges")}
DRAWN = (
    ("no_filter", "no filter", palette.GREY),
    ("prefix_bloom", "prefix Bloom", palette.ORANGE),
    ("first_key", "first-key index", palette.GREEN),
    ("ranges", "ranges", palette.BLUE),
    ("ranges_partitioned", "ranges, partitioned", palette.PURPLE),
)
BASE = {"ranges": "points", "ranges_partitioned": "points_partitioned"}

# Sets with targets for databases: blocks per seek, and against the best of the others.
DATABASE_TARGETS = {"8-byte integers": (0.10, 40), "u%07d:%013d": (0.15, 25)}
INTEGERS = "8-byte integers"
REFUSED = "paths"


def of(measured, role):
    return next(each for each in measured["contestants"] if each["role"] == role)


def lengths(keys):
    """Numbers of the questions that differ in nothing but their length."""
    return [i for i, question in enumerate(keys["questions"]) if question["starts"] == "uncorrelated"]


def blocks(keys, role):
    """Per empty seek, over all lengths."""
    return mean(of(keys, role)["blocks_per_seek"][i] for i in lengths(keys))


def best_other(value, others=OTHERS):
    return min(others, key=value)


def ratio(mine, theirs):
    """Of times that were measured in turns."""
    return median(a / b for a, b in zip(mine, theirs))


def time_against_best(keys, role):
    best = best_other(lambda other: median(of(keys, other)["empty_nanoseconds"]), PEERS[role])
    return ratio(of(keys, role)["empty_nanoseconds"], of(keys, best)["empty_nanoseconds"])


def times_fewer(theirs, mine):
    return theirs / mine if mine else float("inf")


def fewer_at_best(keys, role):
    return times_fewer(min(blocks(keys, other) for other in OTHERS), blocks(keys, role))


def fewer_where_least(keys, role):
    """At the length of ranges at which it is the least, and that length."""

    def fewer(i):
        best = min(of(keys, other)["blocks_per_seek"][i] for other in OTHERS)
        return times_fewer(best, of(keys, role)["blocks_per_seek"][i])

    least = min(lengths(keys), key=fewer)
    return fewer(least), keys["questions"][least]["question"]


def get_ratio(keys, role, field):
    return ratio(of(keys, role)[field], of(keys, BASE[role])[field])


def cold_ratio(keys):
    return ratio(of(keys, "ranges")["cold_nanoseconds"], of(keys, "no_filter")["cold_nanoseconds"])


def bits(keys, role):
    return 8 * of(keys, role)["filter_bytes"] / keys["keys"]


def added_bytes(keys, role):
    return of(keys, role)["filter_bytes"] - of(keys, BASE[role])["filter_bytes"]


def has_ranges(keys):
    return of(keys, "ranges")["refusals"] == 0


def build_ratio(filter_):
    return ratio(filter_["build_nanoseconds"], filter_["points_nanoseconds"])


def microseconds(nanoseconds):
    return f"{median(nanoseconds) / 1000:.2f}" if nanoseconds else "-"


def draw_blocks(sets, axes):
    series = [
        (title, colour, [blocks(keys, role) for keys in sets]) for role, title, colour in DRAWN
    ]
    bars(axes, [keys["set"] for keys in sets], series, text=text.significant, x="data blocks per seek")
    log_axis(axes.xaxis, plain)
    axes.set_xlim(0.01, 40)


def draw_times(sets, axes):
    series = [
        (title, colour, [median(of(keys, role)["empty_nanoseconds"]) / 1000 for keys in sets])
        for role, title, colour in DRAWN
    ]
    bars(axes, [keys["set"] for keys in sets], series, text=text.significant, x="microseconds per seek")


def draw_workloads(workloads, axes):
    def per_second(field):
        return [
            (name, colour, [1e9 / median(of(each, role)[field]) for each in workloads])
            for name, colour, role in (("points", palette.GREY, "points"), ("ranges", palette.BLUE, "ranges"))
        ]

    cached = [(f"{name}, cached", colour, values) for name, colour, values in per_second("nanoseconds")]
    cold_colours = (palette.TEXT, palette.GREEN)
    cold = [
        (f"{name}, cold", colour, values)
        for (name, _, values), colour in zip(per_second("cold_nanoseconds"), cold_colours)
    ]
    bars(axes, [each["workload"] for each in workloads], cached + cold, text=text.count, x="operations per second")
    log_axis(axes.xaxis, plain)


def blocks_table(run):
    rows = []
    for keys in run["sets"]:
        for i, question in enumerate(keys["questions"]):
            rows.append(
                [f"{keys['set']}, {question['question']}"]
                + [f"{of(keys, role)['blocks_per_seek'][i]:.3f}" for role in COLUMNS]
                + [f"{question['least_with_prefixes']:.3f}"]
            )
    return Table(
        "Data blocks per seek in ranges that hold no key",
        ["Keys, ranges", *COLUMNS.values(), "Best prefix,\ncomputed"],
        rows,
        "Ranges as long as those that hold so many keys on average; those of hot starts and right after a key hold 0.01. "
        "Prefix Bloom: with the prefix that reads the fewest blocks over all lengths. Best prefix: with the one that is "
        "best for these ranges alone, if its filter were free of false positives.",
    )


def time_table(run):
    return Table.of(
        "Time per seek in ranges that hold no key",
        run["sets"],
        [
            ("Keys", lambda keys: keys["set"]),
            *(
                (title + "\nµs", lambda keys, role=role: microseconds(of(keys, role)["empty_nanoseconds"]))
                for role, title in COLUMNS.items()
            ),
            ("Ranges, of\nthe best", lambda keys: f"{time_against_best(keys, 'ranges'):.2f}"),
            ("Partitioned, of\nthe best", lambda keys: f"{time_against_best(keys, 'ranges_partitioned'):.2f}"),
            ("Cold, ms:\nno filter", lambda keys: f"{median(of(keys, 'no_filter')['cold_nanoseconds']) / 1e6:.3f}"),
            ("\nranges", lambda keys: f"{median(of(keys, 'ranges')['cold_nanoseconds']) / 1e6:.3f}"),
            ("\nratio", lambda keys: f"{cold_ratio(keys):.3f}"),
        ],
        "All lengths alike, with the iterator that is made for each. Medians of turns. The best: of the others, partitioned "
        "ones against such.",
    )


def found_table(run):
    return Table.of(
        "Seeks in ranges that hold one key",
        run["sets"],
        [
            ("Keys", lambda keys: keys["set"]),
            *(
                (f"{title}\nblocks", lambda keys, role=role: f"{of(keys, role)['blocks_per_found']:.2f}")
                for role, title in FOUND.items()
            ),
            *(
                (f"{title}\nµs", lambda keys, role=role: microseconds(of(keys, role)["found_nanoseconds"]))
                for role, title in FOUND.items()
            ),
        ],
        "The range ends right behind the key.",
    )


def cost_table(run):
    def gets(role, field):
        return lambda keys: f"{get_ratio(keys, role, field):.3f}"

    return Table.of(
        "What ranges cost databases that have them, against the same filters of points alone",
        run["sets"],
        [
            ("Keys", lambda keys: keys["set"]),
            ("Prefix Bloom:\nbits per key", lambda keys: f"{bits(keys, 'prefix_bloom'):.2f}"),
            ("bytes of\nprefix", lambda keys: str(keys["prefix_bytes"])),
            ("Points:\nbits", lambda keys: f"{bits(keys, 'points'):.2f}"),
            ("With\nranges", lambda keys: f"{bits(keys, 'ranges'):.2f}"),
            ("Get, full:\nhit", gets("ranges", "hit_nanoseconds")),
            ("\nmiss", gets("ranges", "miss_nanoseconds")),
            ("Partitioned:\nbits", lambda keys: f"{bits(keys, 'points_partitioned'):.2f}"),
            ("With\nranges", lambda keys: f"{bits(keys, 'ranges_partitioned'):.2f}"),
            ("Get, part.:\nhit", gets("ranges_partitioned", "hit_nanoseconds")),
            ("\nmiss", gets("ranges_partitioned", "miss_nanoseconds")),
            ("Filling,\nratio", lambda keys: f"{of(keys, 'ranges')['fill_seconds'] / of(keys, 'points')['fill_seconds']:.2f}"),
        ],
        "Get: time per lookup, medians of the ratios of turns.",
    )


def filter_table(run):
    def rate(at):
        def cell(filter_):
            return text.percent(at(filter_["rates"])) if filter_["rates"] else "-"

        return cell

    def or_dash(cell):
        return lambda filter_: "-" if filter_["absent_reason"] else cell(filter_)

    return Table.of(
        "The filter alone, for 1.5 % of ranges",
        run["filters"],
        [
            ("Keys", lambda filter_: f"{filter_['set']}, {text.count(filter_['keys'])}"),
            ("Bits per key\nof ranges", or_dash(lambda filter_: f"{filter_['bits_per_key']:.2f}")),
            ("Says of\nitself", or_dash(lambda filter_: text.percent(filter_["estimated_fpr"]))),
            ("May match:\n0.001 keys", rate(lambda rates: rates[0])),
            ("\n0.01 keys", rate(lambda rates: rates[1])),
            ("\n0.1 keys", rate(lambda rates: rates[2])),
            ("\n1 key", rate(lambda rates: rates[3])),
            ("Right after\na key", rate(lambda rates: rates[-1])),
            ("Probe,\nns", or_dash(lambda filter_: text.count(median(filter_["probe_nanoseconds"])))),
            ("Building,\nns per key", lambda filter_: text.count(median(filter_["build_nanoseconds"]))),
            ("Points\nalone", lambda filter_: text.count(median(filter_["points_nanoseconds"]))),
            ("Ratio", lambda filter_: f"{build_ratio(filter_):.2f}"),
        ],
        "Shares of ranges without keys. Probes and building: medians of turns, beside a ribbon of 1 %.",
    )


def small_table(run):
    return Table.of(
        "Small filters, for 1.5 % of ranges",
        run["small_filters"],
        [
            ("Keys", lambda each: f"{each['set']}, {'neighbours' if each['are_neighbours'] else 'spread'}"),
            ("Number", lambda each: text.count(each["keys"])),
            ("Bytes", lambda each: text.count(each["bytes"])),
            ("Besides the\nbits per key", lambda each: f"{each['fixed_bytes']:.0f}"),
        ],
    )


def refused_table(run):
    alone = {filter_["set"]: filter_ for filter_ in run["filters"]}
    reasons = {name: filter_["absent_reason"] for name, filter_ in alone.items() if filter_["absent_reason"]}
    return Table.of(
        "Keys of which no range filter is made",
        [keys for keys in run["sets"] if not has_ranges(keys)],
        [
            ("Keys", lambda keys: keys["set"]),
            ("More bytes:\nfull", lambda keys: text.count(added_bytes(keys, "ranges"))),
            ("\npartitioned", lambda keys: text.count(added_bytes(keys, "ranges_partitioned"))),
            ("Lines in the log,\nper file: full", lambda keys: f"{of(keys, 'ranges')['refusals'] / keys['runs']:g}"),
            ("\npartitioned", lambda keys: f"{of(keys, 'ranges_partitioned')['refusals'] / keys['runs']:g}"),
            ("Seek,\nof no filter", lambda keys: f"{seek_without(keys):.2f}"),
            ("Building,\nof points", lambda keys: f"{build_ratio(alone[keys['set']]):.1f}"),
        ],
        "A log has a line per file also if only some partitions have no ranges. Building: of the filter alone, which says: "
        + " ".join(f"{name}: {why}." for name, why in reasons.items()),
    )


def seek_without(keys):
    return ratio(of(keys, "ranges")["empty_nanoseconds"], of(keys, "no_filter")["empty_nanoseconds"])


def workload_table(run):
    def per_second(role, field):
        return lambda each: text.count(1e9 / median(of(each, role)[field]))

    def speed_up(field):
        return lambda each: f"{ratio(of(each, 'points')[field], of(each, 'ranges')[field]):.2f}"

    return Table.of(
        "Workloads, with filters of points alone and with ranges",
        run["workloads"],
        [
            ("Workload", lambda each: each["workload"]),
            ("Keys of\na scan", lambda each: text.significant(each["keys_per_scan"])),
            ("Blocks per\noperation", lambda each: f"{of(each, 'points')['blocks_per_operation']:.2f}"),
            ("with\nranges", lambda each: f"{of(each, 'ranges')['blocks_per_operation']:.2f}"),
            ("Cached,\nper second", per_second("points", "nanoseconds")),
            ("with\nranges", per_second("ranges", "nanoseconds")),
            ("times\nas fast", speed_up("nanoseconds")),
            ("Cold,\nper second", per_second("points", "cold_nanoseconds")),
            ("with\nranges", per_second("ranges", "cold_nanoseconds")),
            ("times\nas fast", speed_up("cold_nanoseconds")),
        ],
        " ".join(f"{each['workload']}: {each['description']}." for each in run["workloads"]),
    )


def witness_table(run):
    return Table.of(
        "What db_bench measures",
        run["db_bench"]["runs"],
        [
            ("Filter", lambda each: each["filter"]),
            ("µs per seek", lambda each: f"{median(each['microseconds']):.2f}"),
            ("Data blocks\nper seek", lambda each: f"{each['data_blocks_per_seek']:.3f}"),
            ("Seeks that find\ntheir very key", lambda each: text.percent(each["found_share"])),
        ],
        f"{run['db_bench']['version']}, {run['db_bench']['description']}.",
    )


def database_targets(run):
    sets = [keys for keys in run["sets"] if keys["set"] in DATABASE_TARGETS]
    for keys in sets:
        limit, _ = DATABASE_TARGETS[keys["set"]]
        for role, form in OURS.items():
            yield at_most(f"data blocks per empty seek: {keys['set']}, {form}", blocks(keys, role), limit)
    for keys in sets:
        _, limit = DATABASE_TARGETS[keys["set"]]
        for role, form in OURS.items():
            fewer = fewer_at_best(keys, role)
            yield at_least(f"data blocks, times fewer than the best of the others: {keys['set']}, {form}", fewer, limit, " x")
            fewer, length = fewer_where_least(keys, role)
            yield at_least(f"the same, ranges of {length} alone: {keys['set']}, {form}", fewer, limit, " x")
    for keys in sets:
        for role, form in OURS.items():
            what = f"time per empty seek, cached, against the best of the others: {keys['set']}, {form}"
            yield at_most(what, time_against_best(keys, role), 0.30, " x")
    for keys in sets:
        yield at_most(f"time per empty seek, cold, against no filter: {keys['set']}", cold_ratio(keys), 0.10, " x")
    for keys in sets:
        for role, form in OURS.items():
            for field, what in (("hit_nanoseconds", "hit"), ("miss_nanoseconds", "miss")):
                value = get_ratio(keys, role, field)
                yield at_most(f"Get, {what}, against points alone: {keys['set']}, {form}", value, 1.05, " x")


def filter_targets(run):
    made = [filter_ for filter_ in run["filters"] if not filter_["absent_reason"]]
    for filter_ in made:
        limit = 8.3 if filter_["set"] == INTEGERS else 8.6
        yield at_most(f"bits per key for 1.5 % of ranges: {filter_['set']}", filter_["bits_per_key"], limit)
    for filter_ in made:
        limit = 130 if filter_["set"] == INTEGERS else 260
        yield at_most(f"range probe: {filter_['set']}", median(filter_["probe_nanoseconds"]), limit, " ns")
    for name in dict.fromkeys(each["set"] for each in run["small_filters"]):
        most = max(each["fixed_bytes"] for each in run["small_filters"] if each["set"] == name)
        yield at_most(f"bytes of a filter besides its bits per key, at most: {name}", most, 160)
    for filter_ in made:
        what = f"building, against the same ribbon without ranges: {filter_['set']}"
        yield at_most(what, build_ratio(filter_), 2, " x")
    for keys in run["sets"]:
        if keys["set"] != REFUSED or has_ranges(keys):
            continue
        for role, form in OURS.items():
            what = f"more bytes where ranges do not pay: {keys['set']}, {form}"
            yield at_most(what, added_bytes(keys, role), 0)
            lines = of(keys, role)["refusals"] / keys["runs"]
            what = f"lines in the log per file where ranges do not pay: {keys['set']}, {form}"
            yield Target(what, "= 1", f"{lines:g}", lines == 1)


def saved(run):
    """One sentence of what ranges saved, or that they did not."""
    keys = run["sets"][0]
    best = best_other(lambda role: blocks(keys, role))
    mine, theirs = blocks(keys, "ranges"), blocks(keys, best)
    what = (
        f"a seek in a range of {keys['set']} without keys read {mine:.3g} data blocks with filters of ranges, "
        f"{blocks(keys, 'no_filter'):.3g} without a filter and {theirs:.3g} with the best of the others "
        f"({COLUMNS[best].replace(chr(10), ' ').lower()}), for {bits(keys, 'ranges') - bits(keys, 'points'):.2f} bits per "
        "key beside the filter of points"
    )
    return f"{'Saved' if mine < theirs else 'Nothing was saved'}: {what}."


def section(run):
    sets = run["sets"]
    tables = [
        blocks_table(run),
        time_table(run),
        found_table(run),
        cost_table(run),
        filter_table(run),
        small_table(run),
        refused_table(run),
        workload_table(run),
    ]
    if run.get("db_bench"):
        tables.append(witness_table(run))
    return Section(
        name="ranges",
        title="Ranges of keys in RocksDB",
        headline=saved(run),
        lead=f"Seeks with an upper bound in {sets[0]['runs']} sorted runs, each of which has keys of all parts. Blocks: data "
        "blocks that a seek reads or finds in the cache, as RocksDB's perf context counts them. All contestants are open in "
        "one process and take turns; times are medians, of processor time. Cold: by the clock, without a block cache, "
        f"{'with direct I/O' if run['direct_reads'] else 'from the page cache'}, filters and indexes in memory.",
        facts=[
            f"RocksDB {run['rocksdb']}.",
            f"Databases of {text.count(max(keys['keys'] for keys in sets))} keys"
            f"{', quick' if run['quick'] else ''}. blocksieve's kernel: {run['kernel']}. {run['seconds']:.0f} s.",
        ],
        targets=[*database_targets(run), *filter_targets(run)],
        tables=tables,
        figures=[
            Figure(
                "ranges-blocks",
                "Data blocks per seek in ranges without keys",
                "Bars, on a logarithmic scale: data blocks per seek of each contestant, by set of keys.",
                partial(draw_blocks, sets),
            ),
            Figure(
                "ranges-times",
                "Time per seek in ranges without keys, cached",
                "Bars: microseconds per seek of each contestant, by set of keys.",
                partial(draw_times, sets),
            ),
            Figure(
                "ranges-workloads",
                "Workloads without ranges and with them",
                "Bars, on a logarithmic scale: operations per second, cached and cold.",
                partial(draw_workloads, run["workloads"]),
            ),
        ],
    )
