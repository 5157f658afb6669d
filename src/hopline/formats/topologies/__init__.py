"""Files in which others describe how parts are joined: into Wiring.

What belongs here: one file or family a format, each with ``read(path) -> Wiring``; ``table`` tells formats apart.
"""
