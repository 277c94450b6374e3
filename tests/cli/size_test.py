# SPDX-License-Identifier: Apache-2.0
"""blocksieve size."""

import math

from command import CommandTest


class SizeTest(CommandTest):
    def size(self, *arguments):
        layouts = self.json_of("size", *arguments)["layouts"]
        return {layout["kind"]: layout for layout in layouts}

    def test_known_values(self):
        layouts = self.size("--fpr", 0.01, "--keys", 1000000)
        self.assertEqual(list(layouts), ["ribbon", "bloom"])
        # The library figures in README.md.
        self.assertEqual(layouts["bloom"]["num_bytes"], 1242240)
        self.assertEqual(layouts["bloom"]["num_probes"], 6)

    def test_what_is_predicted(self):
        for fpr in (0.5, 0.1, 0.01, 0.001, 1e-5, 1e-7):
            for kind, layout in self.size("--fpr", fpr).items():
                with self.subTest(kind=kind, fpr=fpr):
                    predicted = layout["predicted_fpr"]
                    self.assertLessEqual(predicted, fpr)
                    limit = math.log2(1 / predicted)
                    self.assertAlmostEqual(layout["limit_bits_per_key"], limit, places=9)
                    bits = 8 * layout["num_bytes"] / 1e6
                    self.assertAlmostEqual(layout["above_limit"], bits / limit - 1, places=9)
                    self.assertLess(abs(bits - layout["bits_per_key"]), 0.4)
                    self.assertGreater(layout["above_limit"], 0)

    def test_table(self):
        self.check_text(("size", "--fpr", 0.01),
                        r"\A1,000,000 keys at a false-positive rate of 0\.01\n\nkind .*\nribbon .*\n"
                        r"bloom .* 1,242,240 .*\n\Z")

    def test_what_fits_in_part(self):
        text = self.text_of("size", "--bits-per-key", 1.2)
        self.assertIn("ribbon", text)
        self.assertIn("bloom: bits_per_key is 1.2; allowed:", text)

    def test_nothing_fits(self):
        message = self.fail_with(2, "size", "--bytes", 10, "--keys", 1000000)
        self.assertIn("no kind of filter fits 1,000,000 keys in up to 10 bytes", message)
