"""Logs of NCCL_DEBUG=INFO (and RCCL's): what NCCL says of itself between other programs' lines.

What belongs here: from lines to an NcclLog (``reader``), what messages say (``messages``, ``calls``), and tables (``tuning``).
"""
