"""What the tests of the report share: recorded results, the report made of them, and what is in a page."""

import collections
import functools
import html.parser
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.report import jobs  # noqa: E402  after the path to it

RECORDED = pathlib.Path(__file__).resolve().parent / "recorded"
JOBS = ("read_amp", "levels", "filters", "frontier", "space", "skip", "ranges", "toylsm", "sieve", "scale")
VOID = {"meta", "br", "hr", "img", "link", "input"}

def reporting_python():
    """As bench/run finds it."""
    for python in ("python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import jinja2, matplotlib"], capture_output=True).returncode == 0:
            return python
    raise RuntimeError("no python3 that can import jinja2 and matplotlib")


PYTHON = reporting_python()


class Page(html.parser.HTMLParser):
    """What is in a page. Raises AssertionError if its elements are not properly nested."""

    def __init__(self, text):
        super().__init__()
        self.text = text
        self.elements = []  # (tag, attributes)
        self.inner_texts = collections.defaultdict(list)  # tag -> texts
        self._open = []  # (tag, text so far)
        self.feed(text)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append([tag, ""])

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        open_tag, text = self._open.pop()
        assert open_tag == tag, f"</{tag}> closes <{open_tag}> at {self.getpos()}"
        self.inner_texts[tag].append(" ".join(text.split()))
        if self._open:
            self._open[-1][1] += text

    def handle_data(self, data):
        if self._open:
            self._open[-1][1] += data

    def attributes(self, name):
        return [attributes[name] for _, attributes in self.elements if name in attributes]

    def count(self, tag):
        return sum(element == tag for element, _ in self.elements)


class ReportTest(unittest.TestCase):
    @property
    def recorded_page(self):
        return page_of_all_jobs()

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.results = pathlib.Path(directory.name, "results")
        shutil.copytree(RECORDED, self.results)

    @staticmethod
    def run_report(results, jobs, *arguments):
        return subprocess.run(
            [PYTHON, "-B", "-m", "bench.report", "--results", str(results), *arguments, *jobs],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
        )

    @classmethod
    def make_page(cls, results, jobs, command="bench/run --report page", other=None):
        with tempfile.TemporaryDirectory() as directory:
            environment = pathlib.Path(results, "environment.json")
            arguments = ["--page", directory, "--environment", str(environment), "--command", command]
            if other:
                arguments += ["--other", str(other)]
            done = cls.run_report(results, jobs, *arguments)
            if done.returncode != 0:
                raise AssertionError(done.stderr)
            files = sorted(path.name for path in pathlib.Path(directory).iterdir())
            if files != ["index.html"]:
                raise AssertionError(f"one file was to be written, not {files}")
            return Page(pathlib.Path(directory, "index.html").read_text(encoding="utf-8"))

    def change(self, file, change):
        path = self.results / file
        document = json.loads(path.read_text(encoding="utf-8"))
        change(document)
        path.write_text(json.dumps(document), encoding="utf-8")

    def fail_with(self, *jobs):
        done = self.run_report(self.results, jobs, "--table")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr


@functools.cache
def page_of_all_jobs():
    return ReportTest.make_page(RECORDED, JOBS)


def section_of(job):
    return jobs.find(job).section(RECORDED)
