"""Small files of every kind of topology, and what reads them."""

import gzip

from hopline.formats.topologies.table import recognise
from hopline.jobs.loading import resolve

NCCL = """<!-- by hand -->
<system version="1">
  <cpu numaid="0" affinity="0000000f,000000ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="8.0 GT/s PCIe" link_width="8">
      <pci busid="0000:11:00.0" class="0x030200" link_speed="2.5 GT/s" link_width="16">
        <gpu dev="1" sm="80" rank="1" gdr="1">
          <nvlink target="0000:21:00.0" count="4" tclass="0x030200"/>
          <nvlink target="0000:c1:00.0" count="2" tclass="0x068000"/>
          <nvlink target="0000:c2:00.0" count="2" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:12:00.0" class="0x020700" link_speed="" link_width="0">
        <nic>
          <net name="mlx5_0" dev="0" speed="200000" port="1" latency="1.5" guid="0x0" maxconn="1" gdr="1"/>
          <net name="mlx5_0" dev="1" speed="0" port="2"/>
        </nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" affinity="" arch="x86_64">
    <pci busid="0000:21:00.0" class="0x030200" link_speed="64.0 GT/s PCIe" link_width="16">
      <gpu dev="0" sm="80" rank="0">
        <nvlink target="0000:11:00.0" count="4" tclass="0x030200"/>
        <nvlink target="0000:c1:00.0" count="2" tclass="0x068000"/>
        <nvlink target="0000:21:00.0" count="9" tclass="0x030200"/>
        <nvlink target="0000:99:00.0" count="1" tclass="0x030200"/>
        <c2c bw="44712" count="10"/>
      </gpu>
    </pci>
    <pci busid="0000:22:00.0" class="0x020000" link_speed="odd" link_width="4"/>
    <pci busid="0000:23:00.0" class="0x010802" link_speed="16 GT/s" link_width="4"/>
  </cpu>
</system>
"""

GRAPH = """<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="3" speedintra="20.5" speedinter="12" typeintra="NVL" typeinter="PIX">
    <channel><gpu dev="0"/><gpu dev="2"/><gpu dev="1"/></channel>
    <channel><gpu dev="0"/><gpu dev="2"/><gpu dev="1"/></channel>
    <channel><net dev="0"/><gpu dev="1"/><gpu dev="2"/><gpu dev="0"/><net dev="0"/></channel>
  </graph>
</graphs>
"""

HWLOC = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0">
    <object type="Package" os_index="0">
      <object type="NUMANode" os_index="0"/>
      <object type="Core"><object type="PU"/><object type="PU"/></object>
      <object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[00-20]">
        <object type="Bridge" bridge_type="1-1" pci_busid="0000:10:00.0" pci_type="0604 [8086:1] [0:0] 00" pci_link_speed="15.75">
          <object type="PCIDev" pci_busid="0000:11:00.0" pci_type="0302 [10de:2330] [10de:1] a1" pci_link_speed="31.507692">
            <object type="OSDev" name="cuda0" osdev_type="5"/>
          </object>
        </object>
        <object type="PCIDev" pci_busid="0000:12:00.0" pci_type="0207 [15b3:101b] [15b3:7] 00" pci_link_speed="0.000000">
          <object type="OSDev" name="ib0" osdev_type="2"/>
          <object type="OSDev" name="mlx5_0" osdev_type="3"/>
        </object>
        <object type="PCIDev" pci_busid="0000:13:00.0" pci_type="0300 [1a03:2000] [0:0] 00" pci_link_speed="0.000000"/>
      </object>
    </object>
    <object type="Package" os_index="1">
      <object type="NUMANode" os_index="1"/>
      <object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0001:[00-20]">
        <object type="PCIDev" pci_busid="0001:12:00.0" pci_type="0300 [10de:2204] [0:0] 00" pci_link_speed="2.0"/>
      </object>
    </object>
  </object>
</topology>
"""

HWLOC1 = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc.dtd">
<topology>
  <object type="Machine" os_index="0">
    <object type="NUMANode" os_index="0">
      <object type="Socket" os_index="0"><object type="Core"/></object>
      <object type="Bridge" bridge_type="0-1" bridge_pci="0000:[00-20]">
        <object type="PCIDev" pci_busid="0000:11:00.0" pci_type="0302 [10de:1db1] [10de:1] a1" pci_link_speed="15.753846"/>
        <object type="PCIDev" pci_busid="0000:12:00.0" pci_type="0200 [8086:1521] [8086:1] 01" pci_link_speed="2.000000">
          <object type="OSDev" name="eth0" osdev_type="2"/>
        </object>
      </object>
    </object>
  </object>
</topology>
"""

TACCL = """{"name": "two boxes", "gpus_per_node": 4, "nics_per_node": 2, "alpha": 0.5, "node_betas_list": [40],
 "node_invbws_list": [40], "remote_invbw": 107, "remote_alpha": 3, "remote_beta": 80}
"""

MATRIX = (
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tmlx5_0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV2\tSYS\tPIX\t0-7,16-23\t0\t\tN/A\n"
    "GPU1\tNV2\t X \tSYS\tPHB\t0-7,16-23\t0\t\tN/A\n"
    "GPU2\tSYS\tSYS\t X \tSYS\t8-15\t1\t\tN/A\n"
    "mlx5_0\tPIX\tPHB\tSYS\t X \t\t\t\n\nLegend:\n\n  X    = Self\n  SYS  = Connection\n"
)

SMALL = {"nccl-topo": NCCL, "nccl-graph": GRAPH, "hwloc": HWLOC, "taccl": TACCL, "topo-m": MATRIX}


def wired(path):
    """What hopline reads of a file."""
    return resolve(recognise(str(path)).reader)(str(path))


def written(folder, text, name="sample.txt"):
    """A file with that text; compressed where its name ends in .gz."""
    data = text if isinstance(text, bytes) else text.encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def cable(wiring, one, other):
    """The one cable between two nodes, or None."""
    return next((c for c in wiring.cables if set(c.ends) == {one, other}), None)
