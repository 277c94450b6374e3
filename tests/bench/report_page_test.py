"""What the report says first and last, and of how much it is sure: headline figures, spreads of times,
what is within the noise, and the facts of the machine."""

import collections
import itertools
import json
import re
import unittest

from report_support import JOBS, RECORDED, ReportTest, section_of
from bench.report import jobs, text  # after the path to it
from bench.report.section import at_least, at_most
from bench.report.table import NOISE, ONE_TURN, Cell, Table, compared, timed
from bench.report.turns import paired, quotient, spread

# What headers call times and ratios of times; and of the recorded results, what are times.
TIME = re.compile(r"\b(ns|µs|ms|[Ss]econds?|time|[Tt]imes as fast|hit|miss|[Bb]uilding|[Ff]illing|slices ratio)\b")
TIME_TABLES = ("Times, ns per key", "Ratios of times", "Analysis of an index in memory by the form")
TIME_FIELD = re.compile(r"nanoseconds|seconds|_ns\b|_ns_|per_second")


def of_times(table):
    """Numbers of the columns that have times."""
    whole = table.caption.startswith(TIME_TABLES)
    shown = [i for i, header in enumerate(table.full_headers) if i > 0 and (whole or TIME.search(header))]
    return [i for i in shown if table.full_headers[i] not in ("Form", "Question")]


class First(ReportTest):
    def test_three_large_figures_and_what_they_are_against(self):
        page = self.recorded_page
        self.assertEqual(page.attributes("class").count("large"), 3)
        self.assertLess(page.text.index('class="highlights"'), page.text.index("<nav"))
        told = [section_of(job).highlight for job in ("read_amp", "ranges", "skip")]
        self.assertEqual(page.inner_texts["strong"], [highlight.figure for highlight in told])
        for highlight in told:
            self.assertIn(highlight.against, page.inner_texts["span"])

    def test_every_job_has_one_and_a_page_of_few_jobs_has_fewer(self):
        for job in JOBS:
            self.assertIsNotNone(section_of(job).highlight, job)
        page = self.make_page(RECORDED, ["sieve", "scale"])
        self.assertEqual(page.attributes("class").count("large"), 2)

    def test_they_come_of_the_results_and_claim_no_gain_where_there_is_none(self):
        def read(blocks):
            def change(run):
                for each in run["contestants"]:
                    if each["role"] == "same_memory":
                        each["leveled"]["cold"]["absent"]["wasted_data_blocks_per_lookup"] = blocks
                    if each["role"] == "stock_default":
                        each["leveled"]["cold"]["absent"]["wasted_data_blocks_per_lookup"] = 0.06

            self.change("results.json", change)
            return jobs.find("read_amp").section(self.results).highlight

        self.assertEqual(read(0.005).figure, "12×")
        self.assertIn("0.00500 with blocksieve", read(0.005).against)
        self.assertEqual(read(0.06).figure, "none")
        self.assertEqual(read(0.07).figure, "none")


class Last(ReportTest):
    def test_facts_of_the_machine_are_folded_at_the_end(self):
        page = self.recorded_page
        self.assertEqual(page.text.count('<details id="machine">'), 1)
        main_end, machine = page.text.index("</main>"), page.text.index('<details id="machine">')
        self.assertLess(main_end, machine)
        self.assertEqual(re.sub(r"\s", "", page.text[page.text.rindex("</dl>") :]), "</dl></details></footer></body></html>")
        for fact in ("AMD EPYC", "RocksDB 7.8.3", "kernel: avx512"):
            self.assertNotIn(fact, page.text[:machine])
            self.assertIn(fact, page.text[machine:])


class Spreads(ReportTest):
    def test_every_time_in_a_table_has_one(self):
        found = 0
        for job in JOBS:
            for table in section_of(job).tables:
                for row in table.rows:
                    for cell in (row[i] for i in of_times(table)):
                        if cell in ("", "-"):
                            continue
                        self.assertIsInstance(cell, Cell, (table.caption, row[0], cell))
                        self.assertTrue(cell.spread or cell.remark == ONE_TURN, (table.caption, row[0]))
                        found += 1
        self.assertGreater(found, 300)

    def test_jobs_record_all_turns_of_every_time(self):
        def check(value, path):
            if isinstance(value, dict):
                for name, each in value.items():
                    check(each, (*path, name))
            elif isinstance(value, list) and not TIME_FIELD.search(path[-1]):
                for each in value:
                    check(each, path)
            elif TIME_FIELD.search(path[-1]):
                self.assertIsInstance(value, list, path)

        for job in JOBS:
            name = jobs.find(job).file
            document = json.loads((RECORDED / name).read_text(encoding="utf-8"))
            if name == "filters.json":  # a repetition is an entry
                names = [each["name"] for each in document["benchmarks"]]
                self.assertTrue(all(names.count(each) == 3 for each in names))
                continue
            if isinstance(document, dict):
                for not_of_a_time in ("seconds", "constants", "computed"):  # of the run; derived
                    document.pop(not_of_a_time, None)
            check(document, (name,))

    def test_one_turn_is_called_that_and_claims_nothing(self):
        def one_round(run):
            for each in run["contestants"]:
                each["fill_seconds"] = each["fill_seconds"][:1]
                each["leveled"]["cold"]["absent"]["lookups_per_second"] = [1000.0]

        self.change("results.json", one_round)
        section = jobs.find("read_amp").section(self.results)
        self.assertIn("(one turn)", section.headline)
        (table,) = [each for each in section.tables if each.caption.startswith("A tree as") and "speed" in each.caption]
        self.assertEqual(str(table.rows[0][1]), "1,000, one turn")
        page = self.make_page(self.results, ["read_amp"])
        self.assertIn("one turn", page.inner_texts["span"])

    def test_a_difference_within_the_noise_is_called_that(self):
        def as_fast(run):
            run.update(
                blocksieve_urls_per_second=[100.0, 90.0, 110.0, 105.0, 95.0],
                stock_urls_per_second=[97.0, 99.0, 98.0, 100.0, 97.5],
            )

        self.change("sieve.json", as_fast)
        (target,) = [each for each in jobs.find("sieve").section(self.results).targets if "throughput" in each.what]
        self.assertTrue(target.met)
        self.assertEqual(target.remark, NOISE)
        page = self.make_page(self.results, ["sieve"])
        self.assertIn(NOISE, page.inner_texts["span"])
        done = self.run_report(self.results, ["sieve"], "--table")
        self.assertIn("met, within the noise", done.stdout)

    def test_no_speed_is_claimed_within_the_noise(self):
        def as_fast(run):
            for each in run["contestants"]:
                each["leveled"]["cold"]["absent"]["lookups_per_second"] = (
                    [100.0, 110.0, 90.0] if each["role"] == "no_filter" else [101.0, 95.0, 99.0]
                )

        self.change("results.json", as_fast)
        headline = jobs.find("read_amp").section(self.results).headline
        self.assertIn("made such lookups as fast as before, within the noise, on a cold cache", headline)

        def as_slow(run):
            turns = collections.defaultdict(lambda: itertools.count(10))
            for each in run["benchmarks"]:
                each["ns_per_key"] = next(turns[each["name"]])

        self.change("filters.json", as_slow)
        self.assertEqual(jobs.find("filters").section(self.results).highlight.figure, "1×, within the noise")

    def test_a_configuration_is_not_beaten_within_the_noise(self):
        def as_fast(run):
            for each in run:
                each["absent_ns"] = [10.0, 11.0, 10.5] if each["stock"] else [10.5, 10.6, 11.0]

        self.change("frontier.json", as_fast)
        self.assertRegex(jobs.find("frontier").section(self.results).highlight.figure, "^0 of ")


class Figures(unittest.TestCase):
    """What is computed of turns."""

    def test_of_many_turns_the_middle_half_and_of_few_all(self):
        five = spread([5, 1, 2, 100, 3])
        self.assertEqual((five.median, five.low, five.high, five.turns), (3, 2, 5, 5))
        three = spread([5, 1, 2])
        self.assertEqual((three.median, three.low, three.high), (2, 1, 5))
        self.assertEqual(str(timed(five, text.significant)), "3.00 (2.00–5.00)")
        self.assertEqual(str(timed(spread([7]), text.significant)), "7.00, one turn")

    def test_what_slows_both_down_in_a_turn_is_no_noise_of_their_ratio(self):
        mine, theirs = [10, 20, 30, 40], [15, 30, 45, 60]
        self.assertTrue(paired(mine, theirs).is_beyond(1))
        self.assertFalse(quotient(mine, theirs).is_beyond(1))
        with self.assertRaises(ValueError):
            paired(mine, theirs[1:])

    def test_what_the_turns_do_not_tell_apart_is_remarked(self):
        self.assertEqual(compared(spread([0.9, 1.0, 1.2]), text.significant).remark, NOISE)
        self.assertEqual(compared(spread([1.1, 1.2, 1.3]), text.significant).remark, "")
        self.assertEqual(compared(spread([2.0]), text.significant).remark, ONE_TURN)
        for target in (at_most("", spread([0.9, 1.0, 1.2]), 1.1), at_least("", spread([0.9, 1.0, 1.2]), 1.1)):
            self.assertEqual(target.remark, NOISE)
        self.assertEqual(at_most("", spread([0.9, 1.0, 1.2]), 1.3).remark, "")
        self.assertEqual(at_most("", spread([0.9, 1.0, 1.2]), 1.3).figure, "1 (0.9–1.2)")
        self.assertEqual(text.times(spread([0.9, 1.0, 1.2])), "1×, within the noise")
        self.assertEqual(text.times(spread([2.0, 2.1, 2.2])), "2.1×")

    def test_turns_of_speeds_are_turned_round(self):
        speed = spread([0.5, 0.25, 1.0]).inverse(10)
        self.assertEqual((speed.median, speed.low, speed.high), (20, 10, 40))

    def test_a_header_without_a_first_line_shares_that_before_it(self):
        table = Table("", ["Keys", "Blocks:\nall", "\nread", "Rows of\na granule"], [["a", "1", "2", "3"]])
        self.assertEqual(table.full_headers, ["Keys", "Blocks: all", "Blocks: read", "Rows of a granule"])
        self.assertEqual(
            table.header_groups, [("", ["Keys"]), ("Blocks:", ["all", "read"]), ("", ["Rows of\na granule"])]
        )


class Phone(ReportTest):
    def test_every_figure_of_a_wide_table_says_what_it_is(self):
        page = self.recorded_page
        labelled = [attributes for tag, attributes in page.elements if tag == "td"]
        self.assertTrue(all(attributes.get("data-label") for attributes in labelled))
        self.assertIn("Partitioned: with ranges", {attributes["data-label"] for attributes in labelled})


if __name__ == "__main__":
    unittest.main()
