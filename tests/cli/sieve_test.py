# SPDX-License-Identifier: Apache-2.0
"""blocksieve sieve: the queue as its users run it."""

import re
import subprocess

from command import PROGRAM, CommandTest


class SieveTest(CommandTest):
    def sieve(self, *arguments, stdin=b""):
        return self.succeed("sieve", "--db", self.db, *arguments, stdin=stdin)

    def push(self, *urls):
        """The report of push."""
        return self.sieve("push", "-", stdin="".join(url + "\n" for url in urls).encode()).err

    def pop(self, count):
        return self.sieve("pop", count).out.decode().splitlines()

    def stats(self):
        return self.json_of("sieve", "--db", self.db, "stats")

    def test_file_is_pushed(self):
        path = self.dir / "urls"
        path.write_bytes(b"x\n\ny\r\nz")  # an empty line; no line end at the end
        self.sieve("push", path)
        self.assertEqual(self.sieve("pop", 9).out, b"x\ny\r\nz\n")

    def test_actions_are_done_in_their_order(self):
        path = self.dir / "urls"
        path.write_text("a\nb\n")
        done = self.sieve("push", path, "pop", 1, "forget", path, "stats")
        self.assertTrue(done.out.startswith(b"a\n"), done.out)
        self.assertIn("forgot 2 URLs; 0 had not been seen", done.err)
        self.assertEqual((self.stats()["seen"], self.stats()["queued"]), (0, 0))

    def test_stats_count(self):
        urls = [f"http://example.org/{i}" for i in range(20_000)]
        self.push(*urls)
        self.push(*urls[:5000])
        self.pop(100)
        stats = self.stats()
        self.assertEqual(stats["seen"], 20_000)
        self.assertEqual(stats["queued"], 19_900)
        self.assertEqual(stats["repeats"], 5000)
        self.assertEqual(sum(stats[f"new_by_{how}"] for how in ("counting_filter", "file_filters", "reading")), 20_000)

    def test_overfull_is_reported_and_fixed(self):
        self.sieve("--design", 1000, "push", "-",
                   stdin=b"".join(b"%d\n" % i for i in range(30_000)))
        self.assertTrue(self.stats()["overfull"])
        self.assertRegex(self.sieve("stats").out.decode(), r"estimated +-\n")
        self.sieve("compact")
        stats = self.stats()
        self.assertFalse(stats["overfull"])
        self.assertAlmostEqual(stats["estimated"], 30_000, delta=5 * stats["estimated_standard_error"])

    def test_url_stays_if_nobody_reads(self):
        self.push(*(str(i) for i in range(10)))
        process = subprocess.Popen([PROGRAM, "sieve", "--db", self.db, "pop", "10"],
                                   stdout=subprocess.PIPE)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(len(self.pop(10)), 10)

    def test_closed_output_reports_popped_urls(self):
        urls = [f"http://example.org/{i}/" + "x" * 200 for i in range(5000)]
        self.push(*urls)
        done = subprocess.run(["bash", "-c", '"$@" | head -1', "-", PROGRAM, "sieve", "--db", str(self.db),
                               "pop", "5000"], capture_output=True, check=True)
        self.assertEqual(done.stdout.decode().splitlines(), urls[:1])
        taken = re.search(rb"output closed; ([0-9,]+) URLs? left the queue", done.stderr)
        self.assertTrue(taken, done.stderr)
        self.assertEqual(self.stats()["queued"], 5000 - int(taken[1].replace(b",", b"")))

    def test_full_disk(self):
        path = self.dir / "urls"
        path.write_text("".join(f"http://example.org/{i}/{'x' * 100}\n" for i in range(100_000)))
        for kilobytes in self.each((1, 100, 3000)):
            self.assertIn("blocksieve sieve: ",
                          self.fail_on_full_disk(kilobytes, "sieve", "--db", self.db, "push", path))
