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
