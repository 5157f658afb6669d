"""Route files: text, JSON, TOML, and what is refused."""

import json

import pytest

from hopline.errors import FormatError
from hopline.formats.routes import Flow, read

TEXT = """# two flows
f1: A leaf0 spine1 leaf2 B
f2: B>leaf2:1 leaf2>spine1 spine1>leaf0:3 leaf0>A [10Gb/s]  # slow

node 0:1: 0000:0a:00.0 sw 0000:0b:00.0
"""
FLOWS = (
    Flow("f1", ("A", "leaf0", "spine1", "leaf2", "B")),
    Flow("f2", ("B", "leaf2", "spine1", "leaf0", "A"), (1, 0, 3, 0), 1.25e9),
    Flow("node 0:1", ("0000:0a:00.0", "sw", "0000:0b:00.0")),
)


def written(tmp_path, content, name="routes.txt"):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(file)


def test_text(tmp_path):
    assert read(written(tmp_path, TEXT)) == FLOWS
    assert read(written(tmp_path, b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())) == FLOWS


def test_json_and_toml_say_the_same(tmp_path):
    entries = [{"name": flow.name, "nodes": list(flow.nodes)} for flow in FLOWS]
    entries[1] |= {"classes": [1, 0, 3, 0], "rate": "10Gb/s"}
    assert read(written(tmp_path, json.dumps({"flows": entries}))) == FLOWS
    toml = "# flows\n" + "\n".join(
        f"[[flows]]\nname = {json.dumps(e['name'])}\nnodes = {e['nodes']}\n"
        + (f"classes = {e['classes']}\nrate = '{e['rate']}'\n" if "rate" in e else "")
        for e in entries
    )
    assert read(written(tmp_path, toml)) == FLOWS


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("f1 A B", "expected 'name: A leaf0 spine1 B'"),
        ("f1: A", "1 node(s): expected at least two"),
        ("f1: A A B", "from 'A' to itself"),
        ("f1: A>B C>D", "does not begin where the one before ends, at 'B'"),
        ("f1: A>B C", "'C' is no hop"),
        ("f1: A>B:70000", "expected classes from 0 to 65535"),
        ("f1: A B [10]", "'10'"),
        ("f1: A B [0Gb/s]", "0Gb/s"),
        ("f1: A B\nf1: B A", "two flows are called 'f1'"),
        ("# nothing\n", "holds no flow"),
        (b"f1: A \xff B\n", "is no UTF-8 text"),
        ("{", "is no JSON"),
        ("[" * 100_000, "expected"),
        ('{"flows": 3}', "has no list 'flows'"),
        ('{"flows": [3]}', "flow 1: '3': expected an object"),
        ('{"flows": [{"name": "a", "nodes": ["A", "B"], "speed": 3}]}', "key 'speed'"),
        ('{"flows": [{"name": "a", "nodes": ["A", "B"], "classes": [true]}]}', "expected whole numbers"),
        ('{"flows": [{"name": "a", "nodes": ["A", "B"], "classes": [1, 2]}]}', "2 classes: expected one a hop, 1"),
        ('{"flows": [{"name": "a", "nodes": ["A", "B"], "rate": 5}]}', "expected text with its unit"),
        ("[[flows]]\nname = 3", "expected an object with 'name'"),
        ("[[flows]]\nname =", "is no TOML"),
        ("", "is empty"),
    ],
)
def test_refused_in_one_line(tmp_path, content, said):
    with pytest.raises(FormatError) as raised:
        read(written(tmp_path, content))
    assert said in str(raised.value).replace('"', "'")
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 400


def test_where_it_is_wrong_is_told(tmp_path):
    with pytest.raises(FormatError, match="line 3: "):
        read(written(tmp_path, "f1: A B\n\nf2: A\n"))
    with pytest.raises(FormatError, match=r"no such file|cannot be read"):
        read(str(tmp_path / "none.txt"))
