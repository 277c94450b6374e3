"""What bench/run prints, and the page that bench/run --report writes, made of recorded results:
whether they show everything and say what is not met; whether tables need nothing but python3; and
whether the page needs nothing but itself and lets no input become markup."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from report_support import JOBS, RECORDED, ROOT, ReportTest, section_of
from bench.read_amp import section as read_amp  # after the path to it
from bench.report import jobs, plain
from bench.report.section import Section, at_least, at_most, at_most_one_in
from bench.report.table import Table

WITHOUT_PACKAGES = """
import runpy, sys
sys.modules.update(jinja2=None, markupsafe=None, matplotlib=None)
runpy.run_module("bench.report", run_name="__main__")
"""
HOSTILE = "<script>alert('x')</script> & \"quoted\" $x^2$"


class SelfContained(ReportTest):
    def test_no_script_and_nothing_from_elsewhere(self):
        page = self.recorded_page
        for tag in ("script", "link", "img", "iframe", "object", "base"):
            self.assertEqual(page.count(tag), 0, tag)
        for reference in page.attributes("href") + page.attributes("xlink:href"):
            self.assertTrue(reference.startswith("#"), reference)
        self.assertEqual(page.attributes("src"), [])
        for url in re.findall(r"url\(([^)]*)", page.text):
            self.assertTrue(url.startswith("#"), url)
        self.assertNotIn("@import", page.text)

    def test_names_are_unique_and_references_lead_somewhere(self):
        page = self.recorded_page
        names = page.attributes("id")
        self.assertEqual(len(names), len(set(names)))
        references = [each[1:] for each in page.attributes("href") + page.attributes("xlink:href")]
        references += re.findall(r"url\(#([^)]*)\)", page.text)
        for attribute in ("aria-labelledby", "aria-describedby"):
            references += page.attributes(attribute)
        self.assertEqual(set(references) - set(names), set())

    def test_every_colour_is_a_variable_that_both_themes_define(self):
        style = re.search(r"<style>(.*?)</style>", self.recorded_page.text, re.DOTALL).group(1)
        light, dark = (set(re.findall(r"(--[\w-]+):", line)) for line in style.split("\n") if "--text:" in line)
        self.assertEqual(light, dark)
        used = set(re.findall(r"var\((--[\w-]+)\)", self.recorded_page.text)) - {"--font"}
        self.assertEqual(used - light, set())
        body = self.recorded_page.text.split("</style>", 1)[1]
        self.assertEqual(re.findall(r"(?:fill|stroke|color): *#[0-9a-fA-F]{3,6}", body), [])


class Accessible(ReportTest):
    def test_language_title_viewport_and_header_cells(self):
        page = self.recorded_page
        self.assertTrue(page.text.startswith("<!DOCTYPE html>"))
        self.assertIn(("html", {"lang": "en"}), page.elements)
        self.assertEqual(page.inner_texts["title"], ["blocksieve: measured"])
        self.assertIn("width=device-width, initial-scale=1", page.attributes("content"))
        for tag, attributes in page.elements:
            if tag == "th":
                self.assertIn(attributes.get("scope"), ("row", "col", "colgroup"))

    def test_every_figure_has_a_title_and_says_what_is_seen(self):
        drawings = [attributes for tag, attributes in self.recorded_page.elements if tag == "svg"]
        self.assertEqual(len(drawings), self.recorded_page.count("figure"))
        for attributes in drawings:
            self.assertEqual(attributes["role"], "img")
            self.assertIn("aria-labelledby", attributes)
            self.assertIn("aria-describedby", attributes)

    def test_wide_tables_scroll_by_themselves(self):
        regions = self.recorded_page.attributes("class").count("wide")
        self.assertEqual(regions, self.recorded_page.count("table"))


class Complete(ReportTest):
    def test_machine_and_build(self):
        values = self.recorded_page.inner_texts["dd"]
        for value in ("bench/run --report page", "2", "avx512", "GNU 12.2.0", "Release"):
            self.assertIn(value, values)
        self.assertTrue(any("without AVX2" in value for value in values))
        self.assertTrue(any(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", value) for value in values))

    def test_it_says_so_if_avx2_of_rocksdb_is_not_known(self):
        self.change("environment.json", lambda environment: environment.update(rocksdb="9.0.0"))
        values = self.make_page(self.results, ["sieve"]).inner_texts["dd"]
        self.assertTrue(any("AVX2 is not known" in value for value in values), values)

    def test_sections_figures_and_tables(self):
        page = self.recorded_page
        for job in JOBS:
            self.assertIn(job, page.attributes("id"))
        titles = page.inner_texts["figcaption"]
        for title in (
            "Wasted reads against memory: size ratio 4, static levels",
            "Probe of an absent key, against the limit",
            "Space against the limit, 10,000 keys",
            "Space of ribbon filters, of the limit",
            "Blocks read by a scan: real rows, package = v",
            "Index analysis against number of granules",
            "Data blocks per seek in ranges without keys",
            "Data blocks read by a scan for one value",
            "Memory of all filters, M(N)",
            "Wasted reads per lookup of an absent key, W(N)",
            "Index analysis for one value, A(N)",
        ):
            self.assertIn(title, titles)
        captions = page.inner_texts["caption"] + page.inner_texts["summary"]
        for caption in (
            "A tree as RocksDB's default options shape it: speed of lookups",
            "Bits per key (measured FPR)",
            "Analysis of an index for one value",
            "Seeks in ranges that hold one key",
            "What db_bench measures",
            "URLs pushed per second, rounds of 400,000",
            "From a million keys to a million million",
            "Single filters at a target of 1 %, built for real",
        ):
            self.assertIn(caption, captions)
        self.assertEqual(len(captions), page.count("table") + len(("What is not met", "Machine and build")))

    def test_a_formula_stands_beside_each_figure_of_scale_and_extrapolations_are_marked(self):
        page = self.make_page(RECORDED, ["scale"])
        for cell in ("g · Σ nᵢ · bits(pᵢ) / 8", "f · Σ pᵢ", "v · N", "t · N / 10⁶"):
            self.assertIn(cell, page.inner_texts["td"])
        headers = page.inner_texts["th"]
        measured = max(tree["keys"] for tree in json.loads((RECORDED / "scale.json").read_text())["trees"])
        for exponent, power in zip(range(6, 13), ("10⁶", "10⁷", "10⁸", "10⁹", "10¹⁰", "10¹¹", "10¹²")):
            self.assertIn(f"N = {power}" + (" extrapolated" if 10**exponent > measured else ""), headers)

    def test_a_page_of_one_job_has_that_alone(self):
        page = self.make_page(RECORDED, ["sieve"])
        self.assertEqual(page.inner_texts["h2"], ["The URL sieve"])
        self.assertEqual(page.inner_texts["title"], ["blocksieve: The URL sieve"])


class OtherRocksDb(ReportTest):
    """What bench/run --rocksdb measured again."""

    def setUp(self):
        super().setUp()
        self.other = self.results / "rocksdb-11.8.1"
        self.other.mkdir()
        for file in ("filters.json", "frontier.json"):
            shutil.copy(RECORDED / file, self.other)

    def test_tables_name_it(self):
        done = self.run_report(self.results, ["filters", "sieve"], "--table", "--other", str(self.other))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("The same with RocksDB 11.8.1:"), 1, done.stdout)
        self.assertIn(f"{self.other}/filters.json", done.stdout)

    def test_page_has_sections_and_targets_of_both(self):
        page = self.make_page(self.results, ["filters", "frontier", "sieve"], other=self.other)
        for name in ("filters", "filters-other", "frontier", "frontier-other", "sieve"):
            self.assertEqual(page.attributes("id").count(name), 1, name)
        self.assertNotIn("sieve-other", page.attributes("id"))
        targets = sum(len(section_of(job).targets) for job in ("filters", "frontier") * 2 + ("sieve",))
        self.assertTrue(any(f"of {targets} targets are met" in text for text in page.inner_texts["p"]))


class Honest(ReportTest):
    def test_what_is_not_met_is_said_twice(self):
        def drop_urls(run):
            run.update(dropped=17, stock_urls_per_second=run["blocksieve_urls_per_second"])

        self.change("sieve.json", drop_urls)
        page = self.make_page(self.results, ["sieve"])
        self.assertEqual(page.inner_texts["span"].count("not met"), 2)
        self.assertIn("17", page.inner_texts["td"])
        self.assertIn("Targets: 7 of 8 met", page.inner_texts["caption"])
        self.assertTrue(any("new URLs dropped: 17, wanted ≤ 0" in item for item in page.inner_texts["li"]))

    def test_a_ratio_above_its_target_is_not_met(self):
        def slow_down(run):
            for each in run["benchmarks"]:
                if each["run_name"].startswith("build/blocksieve"):
                    each["ns_per_key"] *= 100

        self.change("filters.json", slow_down)
        page = self.make_page(self.results, ["filters"])
        missed = [item for item in page.inner_texts["li"] if "build" in item]
        self.assertEqual(len(missed), 4, missed)  # two kinds of filters, two sizes

    def test_ranges_are_compared_with_the_best_of_the_others(self):
        def better_prefixes(run):
            for keys in run["sets"]:
                for each in keys["contestants"]:
                    if each["role"] == "prefix_bloom":
                        each["blocks_per_seek"] = [0.2] * len(each["blocks_per_seek"])

        def missed():
            targets = jobs.find("ranges").section(self.results).targets
            return sum("times fewer" in each.what for each in targets if not each.met)

        self.change("ranges.json", better_prefixes)
        self.assertEqual(missed(), 4)  # integers and tenants, full and partitioned

    def test_a_filter_that_does_not_pay_and_takes_bytes_is_a_target_missed(self):
        def of_paths(run):
            keys = next(keys for keys in run["sets"] if keys["set"] == "paths")
            return {each["role"]: each for each in keys["contestants"]}

        def missed(more_bytes):
            def change(run):
                paths = of_paths(run)
                paths["ranges"]["filter_bytes"] = paths["points"]["filter_bytes"] + more_bytes

            self.change("ranges.json", change)
            targets = jobs.find("ranges").section(self.results).targets
            return [each.what for each in targets if "more bytes" in each.what and "full" in each.what and not each.met]

        self.assertEqual(missed(0), [])
        self.assertEqual(missed(1), ["more bytes where ranges do not pay: paths, full"])

    def test_a_denied_key_is_a_target_missed(self):
        self.change("scale.json", lambda run: run["trees"][0].update(false_negatives=1))
        targets = jobs.find("scale").section(self.results).targets
        self.assertEqual([each.what for each in targets if not each.met], ["keys that their filter denies"])


class Witness(ReportTest):
    def run_db_bench(self, path):
        return subprocess.run(
            [sys.executable, "-B", str(ROOT / "bench/ranges/db_bench.py"), "--plugin=none.so", f"--out={self.results}"],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "PATH": path},
        )

    def test_without_a_db_bench_there_are_no_figures_of_it_and_it_says_so(self):
        self.change("ranges.json", lambda run: run.pop("db_bench"))
        before = (self.results / "ranges.json").read_bytes()
        done = self.run_db_bench("")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no db_bench in PATH", done.stderr)
        self.assertEqual((self.results / "ranges.json").read_bytes(), before)
        captions = [table.caption for table in jobs.find("ranges").section(self.results).tables]
        self.assertNotIn("What db_bench measures", captions)


class Escaped(ReportTest):
    def test_no_text_of_an_input_becomes_markup(self):
        def rename(run):
            run["input"] = run["contestants"][1]["name"] = HOSTILE

        self.change("results.json", rename)
        self.change("skip.json", lambda run: run["scans"][0].update(column=HOSTILE))
        page = self.make_page(self.results, ["read_amp", "skip"], command=HOSTILE)
        self.assertEqual(page.count("script"), 0)
        self.assertIn(HOSTILE, page.inner_texts["dd"])
        self.assertIn(f"Input: {HOSTILE}", page.inner_texts["p"])
        self.assertTrue(any(HOSTILE in text for text in page.inner_texts["th"]))
        self.assertTrue(any(HOSTILE in text for text in page.inner_texts["figcaption"]))
        self.assertTrue(any(HOSTILE in text for text in page.inner_texts["text"]))  # of a drawing


class Faults(ReportTest):
    def test_a_missing_file_is_named_and_who_writes_it(self):
        (self.results / "skip.json").unlink()
        self.assertRegex(self.fail_with("sieve", "skip"), r"skip\.json is missing; bench/run skip writes it")

    def test_a_damaged_file_is_named(self):
        (self.results / "skip.json").write_text("{")
        self.assertRegex(self.fail_with("skip"), r"skip\.json is not JSON")

    def test_results_of_another_version_are_named(self):
        self.change("skip.json", lambda run: run.pop("analyses"))
        self.assertRegex(self.fail_with("skip"), r"skip\.json is not as bench/run skip writes it.*'analyses'")

    def test_an_unknown_job_is_named_and_those_that_there_are(self):
        self.assertRegex(self.fail_with("sieves"), r"no job sieves; there are read_amp, .*scale")


class Text(ReportTest):
    def test_headers_of_several_lines_stand_at_the_bottom_and_numbers_to_the_right(self):
        self.assertEqual(
            plain.aligned(Table("", ["", "size\nKiB", "n"], [["a name", "1.0", "12"]])),
            "        size\n         KiB   n\n----------------\na name   1.0  12",
        )

    def test_targets_are_met_up_to_their_limits(self):
        targets = [
            at_most("most", 1.25, 1.25, " x"),
            at_most("most", 1.2501, 1.25, " x"),
            at_least("least", 300, 300),
            at_least("least", 299.9, 300),
            at_most_one_in("part", 1 / 404, 300),
            at_most_one_in("part", 1 / 299, 300),
            at_most("unknown", float("nan"), 1),
        ]
        section = Section("job", "A job", "What it measures.", "It saved nothing.", targets=targets)
        self.assertEqual(
            plain.plain_text(section, "job.json"),
            """\
What it measures.

Targets: 3 of 7 met

To be reached    Target  Measured  Verdict
------------------------------------------
most           ≤ 1.25 x    1.25 x      met
most           ≤ 1.25 x    1.25 x   MISSED
least             ≥ 300       300      met
least             ≥ 300     299.9   MISSED
part            ≤ 1/300     1/404      met
part            ≤ 1/300     1/299   MISSED
unknown             ≤ 1       nan   MISSED

Details: job.json
It saved nothing.""",
        )

    def test_every_job_prints_its_tables_with_python_alone(self):
        for job in JOBS:
            with self.subTest(job):
                # As where neither package is installed; and an encoding may lack what is printed.
                done = subprocess.run(
                    ["python3", "-B", "-c", WITHOUT_PACKAGES, "--results", RECORDED, "--table", job],
                    cwd=ROOT,
                    capture_output=True,
                    text=True,
                    timeout=120,
                    env={**os.environ, "PYTHONIOENCODING": "ascii"},
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"Details: {RECORDED}/", done.stdout)
                for table in section_of(job).tables:
                    self.assertIn(table.rows[-1][0].encode("ascii", "replace").decode(), done.stdout)

    def test_what_was_saved_and_at_which_price(self):
        def contestant(role, blocks, num_bytes, rate):
            lookups = {"data_blocks_per_lookup": blocks, "lookups_per_second": [rate]}
            leveled = {"filter_bytes": num_bytes, "filter_bits_per_key": num_bytes / 1000, "cold": {"absent": lookups}}
            return {"role": role, "name": f"{role} {num_bytes}", "leveled": leveled}

        def saved(our_blocks):
            return read_amp.saved(
                [
                    contestant("no_filter", 6, 0, 100),
                    contestant("stock_bloom", 0.06, 10_000, 5000),
                    contestant("stock_ribbon", 0.06, 8_000, 5000),
                    contestant("blocksieve", our_blocks, 9_001, 1),
                    contestant("blocksieve", our_blocks, 9_000, 5000),
                ]
            )

        self.assertEqual(
            saved(0.06),
            "Saved: 99.0 % of the reads: a lookup of an absent key read 0.06 data blocks with blocksieve 9000 and 6 "
            "without a filter, which made such lookups 50 times as fast (one turn) on a cold cache, for 9.00 filter bits per key, "
            "10.0 % fewer than stock Bloom and 12.5 % more than stock Ribbon at the same rate.",
        )
        self.assertTrue(saved(6).startswith("Nothing was saved: "))
        self.assertTrue(saved(6.001).startswith("Nothing was saved: "))
        self.assertEqual(read_amp.fewer_or_more(100.04, 100), "as many as")
        for job in ("skip", "toylsm"):
            self.assertTrue(section_of(job).headline.startswith("Saved: "))


class Plots(ReportTest):
    def test_each_figure_is_a_file(self):
        self.assertEqual(self.run_report(self.results, ["frontier"], "--plots").returncode, 0)
        names = sorted(path.name for path in self.results.glob("*.png"))
        self.assertEqual(names, ["frontier-probe-10000.png", "frontier-space-10000.png"])


if __name__ == "__main__":
    unittest.main()
