"""inspect on files that moved to another level without being rewritten."""

from advise_test import RUNS
from command import CommandTest

SPREAD = "{id=blocksieve;bits_per_key=10}"
# Of filters for points and for ranges.
SPREAD_OVER_BOTH = "{id=blocksieve;wasted_reads=0.02;ranges=true;seek_fraction=0.9}"


class MovedFiles(CommandTest):
    def moved(self):
        """Levels of the moved files, and levels that their filters were built for."""
        return [(file["level"], file["built_for_level"]) for file in self.inspect()["files"]
                if file["built_for_level"] is not None]

    def test_ascending_keys(self):
        self.level_tree("ascend", "300000", SPREAD)
        files = self.inspect()["files"]
        moved = self.moved()
        self.assertGreater(len(files), 20)
        # Only flushes build Bloom filters.
        self.assertEqual(len(moved), sum(file["level"] > 0 and file["filter"]["kind"] == "bloom"
                                         for file in files))
        self.assertGreater(len(moved), 0.9 * len(files))
        for level, built_for in moved:
            self.assertLess(built_for, level)
        text = self.text_of("inspect", "--db", self.db)
        self.assertRegex(text, rf"(?m)^{len(moved)} files with [\d,]+ keys moved to another level, "
                               r"with the filter of the old level:$")
        self.assertEqual(text.count("  from level "), len(moved))

    def test_levels_that_compactions_wrote(self):
        for policy in self.each((SPREAD, SPREAD_OVER_BOTH, "{id=blocksieve;wasted_reads=0.01}",
                                 "blocksieve:0.01", "none")):
            self.build_runs(RUNS, policy)
            self.assertEqual(self.moved(), [], policy)
