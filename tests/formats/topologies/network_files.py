"""Small network files of our own, one of each kind."""

from hopline.formats.topologies.table import recognise
from hopline.jobs.loading import resolve

ASTRA = """# two groups of four NPUs, each on a ring, joined by switches
topology: [ Ring, "Switch" ]   # per dimension
npus_count: [ 4,
              2 ]
bandwidth: [ 50.0, 25 ]  # GB/s
latency:
- 500.0
- 1e3
"""
NS3 = """6 2 5
4 5
0 4 100Gbps 1us 0
1 4 100Gbps 1us 0
2 5 50Gbps 0.002ms 0.001
3 5 50Gbps 0.002ms 0
4 5 400Gbps 500ns 0
First line: total node #, switch node #, link #
7 8 100Gbps 1us 0
"""
SIMAI = """7 4 1 2 9 A100
4 5 6
0 4 2400Gbps 0.000025ms 0
1 4 2400Gbps 0.000025ms 0
2 4 2400Gbps 0.000025ms 0
3 4 2400Gbps 0.000025ms 0
0 5 200Gbps 0.0005ms 0
1 5 200Gbps 0.0005ms 0
2 6 200Gbps 0.0005ms 0
3 6 200Gbps 0.0005ms 0
5 6 200Gbps 0.0005ms 0
"""
HTSIM = """# two pods of two racks of two
Nodes 8
tiers 3
Podsize 4

Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Queue_up 100

Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 4
Downlink_Latency_ns 750
Switch_Latency_ns 300
Bundle 1

Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 2000
Bundle 2
"""
IBNET = """#
# Topology file: generated on a day
#
vendid=0x2c9
switchguid=0x1(1)
Switch\t41 "S-01"\t\t# "leaf a;1" enhanced port 0 lid 1 lmc 0
[1]\t"H-0a"[1](a) \t\t# "n0 mlx5_0" lid 2 4xHDR
[2]\t"H-0b"[1](b) \t\t# "n1 mlx5_0" lid 3 4xEDR
[3]\t"S-02"[1]\t\t# "leaf" lid 4 4xFDR
[4]\t"S-02"[2]\t\t# "leaf" lid 4 4xFDR
[41]\t"H-0c"[1](c) \t\t# "Mellanox Technologies Aggregation Node" lid 5 4xHDR

switchguid=0x2(2)
Switch\t41 "S-02"\t\t# "leaf" base port 0 lid 4 lmc 0
[1]\t"S-01"[3]\t\t# "leaf a;1" lid 1 4xFDR
[2]\t"S-01"[4]\t\t# "leaf a;1" lid 1 4xFDR
[3]\t"H-0d"[1](d) \t\t# "leaf" lid 6 12xQDR

caguid=0xa
Ca\t1 "H-0a"\t\t# "n0 mlx5_0"
[1](a) \t"S-01"[1]\t\t# lid 2 lmc 0 "leaf a;1" lid 1 4xHDR

caguid=0xb
Ca\t1 "H-0b"\t\t# "n1 mlx5_0"
[1](b) \t"S-01"[2]\t\t# lid 3 lmc 0 "leaf a;1" lid 1 4xHDR
"""
SLURM = """# Slurm's network topology
SWITCHNAME=leaf0 Nodes=n[0-2]   # first rack
SwitchName=leaf1 \\
    nodes=n[3-4],gpu[08-10]
SwitchName=spine Switches=leaf[0-1] LinkSpeed=400
"""
SIMGRID = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="a" speed="1Gf"/> <host id="b" speed="1Gf"/> <host id="c" speed="1Gf"/>
    <link id="la" bandwidth="1Gbps" latency="5us" sharing_policy="SPLITDUPLEX"/>
    <link id="lb" bandwidth="100MiBps" latency="7us"/>
    <link id="lc" bandwidth="2E8Bps" latency="1ms"/>
    <link id="trunk" bandwidth="10GBps" latency="0"/>
    <link id="loop" bandwidth="498MBps" latency="15us" sharing_policy="FATPIPE"/>
    <route src="a" dst="b"><link_ctn id="la" direction="UP"/><link_ctn id="lb"/></route>
    <route src="a" dst="c"><link_ctn id="la"/><link_ctn id="trunk"/><link_ctn id="lc"/></route>
    <route src="b" dst="c"><link_ctn id="lb"/><link_ctn id="trunk"/><link_ctn id="lc"/></route>
    <route src="a" dst="a"><link_ctn id="loop"/></route>
  </zone>
</platform>
"""
SMALL = {
    "astra": ASTRA, "ns3": NS3, "htsim": HTSIM, "ibnetdiscover": IBNET, "slurm": SLURM, "simgrid": SIMGRID,
    "astra-logical": '{ "logical-dims": ["4", 2] }', "slurm-block": "BlockName=b0 Nodes=n[0-3]\nBlockSizes=4\n",
    "slurm-yaml": "---\n- topology: tree\n  tree:\n    switches: []\n",
}  # fmt: skip


def platform(inner):
    """A SimGrid platform around some elements."""
    return f"<?xml version='1.0'?>\n<platform version='4.1'>\n{inner}\n</platform>\n"


def read(folder, text, name="file.dat"):
    """The wiring of a text."""
    path = folder / name
    path.write_text(text)
    return resolve(recognise(str(path)).reader)(str(path))


def cables(wiring):
    """Ends -> count, byte/s, s, duplex."""
    return {frozenset(c.ends): (c.count, c.bandwidth, c.latency, c.duplex) for c in wiring.cables}
