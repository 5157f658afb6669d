"""What NCCL's tuner reckons, and what it chooses by that.

What belongs here: its numbers by version (``numbers``), the shape of a job as it sees it (``job``), what its search is likely
to find (``searched``), latency and bandwidth (``rates``, ``tables``), time and choice (``choice``), and what forces another
(``forcing``).
"""
