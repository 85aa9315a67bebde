# SPDX-License-Identifier: BSD-2-Clause
"""Answers behind their end (RFC 8767): from the daemon while one renewal fails, from the kernel while all is down."""
import select
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest

import lane

OTHERS = [f"unknown{i}.up.test" for i in range(4)]


@contextmanager
def held(process):
    """Whoever it is, it says nothing meanwhile."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def test_a_renewal_that_takes_too_long_costs_1_8_s_once(daemon, stub):
    daemon.write({"upstreams": {"timeout_ms": 5000}})
    daemon.start()
    daemon.warm("late.short.test", edns=0)
    with held(stub.process):
        time.sleep(2.3)
        first = daemon.ask("late.short.test", edns=0)
        assert first.by == "daemon" and first.data == ["A 192.0.2.9"]
        assert first.ttls == [30] and first.ede == [3]
        assert 1.7 <= first.seconds <= 2.1
        second = daemon.ask("late.short.test")
        assert second.data == ["A 192.0.2.9"] and second.ttls == [30] and second.seconds < 0.5
    assert daemon.get("stats")["daemon"]["counters"]["queries_stale"]["value"] == 2


def test_while_no_server_answers_the_kernel_gives_what_is_over(daemon, stub):
    daemon.start()
    daemon.warm("down.short.test", edns=0)
    daemon.warm("down.short.test")
    with held(stub.process):
        time.sleep(2.3)
        daemon.client.tcp([lane.query(name).to_wire() for name in OTHERS], timeout=20.0)
        reply = daemon.ask("down.short.test", edns=0)
        assert reply.by == "kernel" and reply.data == ["A 192.0.2.9"]
        assert reply.ttls == [30] and reply.ede == [3]
        plain = daemon.ask("down.short.test")
        assert plain.by == "kernel" and plain.ttls == [30] and not plain.msg.opt
        assert daemon.get("stats")["kernel"]["counters"]["stale"]["value"] == 2
    # one answer from upstream, and nothing that is over is given any more: it is asked for, if what was under way has not brought it
    daemon.client.ask("back.up.test")
    reply = daemon.ask("down.short.test", edns=0)
    assert reply.data == ["A 192.0.2.9"] and 1 <= reply.ttls[0] <= 2 and not reply.ede


def test_while_the_daemon_is_dead_the_kernel_gives_what_is_over(daemon, stub):
    daemon.start()
    daemon.warm("orphan.short.test", edns=0)
    daemon.kill()
    time.sleep(2.5)
    with pytest.raises(lane.NoAnswer):
        daemon.client.ask("orphan.short.test", edns=0, timeout=0.3)
    time.sleep(3.5)
    reply = daemon.client.ask("orphan.short.test", edns=0)
    assert reply.data == ["A 192.0.2.9"] and reply.ttls == [30] and reply.ede == [3]
    daemon.start()
    reply = daemon.ask("orphan.short.test", edns=0)
    assert reply.by == "daemon" and reply.ttls == [2] and not reply.ede
    assert daemon.ask("orphan.short.test", edns=0).by == "kernel"


def test_nothing_is_given_behind_its_end_when_that_is_off(daemon, stub):
    daemon.write({"cache": {"serve_stale": {"enabled": False}}})
    daemon.start()
    daemon.warm("off.short.test", edns=0)
    with held(stub.process):
        time.sleep(2.3)
        reply = daemon.ask("off.short.test", edns=0)
        assert reply.rcode == "SERVFAIL" and reply.ede == [22]


def test_a_reload_that_takes_it_back_is_in_force_at_once(daemon, stub):
    daemon.start()
    daemon.warm("taken.short.test", edns=0)
    daemon.write({"cache": {"serve_stale": {"enabled": False}}})
    daemon.hup()
    with held(stub.process):
        time.sleep(2.3)
        reply = daemon.ask("taken.short.test", edns=0)
        assert reply.by == "daemon" and reply.rcode == "SERVFAIL"


def test_a_live_view_says_what_was_over(daemon, stub):
    daemon.start()
    daemon.warm("seen.short.test")
    with held(stub.process):
        time.sleep(2.3)
        daemon.ask("seen.short.test")
        tail = daemon.lab.start("server", lane.BUILD / "millctl", "-s", daemon.folder / "run/api.sock", "tail",
                                stdout=subprocess.PIPE, text=True)
        try:
            lane.wait_until("an event is told", 5, lambda: daemon.client.ask("seen.short.test") and
                            select.select([tail.stdout], [], [], 0.2)[0])
            line = tail.stdout.readline()
        finally:
            tail.terminate()
            tail.wait()
        assert "seen.short.test" in line and ", stale" in line


def test_a_name_below_one_that_is_not_there_is_not_asked_for(daemon, stub):
    daemon.start()
    daemon.ask("cut.nx.test")
    reply = daemon.ask("www.cut.nx.test")
    assert reply.by == "daemon" and reply.rcode == "NXDOMAIN" and len(reply.msg.authority) == 1
    assert not stub.queries("www.cut.nx.test")
    assert daemon.ask("cut.nx.test", "AAAA").rcode == "NXDOMAIN"
    assert not stub.queries("cut.nx.test", "AAAA")


def test_addresses_turn(daemon, stub):
    daemon.start()
    firsts = {daemon.client.ask("two.up.test", tcp=True).msg.answer[0][0].to_text() for _ in range(6)}
    assert firsts == {"192.0.2.1", "192.0.2.2", "192.0.2.3"}
