"""Heaps in arrays.

What belongs here: a heap with four below each, keys and values side by side; and pairing heaps of rows, of which two become
one at no cost, linked by arrays over all rows.
"""

import numpy as np

from hopline.sim.kernels.compiled import part


@part
def push(keys, values, length, key, value):
    """Into a heap of ``length``."""
    place = length
    while place > 0:
        above = (place - 1) >> 2
        if keys[above] <= key:
            break
        keys[place], values[place] = keys[above], values[above]
        place = above
    keys[place], values[place] = key, value


@part
def pop(keys, values, length):
    """Takes the least out of a heap of ``length``."""
    length -= 1
    key, value = keys[length], values[length]
    place, below = 0, 1
    while below < length:
        least = below
        for other in range(below + 1, min(below + 4, length)):
            if keys[other] < keys[least]:
                least = other
        if keys[least] >= key:
            break
        keys[place], values[place] = keys[least], values[least]
        place = least
        below = 4 * place + 1
    keys[place], values[place] = key, value


@part
def meld(keys, child, link, one, two):
    """Two heaps become one, -1: an empty one. ``child``: the first below a row, ``link``: the next beside it."""
    if one < 0 or two < 0:
        return max(one, two)
    if keys[two] < keys[one]:
        one, two = two, one
    link[two] = child[one]
    child[one] = two
    return one


@part
def without(keys, child, link, top):
    """A heap without its first: its children melded two by two, then from the back."""
    pairs, row = np.int32(-1), child[top]
    while row >= 0:
        second = link[row]
        behind = link[second] if second >= 0 else np.int32(-1)
        both = meld(keys, child, link, row, second)
        link[both] = pairs
        pairs, row = both, behind
    whole = np.int32(-1)
    while pairs >= 0:
        behind = link[pairs]
        whole = meld(keys, child, link, whole, pairs)
        pairs = behind
    child[top] = -1
    return whole
