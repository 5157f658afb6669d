"""Text cut into blocks: against json.loads, for blocks of every size and events that look like borders."""

import json
import random

import pytest
from trace_texts import EVENTS, span, text

from hopline.errors import FormatError
from hopline.formats.kineto import blocks, proofs
from hopline.formats.kineto.blocks import Document
from hopline.formats.kineto.quotes import inside_strings


class Held:
    """Bytes as a source, in pieces of any size."""

    def __init__(self, content, piece=1 << 30):
        self.content, self.piece, self.at = content, piece, 0

    def peek(self):
        """See Source."""
        return self.content[:4096]

    def read(self, most):
        """See Source."""
        data = self.content[self.at : self.at + min(most, self.piece)]
        self.at += len(data)
        return data


def names(content, piece=1 << 30):
    document = Document(Held(content, piece), "it")
    found = [event.name for _, events in document.blocks() for event in events]
    assert document.events == len(found)
    return found, document


AWKWARD = ["}, {", '"}, {"', "\\", '\\"', "]", "]}", "}],", "{", "[", '{"traceEvents": [', "é}, {", "\n},\n{", ""]


def awkward(rng, count):
    events = []
    for _ in range(count):
        args = {
            rng.choice(AWKWARD): [{"a": {}}, {"b": [{}, {}]}, {}][: rng.randrange(4)] for _ in range(rng.randrange(3))
        }
        events.append(
            span(rng.choice(AWKWARD), rng.randrange(99), 1, **{"x" + key: value for key, value in args.items()})
        )
    return events


@pytest.mark.parametrize("seed", range(25))
def test_events_are_those_of_json_whatever_the_blocks(seed, monkeypatch):
    rng = random.Random(seed)
    monkeypatch.setattr(blocks, "BLOCK", rng.choice([1, 7, 64, 500, 3000]))
    around = {"a": awkward(rng, 2), "z": {"traceEvents": [1, {}]}, "s": AWKWARD}
    before = rng.sample(list(around), rng.randrange(3))
    after = [key for key in around if key not in before]
    events = awkward(rng, rng.randrange(1, 40))
    content = text(events, before, after, **around)
    content = json.dumps(json.loads(content), indent=rng.choice([None, 0, 3]), ensure_ascii=rng.random() < 0.5).encode()
    found, document = names(content, rng.choice([1, 13, 1000, 1 << 20]))
    assert found == [event["name"] for event in events]
    assert document.head == around
    assert document.told == []
    assert document.mends == {}


def test_blocks_are_small_and_the_text_is_never_held(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 1 << 16)
    events = EVENTS * 3000
    document = Document(Held(text(events).encode()), "it")
    sizes = [len(block) for block, _ in document.blocks()]
    assert len(sizes) > 20
    assert max(sizes) <= (1 << 16) + 3


def test_an_event_may_be_larger_than_a_block(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 1 << 12)
    large = span("large", 0, 1, shapes=[{"n": at} for at in range(20000)])
    found, _ = names(text([span("a", 0, 1), large, span("b", 0, 1)]).encode())
    assert found == ["a", "large", "b"]
    monkeypatch.setattr(blocks, "LONGEST", 1 << 14)
    with pytest.raises(FormatError, match="no event ends within 16384 bytes"):
        names(text([span("a", 0, 1), large, span("b", 0, 1)]).encode())


@pytest.mark.parametrize("size", [1 << 9, 1 << 20])
def test_every_cut_is_refused_with_the_number_of_whole_events(size, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", size)
    content = text(EVENTS, ("a",), ("b",), a=1, b=[{}, {}])
    first = content.index("[") + 1
    ends = [first]
    for _ in EVENTS:
        _, end = json.JSONDecoder().raw_decode(content, ends[-1] + (2 if ends[1:] else 0))
        ends.append(end)
    for at in range(first, len(content), 3):
        with pytest.raises(FormatError) as error:
            names(content[:at].encode())
        whole = sum(end <= at for end in ends[1:])
        assert f"is cut after {whole} whole events, at byte {at}" in str(error.value)
    assert len(names(content.encode())[0]) == len(EVENTS)


@pytest.mark.parametrize("tail", [b"\n", b"\0" * 5000, b" \r\n\0\0"])
def test_what_may_follow(tail):
    found, document = names(text().encode() + tail)
    assert len(found) == len(EVENTS)
    assert [told for told in document.told if "NUL" in told] == document.told
    assert bool(document.told) == (b"\0" in tail)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (text() + text(), "goes on after its JSON has ended, at byte"),
        (text() + "\n" + json.dumps(EVENTS), "goes on after its JSON has ended"),
        (json.dumps(EVENTS) + json.dumps(EVENTS), "goes on after its JSON has ended"),
        ('{"traceEvents": [{}], "traceEvents": [{}]}', "has traceEvents twice"),
        ('{"traceEvents": [{}}, {}]}', "is no JSON after 0 events"),
        ('{"traceEvents": [{"ph": "X" "ts": 5}]}', "is no JSON after 0 events, near byte"),
        ('{"traceEvents": [{"args": ' + "[" * 5000 + "]" * 5000 + "}]}", "nested too deep"),
        ('{"traceEvents": [' + '{"ph": "X"},' * 300 + "{oops}]}", "is no JSON after"),
        ('{"traceEvents": [{"ph": "X"}], "more": oops}', "is no JSON after 1 events, near byte"),
        *((f'{{"traceEvents": {value}}}', "has traceEvents that are no list") for value in ("null", "{}", '"x"', "5")),
        ('{"data": {"traceEvents": [{}]}}', "is JSON without traceEvents"),
        ('{"nodes": []}', "is an execution trace"),
        ("", "holds only blanks"),
        ("\0" * 100, "holds only NUL bytes"),
        ("Traceback (most recent call last):", "begins with 'Traceback"),
        ("\x7fELF", "is a program"),
        ("PK\x03\x04", "is a zip archive"),
        ("SQLite format 3\0", "Nsight Systems"),
    ],
)  # fmt: skip
def test_refusals_in_one_line(content, why):
    with pytest.raises(FormatError) as error:
        names(content.encode())
    message = str(error.value)
    assert why in message
    assert "\n" not in message
    assert "expected" in message
    assert len(message) < 400


def counted_by_hand(text):
    """Ends of whole events, by a machine that goes byte by byte."""
    depth, inside, escaped, ends = 0, False, False, []
    for at, char in enumerate(text):
        if inside:
            inside, escaped = escaped or char != '"', not escaped and char == "\\"
        elif char == '"':
            inside = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth < 0:
                break
            if depth == 0:
                ends.append(at + 1)
    return ends


@pytest.mark.parametrize("seed", range(20))
def test_brackets_are_counted_right(seed):
    rng = random.Random(seed)
    content = json.dumps(awkward(rng, 12), indent=rng.choice([None, 1]), ensure_ascii=True)[1:]
    for _ in range(40):
        part = content[: rng.randrange(len(content))]
        ends = [
            end
            for end in counted_by_hand(part)
            if part[end:].lstrip()[:1] == "," and part[end:].lstrip()[1:].lstrip()[:1] == "{"
        ]
        found = proofs.last_border(part.encode())
        assert (found or (None,))[0] == (ends[-1] if ends else None)


def test_strings_are_known_behind_escapes():
    text = rb'{"a\\": "b\"", "c\\\"d": [""], "e'
    shown = "".join(chr(byte) if within else "." for byte, within in zip(text, inside_strings(text), strict=True))
    assert shown == r'."a\\..."b\"..."c\\\"d...."...."e'
