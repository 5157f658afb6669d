"""Schedules in the files of other tools: GOAL, MSCCL, MSCCL++ and Chakra, read and, where the format can say it, written.

What belongs here: one file or family a format, ``table`` which says how each is recognised, and what they share.
"""
