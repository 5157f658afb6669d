"""SQLite exports as Nsight Systems makes them, made for tests."""

import sqlite3

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
TABLES = {
    "StringIds": "id INTEGER PRIMARY KEY, value TEXT NOT NULL",
    KERNEL: "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, "
    "demangledName INT, shortName INT, graphNodeId INT",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, "
    "globalPid INT, bytes INT, copyKind INT",
    "CUPTI_ACTIVITY_KIND_MEMSET": "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, "
    "globalPid INT, value INT, bytes INT",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, "
    "globalPid INT, syncType INT, eventId INT",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, eventId INT",
    RUNTIME: "start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT, returnValue INT",
    "NVTX_EVENTS": "start INT, end INT, eventType INT, text TEXT, globalTid INT, textId INT",
    "ThreadNames": "nameId INT, globalTid INT",
    "TARGET_INFO_GPU": "id INT, name TEXT",
    "TARGET_INFO_CUDA_DEVICE": "gpuId INT, cudaId INT, pid INT",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INT",
}  # fmt: skip
"""Table -> its columns."""
PID = 1 << 24


def tid(process, thread=1):
    """A global id."""
    return (process << 24) | thread


class Export:
    """An export in the making; names get numbers as they come."""

    def __init__(self, path, tables=TABLES):
        self.path, self.tables, self.names = path, tables, {}
        self.database = sqlite3.connect(path)
        for name, columns in tables.items():
            self.database.execute(f"CREATE TABLE {name} ({columns})")

    def name(self, text):
        """Number of a text."""
        if text not in self.names:
            self.names[text] = len(self.names) + 1
            self.database.execute("INSERT INTO StringIds VALUES (?, ?)", (self.names[text], text))
        return self.names[text]

    def add(self, table, **values):
        """One row."""
        marks = ", ".join("?" * len(values))
        self.database.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))

    def kernel(self, start, end, name="gemm", process=10, device=0, stream=7, correlation=0):
        """Work on a GPU."""
        code = self.name(name)
        self.add(
            KERNEL, start=start, end=end, deviceId=device, contextId=1, streamId=stream, correlationId=correlation,
            globalPid=tid(process, 0), demangledName=code, shortName=code,
        )  # fmt: skip

    def call(self, start, end, name="cudaLaunchKernel_v7000", process=10, thread=1, correlation=0):
        """A call of the runtime."""
        self.add(
            RUNTIME,
            start=start,
            end=end,
            globalTid=tid(process, thread),
            correlationId=correlation,
            nameId=self.name(name),
        )

    def note(self, start, end, name, process=10, kind=59, inline=False):
        """An NVTX event."""
        text = {"text": name} if inline else {"textId": self.name(name)}
        self.add("NVTX_EVENTS", start=start, end=end, eventType=kind, globalTid=tid(process), **text)

    def done(self):
        """Close it; its path."""
        self.database.commit()
        self.database.close()
        return str(self.path)
