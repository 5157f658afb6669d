"""Where machines are looked for, and that saving loses nothing."""

from pathlib import Path

import pytest

from hopline.errors import MachineError, OutputError, UnknownNameError
from hopline.jobs import machines
from hopline.machine import files
from hopline.machine.topology import Machine


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def renamed(name: str) -> Machine:
    machine = machines.find("sg2260")
    return Machine(name, "made up", machine.links, machine.nodes, machine.connections, machine.sources)


def test_a_saved_machine_comes_before_a_preset_and_a_file_is_named_as_one(home):
    assert machines.find("sg2260").name == "SG2260"
    machines.save(renamed("file"), Path("sg2260"))
    assert machines.find("sg2260").name == "SG2260"
    machines.save(renamed("saved"), machines.saved_file("sg2260"))
    assert machines.find("sg2260").name == "saved"
    assert machines.find("./sg2260").name == "file"
    assert machines.find(str(home / "sg2260.toml")).name == "saved"


def test_the_list_shows_ones_own_in_place_of_the_preset(home):
    before = {p.name: p.file for p in machines.listed()}
    assert before == dict.fromkeys(files.preset_names())
    machines.save(renamed("saved"), machines.saved_file("sg2260"))
    machines.save(renamed("mine"), machines.saved_file("mine"))
    after = {p.name: p for p in machines.listed()}
    assert sorted(after) == sorted([*before, "mine"])
    assert (after["sg2260"].title, after["sg2260"].file) == ("made up", home / "sg2260.toml")


def test_a_broken_saved_machine_does_not_hide_the_others(home):
    home.mkdir()
    (home / "broken.toml").write_text("links = [")
    found = {p.name: p.title for p in machines.listed()}
    assert found.keys() == {*files.preset_names(), "broken"}
    assert found["broken"].startswith("cannot be read: ")


def test_saving_refuses_to_overwrite(home):
    file = machines.saved_file("mine")
    assert machines.save(renamed("first"), file) is None
    with pytest.raises(OutputError, match=r"mine\.toml exists"):
        machines.save(renamed("second"), file)
    assert machines.find("mine").name == "first"


def test_replacing_keeps_what_was_there(home):
    file = machines.saved_file("mine")
    kept = []
    for name in ("first", "second", "third"):
        kept.append(machines.save(renamed(name), file, replace=True))
    assert kept[0] is None
    assert [files.load(k).name for k in kept[1:]] == ["first", "second"]
    assert machines.find("mine").name == "third"


def test_kept_files_are_not_listed(home):
    for name in ("first", "second"):
        machines.save(renamed(name), machines.saved_file("mine"), replace=True)
    assert len(list(home.iterdir())) == 2
    assert sorted(p.name for p in machines.listed()) == sorted([*files.preset_names(), "mine"])


@pytest.mark.parametrize("name", files.preset_names())
def test_a_saved_preset_is_the_same_machine(home, name):
    machine = machines.find(name)
    machines.save(machine, Path("copy.toml"))
    assert machines.find("copy.toml") == machine


def test_names_that_are_not_there(home):
    with pytest.raises(
        UnknownNameError, match=r"did you mean 'sg2260'\? known are a10-pcie, dgx-a100, dgx-h100, .*sg2260, tcp-cluster"
    ):
        machines.find("sg226")
    with pytest.raises(MachineError, match="not measured yet"):
        machines.find("local")
    for name in ("nowhere.toml", "a/b"):
        with pytest.raises(MachineError, match="no such machine file"):
            machines.find(name)


def test_where_files_cannot_be_written(home):
    Path("plain").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        machines.save(renamed("x"), Path("plain/x.toml"))


@pytest.mark.parametrize(
    ("own", "config", "expected"), [("/h", "/c", "/h"), ("", "/c", "/c/hopline"), ("", "", "~/.config/hopline")]
)
def test_the_folder(monkeypatch, own, config, expected):
    monkeypatch.setenv("HOPLINE_HOME", own)
    monkeypatch.setenv("XDG_CONFIG_HOME", config)
    assert machines.folder() == Path(expected).expanduser()


def test_text_is_that_of_the_file(home):
    assert machines.text("sg2260").startswith('hopline = "machine"')
    Path("x.toml").write_text("# mine\n")
    assert machines.text("x.toml") == "# mine\n"


# --- where --save leads -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mine", "Mine-2", "a.b", "a_b", "9", "local", "x" * 101])
def test_a_name_is_saved_among_the_users_machines(home, name):
    assert machines.target(name) == home / f"{name}.toml" == machines.saved_file(name)


@pytest.mark.parametrize(
    "name", ["mine.toml", "./mine", "below/mine.toml", "../x", "/tmp/x", "./sg2260", "sg2260.toml"]
)
def test_what_looks_like_a_file_is_one(home, name):
    assert machines.target(name) == Path(name)


@pytest.mark.parametrize("name", files.preset_names())
def test_presets_are_not_hidden_by_saving(home, name):
    with pytest.raises(OutputError, match=f"'{name}' is a preset"):
        machines.target(name)


@pytest.mark.parametrize("name", ["", " ", "a b", ".x", "-x", "_x", "a:b", "é", "x\n", "x" * 102, "a\\b"])
def test_names_that_are_none(home, name):
    with pytest.raises(OutputError, match="no name for a machine: expected letters, digits") as caught:
        machines.target(name)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


# --- names that are no files, and files that are not half written -------------------------------------------------


@pytest.mark.parametrize("name", ["mine", "a.b", "machine.json"])
def test_a_plain_name_is_no_file_but_a_hint(home, name):
    machines.save(renamed("file"), Path(name))
    with pytest.raises(MachineError, match=f"for the file of that name write ./{name}$"):
        machines.find(name)
    assert machines.find(f"./{name}").name == "file"


@pytest.mark.parametrize(("name", "too_long"), [("x" * 200, False), ("x" * 201, True), ("/" + "x" * 99999, True)])
def test_names_that_are_too_long(home, name, too_long):
    for look in (machines.find, machines.text):
        with pytest.raises((MachineError, UnknownNameError)) as caught:
            look(name)
        assert ("is too long for a machine" in str(caught.value)) == too_long
        assert len(str(caught.value)) < 500


def test_a_save_that_fails_half_way_leaves_what_was_there(home, monkeypatch):
    file = machines.saved_file("mine")
    machines.save(renamed("first"), file)

    def fill(self, text, **_):
        with open(self, "w") as out:
            out.write(text[: len(text) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fill)
    for name in ("mine", "other"):
        with pytest.raises(OutputError, match="cannot be written: No space left on device"):
            machines.save(renamed("second"), machines.saved_file(name), replace=True)
    assert [p.name for p in home.iterdir()] == ["mine.toml"]
    assert machines.find("mine").name == "first"


def test_without_any_home(monkeypatch):
    for name in ("HOPLINE_HOME", "XDG_CONFIG_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)

    def nobody(_):
        raise KeyError("uid not found")

    monkeypatch.setattr("pwd.getpwuid", nobody)
    with pytest.raises(OutputError, match="no home folder for saved machines: set HOPLINE_HOME"):
        machines.folder()


def test_a_replaced_machine_is_kept_and_never_lost(tmp_path, monkeypatch):
    """Where the new file cannot take its place, the old one still stands there."""
    file = tmp_path / "mine.toml"
    machines.save(machines.find("sg2260"), file)
    before = file.read_text()

    def full(self, target):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(type(file), "replace", full)
        with pytest.raises(OutputError, match="No space left"):
            machines.save(machines.find("tcp-cluster"), file, replace=True)
    assert file.read_text() == before
    kept = machines.save(machines.find("tcp-cluster"), file, replace=True)
    assert kept.read_text() == before
    assert "TCP cluster" in file.read_text()
