"""A lossless network packet by packet, as small as can be: what the study of deadlock is held against.

One packet an edge and slot; the buffer behind each edge holds ``room`` packets, and nothing is sent into a full one. A switch
serves the buffers that want an edge in turn; packets for other edges pass those that wait. Flows offer packets at a rate (of
an edge's) and wait at their source without bound.
"""

from __future__ import annotations

from collections import deque


class Network:
    """Flows are (edges, rate, life): the edges are repeated without end where ``life`` (hops) is given."""

    def __init__(self, flows, room):
        self.flows, self.room = flows, room
        self.buffers = {edge: deque() for edges, _, _ in flows for edge in edges}
        self.sources = [deque() for _ in flows]
        self.owed = [0.0] * len(flows)
        self.turn = dict.fromkeys(self.buffers, 0)
        self.delivered = 0
        self.queues = {edge: self._queues(edge) for edge in self.buffers}

    def _edge(self, flow, hop):
        edges, _, life = self.flows[flow]
        if life is not None:
            return edges[hop % len(edges)] if hop < life else None
        return edges[hop] if hop < len(edges) else None

    def _queues(self, edge):
        """Where packets for ``edge`` may stand: sources, then buffers."""
        starts = [source for source, (edges, _, _) in zip(self.sources, self.flows, strict=True) if edges[0] == edge]
        before = {
            a
            for edges, _, life in self.flows
            for a, b in zip(edges, [*edges[1:], *([edges[0]] if life else [])], strict=False)
            if b == edge
        }
        return [*starts, *(self.buffers[other] for other in sorted(before))]

    def slot(self, inject=True):
        """One slot; how many packets moved."""
        for number, (_, rate, _) in enumerate(self.flows):
            self.owed[number] += rate if inject else 0.0
            while self.owed[number] >= 1:
                self.owed[number] -= 1
                self.sources[number].append((number, 0))
        full = {edge for edge, buffer in self.buffers.items() if len(buffer) >= self.room}
        moves = []
        for edge in self.buffers:
            if edge in full:
                continue
            queues = self.queues[edge]
            for step in range(1, len(queues) + 1):
                at = (self.turn[edge] + step) % len(queues)
                packet = next((p for p in queues[at] if self._edge(*p) == edge), None)
                if packet is not None:
                    moves.append((queues[at], packet, edge))
                    self.turn[edge] = at
                    break
        for queue, packet, edge in moves:
            queue.remove(packet)
            flow, hop = packet
            if self._edge(flow, hop + 1) is None:
                self.delivered += 1
            else:
                self.buffers[edge].append((flow, hop + 1))
        return len(moves)

    def locks(self, slots):
        """Whether something is left that never moves, after so many slots of injection."""
        for _ in range(slots):
            self.slot()
        for source in self.sources:
            source.clear()
        while self.slot(inject=False):
            pass
        return any(self.buffers.values())
