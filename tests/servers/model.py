"""What a server of the Redis protocol should answer: random commands, and their replies.

The first letter of a key is its type. An operation takes a random source and the key's value, None if
it is absent, and returns the command without its key, the reply, and the value afterwards. Replies in
no promised order are dictionaries or frozen sets.
"""

MEMBERS = [b"m%02d" % i for i in range(24)]


def some(rng, most=3):
    return rng.sample(MEMBERS, rng.randint(1, most))


def span(rng, things):
    """Both ends of a random range of positions, as Redis counts them, and what is in it."""
    size = len(things)
    first, last = rng.randint(-9, 9), rng.randint(-9, 9)
    begin = max(0, size + first if first < 0 else first)
    return first, last, things[begin:(size + last if last < 0 else last) + 1 if size + last >= 0 else 0]


def lex(rng):
    low, high = sorted(rng.sample(MEMBERS, 2))
    return b"[" + low, b"(" + high, lambda names: [name for name in names if low <= name < high]


def flat(pairs):
    return [word for pair in pairs for word in pair]


def string(rng, value):
    text = value or b""
    new = rng.randbytes(rng.randint(1, 200))
    first, last, part = span(rng, text)
    return [
        (["GET"], value, value),
        (["SET", new], b"OK", new),
        (["SETNX", new], int(value is None), new if value is None else value),
        (["STRLEN"], len(text), value),
        (["GETRANGE", first, last], part, value),
        (["APPEND", b"+" * 9], len(text) + 9, text + b"+" * 9),
    ]


def number(rng, value):
    by = rng.randint(-99, 99)
    sum_ = int(value or 0) + by
    return [
        (["GET"], value, value),
        (["INCRBY", by], sum_, b"%d" % sum_),
        (["SET", by], b"OK", b"%d" % by),
    ]


def hash_(rng, value):
    old = value or {}
    fields = some(rng)
    added = {field: rng.randbytes(rng.randint(1, 60)) for field in fields}
    rest = {field: old[field] for field in old if field not in fields}
    low, high, between = lex(rng)
    one = fields[0]
    return [
        (["HSET", *flat(added.items())], len(added.keys() - old.keys()), {**old, **added}),
        (["HSETNX", one, b"new"], int(one not in old), {one: b"new", **old}),
        (["HDEL", *fields], len(old) - len(rest), rest or None),
        (["HGET", one], old.get(one), value),
        (["HMGET", *fields], [old.get(field) for field in fields], value),
        (["HEXISTS", one], int(one in old), value),
        (["HLEN"], len(old), value),
        (["HKEYS"], frozenset(old), value),
        (["HGETALL"], old, value),
        (["HRANGEBYLEX", low, high], flat((f, old[f]) for f in between(sorted(old))), value),
    ]


def set_(rng, value):
    old = value or frozenset()
    members = some(rng)
    rest = old.difference(members)
    return [
        (["SADD", *members], len(set(members) - old), old.union(members)),
        (["SREM", *members], len(old) - len(rest), rest or None),
        (["SISMEMBER", members[0]], int(members[0] in old), value),
        (["SMISMEMBER", *members], [int(member in old) for member in members], value),
        (["SCARD"], len(old), value),
        (["SMEMBERS"], old, value),
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

    def scored(names):
        return flat((name, b"%d" % old[name]) for name in names)
    first, last, part = span(rng, order)
    sum_ = old.get(one, 0) + low
    return [
        (["ZADD", *flat((score, member) for member, score in added.items())],
         len(added.keys() - old.keys()), {**old, **added}),
        (["ZINCRBY", low, one], b"%d" % sum_, {**old, one: sum_}),
        (["ZREM", *members], len(old) - len(rest), rest or None),
        (["ZREMRANGEBYSCORE", low, high], len(inside), outside or None),
        (["ZSCORE", one], b"%d" % old[one] if one in old else None, value),
        (["ZRANK", one], order.index(one) if one in old else None, value),
        (["ZCARD"], len(old), value),
        (["ZCOUNT", low, high], len(inside), value),
        (["ZRANGE", first, last, "WITHSCORES"], scored(part), value),
        (["ZREVRANGE", 0, -1], order[::-1], value),
        (["ZRANGEBYSCORE", low, high, "WITHSCORES"], scored(inside), value),
        # Kvrocks orders by name here, whatever the scores.
        (["ZRANGEBYLEX", lex_low, lex_high], between(sorted(old)), value),
    ]


def list_(rng, value):
    old = value or []
    new = [rng.randbytes(rng.randint(1, 60)) for _ in range(rng.randint(1, 3))]
    first, last, part = span(rng, old)
    at = rng.randrange(len(old)) if old else 0
    operations = [
        (["LPUSH", *new], len(old) + len(new), new[::-1] + old),
        (["RPUSH", *new], len(old) + len(new), old + new),
        (["LPOP"], old[0] if old else None, old[1:] or None),
        (["RPOP"], old[-1] if old else None, old[:-1] or None),
        (["LLEN"], len(old), value),
        (["LINDEX", at], old[at] if old else None, value),
        (["LRANGE", first, last], part, value),
        (["LRANGE", 0, -1], old, value),
        (["LTRIM", -12, -1], b"OK", old[-12:] or None),
    ]
    if old:
        operations.append((["LSET", at, new[0]], b"OK", old[:at] + new[:1] + old[at + 1:]))
    return operations


def stream(rng, value):
    """A stream: the number of its last entry, and its entries. It exists without any."""
    last, old = value or (0, [])
    new = [b"%d-0" % (last + rng.randint(1, 3)), [b"field", rng.randbytes(20)]]
    number_of_new = int(new[0][:-2])
    gone = rng.choice(old)[0] if old else b"1-0"
    left = [entry for entry in old if entry[0] != gone]
    low, high = sorted(rng.choices(range(last + 3), k=2))
    inside = [entry for entry in old if low <= int(entry[0][:-2]) <= high]
    return [
        (["XADD", new[0], *new[1]], new[0], (number_of_new, old + [new])),
        (["XDEL", gone], len(old) - len(left), value and (last, left)),
        (["XTRIM", "MAXLEN", 9], max(0, len(old) - 9), value and (last, old[-9:])),
        (["XLEN"], len(old), value),
        (["XRANGE", "-", "+"], old, value),
        (["XRANGE", low, high], inside, value),
        (["XREVRANGE", high, low], inside[::-1], value),
    ]


def bitmap(rng, value):
    """A bitmap: the positions of its ones, which lie in several members. It exists without any."""
    old = value or frozenset()
    at = rng.randrange(6) * 9000 + rng.randrange(3)
    bit = int(at in old)
    return [
        (["SETBIT", at, 1], bit, old | {at}),
        (["SETBIT", at, 0], bit, old - {at}),
        (["GETBIT", at], bit, value),
        (["BITCOUNT"], len(old), value),
    ]


def integers(rng, value):
    """Kvrocks' sorted set of integers."""
    old = value or frozenset()
    numbers = rng.sample(range(1, 40), rng.randint(1, 3))
    low, high = sorted(rng.sample(range(1, 40), 2))
    rest = old.difference(numbers)
    return [
        (["SIADD", *numbers], len(set(numbers) - old), old.union(numbers)),
        (["SIREM", *numbers], len(old) - len(rest), rest or None),
        (["SICARD"], len(old), value),
        (["SIEXISTS", *numbers], [int(number in old) for number in numbers], value),
        (["SIRANGEBYVALUE", low, high], [b"%d" % i for i in sorted(old) if low <= i <= high], value),
        (["SIRANGE", 0, 50], [b"%d" % i for i in sorted(old)], value),
    ]


# For each type: its operations, and the command that reads all of a value.
TYPES = {
    "t": (string, "GET"),
    "n": (number, "GET"),
    "h": (hash_, "HGETALL"),
    "s": (set_, "SMEMBERS"),
    "z": (zset, "ZREVRANGE"),
    "l": (list_, "LRANGE 0 -1"),
    "x": (stream, "XRANGE - +"),
    "b": (bitmap, "BITCOUNT"),
    "i": (integers, "SIRANGE 0"),
}


def can_expire(key):
    """Kvrocks' INCRBY and APPEND take the bytes of an expired value for the beginning of the new one."""
    return key[0] not in "nt"


def operation(rng, key, value):
    """A random command, its reply, and the value afterwards."""
    generic = rng.random()
    if generic < 0.02:
        command, reply, after = ["DEL"], int(value is not None), None
    elif generic < 0.03 and can_expire(key):
        command, reply, after = ["EXPIREAT", 1000], int(value is not None), None
    elif generic < 0.05:
        command, reply, after = ["EXISTS"], int(value is not None), value
    else:
        command, reply, after = rng.choice(TYPES[key[0]][0](rng, value))
    return (command[0], key, *command[1:]), reply, after


def whole(rng, key, value):
    """The command that reads all of a value, and its reply."""
    operations, text = TYPES[key[0]]
    for command, reply, _ in operations(rng, value):
        if " ".join(map(str, command)).startswith(text):
            return (command[0], key, *command[1:]), reply
    raise KeyError(text)


def matches(reply, expected):
    if expected == b"":
        return reply in (b"", None)  # Kvrocks' GETRANGE
    if isinstance(expected, dict) and isinstance(reply, list):
        return dict(zip(reply[::2], reply[1::2])) == expected and len(reply) == 2 * len(expected)
    if isinstance(expected, frozenset) and isinstance(reply, list):
        return frozenset(reply) == expected and len(reply) == len(expected)
    return reply == expected
