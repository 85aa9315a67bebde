# SPDX-License-Identifier: BSD-2-Clause
"""Upstream servers that misbehave: what the client gets from such a server alone, and with a good one beside it.

A row of MISDEEDS is one misdeed of mrstub's over the transports it is possible on.  For each there is a daemon of its
own, so that nothing is known of the server yet; it asks in order, the bad one first.
"""
import json
import os
import time

import pytest

import certs
import lane

PORT = 5359			# the daemons here
BAD, GOOD = "10.53.1.71", "10.53.1.72"
HOST = "dns.bad.example"
IN_TIME = 1.5			# upstreams.timeout_ms, in seconds
SLACK = 2 if "MR_BUILD" in os.environ else 0.5		# sanitizers take their time

UDP, TCP, TLS, HTTPS = ["udp"], ["tcp"], ["tls"], ["https"]
CONNECTED = TCP + TLS + HTTPS
ANY = UDP + CONNECTED

# What the client gets: the address of the bad server, of the good one, or an rcode.
FROM_BAD, FROM_GOOD = "192.0.2.1", "192.0.2.2"

# a sentence: rules of the name, transports, alone, beside a good one, counters that rise alone
MISDEEDS = {
    "is silent": (["drop"], ANY, "SERVFAIL", FROM_GOOD, ["upstream_timeouts"]),
    "is silent once": (["first=1 drop", "a=192.0.2.1"], UDP, FROM_BAD, FROM_GOOD, ["upstream_timeouts"]),
    "answers 50 ms late": (["a=192.0.2.1 delay=50"], ANY, FROM_BAD, FROM_BAD, ["upstream_answers"]),
    "truncates": (["truncate a=192.0.2.1"], UDP, FROM_BAD, FROM_BAD, ["upstream_truncated", "upstream_tcp_queries"]),
    "truncates and closes over TCP": (["udp truncate a=192.0.2.1", "tcp close"], UDP, "SERVFAIL", FROM_GOOD,
                                      ["upstream_truncated", "upstream_errors"]),
    "answers with another ID": (["wrong-id a=192.0.2.1"], UDP + TCP + TLS, "SERVFAIL", FROM_GOOD,
                                ["upstream_mismatches"]),
    "is forged and right": (["wrong-id also-right a=192.0.2.1"], UDP, FROM_BAD, FROM_BAD, ["upstream_mismatches"]),
    "answers another question": (["wrong-question a=192.0.2.1"], ANY, "SERVFAIL", FROM_GOOD, ["upstream_mismatches"]),
    "answers from another port": (["wrong-source a=192.0.2.1"], UDP, "SERVFAIL", FROM_GOOD, ["upstream_timeouts"]),
    "does not repeat letters": (["lower a=192.0.2.1"], ANY, FROM_BAD, FROM_BAD, ["upstream_answers"]),
    "is lame by SERVFAIL": (["SERVFAIL"], ANY, "SERVFAIL", FROM_GOOD, ["upstream_failures"]),
    "is lame by REFUSED": (["REFUSED"], ANY, "REFUSED", FROM_GOOD, ["upstream_failures"]),
    "is lame by a referral": (["lame"], ANY, "SERVFAIL", FROM_GOOD, ["upstream_failures"]),
    "does not implement it": (["NOTIMP"], ANY, "NOTIMP", FROM_GOOD, ["upstream_failures"]),
    "sends noise": (["garbage"], ANY, "SERVFAIL", FROM_GOOD, ["upstream_mismatches"]),
    "promises records that are not there": (["broken"], ANY, "SERVFAIL", FROM_GOOD, ["upstream_failures"]),
    "has never heard of EDNS": (["formerr-edns a=192.0.2.1"], ANY, FROM_BAD, FROM_BAD, ["upstream_no_edns"]),
    "answers EDNS without": (["no-opt a=192.0.2.1"], ANY, FROM_BAD, FROM_BAD, ["upstream_answers"]),
    "is silent about EDNS": (["drop-edns a=192.0.2.1"], UDP, FROM_BAD, None, ["upstream_timeouts"]),
    "is silent about DO": (["drop-do a=192.0.2.1"], UDP, FROM_BAD, None, ["upstream_timeouts"]),
    "closes instead of answering": (["close"], CONNECTED, "SERVFAIL", FROM_GOOD, ["upstream_errors"]),
    "closes once": (["first=1 close", "a=192.0.2.1"], CONNECTED, FROM_BAD, None, []),
    "closes behind the answer": (["hang-up a=192.0.2.1"], CONNECTED, FROM_BAD, FROM_BAD, ["upstream_answers"]),
    "says GOAWAY instead of answering": (["first=1 goaway", "a=192.0.2.1"], HTTPS, FROM_BAD, None, []),
    "has trouble inside": (["status=500"], HTTPS, "SERVFAIL", FROM_GOOD, ["upstream_errors"]),
    "knows no such path": (["status=404"], HTTPS, "SERVFAIL", FROM_GOOD, ["upstream_errors"]),
}
ROWS = [(s, t) for s, row in MISDEEDS.items() for t in row[1]]
HOWS = ["alone", "beside"]


def name_of(sentence, scheme, how):
    return f"{how}.{scheme}.{sentence.replace(' ', '-').lower()}.bad.example"


def rules():
    for sentence, scheme in ROWS:
        for how in HOWS:
            for words in MISDEEDS[sentence][0]:
                yield f"{name_of(sentence, scheme, how)} {words}"
    yield "*.burst.example a=192.0.2.1 refuse-after=30"
    yield "*.hasty.example a=192.0.2.1 hang-up"
    yield "*.away.example a=192.0.2.1 hang-up delay=20"
    yield "*.slow.example a=192.0.2.1 delay=50"
    yield f"* A a={FROM_BAD}"


class Ground:
    def __init__(self, lab, folder):
        self.lab, self.folder = lab, folder
        self.ca, self.stranger = certs.Authority(folder), certs.Authority(folder, "stranger")
        self.right = self.ca.sign("right", f"DNS:{HOST}")
        self.stubs, self.started = {}, []

    def stub(self, name, *args, listen=BAD, port=53, tls=853, https=443, cert=None):
        """The stub of that name, started once."""
        if name not in self.stubs:
            cert, key = cert or self.right
            path = self.folder / f"{name}.counters"
            stub = lane.Stub(self.lab, self.folder, "--tls", tls, "--https", https, "--cert", cert, "--key", key,
                             "--stats", path, *args, port=port, name=name, listen=listen)
            self.stubs[name] = stub
        return self.stubs[name]

    def daemon(self, servers, **upstreams):
        d = lane.Daemon(self.lab, self.folder / f"d{time.monotonic_ns()}", {
            "fastpath": {"interfaces": [], "mode": "off", "required": False},
            "server": {"listen": [f"{lane.SERVER4}:{PORT}"], "workers": 1},
            "upstreams": {"servers": servers, "strategy": "ordered", "timeout_ms": int(IN_TIME * 1000),
                          "ca": str(self.ca.file), **upstreams}})
        self.started.append(d)
        return d.start()

    def stop_daemons(self):
        while self.started:
            self.started.pop().close()

    def stop(self):
        for s in self.stubs.values():
            s.stop()


@pytest.fixture(scope="module")
def whole(lab, folder):
    for a in BAD, GOOD:
        lab.run("upstream", "ip", "addr", "add", f"{a}/24", "dev", "mru0")
    g = Ground(lab, folder)
    file = folder / "bad.rules"
    file.write_text("".join(f"{r}\n" for r in rules()))
    g.stub("bad", "--rules", file)
    g.stub("good", "--rule", f"* A a={FROM_GOOD}", listen=GOOD)
    yield g
    g.stop()
    for a in BAD, GOOD:
        lab.run("upstream", "ip", "addr", "del", f"{a}/24", "dev", "mru0")


@pytest.fixture
def ground(whole):
    yield whole
    whole.stop_daemons()


def server(scheme, address=BAD, port=None, **more):
    where = f"{scheme}://{address}" + (f":{port}" if port else "")
    return {"address": where, **({"name": HOST} if scheme in TLS + HTTPS else {}), **more}


def ask(d, name, **shape):
    """What the client gets, as the table says it, and the reply."""
    reply = d.client.ask(name, port=PORT, timeout=5, **shape)
    return (reply.msg.answer[-1][0].to_text() if reply.msg.answer else reply.rcode), reply


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("sentence,scheme", ROWS)
def test_a_server_that(ground, sentence, scheme, how):
    _, _, alone, beside, counters = MISDEEDS[sentence]
    wanted = alone if how == "alone" else beside
    d = ground.daemon([server(scheme)] + ([server(scheme, GOOD)] if how == "beside" else []))
    with d.counting() as c:
        got, reply = ask(d, name_of(sentence, scheme, how), edns=0)
    said = d.millctl("upstreams").stdout
    assert got in ([wanted] if wanted else [FROM_BAD, FROM_GOOD]), said
    assert reply.seconds < IN_TIME + SLACK, said
    if got == "SERVFAIL" and sentence != "is lame by SERVFAIL":		# ours, and not the server's word
        assert set(reply.ede) & {0, 22, 23}, reply.ede
    if how == "alone":
        assert all(c[name] for name in counters), ({name: c[name] for name in counters}, said)


# ---- what happens to connections -------------------------------------------

@pytest.mark.parametrize("scheme", TLS + HTTPS)
def test_of_150_questions_on_a_server_that_refuses_after_30_all_are_answered(ground, scheme):
    d = ground.daemon([server(scheme)])
    got = [ask(d, f"n{i}.{scheme}.burst.example")[0] for i in range(150)]
    assert got == [FROM_BAD] * 150
    rows = [r for i in range(150) for r in ground.stubs["bad"].queries(f"n{i}.{scheme}.burst.example")]
    assert 5 <= len({r[2] for r in rows}) <= 12, "connections, by their ports"
    assert 150 <= len(rows) <= 162


@pytest.mark.parametrize("scheme", TLS + HTTPS)
def test_so_are_150_at_once(ground, scheme):
    d = ground.daemon([server(scheme)], timeout_ms=4000)
    names = [(f"m{i}.{scheme}.burst.example", "A") for i in range(150)]
    result = lane.Perf(ground.lab, ground.folder, names, 10, port=PORT, clients=1, extra=["-n", 1]).result()
    assert result["codes"] == {"NOERROR": 150}, (result, d.millctl("upstreams").stdout)


@pytest.mark.parametrize("scheme", TCP)
def test_over_tcp_the_server_s_refusal_is_its_word(ground, scheme):
    """Who refuses in clear refuses us, and not the connection; a good one beside it answers."""
    d = ground.daemon([server(scheme), server("udp", GOOD)])
    got = [ask(d, f"n{i}.{scheme}.burst.example")[0] for i in range(40)]
    assert got[:30] == [FROM_BAD] * 30 and got[30:] == [FROM_GOOD] * 10


@pytest.mark.parametrize("zone", ["hasty.example", "away.example"])
@pytest.mark.parametrize("scheme", CONNECTED)
def test_a_server_that_ends_each_connection_loses_nothing(ground, scheme, zone):
    """After each answer, and 20 ms later, when the next question is perhaps on its way."""
    d = ground.daemon([server(scheme)])
    with d.counting() as c:
        got = [ask(d, f"n{i}.{scheme}.{zone}") for i in range(40)]
    assert [g for g, _ in got] == [FROM_BAD] * 40
    assert max(r.seconds for _, r in got) < 0.5 + SLACK
    if scheme != "tcp":
        assert c["upstream_resumed"] >= 20, "sessions go on where connections do not"


@pytest.mark.parametrize("scheme", CONNECTED)
def test_answers_that_wait_in_a_queue_do_not_wait_for_each_other(ground, scheme):
    """50 ms each: 200 of them take a moment, and not ten seconds."""
    d = ground.daemon([server(scheme)], timeout_ms=4000)
    names = [(f"n{i}.{scheme}.slow.example", "A") for i in range(200)]
    start = time.monotonic()
    result = lane.Perf(ground.lab, ground.folder, names, 10, port=PORT, clients=1, extra=["-n", 1]).result()
    assert result["codes"] == {"NOERROR": 200}, (result, d.millctl("upstreams").stdout)
    assert time.monotonic() - start < 3


IDLE = {"port": 5301, "tls": 8301, "https": 4301}
LATE = {"port": 5302, "tls": 8302, "https": 4302}
NEVER = {"port": 5303, "tls": 8303, "https": 4303}


def at(ports, scheme):
    return ports["port" if scheme in UDP + TCP else scheme]


@pytest.mark.parametrize("scheme", CONNECTED)
def test_a_server_that_closes_idle_connections_loses_nothing(ground, scheme):
    stub = ground.stub("idle", "--idle", 300, "--rule", f"* A a={FROM_BAD}", **IDLE)
    d = ground.daemon([server(scheme, port=at(IDLE, scheme))])
    for i in range(6):
        got, reply = ask(d, f"n{i}.{scheme}.idle.example")
        assert got == FROM_BAD and reply.seconds < 0.5
        time.sleep((0.2, 0.299, 0.301, 0.4, 0.295, 0)[i])
    assert len({r[2] for i in range(6) for r in stub.queries(f"n{i}.{scheme}.idle.example")}) >= 2


def test_our_own_idle_connections_go_before_eight_seconds(ground):
    """Over TCP, TLS and HTTPS at once, so that the waiting is done once."""
    daemon = ground.daemon([server("tcp")], routes=[{"zone": "t.example", "servers": [server("tls")]},
                                                    {"zone": "h.example", "servers": [server("https")]}])
    for name in "one.c.example", "one.t.example", "one.h.example":
        assert ask(daemon, name)[0] == FROM_BAD

    def opened():
        said = ground.lab.run("upstream", "ss", "-Htn", "state", "established", "src", BAD).stdout
        return len(said.splitlines())

    assert opened() >= 3
    start = time.monotonic()
    lane.wait_until("they are closed", 8, lambda: not opened(), every=0.1)
    assert time.monotonic() - start > 5, "they were of use meanwhile"


@pytest.mark.parametrize("scheme", TLS + HTTPS)
def test_a_slow_handshake_is_waited_for(ground, scheme):
    ground.stub("late", "--handshake", 400, "--rule", f"* A a={FROM_BAD}", **LATE)
    d = ground.daemon([server(scheme, port=at(LATE, scheme))])
    got, reply = ask(d, f"one.{scheme}.late.example")
    assert got == FROM_BAD and 0.4 <= reply.seconds < 1.2
    assert ask(d, f"two.{scheme}.late.example")[1].seconds < 0.3


@pytest.mark.parametrize("scheme", TLS + HTTPS)
def test_a_handshake_that_never_comes_costs_what_silence_costs(ground, scheme):
    ground.stub("never", "--handshake", 60000, **NEVER)
    alone = ground.daemon([server(scheme, port=at(NEVER, scheme))])
    got, reply = ask(alone, f"one.{scheme}.never.example", edns=0)
    assert got == "SERVFAIL" and reply.seconds < IN_TIME + SLACK and set(reply.ede) & {22, 23}
    ground.stop_daemons()
    beside = ground.daemon([server(scheme, port=at(NEVER, scheme)), server(scheme, GOOD)])
    assert ask(beside, f"two.{scheme}.never.example")[0] == FROM_GOOD


# ---- certificates ----------------------------------------------------------

# a sentence: ports, what the reason says
REFUSED = {
    "signed by a stranger": ({"port": 5311, "tls": 8311, "https": 4311}, "unable to get local issuer certificate"),
    "expired": ({"port": 5312, "tls": 8312, "https": 4312}, "certificate has expired"),
    "for another name": ({"port": 5313, "tls": 8313, "https": 4313}, "hostname mismatch"),
    "self-signed": ({"port": 5314, "tls": 8314, "https": 4314}, "self-signed certificate"),
}


def certificate(ground, sentence):
    if sentence == "signed by a stranger":
        return ground.stranger.sign("strange", f"DNS:{HOST}")
    if sentence == "expired":
        return ground.ca.sign("expired", f"DNS:{HOST}", days=-1)
    if sentence == "self-signed":
        return ground.stranger.file, ground.stranger.key
    return ground.ca.sign("other", "DNS:dns.other.example")


def stub_with(ground, sentence):
    ports = REFUSED[sentence][0]
    name = sentence.replace(" ", "-")
    if name not in ground.stubs:
        ground.stub(name, "--rule", f"* A a={FROM_BAD}", cert=certificate(ground, sentence), **ports)
    return ground.stubs[name]


@pytest.mark.parametrize("scheme", TLS + HTTPS)
@pytest.mark.parametrize("sentence", REFUSED)
def test_a_certificate_is_refused_that_is(ground, sentence, scheme):
    stub, (ports, reason) = stub_with(ground, sentence), REFUSED[sentence]
    d = ground.daemon([server(scheme, port=at(ports, scheme))])
    got, reply = ask(d, f"alone.{scheme}.refused.example", edns=0)
    assert got == "SERVFAIL" and set(reply.ede) & {22, 23}
    [row] = d.get("upstreams")["upstreams"]
    said = row["last_error"]["why"]
    assert row["errors"]["untrusted"] >= 1 and reason in said
    assert said in d.millctl("upstreams").stdout
    lane.wait_until("the log has it", 3, lambda: said in d.said())
    assert not stub.queries(f"alone.{scheme}.refused.example"), "who is not trusted does not learn what is asked"
    ground.stop_daemons()
    d = ground.daemon([server(scheme, port=at(ports, scheme)), server(scheme, GOOD)])
    assert ask(d, f"beside.{scheme}.refused.example")[0] == FROM_GOOD


@pytest.mark.parametrize("scheme", TLS + HTTPS)
def test_the_log_says_it_once(ground, scheme):
    stub_with(ground, "expired")
    d = ground.daemon([server(scheme, port=at(REFUSED["expired"][0], scheme)), server(scheme, GOOD)])
    for i in range(20):
        assert ask(d, f"n{i}.{scheme}.once.example")[0] == FROM_GOOD
    time.sleep(0.5)
    lines = [line for line in d.said().splitlines() if "certificate has expired" in line]
    assert 1 <= len(lines) <= 2, lines		# the reason, and that it has failed


@pytest.mark.parametrize("scheme", TLS + HTTPS)
def test_a_pinned_key_counts_and_not_who_signed_it(ground, scheme):
    stub_with(ground, "signed by a stranger")
    ports = REFUSED["signed by a stranger"][0]
    right, wrong = certs.pin(ground.folder / "strange.pem"), certs.pin(ground.right[0])
    d = ground.daemon([server(scheme, port=at(ports, scheme), pin=[wrong, right])])
    assert ask(d, f"right.{scheme}.pinned.example")[0] == FROM_BAD
    ground.stop_daemons()
    d = ground.daemon([server(scheme, port=at(ports, scheme), pin=[wrong])])
    assert ask(d, f"wrong.{scheme}.pinned.example")[0] == "SERVFAIL"
    assert "none of those that are pinned" in d.millctl("upstreams").stdout


# ---- the network -----------------------------------------------------------

QUESTIONS, SECONDS = 12000, 8
NOWHERE = "02:53:01:00:00:99"		# a hardware address that nobody has


def cut(lab, address, off):
    """Lose everything that goes to the address, without a word; or no longer."""
    mac = json.loads(lab.run("upstream", "ip", "-j", "link", "show", "dev", "mru0").stdout)[0]["address"]
    lab.run("server", "ip", "neigh", "replace", address, "lladdr", NOWHERE if off else mac, "dev", "mrs1", "nud",
            "permanent")


def states(d):
    return {u["server"]: u["state"] for u in d.get("upstreams")["upstreams"]}


@pytest.mark.parametrize("scheme", ANY)
def test_with_one_of_two_servers_cut_off_for_half_the_run_nothing_is_lost(ground, scheme):
    """The one that is preferred just then, of course."""
    count = QUESTIONS
    cut(ground.lab, BAD, False)
    d = ground.daemon([server(scheme), server(scheme, GOOD)], strategy="parallel_best", timeout_ms=2000)
    names = [(f"c{i}.{scheme}.cut.example", "A") for i in range(count)]
    run = lane.Perf(ground.lab, ground.folder, names, SECONDS + 5, qps=count // SECONDS, port=PORT, extra=["-n", 1])
    try:
        time.sleep(SECONDS / 4)
        at_work = max(d.get("upstreams")["upstreams"], key=lambda u: u["answers"])
        victim = GOOD if GOOD in at_work["server"] else BAD
        cut(ground.lab, victim, True)
        time.sleep(SECONDS / 2)
        before = states(d)
    finally:
        cut(ground.lab, victim, False)
    start = time.monotonic()
    lane.wait_until("both are well", 3, lambda: set(states(d).values()) == {"well"}, every=0.01)
    back = time.monotonic() - start
    result = run.result()
    good = result["codes"].get("NOERROR", 0)
    lane.figure(f"{scheme}: {good} of {count} answered with one of two servers cut off for half the run; "
                f"it was back after {back * 1000:.0f} ms")
    assert result["sent"] == count and good >= count - 1, (run.text, d.millctl("upstreams").stdout)
    assert before[at_work["server"]] == "failed" and back < 1


@pytest.mark.parametrize("scheme", ANY)
def test_all_servers_are_back_within_a_second(ground, scheme):
    d = ground.daemon([server(scheme), server(scheme, GOOD)], timeout_ms=600)
    assert ask(d, f"first.{scheme}.back.example")[0] in (FROM_BAD, FROM_GOOD)
    for a in BAD, GOOD:
        cut(ground.lab, a, True)
    try:
        lane.wait_until("both have failed", 10, lambda: ask(d, f"m{time.monotonic_ns()}.back.example")
                        and set(states(d).values()) == {"failed"})
        time.sleep(1)
    finally:
        for a in BAD, GOOD:
            cut(ground.lab, a, False)
    start = time.monotonic()
    lane.wait_until("both are well", 3, lambda: set(states(d).values()) == {"well"}, every=0.01)
    took = time.monotonic() - start
    lane.figure(f"{scheme}: both servers were back {took * 1000:.0f} ms after the network")
    assert took < 1
    assert ask(d, f"last.{scheme}.back.example")[0] in (FROM_BAD, FROM_GOOD)
