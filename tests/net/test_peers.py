# SPDX-License-Identifier: BSD-2-Clause
"""Asking other people's servers: six resolvers, plain and, of four, over TLS and HTTPS with TLS 1.2 and 1.3.

Every peer over every transport has to give the client the same: the table
QUESTIONS.  A peer whose package is missing is skipped and says so.
"""
import socket
import struct
import time

import dns.message
import pytest

import certs
import lane
import peers

PORT = 5358			# the daemons here
WAYS = [(name, scheme, version) for name, row in peers.PEERS.items()
        for scheme, version in [("udp", None), ("tcp", None)] +
        ([("tls", "1.2"), ("tls", "1.3"), ("https", "1.2"), ("https", "1.3")] if row[4] else [])]
SO_RCVBUFFORCE = 33		# not in Python's socket
HOST = f"dns.{peers.ZONE}"


class House:
    """The authority with its zone and certificates, and one peer at a time."""

    def __init__(self, lab, folder):
        self.lab, self.folder, self.peer, self.now = lab, folder, None, None
        self.ca = certs.Authority(folder)
        self.certificate = self.ca.sign("peer", f"DNS:{HOST}")
        (folder / "authority").mkdir()
        zone, self.ds = peers.sign_zone(folder / "authority")
        self.authority = peers.authority(lab, folder / "authority", zone)

    def have(self, name, version):
        """The peer, which speaks only that version of TLS; started unless it is the one that runs."""
        if self.now != (name, version):
            self.close()
            folder = self.folder / f"{name}-{version}"
            self.peer = peers.Peer(self.lab, folder, name, self.ds, self.certificate, version)
            self.now = name, version
        return self.peer

    def close(self):
        if self.peer:
            self.peer.stop()
        self.peer = self.now = None


@pytest.fixture(scope="module")
def house(lab, folder):
    if not peers.program("named") or not peers.program("dnssec-signzone"):
        pytest.skip("bind9, the authority for the peers' zone, is not installed (make deps)")
    addresses = [peers.AUTHORITY] + [f"10.53.1.{row[0]}" for row in peers.PEERS.values()]
    for a in addresses:
        lab.run("upstream", "ip", "addr", "add", f"{a}/24", "dev", "mru0")
    h = House(lab, folder)
    yield h
    h.close()
    h.authority.stop()
    for a in addresses:
        lab.run("upstream", "ip", "addr", "del", f"{a}/24", "dev", "mru0")


def daemon_of(house, name, scheme, version, **more):
    """A daemon that asks that peer alone."""
    peer = house.have(name, version)
    where = f"{scheme}://{peer.address}" + (f"#{HOST}" if scheme == "tls" else "")
    server = {"address": where, "trust_ad": True, **({"name": HOST} if scheme == "https" else {})}
    return lane.Daemon(house.lab, house.folder / f"d{time.monotonic_ns()}", {
        "fastpath": {"interfaces": [], "mode": "off", "required": False},
        "server": {"listen": [f"{lane.SERVER4}:{PORT}"]},
        "upstreams": {"servers": [server], "ca": str(house.ca.file), "timeout_ms": 4000}, **more})


@pytest.fixture(scope="module", params=WAYS, ids=lambda w: "-".join(x for x in w if x))
def served(request, house):
    name, scheme, version = request.param
    package = peers.PEERS[name][2]
    if not peers.program(peers.PEERS[name][1]):
        pytest.skip(f"{package} is not installed (make deps)")
    d = daemon_of(house, name, scheme, version)
    d.peer, d.scheme, d.version = house.peer, scheme, version
    try:
        yield d.start()
    finally:
        d.close()


def name(label):
    return f"{label}.{peers.ZONE}"


def ask(d, label, rdtype="A", **shape):
    return d.client.ask(name(label) if label else peers.ZONE, rdtype, port=PORT, timeout=6, **shape)


CHAIN = [f"CNAME {name('second')}.", f"CNAME {name('third')}.", f"CNAME {name('www')}."]
WWW = ["A 198.18.7.1", "A 198.18.7.2"]

# a sentence: label, type, rcode, the answer's records without signatures
QUESTIONS = {
    "addresses": ("www", "A", "NOERROR", WWW),
    "an IPv6 address": ("www", "AAAA", "NOERROR", ["AAAA 2001:db8:7::1"]),
    "a name that does not exist": ("nothing.here", "A", "NXDOMAIN", []),
    "a name without that type": ("www", "MX", "NOERROR", []),
    "a chain of aliases": ("first", "A", "NOERROR", sorted(WWW + CHAIN)),
    "a text": ("www", "TXT", "NOERROR", ['TXT "one" "two"']),
}


@pytest.mark.parametrize("sentence", QUESTIONS)
def test_the_client_gets(served, sentence):
    label, rdtype, rcode, data = QUESTIONS[sentence]
    reply = ask(served, label, rdtype)
    assert (reply.rcode, reply.data) == (rcode, data), served.said()
    assert reply.has("RA") and not reply.has("AA") and not reply.has("TC")
    if not data:
        assert [rr.rdtype for rr in reply.msg.authority] == [dns.rdatatype.SOA]


@pytest.mark.parametrize("label,rdtype", [("www", "A"), ("first", "AAAA"), ("", "DNSKEY"), ("none.such", "A")])
def test_signatures_come_with_do_and_without_do_none(served, label, rdtype):
    plain, signed = ask(served, label, rdtype, edns=0), ask(served, label, rdtype, edns=0, do=True, payload=4096)
    types = [{rr.rdtype for rr in r.msg.answer + r.msg.authority} for r in (plain, signed)]
    assert plain.rcode == signed.rcode
    if signed.has("TC"):
        signed = ask(served, label, rdtype, edns=0, do=True, tcp=True)
        types[1] = {rr.rdtype for rr in signed.msg.answer + signed.msg.authority}
    assert dns.rdatatype.RRSIG not in types[0] and dns.rdatatype.RRSIG in types[1]
    assert dns.rdatatype.NSEC not in types[0]


def test_ad_is_given_on_where_it_can_be_believed(served):
    reply = ask(served, "n299", "A", edns=0, do=True)
    believed = served.scheme in ("tls", "https")
    assert reply.rcode == "NOERROR"
    assert reply.has("AD") == (served.peer.validates and believed)


def test_a_big_text_is_cut_over_udp_and_whole_over_tcp(served):
    cut, whole = ask(served, "big", "TXT"), ask(served, "big", "TXT", tcp=True)
    assert cut.has("TC") and not cut.msg.answer
    assert len(whole.wire) > 3000 and len(whole.msg.answer[0][0].strings) == 12


def test_many_at_once_get_each_its_own(served):
    """All in one go, over one socket: two connections carry them."""
    wires = [lane.query(name(f"n{i}"), "A") for i in range(peers.MANY)]
    with served.lab.socket("client", socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20)
        s.connect((lane.SERVER4, PORT))
        s.settimeout(6)
        for i, q in enumerate(wires):
            q.id = i
            s.send(q.to_wire())
        got = {}
        while len(got) < len(wires):
            wire = s.recv(4096)
            got[struct.unpack("!H", wire[:2])[0]] = dns.message.from_wire(wire)
    wrong = [i for i, m in got.items() if not m.answer or m.answer[-1][0].to_text() != peers.many_address(i)]
    assert not wrong, (wrong, served.millctl("upstreams").stdout)


def test_it_was_that_way_and_no_other(served):
    """By the daemon's own counters, and by what the peer speaks."""
    counters = {k: v["value"] for k, v in served.get("stats")["daemon"]["counters"].items()}
    ways = {"udp": "upstream_queries", "tcp": "upstream_tcp_queries", "tls": "upstream_tls_queries",
            "https": "upstream_https_queries"}
    assert counters[ways[served.scheme]] >= peers.MANY
    assert not any(counters[c] for s, c in ways.items() if s != served.scheme and (served.scheme, s) != ("udp", "tcp"))
    if served.version:
        assert served.peer.versions() == [served.version]
    [row] = served.get("upstreams")["upstreams"]
    # over HTTPS streams that a peer gave back under a burst count there too; they were asked again, and all had their answers
    assert row["state"] == "well" and (row["errors"]["untrusted"] == 0 or served.scheme == "https")
