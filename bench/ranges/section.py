"""Seeks with an upper bound in RocksDB: what filters of ranges save, and what they cost."""

from functools import partial
from statistics import mean, median

from bench.report import palette, text
from bench.report.dots import dots
from bench.report.figure import Figure, log_axis, plain
from bench.report.section import Highlight, Section, Target, at_least, at_most
from bench.report.table import Table, compared, timed
from bench.report.turns import paired, quotient, spread

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
    return paired(mine, theirs)


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


def fill_ratio(keys):
    """One fills its database after the other: no turn has a partner."""
    return quotient(of(keys, "ranges")["fill_seconds"], of(keys, "points")["fill_seconds"])


def microseconds(nanoseconds):
    return timed(spread(nanoseconds).scaled(1e-3), text.significant) if nanoseconds else "-"


def milliseconds(nanoseconds):
    return timed(spread(nanoseconds).scaled(1e-6), text.significant)


def per_second(nanoseconds):
    return spread(nanoseconds).inverse(1e9)


def of_one(ratio_of):
    """What a ratio's cell says: whether the turns tell it from 1."""
    return lambda keys: compared(ratio_of(keys), text.significant)


def draw_blocks(sets, axes):
    series = [
        (title, colour, [blocks(keys, role) for keys in sets]) for role, title, colour in DRAWN
    ]
    dots(axes, [keys["set"] for keys in sets], series, text=text.significant, x="data blocks per seek")
    log_axis(axes.xaxis, plain)


def draw_times(sets, axes):
    series = [
        (title, colour, [spread(of(keys, role)["empty_nanoseconds"]).scaled(1e-3) for keys in sets])
        for role, title, colour in DRAWN
    ]
    dots(axes, [keys["set"] for keys in sets], series, text=text.significant, x="microseconds per seek")
    axes.set_xlim(0, None)


def draw_workloads(workloads, axes):
    series = [
        (f"{title}, {state}", colour, [per_second(of(each, role)[field]) for each in workloads])
        for field, state in (("nanoseconds", "cached"), ("cold_nanoseconds", "cold"))
        for role, title, colour in (("points", "points", palette.GREY), ("ranges", "ranges", palette.BLUE))
    ]
    dots(axes, [each["workload"] for each in workloads], series, text=text.count, x="operations per second")
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
            ("Ranges, of\nthe best", of_one(lambda keys: time_against_best(keys, "ranges"))),
            ("Partitioned, of\nthe best", of_one(lambda keys: time_against_best(keys, "ranges_partitioned"))),
            ("Cold, ms:\nno filter", lambda keys: milliseconds(of(keys, "no_filter")["cold_nanoseconds"])),
            ("\nranges", lambda keys: milliseconds(of(keys, "ranges")["cold_nanoseconds"])),
            ("\nratio", of_one(cold_ratio)),
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
        return of_one(lambda keys: get_ratio(keys, role, field))

    return Table.of(
        "What ranges cost databases that have them, against the same filters of points alone",
        run["sets"],
        [
            ("Keys", lambda keys: keys["set"]),
            ("Prefix Bloom:\nbits per key", lambda keys: f"{bits(keys, 'prefix_bloom'):.2f}"),
            ("\nof prefix, bytes", lambda keys: str(keys["prefix_bytes"])),
            ("Full:\nbits", lambda keys: f"{bits(keys, 'points'):.2f}"),
            ("\nwith ranges", lambda keys: f"{bits(keys, 'ranges'):.2f}"),
            ("\nhit", gets("ranges", "hit_nanoseconds")),
            ("\nmiss", gets("ranges", "miss_nanoseconds")),
            ("Partitioned:\nbits", lambda keys: f"{bits(keys, 'points_partitioned'):.2f}"),
            ("\nwith ranges", lambda keys: f"{bits(keys, 'ranges_partitioned'):.2f}"),
            ("\nhit", gets("ranges_partitioned", "hit_nanoseconds")),
            ("\nmiss", gets("ranges_partitioned", "miss_nanoseconds")),
            ("Filling,\nratio", of_one(fill_ratio)),
        ],
        "Bits: per key, of points alone and with ranges. Hit, miss: time per Get, medians of the ratios of turns.",
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
            ("Probe,\nns", or_dash(lambda filter_: timed(spread(filter_["probe_nanoseconds"]), text.significant))),
            ("Building,\nns per key", lambda filter_: timed(spread(filter_["build_nanoseconds"]), text.significant)),
            ("\npoints alone", lambda filter_: timed(spread(filter_["points_nanoseconds"]), text.significant)),
            ("\nratio", of_one(build_ratio)),
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
            ("Lines per file:\nfull", lambda keys: f"{of(keys, 'ranges')['refusals'] / keys['runs']:g}"),
            ("\npartitioned", lambda keys: f"{of(keys, 'ranges_partitioned')['refusals'] / keys['runs']:g}"),
            ("Seek time,\nof no filter", of_one(seek_without)),
            ("Building time,\nof points", of_one(lambda keys: build_ratio(alone[keys["set"]]))),
        ],
        "A log has a line per file also if only some partitions have no ranges. Building: of the filter alone, which says: "
        + " ".join(f"{name}: {why}." for name, why in reasons.items()),
    )


def seek_without(keys):
    return ratio(of(keys, "ranges")["empty_nanoseconds"], of(keys, "no_filter")["empty_nanoseconds"])


def workload_table(run):
    def speed(role, field):
        return lambda each: timed(per_second(of(each, role)[field]), text.count)

    def speed_up(field):
        return of_one(lambda each: ratio(of(each, "points")[field], of(each, "ranges")[field]))

    return Table.of(
        "Workloads, with filters of points alone and with ranges",
        run["workloads"],
        [
            ("Workload", lambda each: each["workload"]),
            ("Keys of\na scan", lambda each: text.significant(each["keys_per_scan"])),
            ("Blocks per operation:\npoints", lambda each: f"{of(each, 'points')['blocks_per_operation']:.2f}"),
            ("\nranges", lambda each: f"{of(each, 'ranges')['blocks_per_operation']:.2f}"),
            ("Cached, per second:\npoints", speed("points", "nanoseconds")),
            ("\nranges", speed("ranges", "nanoseconds")),
            ("\ntimes as fast", speed_up("nanoseconds")),
            ("Cold, per second:\npoints", speed("points", "cold_nanoseconds")),
            ("\nranges", speed("ranges", "cold_nanoseconds")),
            ("\ntimes as fast", speed_up("cold_nanoseconds")),
        ],
        " ".join(f"{each['workload']}: {each['description']}." for each in run["workloads"]),
    )


def witness_table(run):
    return Table.of(
        "What db_bench measures",
        run["db_bench"]["runs"],
        [
            ("Filter", lambda each: each["filter"]),
            ("µs per seek", lambda each: timed(spread(each["microseconds"]), text.significant)),
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
        yield at_most(f"range probe: {filter_['set']}", spread(filter_["probe_nanoseconds"]), limit, " ns")
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


def highlight(run):
    keys = run["sets"][0]
    theirs, mine = min(blocks(keys, other) for other in OTHERS), blocks(keys, "ranges")
    return Highlight(
        text.times_fewer(theirs, mine),
        "fewer data blocks read by a seek in a range without keys",
        f"{text.significant(blocks(keys, 'no_filter'))} without a filter, {text.significant(theirs)} with the best of stock "
        f"RocksDB, {text.significant(mine)} with range filters; {keys['set']}.",
    )


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
        highlight=highlight(run),
        facts=[f"Databases of {text.count(max(keys['keys'] for keys in sets))} keys{', quick' if run['quick'] else ''}."],
        machine=[f"RocksDB {run['rocksdb']}. blocksieve's kernel: {run['kernel']}. {run['seconds']:.0f} s."],
        targets=[*database_targets(run), *filter_targets(run)],
        tables=tables,
        figures=[
            Figure(
                "ranges-blocks",
                "Data blocks per seek in ranges without keys",
                "Data blocks per seek of each contestant, by set of keys, on a logarithmic scale.",
                partial(draw_blocks, sets),
            ),
            Figure(
                "ranges-times",
                "Time per seek in ranges without keys, cached",
                "Microseconds per seek of each contestant, by set of keys.",
                partial(draw_times, sets),
            ),
            Figure(
                "ranges-workloads",
                "Workloads without ranges and with them",
                "Operations per second, cached and cold, on a logarithmic scale.",
                partial(draw_workloads, run["workloads"]),
            ),
        ],
    )
