# SPDX-License-Identifier: BSD-2-Clause
"""A real list in force under load: who pays for a flood, who loses a query, and whether memory grows.

MR_LONG=1 makes the memory test ten million queries long.
"""
import os
import random
import signal
import time

import pytest

import lane
import witness

HOSTS = lane.DATA / "lists/hosts/stevenblack-2022-converted.hosts.txt"
AT_LEAST = 120000


def hosts_names(path):
    """Names of a hosts file, in its order."""
    for line in path.read_text(errors="replace").splitlines():
        words = line.split("#")[0].split()
        if len(words) == 2 and words[0] == "0.0.0.0" and "." in words[1] and words[1] != "0.0.0.0":
            yield words[1].lower()


@pytest.fixture(scope="module")
def listed(lab, stub, folder):
    """(daemon, names): a hosts list of at least 120,000 names; the real one where it is."""
    path = HOSTS
    if not path.exists():
        path = folder / "made.hosts"
        path.write_text("".join(f"0.0.0.0 h{i}.made{i % 997}.test\n" for i in range(130000)))
    names = list(hosts_names(path))
    d = lane.Daemon(lab, folder / "d", {"filter": {"lists": [
        {"name": "hosts", "file": str(path), "format": "hosts"}, {"name": "tree", "file": "tree.txt"}]}})
    d.list("tree.txt", "||tree.blocked.test^")
    try:
        yield d.start(), random.Random(1).sample(names, 2000)
    finally:
        d.close()


def test_a_real_list_is_in_force(listed):
    d, names = listed
    assert d.get("status")["filter"]["entries"] >= AT_LEAST
    row = d.get("lists")["lists"][0]
    assert row["loaded"] and row["exact"] >= AT_LEAST and row["subtree"] == 0
    assert "hosts" in d.millctl("lists").stdout


def test_each_of_300_listed_names_is_blocked_by_the_kernel_and_what_is_below_is_not(listed):
    d, names = listed
    known = set(names)
    with d.counting() as c:
        for name in names[:300]:
            for rdtype, data in (("A", ["A 0.0.0.0"]), ("AAAA", ["AAAA ::"]), ("HTTPS", [])):
                reply = d.client.ask(name, rdtype)
                assert (reply.rcode, reply.data) == ("NOERROR", data), name
    assert c["blocked"] == 900 and c.daemon == 0, c.reasons()
    for name in names[:20]:
        below = "not-listed-itself." + name
        assert below not in known and d.ask(below).data != ["A 0.0.0.0"]
    assert d.ask("x.tree.blocked.test").by == "kernel"


def test_a_blocked_flood_costs_the_daemon_no_time(lab, listed, tmp_path):
    d, names = listed
    idle_from, start = d.cpu_s(), time.monotonic()
    time.sleep(1.5)
    idle = (d.cpu_s() - idle_from) / (time.monotonic() - start)
    with d.counting() as c:
        before, start = d.cpu_s(), time.monotonic()
        load = lane.Perf(lab, tmp_path, [(n, t) for n in names for t in ("A", "AAAA")], 4, clients=8, extra=["-q", "200"])
        result = load.result()
        used = (d.cpu_s() - before) / (time.monotonic() - start)
    assert result["lost"] == 0 and set(result["codes"]) == {"NOERROR"}, load.text
    assert c["blocked"] == result["sent"] and c.daemon == 0
    lane.figure(f"{result['qps']:.0f} blocked answers/s, daemon's share of a core {used:.3f}, idle {idle:.3f}")
    assert result["sent"] > 50000 and used < 0.05


def test_what_the_lab_drops_is_told_from_what_we_lose(lab, listed, tmp_path):
    d, names = listed
    # a client without room for its answers: the kernel drops and counts them
    w = witness.Witness(lab, d)
    load = lane.Perf(lab, tmp_path, [(n, "A") for n in names[:500]], 60, extra=["-n", 4, "-q", 400, "-b", 1, "-t", 1])
    result = load.result()
    losses = w.look().losses(result)
    assert result["lost"] > 0 and {k: n for k, n in losses.items() if n} == {"dropped by the lab": result["lost"]}, w.story(load)
    # a daemon that stands still, for longer than the client waits
    w = witness.Witness(lab, d)
    d.process.send_signal(signal.SIGSTOP)
    try:
        load = lane.Perf(lab, tmp_path, [(f"l{i}.lost.test", "A") for i in range(20)], 60, extra=["-n", 1, "-t", 1])
        result = load.result()
    finally:
        d.process.send_signal(signal.SIGCONT)
    losses = w.look().losses(result)
    assert result["lost"] == 20 and not losses["dropped by the lab"], w.story(load)
    with pytest.raises(AssertionError, match=r"^\{'[a-z ]+': 20\}"):
        w.check(load, result)


def test_memory_does_not_grow(lab, listed, tmp_path):
    """Blocked, cached, first-time, negative; the caches are filled before the first look."""
    if "san" in lane.BUILD.name:
        pytest.skip("a sanitizer keeps what is freed")
    d, names = listed
    long = os.environ.get("MR_LONG") == "1"
    asked = [(n, "A") for n in names[:500]]
    asked += [(f"c{i}.mem.test", t) for i in range(500) for t in ("A", "AAAA")]
    asked += [(f"n{i}.nx.test", "A") for i in range(300)] + [(f"s{i}.short.test", "A") for i in range(700)]
    rounds, each = (20, 500000) if long else (2, 100000)
    dropped = 0

    def run(count):
        nonlocal dropped
        w = witness.Witness(lab, d)
        load = lane.Perf(lab, tmp_path, asked, 600, extra=["-n", count // len(asked), "-q", "100"])
        result = load.result()
        dropped += w.check(load, result)
        return result["sent"]

    run(each)		# the caches, and what so many queries at once take of the heap
    sizes = [d.rss()]
    sent = 0
    for _ in range(rounds):
        sent += run(each)
        sizes.append(d.rss())
    lane.figure(f"{sent} queries, {dropped} dropped by the lab, resident bytes of its own {sizes}")
    assert sent >= rounds * each * 0.9
    assert sizes[-1] - sizes[0] < 2 << 20, sizes
