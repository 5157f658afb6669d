"""Real topology files, against counts that were worked out by other parsers."""

from collections.abc import Mapping

import pytest
from field import FIELD, manifest, needed
from topology_files import wired

from hopline.errors import MachineError

pytestmark = needed


def told(computed):
    """Key -> text of the value."""
    return dict(item.split("=", 1) for item in computed.split())


def words(text, key):
    """The entries of a list or mapping; quoted ones have _ for blanks."""
    apart = ";" if ";" in text or key in ("cpu_affinity_groups", "numa") else ","
    inner = text.strip("[]")
    return (
        []
        if inner in ("", "none")
        else [word.replace("_", " ") if '"' in word else word for word in inner.split(apart)]
    )


def same_number(fact, text):
    """Equal to the last digit that is printed."""
    digits = text.partition("e")[0].partition(".")[2]
    exact = not digits or "e" in text
    return fact == pytest.approx(
        float(text), rel=1e-12 if exact else 0, abs=0 if exact else 0.5001 * 10.0 ** -len(digits)
    )


def same(key, fact, text):
    if isinstance(fact, bool):
        return text == ("yes" if fact else "no")
    if isinstance(fact, Mapping):
        entries = [word.replace('"', "").rsplit(":", 1) for word in words(text, key)]
        return dict(fact) == {name: int(count) for name, count in entries}
    if isinstance(fact, tuple):
        entries = words(text, key)
        numbers = fact and not isinstance(fact[0], str)
        return len(fact) == len(entries) and all(
            same_number(one, entry) if numbers else one == entry for one, entry in zip(fact, entries, strict=True)
        )
    return fact == text if isinstance(fact, str) and not text.isdigit() else same_number(float(fact), text)


@pytest.mark.parametrize(("path", "computed"), manifest("topo/"))
def test_all_counts(path, computed):
    facts, figures = wired(path).facts, told(computed)
    assert figures
    assert [key for key in figures if key not in facts] == []
    if "nic_legend" in figures and figures["nic_legend"] != "none":
        figures["nic_legend"] = f"[{figures['nic_legend']}]"
    assert [(key, facts[key], text) for key, text in figures.items() if not same(key, facts[key], text)] == []


@pytest.mark.parametrize(("path", "computed"), manifest("topo/"))
def test_machine_or_reason(path, computed):
    wiring = wired(path)
    if "graph" in path.name:
        with pytest.raises(MachineError, match="not how the machine is wired"):
            wiring.machine()
        return
    machine = wiring.machine(dict.fromkeys(wiring.unknown, 10e9))
    devices = [name for name, node in machine.nodes.items() if node.kind == "device"]
    gpus = int(told(computed).get("gpus_by_class") or told(computed).get("gpus") or 0)
    assert devices[:gpus] == [f"gpu{rank}" for rank in range(gpus)]
    for device in devices[1:]:
        assert machine.path([devices[0], device]).legs


def rate(path, *ends):
    """Byte/s of a way, all unknown cables at 1 TB/s."""
    wiring = wired(FIELD / "topo" / path)
    machine = wiring.machine(dict.fromkeys(wiring.unknown, 1e12))
    return min(leg.link.bandwidth for leg in machine.path(ends).legs)


@pytest.mark.parametrize(
    ("path", "ends", "bandwidth"),
    [
        ("aws-p4d-24xl-topo.xml", ("gpu0", "nic0"), 8e9 * 16 / 8 * 128 / 130),
        ("azure-ndv4-topo.xml", ("gpu0", "gpu1"), 16e9 * 16 / 8 * 128 / 130),
        ("azure-ncv4-topo.xml", ("gpu3", "eth0"), 100e9 / 8),
        ("rccl-topo_16p1h.xml", ("gpu0", "gpu1"), 4 * 50e9),
        ("rccl-topo_16p1h.xml", ("gpu0", "mlx5_0"), 16e9 * 8 / 8 * 128 / 130),
        ("rccl-topo_3p_pcie.xml", ("gpu0", "mlx5_0"), 200e9 / 8),
        ("hwloc-nixl-p5.48xl-topo.xml", ("gpu0", "rdmap79s0"), 15.753846e9),
        ("hwloc-nixl-p6-b200.48xl-topo.xml", ("gpu0", "rdmap79s0"), 63.015385e9),
        ("taccl-topo-dgx2-1MB.json", ("n0.gpu0", "n0.gpu15"), 125e9),
        ("taccl-topo-dgx2-1MB.json", ("n0.gpu0", "n1.gpu0"), 1e6 / 105e-6),
    ],
)
def test_rates(path, ends, bandwidth):
    assert rate(path, *ends) == pytest.approx(bandwidth, rel=1e-9)


def test_links_of_a_gpu_to_itself_join_nothing():
    wiring = wired(FIELD / "topo" / "azure-ncv4-topo.xml")
    assert not [c for c in wiring.cables if "gpu" in c.ends[0] and "gpu" in c.ends[1]]
    assert any("48 links of GPUs to themselves" in remark for remark in wiring.remarks)
    assert wiring.unknown == ("PCIe", "SYS")


def hops(wiring, one, other):
    machine = wiring.machine(dict.fromkeys(wiring.unknown, 1e9))
    return len(machine.path([one, other]).legs)


def test_fabric_adapters_stand_by_their_gpus():
    for name, each in (("hwloc-nixl-p5.48xl-topo.xml", 4), ("hwloc-nixl-p6-b200.48xl-topo.xml", 2)):
        wiring = wired(FIELD / "topo" / name)
        adapters = [node.name for node in wiring.nodes if node.name.startswith("rdmap")]
        for gpu in range(8):
            distances = sorted(hops(wiring, f"gpu{gpu}", adapter) for adapter in adapters)
            assert distances.count(distances[0]) == each


def test_adapters_of_no_numa_node_are_near_to_none():
    wiring = wired(FIELD / "topo" / "hwloc-nixl-g5.48xl-topo.xml")
    assert {hops(wiring, f"gpu{gpu}", "rdmap0s21") for gpu in range(8)} == {2}
    assert any("not from a NUMA node" in remark for remark in wiring.remarks)


def test_xgmi_groups():
    for name in ("rccl-topo_4p3l_n4.xml", "rccl-topo_8p_rome_4nics.xml"):
        links = [c for c in wired(FIELD / "topo" / name).cables if c.label == "xGMI"]
        near = {end: {e for c in links if end in c.ends for e in c.ends} for c in links for end in c.ends}
        assert len(links) == 12
        assert len({frozenset(group) for group in near.values()}) == 2
