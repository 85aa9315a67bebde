# SPDX-License-Identifier: BSD-2-Clause
#
# stub.py - asks a running mrstub, with the rules of stub.rules, and prints TAP.
#
# usage: stub.py LOG STATS PID - run by tests/tools/run in the lab's server
# namespace; the stub listens in the upstream's.  Each function check_* is one
# test, its docstring the name.
import json
import os
import signal
import socket
import struct
import sys
import time

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rcode
import dns.rdatatype

V4, V6, PORT = "10.53.1.2", "fd53:1::2", 53
LOG, STATS, PID = sys.argv[1], sys.argv[2], int(sys.argv[3])


def query(name, rdtype="A", **opts):
    return dns.message.make_query(name, rdtype, **opts)


def ask(name, rdtype="A", server=V4, tcp=False, timeout=2, **opts):
    """One question, one answer; dnspython checks id, question and source."""
    how = dns.query.tcp if tcp else dns.query.udp
    return how(query(name, rdtype, **opts), server, timeout=timeout, port=PORT)


def sock(family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.settimeout(1)
    return s


def texts(section):
    return sorted(r.to_text() for rrset in section for r in rrset)


def soa(answer):
    [rrset] = [r for r in answer.authority if r.rdtype == dns.rdatatype.SOA]
    return str(rrset.name), rrset.ttl, rrset[0].minimum


def address_of(name):
    """The address of the default answer, as docs/LAB.md defines it."""
    h = 0xCBF29CE484222325
    for c in dns.name.from_text(name.lower()).to_wire():
        h = (h ^ c) * 0x100000001B3 % 2**64
    v4 = 0xC6120000 + ((h ^ h >> 32) & 0x1FFFF)
    v6 = 0x20010DB8 << 96 | h
    return socket.inet_ntop(socket.AF_INET, v4.to_bytes(4, "big")), socket.inet_ntop(socket.AF_INET6, v6.to_bytes(16, "big"))


def expect(got, wanted):
    if got != wanted:
        raise AssertionError(f"got {got!r}, expected {wanted!r}")


def frames(s, count):
    """Read that many framed messages of a stream."""
    f = s.makefile("rb")
    out = []
    for _ in range(count):
        (size,) = struct.unpack(">H", f.read(2))
        out.append(dns.message.from_wire(f.read(size)))
    return out


def framed(m):
    w = m.to_wire()
    return struct.pack(">H", len(w)) + w


def check_default_a():
    """stub: a name without rule has the documented IPv4 address"""
    expect(texts(ask("any.example.test").answer), [address_of("any.example.test")[0]])


def check_default_aaaa_over_ipv6():
    """stub: a name without rule has the documented IPv6 address, asked over IPv6"""
    expect(texts(ask("any.example.test", "AAAA", server=V6).answer), [address_of("any.example.test")[1]])


def check_default_nodata():
    """stub: other types of a name without rule are NODATA with a SOA"""
    r = ask("any.example.test", "MX")
    expect((r.rcode(), r.answer, soa(r)), (0, [], ("example.test.", 300, 60)))


def check_exact_and_ttl():
    """stub: an exact rule gives its records with the TTL chosen"""
    r = ask("www.example.test")
    expect((texts(r.answer), r.answer[0].ttl), (["192.0.2.1", "192.0.2.2"], 30))


def check_exact_is_exact():
    """stub: an exact rule is not for a name below"""
    expect(texts(ask("x.www.example.test").answer), [address_of("x.www.example.test")[0]])


def check_type():
    """stub: a rule with a type is for that type only"""
    expect(texts(ask("www.example.test", "AAAA").answer), [address_of("www.example.test")[1]])


def check_suffix():
    """stub: *.suffix is for names below the suffix, at label boundaries only"""
    got = [ask(n).rcode() for n in ("a.nx.test", "a.b.nx.test", "nx.test", "anx.test")]
    expect(got, [3, 3, 0, 0])


def check_negative_times():
    """stub: a negative answer has the SOA's TTL and MINIMUM chosen"""
    expect(soa(ask("a.nx.test"))[1:], (60, 5))


def check_cname():
    """stub: records behind a cname belong to its target"""
    r = ask("alias.example.test")
    got = [(str(s.name), s[0].to_text()) for s in r.answer]
    expect(got, [("alias.example.test.", "cdn.example.test."), ("cdn.example.test.", "192.0.2.7")])


def check_hex():
    """stub: a record given in hexadecimal arrives"""
    expect(texts(ask("https.test", "HTTPS").answer), ['1 . alpn="h2"'])


def check_texts():
    """stub: txt and mx records arrive"""
    expect((texts(ask("rr.test", "TXT").answer), texts(ask("rr.test", "MX").answer)),
           (['"hello world"'], ["10 mail.test."]))


def check_servfail_then_right():
    """stub: first=2 applies to the first two queries"""
    expect([ask("flaky.test").rcode() for _ in range(4)], [2, 2, 0, 0])


def check_refused():
    """stub: an rcode comes without SOA where it is no negative answer"""
    r = ask("refused.test")
    expect((r.rcode(), r.authority), (dns.rcode.REFUSED, []))


def check_truncate():
    """stub: truncate gives TC over UDP and the whole answer over TCP"""
    u, t = ask("trunc.test"), ask("trunc.test", tcp=True)
    expect((bool(u.flags & dns.flags.TC), u.answer, bool(t.flags & dns.flags.TC), texts(t.answer)),
           (True, [], False, ["192.0.2.3"]))


def check_protocol_rules():
    """stub: udp and tcp bind a rule to a protocol"""
    expect((ask("proto.test").rcode(), ask("proto.test", tcp=True).rcode()), (2, 3))


def check_big():
    """stub: big=3000 is 3000 octets to a client that takes them"""
    s = sock()
    s.sendto(query("big.test", "TXT", use_edns=0, payload=4096).to_wire(), (V4, PORT))
    expect(len(s.recv(65535)), 3000)


def check_big_is_truncated():
    """stub: big=3000 is TC for a client that takes 1232, and whole over TCP"""
    u = ask("big.test", "TXT", use_edns=0, payload=1232)
    t = ask("big.test", "TXT", use_edns=0, payload=1232, tcp=True)
    expect((bool(u.flags & dns.flags.TC), len(u.answer), len(t.to_wire()) > 2900), (True, 0, True))


def check_header():
    """stub: RD and CD are copied, RA is set, AA and AD only by rule"""
    q = query("any.example.test")
    q.flags = dns.flags.CD
    r = dns.query.udp(q, V4, timeout=2, port=PORT)
    s = ask("aa.test")
    f = dns.flags
    expect((r.flags & (f.RD | f.CD | f.RA | f.AA | f.AD), s.flags & (f.RD | f.RA | f.AA | f.AD)),
           (f.CD | f.RA, f.RD | f.RA | f.AA | f.AD))


def check_case():
    """stub: the question comes back in the client's letters"""
    expect(str(ask("MiXeD.Example.TEST").question[0].name), "MiXeD.Example.TEST.")


def check_lower():
    """stub: lower gives it in lower case"""
    s = sock()
    s.sendto(query("LoWeR.test").to_wire(), (V4, PORT))
    expect(s.recv(4096)[12:24], b"\5lower\4test\0")


def check_opt():
    """stub: an OPT if and only if asked, DO copied, version above 0 is BADVERS"""
    none, some = ask("any.example.test", use_edns=False), ask("any.example.test", use_edns=0, want_dnssec=True)
    q = query("any.example.test", use_edns=0)
    q.ednsflags |= 1 << 16
    bad = dns.query.udp(q, V4, timeout=2, port=PORT)
    expect((none.edns, some.edns, bool(some.ednsflags & dns.flags.DO), bad.rcode()),
           (-1, 0, True, dns.rcode.BADVERS))


def check_rrsig():
    """stub: rrsig adds a signature for DO only"""
    got = [len(ask("sig.test", use_edns=0, want_dnssec=do).answer) for do in (False, True)]
    expect(got, [1, 2])


def order(s, send, receive):
    start = time.monotonic()
    send(s)
    got = []
    for m in receive(s):
        got.append((str(m.question[0].name).split(".")[0], time.monotonic() - start))
    return got


SLOW = ["a.slow300.test", "b.slow100.test", "c.fast.test", "d.slow100.test"]


def expect_order(got):
    expect([g[0] for g in got], ["c", "b", "d", "a"])
    times = dict(got)
    if not (times["c"] < 0.09 and 0.1 <= times["b"] < 0.29 and 0.3 <= times["a"] < 0.6):
        raise AssertionError(f"late or early: {got}")


def check_delay_udp():
    """stub: delays over UDP hold up nobody else, and equal ones keep their order"""
    s = sock()

    def send(s):
        for n in SLOW:
            s.sendto(query(n).to_wire(), (V4, PORT))

    expect_order(order(s, send, lambda s: (dns.message.from_wire(s.recv(4096)) for _ in SLOW)))


def check_delay_tcp():
    """stub: delays over TCP let later answers overtake on the same connection"""
    with socket.create_connection((V4, PORT), timeout=2) as s:
        s.sendall(b"".join(framed(query(n)) for n in SLOW))
        got = [str(m.question[0].name).split(".")[0] for m in frames(s, 4)]
    expect(got, ["c", "b", "d", "a"])


def check_half_close():
    """stub: a client that has closed its half still gets the delayed answer, then the end"""
    with socket.create_connection((V6, PORT), timeout=2) as s:
        s.sendall(framed(query("a.slow100.test")))
        s.shutdown(socket.SHUT_WR)
        data = b""
        while part := s.recv(4096):
            data += part
    expect(str(dns.message.from_wire(data[2:]).question[0].name), "a.slow100.test.")


def check_pieces():
    """stub: 500 queries on one connection, in pieces of seven octets, are all answered"""
    data = b"".join(framed(query(f"n{i}.test")) for i in range(500))
    with socket.create_connection((V4, PORT), timeout=5) as s:
        for i in range(0, len(data), 7):
            s.sendall(data[i : i + 7])
        got = [texts(m.answer)[0] for m in frames(s, 500)]
    expect(got, [address_of(f"n{i}.test")[0] for i in range(500)])


def check_close():
    """stub: close ends the connection without an answer"""
    with socket.create_connection((V4, PORT), timeout=2) as s:
        s.sendall(framed(query("close.test")))
        expect(s.recv(10), b"")


def answered(name, count):
    s = sock()
    s.settimeout(0.2)
    got = 0
    for i in range(count):
        s.sendto(query(name).to_wire(), (V4, PORT))
        if i % 20 == 19 or i == count - 1:
            try:
                while True:
                    s.recv(4096)
                    got += 1
            except socket.timeout:
                pass
    return got


def check_loss():
    """stub: loss=50 loses about half of 100 queries, and none of them over TCP"""
    got = answered("lossy.test", 100)
    if not 25 <= got <= 75:
        raise AssertionError(f"{got} of 100 were answered")
    for _ in range(10):
        ask("lossy.test", tcp=True)


def check_drop():
    """stub: drop gives nothing"""
    expect(answered("drop.test", 3), 0)


def raw(name, count):
    """The answers of one query as (right id, right question, right source)."""
    s = sock()
    q = query(name)
    s.sendto(q.to_wire(), (V4, PORT))
    got = []
    for _ in range(count):
        m, source = s.recvfrom(4096)
        r = dns.message.from_wire(m)
        got.append((r.id == q.id, r.question == q.question, source == (V4, PORT)))
    return got


def check_wrong_id():
    """stub: wrong-id has another id and is right otherwise"""
    expect(raw("id.test", 1), [(False, True, True)])


def check_wrong_question():
    """stub: wrong-question has another name and is right otherwise"""
    expect(raw("question.test", 1), [(True, False, True)])


def check_wrong_source():
    """stub: wrong-source comes from another port and is right otherwise"""
    expect(raw("source.test", 1), [(True, True, False)])


def check_also_right():
    """stub: also-right sends the right answer after the wrong one"""
    expect(raw("also.test", 2), [(False, True, True), (True, True, True)])


def check_lame():
    """stub: lame is a referral to the root without RA"""
    r = ask("lame.test")
    expect((r.rcode(), r.answer, [str(x.name) for x in r.authority], bool(r.flags & dns.flags.RA)), (0, [], ["."], False))


def check_garbage():
    """stub: garbage is 40 octets that are no answer"""
    s = sock()
    q = query("noise.test").to_wire()
    s.sendto(q, (V4, PORT))
    got = s.recv(4096)
    expect((len(got), got[:2] == q[:2]), (40, False))


def check_broken():
    """stub: broken has the right id and question, and cannot be read"""
    s = sock()
    q = query("broken.test").to_wire()
    s.sendto(q, (V4, PORT))
    got = s.recv(4096)
    expect((got[:2], got[12 : len(q)]), (q[:2], q[12:]))
    try:
        dns.message.from_wire(got)
    except dns.exception.DNSException:
        return
    raise AssertionError("it can be read")


def check_formerr_edns():
    """stub: formerr-edns is FORMERR without OPT for a query with OPT only"""
    got = [(r.rcode(), r.edns) for r in (ask("formerr.test", use_edns=0), ask("formerr.test", use_edns=False))]
    expect(got, [(dns.rcode.FORMERR, -1), (0, -1)])


def silent(name, **opts):
    s = sock()
    s.settimeout(0.2)
    s.sendto(query(name, **opts).to_wire(), (V4, PORT))
    try:
        return not s.recv(4096)
    except socket.timeout:
        return True


def check_drop_edns():
    """stub: drop-edns and drop-do are silent for OPT and for DO, and for these only"""
    asked = [(n, e) for n in ("noedns.test", "nodo.test") for e in ({"use_edns": False}, {"use_edns": 0},
                                                                    {"use_edns": 0, "want_dnssec": True})]
    expect([silent(n, **e) for n, e in asked], [False, True, True, False, False, True])


def connected(names):
    """What comes over one connection until it is closed or a second has gone: names and rcodes."""
    out = []
    with socket.create_connection((V4, PORT), timeout=1) as s:
        s.sendall(b"".join(framed(query(n)) for n in names))
        f = s.makefile("rb")
        try:
            while head := f.read(2):
                m = dns.message.from_wire(f.read(struct.unpack(">H", head)[0]))
                out.append((str(m.question[0].name), m.rcode()))
        except socket.timeout:
            out.append("open")
    return out


def check_hang_up():
    """stub: hang-up closes the connection behind its answer, also behind a late one"""
    expect(connected(["a.test", "hangup.test", "b.test"]), [("a.test.", 0), ("hangup.test.", 0)])
    expect(connected(["a.hangslow.test", "b.test"]), [("b.test.", 0), ("a.hangslow.test.", 0)])


def check_refuse_after():
    """stub: refuse-after=3 refuses the fourth query of a connection, and a new connection is new"""
    for _ in range(2):
        expect(connected(["burst.test"] * 5), [("burst.test.", 0)] * 3 + [("burst.test.", 5)] * 2 + ["open"])


def check_formerr():
    """stub: a message cut in its question gets FORMERR, a shorter one and an answer nothing"""
    s = sock()
    w = query("any.example.test").to_wire()
    for m in (w[:11], w[:2] + b"\x80" + w[3:], w[:20]):
        s.sendto(m, (V4, PORT))
    got = s.recv(4096)
    expect((len(got), got[:2], got[3] & 15), (12, w[:2], 1))


def check_log():
    """stub: the log has protocol, port, id, name, type and flags of a query"""
    s = sock()
    q = query("LOGGED.test", "AAAA", use_edns=0)
    s.sendto(q.to_wire(), (V4, PORT))
    s.recv(4096)
    with open(LOG) as f:
        [line] = [x.split() for x in f if "LOGGED.test." in x]
    expect(line[1:], ["udp", str(s.getsockname()[1]), str(q.id), "LOGGED.test.", "AAAA", "10.53.1.1", "rd", "edns"])


def stats():
    def lines():
        with open(STATS) as f:
            return f.readlines()

    before = len(lines())
    os.kill(PID, signal.SIGUSR1)
    for _ in range(200):
        if len(lines()) > before:
            return json.loads(lines()[-1])
        time.sleep(0.01)
    raise AssertionError("no counters two seconds after SIGUSR1")


def check_stats():
    """stub: the counters tell queries by protocol, answers and drops exactly"""
    before = stats()
    for tcp in (False, False, True):
        ask("any.example.test", tcp=tcp)
    answered("drop.test", 2)
    after = stats()
    names = ("udp", "tcp", "answers", "dropped", "connections", "lost")
    expect([after[n] - before[n] for n in names], [4, 1, 3, 2, 1, 0])


def main():
    failed = False
    for name, check in list(globals().items()):
        if not name.startswith("check_"):
            continue
        try:
            check()
            print(f"ok - {check.__doc__}")
        except Exception as e:
            failed = True
            print(f"not ok - {check.__doc__}\n# {type(e).__name__}: {e}")
        sys.stdout.flush()
    return failed


sys.exit(main())
