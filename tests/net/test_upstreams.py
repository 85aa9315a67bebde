# SPDX-License-Identifier: BSD-2-Clause
"""Many upstream servers: cut, back, routed, by name; and what millctl says of them.

All without packet path: what is looked at here is the daemon's.
"""
import itertools
import json
import signal
import time

import pytest

import lane

NO_KERNEL = {"fastpath": {"interfaces": [], "mode": "off", "required": False}}
PORT = 5357			# the daemons here; two on one port would share questions
ONE, TWO = "10.53.1.51", "10.53.1.52"
QUESTIONS = 12000


@pytest.fixture(scope="module")
def two(lab, folder):
    """Two stubs with addresses of their own; what they answer says which it was."""
    mac = json.loads(lab.run("upstream", "ip", "-j", "link", "show", "dev", "mru0").stdout)[0]["address"]
    for a in (ONE, TWO):
        lab.run("upstream", "ip", "addr", "add", f"{a}/24", "dev", "mru0")
        # as the lab's own: the kernel asks for a hardware address once a second, whoever waits
        lab.run("server", "ip", "neigh", "replace", a, "lladdr", mac, "dev", "mrs1", "nud", "permanent")
    stubs = [lane.Stub(lab, folder, "--rule", f"where.test a=192.0.2.{n}", "--rule", "lame.test REFUSED", "--rule",
                       f"named.test a={a}", "--rule", "*.named.test NXDOMAIN", "--rule",
                       f"moves.test A first=1 a={ONE} ttl=1", "--rule", f"moves.test A a={TWO} ttl=300", "--rule",
                       "moves.test AAAA NOERROR", name=f"stub{n}", listen=a)
             for n, a in ((1, ONE), (2, TWO))]
    yield stubs
    for s in stubs:
        s.process.send_signal(signal.SIGCONT)
        s.stop()
    for a in (ONE, TWO):
        lab.run("upstream", "ip", "addr", "del", f"{a}/24", "dev", "mru0")
        lab.run("server", "ip", "neigh", "del", a, "dev", "mrs1")


def daemon_with(lab, folder, **upstreams):
    d = lane.Daemon(lab, folder, {**NO_KERNEL, "server": {"listen": [f"{lane.SERVER4}:{PORT}"], "workers": 2}})
    d.config["upstreams"] = upstreams
    d.file.write_text(json.dumps(d.config))
    return d


numbers = itertools.count()


@pytest.fixture
def served(lab, two, folder):
    made = []

    def start(**upstreams):
        made.append(daemon_with(lab, folder / f"d{next(numbers)}", **upstreams))
        return made[-1].start()

    yield start
    for d in made:
        d.close()


def states(d):
    return {u["server"]: u["state"] for u in d.get("upstreams")["upstreams"]}


def load(lab, folder, prefix, count, seconds):
    names = [(f"{prefix}{i}.load.test", "A") for i in range(count)]
    return lane.Perf(lab, folder, names, seconds + 5, qps=count // seconds, port=PORT, extra=["-n", 1])


@pytest.mark.parametrize("strategy", ["parallel_best", "latency", "ordered", "round_robin", "random"])
def test_one_of_two_servers_cut_for_half_the_run(lab, two, served, tmp_path, strategy):
    d = served(servers=[ONE, TWO], strategy=strategy)
    count = QUESTIONS if strategy == "parallel_best" else 4000
    seconds = 8
    with d.counting() as c:
        run = load(lab, tmp_path, "c", count, seconds)
        time.sleep(seconds / 4)
        two[0].process.send_signal(signal.SIGSTOP)
        time.sleep(seconds / 2)
        two[0].process.send_signal(signal.SIGCONT)
        result = run.result()
    good = result["codes"].get("NOERROR", 0)
    lane.figure(f"{strategy}: {good} of {count} answered with one of two servers cut for half the run"
                + (f": {result}" if good < count else ""))
    assert result["sent"] == count
    # who takes turns sends the first few of each worker to the dead one; those wait, and are answered all the same
    assert good >= count - 1, (run.text, d.said())
    if strategy != "latency":	# which may have had no reason to ask that one
        assert c["upstream_fell"] >= 1
    lane.wait_until("both are well", 1, lambda: set(states(d).values()) == {"well"})


def test_all_servers_are_back_within_a_second_of_the_network(lab, two, served):
    d = served(servers=[ONE, TWO], timeout_ms=600)
    assert d.client.ask("a.back.test", port=PORT).rcode == "NOERROR"
    lab.run("upstream", "ip", "link", "set", "mru0", "down")
    try:
        for i in range(4):
            assert d.client.ask(f"n{i}.back.test", port=PORT).rcode == "SERVFAIL"
        lane.wait_until("both have failed", 5, lambda: d.client.ask(f"m{time.monotonic_ns()}.back.test", port=PORT)
                        and set(states(d).values()) == {"failed"})
        time.sleep(1.5)
    finally:
        lab.run("upstream", "ip", "link", "set", "mru0", "up")
    start = time.monotonic()
    lane.wait_until("both are well", 3, lambda: set(states(d).values()) == {"well"}, every=0.01)
    took = time.monotonic() - start
    lane.figure(f"both servers were back {took * 1000:.0f} ms after the link")
    assert took < 1
    assert d.client.ask("z.back.test", port=PORT).rcode == "NOERROR"
    assert "has failed" in d.said() and "is back" in d.said()


def test_servers_are_back_within_a_second_when_no_link_says_so(lab, two, served):
    d = served(servers=[ONE, TWO], timeout_ms=600)
    for s in two:
        s.process.send_signal(signal.SIGSTOP)
    lane.wait_until("both have failed", 8, lambda: d.client.ask(f"m{time.monotonic_ns()}.still.test", port=PORT)
                    and set(states(d).values()) == {"failed"})
    for s in two:
        s.process.send_signal(signal.SIGCONT)
    start = time.monotonic()
    lane.wait_until("both are well", 3, lambda: set(states(d).values()) == {"well"}, every=0.01)
    took = time.monotonic() - start
    lane.figure(f"both servers were back {took * 1000:.0f} ms after they went on")
    assert took < 1


def test_a_zone_with_a_route_goes_to_its_servers(two, served):
    d = served(servers=[ONE], routes=[{"zone": "test", "servers": [TWO]}])
    assert d.client.ask("where.test", port=PORT).data == ["A 192.0.2.2"]
    assert d.client.ask("where.example", port=PORT).rcode == "NOERROR"
    assert not two[0].queries("where.test") and two[0].queries("where.example")


def test_with_routes_alone_the_rest_is_refused(two, served):
    d = served(servers=[], routes=[{"zone": "test", "servers": [TWO]}])
    assert d.client.ask("where.test", port=PORT).data == ["A 192.0.2.2"]
    reply = d.client.ask("where.example", port=PORT, edns=0)
    assert (reply.rcode, reply.ede) == ("REFUSED", [20])


def test_the_fallback_is_asked_while_the_others_are_silent(two, served):
    d = served(servers=["10.53.1.77"], fallback=[TWO], timeout_ms=1500)
    for i in range(4):
        assert d.client.ask(f"f{i}.fall.test", port=PORT).rcode == "NOERROR"
    assert d.client.ask("f9.fall.test", port=PORT).seconds < 0.3	# known to have failed by now


def test_a_server_by_name_is_found_by_bootstrap_servers(two, served):
    d = served(servers=["udp://named.test"], bootstrap=[TWO])
    lane.wait_until("it is resolved", 3, lambda: states(d)["udp://named.test"] == "well")
    assert d.client.ask("where.test", port=PORT).data == ["A 192.0.2.2"]
    row = d.get("upstreams")["upstreams"][0]
    assert row["address"] == f"{TWO}:53" and row["answers"] >= 1
    assert "at 10.53.1.52:53, for servers" in d.millctl("upstreams").stdout


def test_a_server_whose_name_does_not_exist_is_said_to_be_so(two, served):
    d = served(servers=["udp://no.named.test", ONE])
    assert d.client.ask("where.test", port=PORT).data == ["A 192.0.2.1"]
    row = lane.wait_until("it is known", 3, lambda: (u := d.get("upstreams")["upstreams"][0])["last_error"] and u)
    assert row["state"] == "unresolved" and row["last_error"]["why"] == "its name does not exist"


def test_a_name_is_resolved_again_when_its_time_to_live_is_over(two, served):
    d = served(servers=["tcp://moves.test"], bootstrap=[TWO])
    lane.wait_until("it is resolved", 3, lambda: states(d)["tcp://moves.test"] == "well")
    assert d.client.ask("where.test", port=PORT).data == ["A 192.0.2.1"]
    lane.wait_until("it has moved", 8, lambda: d.get("upstreams")["upstreams"][0]["address"] == f"{TWO}:53")
    d.get("flush", "POST", name="where.test")
    assert d.client.ask("where.test", port=PORT).data == ["A 192.0.2.2"]


def test_a_connection_goes_when_another_address_of_ours_is_the_way(lab, two, served):
    d = served(servers=[f"tcp://{ONE}"])
    assert d.client.ask("n1.way.test", port=PORT).rcode == "NOERROR"
    assert d.client.ask("n2.way.test", port=PORT).rcode == "NOERROR"
    lab.run("server", "ip", "addr", "add", "10.53.1.200/24", "dev", "mrs1")
    try:
        lab.run("server", "ip", "route", "add", f"{ONE}/32", "dev", "mrs1", "src", "10.53.1.200")
        time.sleep(0.3)
        assert d.client.ask("n3.way.test", port=PORT).rcode == "NOERROR"
    finally:
        lab.run("server", "ip", "addr", "del", "10.53.1.200/24", "dev", "mrs1")
    rows = [two[0].queries(f"n{i}.way.test")[0] for i in (1, 2, 3)]
    assert [r[1] for r in rows] == ["tcp"] * 3
    assert rows[0][2] == rows[1][2] != rows[2][2], "by the client's port: one connection, then another"
    assert [r[6] for r in rows] == ["10.53.1.1", "10.53.1.1", "10.53.1.200"]


def test_a_name_without_anybody_to_resolve_it_is_refused_at_the_start(lab, folder):
    d = daemon_with(lab, folder / "nobody", servers=["udp://named.test"])
    d.launch()
    d.ends_with(1, 5)
    assert "upstreams.bootstrap: missing; expected servers that resolve \"named.test\"" in d.said()


def test_questions_under_way_outlive_a_reload(lab, two, served):
    slow = lane.Stub(lab, two[0].log.parent, "--rule", "* a=192.0.2.5 delay=700", port=5310, name="slow")
    try:
        d = served(servers=[f"{lane.UPSTREAM4}:5310"], timeout_ms=3000)
        d.client.send(lane.query("under.way.test").to_wire(), port=PORT)
        time.sleep(0.2)
        d.config["upstreams"] = {"servers": [ONE]}
        d.file.write_text(json.dumps(d.config))
        d.hup()
        waiting = d.client._udp(lane.SERVER4, PORT, None)
        waiting.settimeout(3)
        assert waiting.recv(4096)[-4:] == bytes([192, 0, 2, 5])
        assert d.client.ask("where.test", port=PORT).data == ["A 192.0.2.1"]
    finally:
        slow.stop()


def test_too_many_at_once_are_answered_with_servfail_at_once(two, served):
    d = served(servers=["10.53.1.77"], timeout_ms=3000, max_in_flight=3)
    for i in range(3):
        d.client.send(lane.query(f"w{i}.bound.test").to_wire(), port=PORT)
    lane.wait_until("three are under way", 2, lambda: d.get("upstreams")["in_flight"] == 3)
    with d.counting() as c:
        reply = d.client.ask("one.bound.test", port=PORT, edns=0)
    assert reply.rcode == "SERVFAIL" and reply.seconds < 0.3
    assert c["upstream_full"] == 1
    assert d.get("upstreams")["in_flight_max"] == 3
