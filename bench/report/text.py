"""Numbers for people."""

import math

from bench.report.turns import Spread


def count(value):
    return f"{value:,.0f}"


def significant(value, digits=3):
    """Rounded to so many digits, never in the exponent's notation."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def percent(value, digits=3):
    return f"{significant(100 * value, digits)} %"


def scaled(value, units, digits):
    """In the largest of `units`, [(size, name)] from the largest on, in which it is at least 1."""
    size, name = next((unit for unit in units if value >= unit[0]), units[-1])
    return f"{significant(value / size, digits)} {name}"


def bytes_text(value, digits=3):
    return scaled(value, [(10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"), (1, "B")], digits)


def seconds_text(value, digits=3):
    return scaled(value, [(1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")], digits)


def times_fewer(others, ours):
    """How many times fewer `ours` are; of what is counted, which has no noise."""
    if ours >= others:
        return "none"
    return times(others / ours) if ours else "all"


def times_as_fast(ratio):
    """The same in words, of a Spread of speeds."""
    if ratio.turns == 1:
        return f"{significant(ratio.median, 2)} times as fast (one turn)"
    if not ratio.is_beyond(1):
        return "as fast as before, within the noise,"
    low, middle, high = (significant(each, 2) for each in (ratio.low, ratio.median, ratio.high))
    return f"{middle} times ({low}–{high}) as fast"


def times(ratio):
    """How many times as much, of a number or a Spread; what the turns do not tell from as much is not
    called more."""
    if isinstance(ratio, Spread):
        if not ratio.is_beyond(1):
            return "1×, within the noise" if ratio.turns > 1 else f"{times(ratio.median)}, one turn"
        ratio = ratio.median
    return f"{significant(ratio, 2 if ratio < 100 else 3)}×"
