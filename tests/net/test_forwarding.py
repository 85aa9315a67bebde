# SPDX-License-Identifier: BSD-2-Clause
"""Asking upstream: once for many, unguessable, with retries, over TCP when it must be, and what is said when it fails.

All without packet path: what is looked at here is the daemon's.
"""
import time

import dns.message
import pytest

import lane

NO_KERNEL = {"fastpath": {"interfaces": [], "mode": "off", "required": False}}
DEAD = "10.53.1.2:5399"		# nobody listens: refused at once
SILENT = "10.53.1.77"		# no such neighbour: no answer at all


OTHER = 5356			# the port of daemons beside the module's: two on one port would share its questions


def daemon_with(lab, folder, servers, **more):
    return lane.Daemon(lab, folder, {**NO_KERNEL, "upstreams": {"servers": servers, "timeout_ms": 1000}, **more})


def beside(lab, folder, servers, **more):
    return daemon_with(lab, folder, servers, server={"listen": [f"{lane.SERVER4}:{OTHER}"]}, **more)


@pytest.fixture(scope="module")
def served(lab, stub, folder):
    d = daemon_with(lab, folder / "one", [lane.UPSTREAM4])
    try:
        yield d.start()
    finally:
        d.close()


def test_fifty_identical_questions_at_once_are_one_upstream(served, stub):
    asked = [lane.query("same.slow.test") for _ in range(50)]
    socks = [served.lab.socket("client", 2, 2) for _ in asked]
    for s, q in zip(socks, asked):
        s.settimeout(3)
        s.connect((lane.SERVER4, 53))
    with served.counting() as c:
        for s, q in zip(socks, asked):
            s.send(q.to_wire())
        got = [dns.message.from_wire(s.recv(4096)) for s in socks]
    for s in socks:
        s.close()
    assert [m.id for m in got] == [q.id for q in asked]
    assert len({m.answer[0][0].to_text() for m in got}) == 1
    assert len(stub.queries("same.slow.test")) == 1
    assert c["queries_coalesced"] == 49


def test_ports_and_ids_are_random(served, stub):
    for i in range(60):
        served.client.ask(f"r{i}.random.test")
    rows = [stub.queries(f"r{i}.random.test")[0] for i in range(60)]
    ports, ids = [int(r[2]) for r in rows], [int(r[3]) for r in rows]
    assert len(set(ports)) > 50 and len(set(ids)) > 55
    for values in ports, ids:
        steps = [b - a for a, b in zip(values, values[1:])]
        assert len(set(steps)) > 50, "they follow each other"
        assert max(values) - min(values) > 8000


@pytest.mark.parametrize("name", ["id.spoof.test", "question.spoof.test", "source.spoof.test"])
def test_a_forged_answer_is_dropped_and_the_right_one_taken(served, name):
    with served.counting() as c:
        reply = served.client.ask(name)
    assert reply.rcode == "NOERROR" and reply.data == ["A 192.0.2.66"]
    assert c["upstream_answers"] == 1
    if name != "source.spoof.test":		# a connected socket never sees what another source sends
        assert c["upstream_mismatches"] == 1


def test_only_forged_answers_end_in_servfail(served):
    reply = served.client.ask("only.spoof.test", edns=0)
    assert reply.rcode == "SERVFAIL" and reply.ede


def test_a_truncated_answer_is_fetched_over_tcp(served, stub):
    reply = served.client.ask("trunc.up.test")
    assert reply.data == ["A 192.0.2.33"] and not reply.has("TC")
    assert [r[1] for r in stub.queries("trunc.up.test")] == ["udp", "tcp"]


def test_an_upstream_without_edns_is_understood(served):
    assert served.client.ask("noopt.up.test", edns=0).data == ["A 192.0.2.77"]


def test_a_negative_answer_without_soa_is_given_on(served):
    reply = served.client.ask("nosoa.up.test", "AAAA")
    assert (reply.rcode, reply.data) == ("NOERROR", [])


def test_no_answer_is_servfail_with_a_reason_in_time(served):
    start = time.monotonic()
    reply = served.client.ask("dead.up.test", edns=0)
    assert reply.rcode == "SERVFAIL" and set(reply.ede) & {22, 23}
    assert 0.7 < time.monotonic() - start < 2


@pytest.mark.parametrize("name,rcode", [("fails.up.test", "SERVFAIL"), ("refused.up.test", "REFUSED")])
def test_what_all_upstreams_refuse_is_said_to_the_client(served, name, rcode):
    reply = served.client.ask(name, edns=0)
    assert reply.rcode == rcode and not reply.msg.answer


def test_a_failure_is_never_in_the_kernel(served):
    for _ in range(4):
        assert served.client.ask("fails.up.test").rcode == "SERVFAIL"
    assert served.get("status")["fastpath"]["answers"]["in_use"] == 0


def test_the_next_upstream_is_asked_when_one_is_dead_and_one_fails(lab, stub, folder):
    failing = lane.Stub(lab, folder, "--rule", "* SERVFAIL", port=5301, name="failing")
    d = beside(lab, folder / "retry", [DEAD, f"{lane.UPSTREAM4}:5301", lane.UPSTREAM4])
    try:
        d.start()
        for i in range(10):
            reply = d.client.ask(f"n{i}.retry.test", port=OTHER)
            assert reply.rcode == "NOERROR" and reply.data, f"question {i}"
            assert reply.seconds < 0.5
    finally:
        d.close()
        failing.stop()


def test_the_next_upstream_is_asked_when_one_is_silent(lab, stub, folder):
    d = beside(lab, folder / "silent", [SILENT, lane.UPSTREAM4])
    try:
        d.start()
        for i in range(4):
            assert d.client.ask(f"n{i}.silent.test", port=OTHER).data
    finally:
        d.close()


@pytest.mark.parametrize("listen", [f"{lane.SERVER4}:{OTHER}", f"0.0.0.0:{OTHER}"])
def test_a_server_that_is_ourselves_is_refused(lab, folder, listen):
    daemon = daemon_with(lab, folder / "loop", ["10.53.1.2", f"{lane.SERVER4}:{OTHER}"], server={"listen": [listen]})
    daemon.launch()
    daemon.ends_with(1, 5)
    assert f"upstreams.servers[1]: {lane.SERVER4}:{OTHER} is ourselves" in daemon.said()


def test_no_upstreams_means_refused_and_no_recursion(lab, stub, folder):
    d = beside(lab, folder / "none", [], filter={"lists": [{"name": "list", "file": "list.txt"}]})
    d.list("list.txt", "exact.blocked.test")
    try:
        d.start()
        reply = d.client.ask("some.up.test", port=OTHER, edns=0)
        assert (reply.rcode, reply.ede) == ("REFUSED", [20]) and not reply.has("RA")
        reply = d.client.ask("exact.blocked.test", port=OTHER, edns=0)
        assert reply.data == ["A 0.0.0.0"] and not reply.has("RA")
    finally:
        d.close()
