"""The table of what collectives take on another machine."""

from hopline.jobs.elsewhere import priced_on
from hopline.jobs.explaining import explain
from hopline.jobs.made.job import Job
from hopline.jobs.made.steps import make, network
from hopline.jobs.what_ifs import question
from hopline.quantity import show
from hopline.show.explain import explained_json
from hopline.show.explain_numbers import numbers
from hopline.show.explain_tables import tables


def of(explained):
    return {table.name: table for table in tables(numbers(explained))}


def test_each_kind_with_what_it_took_and_what_it_takes_there():
    job = Job(ranks=4, buckets=2, noise=0.02, seed=1)
    price = priced_on(network(job), {"all_reduce": "recursive_doubling"})
    explained = explain(make(job).traces, questions=[question("network", price, "there")])
    (row,) = of(explained)["swaps"].rows
    (swap,) = explained_json(explained)["swaps"]
    assert [cell.text for cell in row] == [
        "all_reduce", "2", row[2].text, "4", show(swap["measured"], "time"), show(swap["there"], "time"), "recursive_doubling",
    ]  # fmt: skip
    assert [cell.key for cell in row] == [
        f"swaps.0.{name}" for name in ("op", "times", "size", "ranks", "measured", "there", "algorithm")
    ]
    assert swap["times"] == 2
    assert swap["there"] != swap["measured"]


def test_what_may_be_waiting_is_marked_and_no_network_has_no_table():
    job = Job(ranks=4, buckets=2, seed=1)
    alone = make(job).traces[:1]
    table = of(explain(alone, questions=[question("network", priced_on(network(job)))]))["swaps"]
    assert table.rows[0][4].text.startswith("≤ ")
    assert "waiting is in it" in table.note
    assert "swaps" not in of(explain(alone, questions=[question("free")]))
