"""Read SimGrid's platforms (XML).

What belongs here: zones, hosts and links to nodes and cables, and what is counted. Clusters are ``simgrid_clusters``, routes
``simgrid_routes``. Of a platform whose links are no cables between two nodes there is no machine, and it is said why.
"""

from __future__ import annotations

from collections import Counter

from hopline.formats.topologies.simgrid_clusters import add, hosts_of
from hopline.formats.topologies.simgrid_parts import Platform, wire
from hopline.formats.topologies.simgrid_routes import Route, lay, routes
from hopline.formats.topologies.simgrid_values import bandwidth, bare, latency
from hopline.formats.topologies.sketch import machine_name
from hopline.formats.topologies.xml import Element, parse
from hopline.machine.parts import Node
from hopline.machine.wiring import Fact, Wiring
from hopline.quantity import counted

ZONES = ("zone", "AS")
SHORTEST = ("Full", "Floyd", "Dijkstra", "DijkstraCache", "None", "Empty")
"""Ways of routing that the fewest links are, or that have all routes in the file."""
UNREAD = {
    "peer": "a peer has links up and down of two rates", "cabinet": "a cabinet hangs on host_links and a backbone",
    "host_link": "host_links hang on a backbone", "backbone": "a backbone is crossed by all flows",
    "include": "a part of it stands in another file",
    **dict.fromkeys(("bypassRoute", "bypassZoneRoute", "bypassASroute"), "a bypass sends some flows another way"),
}  # fmt: skip
"""Elements that no cable says -> why."""
FACTORS = (
    "SimGrid itself takes 0.97 of each bandwidth and 13.01 times each latency, unless told otherwise (model LV08): "
    "here the numbers are those of the file"
)


def read(path: str) -> Wiring:
    """The platform in the file at ``path``. Raises FormatError."""
    root = parse(path, "platform")
    elements = list(root.walk())
    platform, found = Platform(), list[Route]()
    for element in elements:
        if element.tag in UNREAD:
            platform.refuse(f"line {element.line} has a {element.tag}: {UNREAD[element.tag]}, and no cable is that")
    outside = {element.text("src", "") for element in elements if element.tag in ("zoneRoute", "ASroute")}
    outside |= {element.text("dst", "") for element in elements if element.tag in ("zoneRoute", "ASroute")}
    zones = [element for element in elements if element.tag in ZONES or element is root]
    for zone in zones:
        _zone(platform, zone, outside)
    for zone in zones:
        routes(platform, zone, found)
    lay(platform, root, found)
    _remark(platform, elements)
    facts = _facts(elements)
    refusal = platform.refusals[0] if platform.refusals else ""
    nodes = sorted(platform.nodes.values(), key=lambda node: node.kind == "switch")
    remarks = (*platform.remarks, *platform.cabling.remarks())
    cables = () if refusal else platform.cabling.cables()
    return Wiring("simgrid", machine_name(path), tuple(nodes), cables, facts, remarks, refusal)


def _zone(platform: Platform, zone: Element, outside: set[str]) -> None:
    """Hosts, routers, links and clusters right within a zone."""
    if zone.tag in ZONES:
        routing = zone.text("routing", "Full")
        if routing not in SHORTEST:
            platform.refuse(f"zone {zone.text('id', '')} has routing={routing}: expected one of {', '.join(SHORTEST)}")
    for element in zone.children:
        if element.tag in ("host", "router"):
            platform.add(
                element, Node(element.text("id"), "switch" if element.tag == "router" else "device", _free(element))
            )
        elif element.tag == "link":
            made = wire(element, element.text("id"), ("bandwidth", "latency", "sharing_policy"), "SHARED")
            if made.name in platform.wires:
                raise element.wrong(f"link {made.name!r} stands here a second time: expected each once")
            platform.wires[made.name] = made
        elif element.tag == "cluster":
            add(platform, element, element.text("id") not in outside)


def _free(element: Element) -> float | None:
    """Routers of SimGrid take no time."""
    return 0.0 if element.tag == "router" else None


def _remark(platform: Platform, elements: list[Element]) -> None:
    platform.remark(FACTORS)
    without = sum(bare(element, ("bandwidth", "latency", "bw", "lat", "bb_bw", "bb_lat")) for element in elements)
    if without:
        platform.remark(f"{counted(without, 'number')} without a unit: taken as Bps and s, as SimGrid does")
    half = sum(
        element.tag == "link" and element.text("sharing_policy", "SHARED").upper() == "SHARED" for element in elements
    )
    if half:
        platform.remark(f"{counted(half, 'link')} SHARED: both ways together have their bandwidth")
    profiles = sum(name.endswith(("_file", "_profile")) for element in elements for name in element.attributes)
    if profiles:
        platform.remark(f"{counted(profiles, 'file')} of changing bandwidth, latency or state: left out")


def _facts(elements: list[Element]) -> dict[str, Fact]:
    tags = Counter(element.tag for element in elements)
    clusters = [element for element in elements if element.tag == "cluster"]
    inside = sum(len(hosts_of(cluster)) for cluster in clusters)
    facts: dict[str, Fact] = {
        "zone_elements": sum(tags[tag] for tag in ZONES), "clusters": len(clusters), "host_elements": tags["host"],
        "cluster_hosts": inside, "hosts": tags["host"] + inside, "routers": tags["router"], "link_elements": tags["link"],
        "routes": tags["route"], "zoneRoutes": tags["zoneRoute"] + tags["ASroute"], "link_ctn": tags["link_ctn"],
    }  # fmt: skip
    link = next((element for element in elements if element.tag == "link"), None)
    if link is not None:
        facts["first_link"] = link.text("id")
        facts["first_link_bytes_per_s"], facts["first_link_latency_s"] = (
            bandwidth(link, "bandwidth"),
            latency(link, "latency"),
        )
    return facts | (_cluster(clusters[0]) if clusters else {})


def _cluster(first: Element) -> dict[str, Fact]:
    facts: dict[str, Fact] = {
        "first_cluster": first.text("id"), "cluster_topology": first.text("topology", "FLAT").upper(),
        "cluster_bw_bytes_per_s": bandwidth(first, "bw"), "cluster_lat_s": latency(first, "lat"),
    }  # fmt: skip
    if "topo_parameters" in first.attributes:
        facts["topo_parameters"] = first.text("topo_parameters")
    if "bb_bw" in first.attributes:
        facts["bb_bw_bytes_per_s"], facts["bb_lat_s"] = bandwidth(first, "bb_bw"), latency(first, "bb_lat")
    return facts
