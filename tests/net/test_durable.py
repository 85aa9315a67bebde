# SPDX-License-Identifier: BSD-2-Clause
"""The durable cache over restarts: what is asked before and after is asked upstream once."""
import os
import subprocess
import time

import pytest

import lane

LMDB = {"cache": {"backend": "lmdb"}}


def loaded(d):
    return d.get("stats")["daemon"]["counters"]["durable_loaded"]["value"]


def written(d, n):
    """Wait until so many answers are on disk."""
    lane.wait_until(f"{n} answers are written", 5,
                    lambda: d.get("stats")["daemon"]["counters"]["durable_written"]["value"] >= n)


@pytest.fixture
def durable(lab, tmp_path):
    d = lane.Daemon(lab, tmp_path / "d", LMDB)
    try:
        yield d
    finally:
        d.close()


@pytest.mark.parametrize("how", ["stop", "kill"])
@pytest.mark.parametrize("sync", ["full", "no_meta", "periodic", "none"])
def test_a_name_asked_before_and_after_a_restart_is_asked_upstream_once(durable, stub, sync, how):
    name = f"{how}-{sync}.durable.up.test"
    durable.write({"cache": {"backend": "lmdb", "lmdb": {"sync": sync}}})
    durable.start()
    before = durable.client.ask(name)
    written(durable, 1)
    getattr(durable, how)()
    lane.forget_pins(durable.lab)
    durable.start()
    after = durable.ask(name)
    assert after.by == "daemon" and after.data == before.data and after.data
    assert 0 < after.ttls[0] <= before.ttls[0]
    assert len(stub.queries(name)) == 1
    assert durable.ask(name).by in ("daemon", "kernel")
    assert len(stub.queries(name)) == 1


def test_the_first_packet_after_a_restart_is_answered_without_upstream(durable, lab, stub, tmp_path):
    names = [f"n{i}.first.up.test" for i in range(2000)]
    durable.start()
    for name in names:
        durable.client.ask(name)
    written(durable, len(names))
    durable.stop()
    durable.write({**LMDB, "upstreams": {"servers": ["10.53.1.99"], "timeout_ms": 300}})
    durable.start()
    assert loaded(durable) == len(names)
    for name in names:
        assert durable.client.ask(name).rcode == "NOERROR", name
    line = [x for x in durable.said().splitlines() if "answers read from disk in" in x][-1]
    lane.figure(f"durable cache: {line.split('durable cache: ')[1]}")


def test_ttls_go_on_while_the_daemon_is_off(durable, stub):
    durable.start()
    first = durable.client.ask("off.up.test")
    written(durable, 1)
    durable.stop()
    time.sleep(2.1)
    durable.start()
    second = durable.client.ask("off.up.test")
    assert 2 <= first.ttls[0] - second.ttls[0] <= 8
    assert len(stub.queries("off.up.test")) == 1


def test_an_answer_that_died_meanwhile_is_asked_for_again(durable, stub):
    durable.start()
    durable.client.ask("gone.short.test")
    written(durable, 1)
    durable.stop()
    time.sleep(2.1)
    durable.start()
    assert durable.client.ask("gone.short.test").data == ["A 192.0.2.9"]
    assert len(stub.queries("gone.short.test")) == 2


def test_a_stale_answer_is_given_after_a_restart_when_no_server_answers(durable, stub):
    durable.start()
    assert durable.client.ask("stale.short.test").data == ["A 192.0.2.9"]
    written(durable, 1)
    durable.stop()
    time.sleep(2.1)
    durable.write({**LMDB, "upstreams": {"servers": ["10.53.1.99"], "timeout_ms": 300}})
    durable.start()
    stale = durable.client.ask("stale.short.test")
    assert stale.data == ["A 192.0.2.9"] and stale.ttls == [30]


def test_negative_answers_are_kept_too(durable, stub):
    durable.start()
    durable.client.ask("durable.nx.test")
    written(durable, 1)
    durable.stop()
    durable.start()
    assert durable.client.ask("durable.nx.test").rcode == "NXDOMAIN"
    assert durable.client.ask("below.durable.nx.test").rcode == "NXDOMAIN"
    assert len(stub.queries("durable.nx.test")) == 1 and not stub.queries("below.durable.nx.test")


@pytest.mark.parametrize("what", ["name", "below", "all"])
def test_what_was_flushed_does_not_come_back(durable, stub, what):
    flushed, other = f"a.flushed-{what}.up.test", f"other-{what}.up.test"
    args = {"name": [flushed], "below": [f"*.flushed-{what}.up.test"], "all": ["all"]}[what]
    durable.start()
    durable.client.ask(flushed)
    durable.client.ask(other)
    durable.millctl("cache", "flush", *args)
    durable.kill()
    lane.forget_pins(durable.lab)
    durable.start()
    durable.client.ask(flushed)
    durable.client.ask(other)
    assert len(stub.queries(flushed)) == 2
    assert len(stub.queries(other)) == (2 if what == "all" else 1)


def test_a_damaged_file_goes_aside_and_dns_goes_on(durable, stub):
    durable.start()
    for i in range(500):
        durable.client.ask(f"n{i}.damage.up.test")
    written(durable, 500)
    durable.stop()
    path = durable.folder / "state/cache.lmdb"
    with path.open("r+b") as f:
        f.seek(8192)
        f.write(os.urandom(path.stat().st_size - 8192))
    durable.start()
    assert "was damaged" in durable.said() and path.with_name("cache.lmdb.damaged").exists()
    assert durable.client.ask("n1.damage.up.test").rcode == "NOERROR"
    assert "begins anew" in durable.get("status")["durable"]["note"]
    written(durable, 1)
    assert "begins anew" in durable.millctl("status").stdout


def test_a_full_disk_is_told_and_dns_goes_on(durable, lab, stub, tmp_path):
    """The file is on a file system of half a megabyte that somebody has filled; then he makes room."""
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1024k", "none", small], check=True)
    try:
        durable.write({"cache": {"backend": "lmdb", "lmdb": {"path": str(small / "cache.lmdb")}}})
        durable.start()
        (small / "ballast").write_bytes(b"x" * 900 * 1024)
        for i in range(2000):
            assert durable.client.ask(f"n{i}.full.up.test").rcode == "NOERROR"
        why = lane.wait_until("it is told", 5, lambda: durable.get("status")["durable"]["why"])
        assert "No space left" in why or "Input/output" in why
        lane.wait_until("the log tells it", 5, lambda: "memory alone" in durable.said())
        for i in range(2000):
            assert durable.client.ask(f"n{i}.full.up.test").rcode == "NOERROR"
        assert len(stub.queries("n7.full.up.test")) == 1
        (small / "ballast").unlink()
        lane.wait_until("it is open again", 15, lambda: durable.get("status")["durable"]["open"])
        durable.client.ask("after.full.up.test")
        lane.wait_until("it takes answers again", 5, lambda: not durable.get("status")["durable"]["why"])
    finally:
        durable.stop()
        subprocess.run(["umount", small], check=True)
