# SPDX-License-Identifier: Apache-2.0
"""What a server of the Redis protocol should answer: random commands, and their replies.

The first letter of a key is its type, one for each column family in which Kvrocks has filters. An operation
takes a random source and the key's value, None if it is absent, and returns the command without its key, the
reply, and the value afterwards. Replies in no promised order are dictionaries or frozen sets.
"""

MEMBERS = [b"m%02d" % i for i in range(24)]


def some(rng):
    return rng.sample(MEMBERS, rng.randint(1, 3))


def lex(rng):
    low, high = sorted(rng.sample(MEMBERS, 2))
    return b"[" + low, b"(" + high, lambda names: [name for name in names if low <= name < high]


def flat(pairs):
    return [word for pair in pairs for word in pair]


def string(rng, value):
    new = rng.randbytes(rng.randint(1, 200))
    return [
        (["GET"], value, value),
        (["SET", new], b"OK", new),
        (["SETNX", new], int(value is None), new if value is None else value),
        (["STRLEN"], len(value or b""), value),
    ]


def hash_(rng, value):
    old = value or {}
    fields = some(rng)
    added = {field: rng.randbytes(rng.randint(1, 60)) for field in fields}
    rest = {field: old[field] for field in old if field not in fields}
    low, high, between = lex(rng)
    return [
        (["HGETALL"], old, value),
        (["HSET", *flat(added.items())], len(added.keys() - old.keys()), {**old, **added}),
        (["HDEL", *fields], len(old) - len(rest), rest or None),
        (["HGET", fields[0]], old.get(fields[0]), value),
        (["HMGET", *fields], [old.get(field) for field in fields], value),
        (["HKEYS"], frozenset(old), value),
        (["HRANGEBYLEX", low, high], flat((f, old[f]) for f in between(sorted(old))), value),
    ]


def zset(rng, value):
    old = value or {}
    order = sorted(old, key=lambda member: (old[member], member))
    members = some(rng)
    one = members[0]
    added = {member: rng.randint(-50, 50) for member in members}
    rest = {member: old[member] for member in old if member not in members}
    low, high = sorted(rng.sample(range(-60, 60), 2))
    inside = [member for member in order if low <= old[member] <= high]
    outside = {member: old[member] for member in old if member not in inside}
    lex_low, lex_high, between = lex(rng)
    return [
        (["ZREVRANGE", 0, -1], order[::-1], value),
        (["ZADD", *flat((score, member) for member, score in added.items())],
         len(added.keys() - old.keys()), {**old, **added}),
        (["ZREM", *members], len(old) - len(rest), rest or None),
        (["ZREMRANGEBYSCORE", low, high], len(inside), outside or None),
        (["ZSCORE", one], b"%d" % old[one] if one in old else None, value),
        (["ZCOUNT", low, high], len(inside), value),
        (["ZRANGEBYSCORE", low, high, "WITHSCORES"],
         flat((name, b"%d" % old[name]) for name in inside), value),
        # Kvrocks orders by name here, whatever the scores.
        (["ZRANGEBYLEX", lex_low, lex_high], between(sorted(old)), value),
    ]


def stream(rng, value):
    """A stream: the number of its last entry, and its entries. It exists without any."""
    last, old = value or (0, [])
    number = last + rng.randint(1, 3)
    new = [b"%d-0" % number, [b"field", rng.randbytes(20)]]
    gone = rng.choice(old)[0] if old else b"1-0"
    left = [entry for entry in old if entry[0] != gone]
    low, high = sorted(rng.choices(range(last + 3), k=2))
    inside = [entry for entry in old if low <= int(entry[0][:-2]) <= high]
    return [
        (["XRANGE", "-", "+"], old, value),
        (["XADD", new[0], *new[1]], new[0], (number, old + [new])),
        (["XDEL", gone], len(old) - len(left), value and (last, left)),
        (["XTRIM", "MAXLEN", 9], max(0, len(old) - 9), value and (last, old[-9:])),
        (["XREVRANGE", high, low], inside[::-1], value),
    ]


TYPES = {"t": string, "h": hash_, "z": zset, "x": stream}


def operation(rng, key, value):
    """A random command, its reply, and the value afterwards."""
    if rng.random() < 0.03:
        command, reply, after = ["DEL"], int(value is not None), None
    else:
        command, reply, after = rng.choice(TYPES[key[0]](rng, value))
    return (command[0], key, *command[1:]), reply, after


def whole(rng, key, value):
    """The command that reads all of a value, the first operation of a type, and its reply."""
    command, reply, _ = TYPES[key[0]](rng, value)[0]
    return (command[0], key, *command[1:]), reply


def matches(reply, expected):
    if isinstance(expected, dict) and isinstance(reply, list):
        return dict(zip(reply[::2], reply[1::2])) == expected and len(reply) == 2 * len(expected)
    if isinstance(expected, frozenset) and isinstance(reply, list):
        return frozenset(reply) == expected and len(reply) == len(expected)
    return reply == expected
