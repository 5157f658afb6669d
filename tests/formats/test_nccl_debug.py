"""Logs of NCCL_DEBUG: layouts made here, and real logs against figures of other parsers."""

import re
from collections import Counter

import pytest
from field import manifest, needed

from hopline.errors import FormatError
from hopline.formats.nccl_debug.reader import read
from hopline.records.nccl_names import ALGORITHMS, FUNCTIONS, PROTOCOLS

HEAD = "node1:11:12 [0] NCCL INFO "


def log(tmp_path, *lines):
    path = tmp_path / "nccl.log"
    path.write_text("\n".join(lines) + "\n")
    return read(str(path))


def test_the_wide_table_of_2_8(tmp_path):
    ways = [(a, p) for a in ("Tree", "Ring", "CollNet") for p in PROTOCOLS]
    head = "Latency/AlgBw |" + "".join(f" {a:>7}/{p:>6} |" for a, p in ways)
    threads = " Max NThreads |" + "".join(f" {100 + i:14} |" for i in range(9))
    row = f"{'AllReduce':>13} |" + "".join(f"{1.5 + i:8.1f}/{10.0 * i:6.1f} |" for i in range(9))
    found = log(tmp_path, HEAD + head, HEAD + threads, HEAD + row)
    (table,) = found.tables
    assert table.cells["AllReduce", "Ring", "LL128"].latency == pytest.approx(5.5e-6)
    assert table.cells["AllReduce", "Ring", "LL128"].bandwidth == pytest.approx(40e9)
    assert not table.cells["AllReduce", "Tree", "LL"].usable
    assert table.cells["AllReduce", "CollNet", "Simple"].bandwidth == pytest.approx(80e9)
    assert table.threads["Ring", "LL"] == 103


def blocks(head=HEAD):
    """The table of 2.24 on: blocks of three algorithms; cell i of all has i µs and i GB/s."""
    lines, width = [], len(PROTOCOLS)
    for first in range(0, len(ALGORITHMS), 3):
        names = ALGORITHMS[first : first + 3]
        lines.append(head + "  Algorithm   |" + "".join(f" {'':14}   {name:>14}   {'':14} |" for name in names))
        lines.append(head + "  Protocol    |" + "".join(f" {p:>14} |" for p in PROTOCOLS * 3))
        lines.append(head + " Max NThreads |" + "".join(f" {512:14} |" for _ in range(width * len(names))))
        for function in FUNCTIONS:
            cells = range(first * width, (first + len(names)) * width)
            lines.append(head + f"{function:>13} |" + "".join(f"{i:8.1f}/{i:6.1f} |" for i in cells))
    return lines


def test_blocks_of_three_algorithms(tmp_path):
    (table,) = log(tmp_path, *blocks()).tables
    assert len(table.cells) == 5 * 7 * 3
    for i, (algorithm, protocol) in enumerate((a, p) for a in ALGORITHMS for p in PROTOCOLS):
        assert table.cells["Reduce", algorithm, protocol].latency == pytest.approx(i * 1e-6)


def test_two_tables_are_two_also_where_processes_write_between_one_another(tmp_path):
    assert len(log(tmp_path, *blocks(), *blocks()).tables) == 2
    other = [line for pair in zip(blocks(), blocks("node2:7:8 [1] NCCL INFO "), strict=True) for line in pair]
    found = log(tmp_path, *other)
    assert [len(table.cells) for table in found.tables] == [105, 105]
    assert found.hosts == ("node1", "node2")


def test_a_cut_table_is_told_and_not_guessed(tmp_path):
    rows = [line for line in blocks() if "AllReduce" in line]
    found = log(tmp_path, *rows)
    assert found.tables == ()
    assert "stand without their head" in " ".join(found.notes)
    half = log(tmp_path, *blocks()[:6])
    assert len(half.tables[0].cells) == 27


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("256 Bytes -> Algo 0 proto 0 time 26.000000", ("", 256, "Tree", "LL", 26e-6, None)),
        ("AllReduce: 512 Bytes -> Algo 4 proto 2 time 1.5e+02", ("AllReduce", 512, "NVLS", "Simple", 150e-6, None)),
        ("AllGather: 4096 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..3}", ("AllGather", 4096, "Ring", "LL128", None, (0, 3))),
        ("Broadcast:134217728 Bytes -> Algo NVLSTREE proto SIMPLE channel{Lo..Hi}={2..15}",
         ("Broadcast", 134217728, "NVLSTree", "Simple", None, (2, 15))),
        ("Reduce:     8 Bytes -> Algo 9 proto 1 time 3", ("Reduce", 8, "9", "LL128", 3e-6, None)),
    ],
)  # fmt: skip
def test_calls_in_all_layouts(tmp_path, text, told):
    for line in (HEAD + text, "NCCL INFO " + text, "[1,3]<stdout>:" + HEAD + text):
        (call,) = log(tmp_path, line).calls
        found = (call.function, call.size, call.algorithm, call.protocol, call.predicted, call.channels)
        assert found == (*told[:4], pytest.approx(told[4]) if told[4] else None, told[5])
        assert call.measured is None


def test_a_message_inside_of_a_benchmarks_row(tmp_path):
    row = "         256            64     float     sum      -1    "
    found = log(tmp_path, row + "60.00    0.00    0.00      0" + "  " + HEAD + "256 Bytes -> Algo 1 proto 0 time 26.0")
    assert found.calls[0].measured == pytest.approx(60e-6)


def test_calls_as_they_were_made(tmp_path):
    text = "AllReduce: opCount 1f sendbuff 0x7f recvbuff 0x7f count 1024 datatype {} op 0 root 0 comm 0x55 [nranks=16] stream 0x5"
    found = log(tmp_path, HEAD + text.format(7), HEAD + text.format(9), HEAD + text.format(42))
    assert [(c.number, c.datatype, c.element, c.ranks) for c in found.collectives] == [
        (31, "float32", 4, 16), (31, "bfloat16", 2, 16), (31, "datatype 42", None, 16),
    ]  # fmt: skip


def test_old_words_of_2_8(tmp_path):
    found = log(
        tmp_path, HEAD + "Ring 00 : 0[6000] -> 32[7000] [send] via NET/Socket/0", HEAD + "Channel 01/02 :    0   1",
        HEAD + "Pattern 4, crossNic 0, nChannels 8, bw 45.000000/45.000000, type NVL/PXB, sameChannels 0",
        HEAD + "12 coll channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer",
    )  # fmt: skip
    assert found.connections == Counter({"NET/Socket": 1})
    assert (found.channels, found.listed) == (2, 1)
    (search,) = found.searches
    assert (search.channels, search.within, search.net, search.same) == (8, 45e9, "PXB", False)
    assert found.facts["coll_channels"] == 12


def test_several_messages_in_one_line(tmp_path):
    found = log(tmp_path, HEAD + "Connected all rings " + HEAD.replace("node1", "node2") + "Connected all trees")
    assert found.levels == Counter({"INFO": 2})
    assert (found.facts["connected_rings"], found.facts["connected_trees"]) == (1, 1)


def test_what_is_no_log_of_nccl(tmp_path):
    for text in ("hello\n", "NCCL is a library\n"):
        (tmp_path / "x").write_text(text)
        with pytest.raises(FormatError, match="no line of NCCL"):
            read(str(tmp_path / "x"))
    (tmp_path / "y").write_text("")
    with pytest.raises(FormatError, match="empty"):
        read(str(tmp_path / "y"))


def test_what_a_cut_log_does_not_say_is_unknown(tmp_path):
    found = log(tmp_path, HEAD + "Using network IB")
    assert (found.version, found.ranks, found.nodes, found.channels) == ("", None, None, None)
    assert "version of NCCL is not in the log" in " ".join(found.notes)


# --- real logs ----------------------------------------------------------------------------------------------------


def figures(text):
    return {key: value.strip("[]") for key, value in re.findall(r"([\w/>]+)=(\[[^\]]*\]|\S+)", text)}


def usable(found):
    return [cell for table in found.tables for cell in table.cells.values() if cell.usable]


def shown(found):
    return [cell for table in found.tables for cell in table.cells.values() if cell.usable or cell.latency]


def number(count):
    return lambda found: str(count(found))


def choices(found):
    counted = Counter(f"{c.function}/{c.algorithm.upper()}/{c.protocol.upper()}" for c in found.calls)
    return ",".join(f"{name}:{count}" for name, count in counted.most_common())


def plain(text):
    return text.replace(" ", "_")


def each_device(found):
    counts = set(found.devices.values())
    assert len(counts) == 1
    return str(counts.pop())


def by_call(protocol, pick):
    return lambda found: str(pick(call.size for call in found.calls if call.protocol == protocol))


def of(fact):
    return number(lambda log: log.facts[fact])


CHECKS = {
    "nccl_version": lambda log: log.version if log.flavour == "NCCL" else "absent",
    "rccl_version": lambda log: log.version if log.flavour == "RCCL" else "absent",
    "git": lambda log: plain(log.git), "nranks": number(lambda log: log.ranks), "nnodes": number(lambda log: log.nodes),
    "ranks": lambda log: str(log.ranks or "unknown"), "hosts": number(lambda log: len(log.hosts)),
    "network": lambda log: plain("+".join(log.networks)), "network_lines": number(lambda log: log.networks.total()),
    "channels_total": number(lambda log: log.channels),
    "channels_listed": number(lambda log: log.listed), "ring_lines": number(lambda log: log.listed),
    "net_connections": number(lambda log: sum(log.devices.values())),
    "net_ib_connections": number(lambda log: log.connections["NET/IB"]),
    "net_devices_used": lambda log: ",".join(map(str, sorted(log.devices))), "per_net_device": each_device,
    "gdrdma": number(lambda log: log.direct), "gdr": number(lambda log: log.direct),
    "p2p_ipc_connections": number(lambda log: log.connections["P2P/IPC"]),
    "info_lines": number(lambda log: log.levels["INFO"]), "warn_lines": number(lambda log: log.levels["WARN"]),
    "lines": number(lambda log: log.levels.total()), "not_found_warnings": number(lambda log: log.missing.total()),
    "missing_plugin": lambda log: plain("+".join(log.plugins)), "missing_plugins": lambda log: ",".join(log.plugins),
    "ib_devices": lambda log: str(log.facts["ib_devices"] or "none"), "tuner": lambda log: log.tuner[0],
    "tuner_api": lambda log: log.tuner[1], "loaded": lambda log: "yes" if log.tuner[0] else "no",
    "msccl": lambda log: "yes" if log.facts["msccl_lines"] else "no",
    "transport": lambda log: ",".join(f"{way}:{count}" for way, count in log.connections.items()),
    "tuning_cells": number(lambda log: len(usable(log))), "cells": number(lambda log: sum(len(t.cells) for t in log.tables)),
    "cells_not_0/0": number(lambda log: len(shown(log))), "usable_cells_bw>0": number(lambda log: len(usable(log))),
    "per_call_lines": number(lambda log: len(log.calls)), "per_call_choices": choices,
    "largest_LL_bytes": by_call("LL", max), "smallest_SIMPLE_bytes": by_call("Simple", min),
    "bytes": number(lambda log: log.calls[0].size), "algo": lambda log: f"0({log.calls[0].algorithm})",
    "proto": lambda log: f"0({log.calls[0].protocol})",
    "predicted_us": number(lambda log: round(log.calls[0].predicted * 1e6)),
    "measured_us": number(lambda log: round(log.calls[-1].measured * 1e6)),
    "max_channels": number(lambda log: max(call.channels[1] + 1 for call in log.calls)),
    **{name: of(name) for name in ("trees_lines", "socket_interfaces", "coll_channels", "nvls_channels", "p2p_channels",
                                   "init_complete", "connected_rings", "connected_trees")},
}  # fmt: skip
CELL = re.compile(r"([\d.]+)us/([\d.]+)GBps")


@needed
@pytest.mark.parametrize(("path", "computed"), manifest("nccl-logs/"))
def test_real_logs(path, computed):
    found, told = read(str(path)), figures(computed)
    for key, value in told.items():
        cell = CELL.fullmatch(value)
        if cell:
            mine = found.tables[0].cells[tuple(key.split("_"))]
            assert (mine.latency * 1e6, mine.bandwidth / 1e9) == pytest.approx(tuple(map(float, cell.groups())))
        elif key == "channels" and "->" in value:
            assert found.connections.total() == len(value.split(","))
        elif key == "channels":
            assert str(found.channels) == value
        else:
            assert CHECKS[key](found) == value, key
