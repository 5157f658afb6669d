"""What the tests of schedule files share: small files, an encoder of Chakra traces, and what two schedules have in common."""

from hopline.curve import Curve
from hopline.machine.fabric import Levels
from hopline.schedule.matching import match
from hopline.schedule.operations import FREE, NONE, RECV, SEND

GOAL = """// two ranks, and one that only computes
num_ranks 3

rank 0 {
first: send 8b to 1 tag 7
wait: recv 16b from 1 tag 7 /* the answer,
which is long in coming */
wait requires first
work: calc 100 cpu 1
work irequires wait
}
rank 1 {
l1: recv 8b from 0 tag 7
l2: send 16b to 0 tag 7 cpu 0 nic 0
l2 requires l1
}

rank 2 { l1: calc 5
}
"""


def fabric(ranks, **rates):
    return Levels.uniform(ranks, Curve.line(1e-6, 1e9), **rates)


def before(schedule):
    """Row -> rows that are done, or have begun, before it begins: bit sets, closed over all waits of its rank."""
    columns = schedule.columns
    direct = [[] for _ in range(len(schedule))]
    lanes = {}
    for row in range(len(schedule)):
        if columns.lane[row] != FREE:
            key = int(columns.rank[row]), int(columns.lane[row])
            if key in lanes:
                direct[row].append(lanes[key])
            lanes[key] = row
        if columns.after[row] != NONE:
            direct[row].append(int(columns.after[row]))
    for row, on in [*schedule.more.tolist(), *schedule.begun.tolist()]:
        direct[row].append(on)
    known = {}

    def closed(row):
        stack = [row]
        while stack:
            here = stack[-1]
            left = [on for on in direct[here] if on not in known]
            if left:
                stack.extend(left)
                continue
            known[here] = 0
            for on in direct[here]:
                known[here] |= known[on] | 1 << on
            stack.pop()
        return known[row]

    return [closed(row) for row in range(len(schedule))]


def names(schedule, kinds, bytes_too=False):
    """A name for each row of ``kinds``, whatever its number: what it is, and the how manieth."""
    columns, found, turns = schedule.columns, {}, {}
    for row in range(len(schedule)):
        kind = int(columns.kind[row])
        if kind not in kinds:
            continue
        parts = ["rank", "peer", "size"] + (["other"] if kind in (SEND, RECV) else [])
        parts += ["buffer", "start", "source", "other"] if bytes_too else []
        name = (kind, *(int(getattr(columns, part)[row]) for part in parts))
        turns[name] = turns.get(name, 0) + 1
        found[row] = (*name, turns[name])
    return found


def order(schedule, kinds, bytes_too=False):
    """Rows by name, and pairs of them of which the first waits, over whatever, for the second."""
    named, earlier = names(schedule, kinds, bytes_too), before(schedule)
    pairs = {(name, named[on]) for row, name in named.items() for on in named if earlier[row] >> on & 1}
    return sorted(named.values()), pairs


def well_met(schedule):
    """Whether every Send and Recv has its other end."""
    mate = match(schedule)
    return bool((mate[schedule.columns.kind <= RECV] != NONE).all())


# --- Chakra ---------------------------------------------------------------------------------------------------------

TYPES = {"META": 1, "LOAD": 2, "COMP": 4, "SEND": 5, "RECV": 6, "COLL": 7}
COLLECTIVES = {
    "all_reduce": 0,
    "reduce": 1,
    "all_gather": 2,
    "broadcast": 5,
    "alltoall": 6,
    "reduce_scatter": 7,
    "barrier": 9,
}


def varint(number):
    out = bytearray()
    while True:
        number, low = number >> 7, number & 127
        out.append(low | (128 if number else 0))
        if not number:
            return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(number, kind, data=(), control=(), time=0, packed=True, **attributes):
    out = field(1, number) + field(2, f"node {number}".encode()) + field(3, TYPES[kind])
    for place, values in ((4, control), (5, data)):
        if values and packed:
            out += field(place, b"".join(map(varint, values)))
        elif values:
            out += b"".join(field(place, value) for value in values)
    if time:
        out += field(7, time)
    for name, value in attributes.items():
        content = field(29, value.encode()) if isinstance(value, str) else field(9, value)
        out += field(10, field(1, name.encode()) + content)
    return out


def collective(number, name, size, data=(), **more):
    return node(number, "COLL", data, comm_type=COLLECTIVES[name], comm_size=size, **more)


def trace(nodes, version=b"0.0.4"):
    return b"".join(varint(len(message)) + message for message in [field(1, version), *nodes])


def write_traces(folder, ranks, prefix="trace"):
    """One file a rank; the first one's path."""
    for rank, nodes in enumerate(ranks):
        (folder / f"{prefix}.{rank}.et").write_bytes(trace(nodes))
    return str(folder / f"{prefix}.0.et")


# --- MSCCL ----------------------------------------------------------------------------------------------------------


def step(number, kind, source=("i", -1), target=("o", -1), count=1, wait=(-1, -1), marked=0):
    return (
        f'<step s="{number}" type="{kind}" srcbuf="{source[0]}" srcoff="{source[1]}" dstbuf="{target[0]}" dstoff="{target[1]}" '
        f'cnt="{count}" depid="{wait[0]}" deps="{wait[1]}" hasdep="{marked}"/>'
    )


def block(number, send, recv, *steps, channel=0):
    return f'<tb id="{number}" send="{send}" recv="{recv}" chan="{channel}">{"".join(steps)}</tb>'


def gpu(number, chunks, *blocks):
    i, o, s = chunks
    return f'<gpu id="{number}" i_chunks="{i}" o_chunks="{o}" s_chunks="{s}">{"".join(blocks)}</gpu>'


def algo(collective_name, chunks, *gpus, inplace=1, **more):
    extra = "".join(f' {name}="{value}"' for name, value in more.items())
    return (
        f'<algo name="made" proto="Simple" nchannels="1" nchunksperloop="{chunks}" ngpus="{len(gpus)}" '
        f'coll="{collective_name}" inplace="{inplace}"{extra}>\n' + "\n".join(gpus) + "\n</algo>\n"
    )


def ring_of_combined_steps():
    """An all-reduce of three ranks by one thread block each: s, rrs, rrcs, rcs, r."""
    gpus = []
    for rank in range(3):
        chunk = [(rank - turn) % 3 for turn in range(5)]
        gpus.append(gpu(rank, (3, 3, 0), block(
            0, (rank + 1) % 3, (rank - 1) % 3,
            step(0, "s", ("i", chunk[0]), ("i", chunk[0])), step(1, "rrs", ("i", chunk[1]), ("i", chunk[1])),
            step(2, "rrcs", ("i", chunk[2]), ("i", chunk[2])), step(3, "rcs", ("i", chunk[3]), ("i", chunk[3])),
            step(4, "r", ("i", chunk[4]), ("i", chunk[4])),
        )))  # fmt: skip
    return algo("allreduce", 3, *gpus)
