"""The jobs of bench/run that have a section in the report, in the page's order. A job's section.py
has a function section(run): from what its JSON file says, a Section."""

import importlib
import json
from typing import NamedTuple


class Job(NamedTuple):
    name: str  # of bench/run's subcommand
    file: str  # that it writes
    module: str

    def section(self, results_dir):
        """Raises ReportError if the file is missing or is not what the job writes."""
        path = results_dir / self.file
        try:
            run = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ReportError(f"{path} is missing; bench/run {self.name} writes it") from None
        except ValueError as error:
            raise ReportError(f"{path} is not JSON: {error}") from None
        try:
            return importlib.import_module(self.module).section(run)
        except (KeyError, IndexError, TypeError) as error:
            raise ReportError(
                f"{path} is not as bench/run {self.name} writes it today, run it again: {error!r}"
            ) from error


class ReportError(Exception):
    """Told to the user in one line."""


JOBS = [
    Job("read_amp", "results.json", "bench.read_amp.section"),
    Job("levels", "levels.json", "bench.levels.section"),
    Job("filters", "filters.json", "bench.filter_bench.section"),
    Job("frontier", "frontier.json", "bench.frontier.section"),
    Job("space", "space.json", "bench.space.section"),
    Job("skip", "skip.json", "bench.skip.section"),
    Job("ranges", "ranges.json", "bench.ranges.section"),
    Job("toylsm", "toylsm.json", "bench.toylsm.section"),
    Job("sieve", "sieve.json", "bench.sieve.section"),
    Job("scale", "scale.json", "bench.scale.section"),
]


def find(name):
    for job in JOBS:
        if job.name == name:
            return job
    raise ReportError(f"no job {name}; there are {', '.join(job.name for job in JOBS)}")
