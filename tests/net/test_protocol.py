# SPDX-License-Identifier: BSD-2-Clause
"""TCP, sizes, odd types and classes, and packets that are no queries."""
import os
import random
import socket
import struct
import tarfile

import dns.message
import pytest

import lane


@pytest.fixture(scope="module")
def served(lab, stub, folder):
    d = lane.Daemon(lab, folder / "d", {"filter": {"lists": [{"name": "list", "file": "list.txt"}]}})
    d.list("list.txt", "exact.blocked.test")
    try:
        yield d.start()
    finally:
        d.close()


def test_a_big_answer_is_truncated_over_udp_and_whole_over_tcp(served):
    for _ in range(3):
        reply = served.ask("big.up.test", "TXT", edns=0)
        assert reply.has("TC") and not reply.msg.answer and reply.by == "daemon"
    whole = served.ask("big.up.test", "TXT", edns=0, tcp=True)
    assert not whole.has("TC") and len(whole.wire) > 2500


def test_without_edns_512_octets_are_the_limit(served):
    reply = served.ask("mid2.up.test", "TXT")
    assert reply.has("TC") and len(reply.wire) <= 512
    assert not served.ask("mid2.up.test", "TXT", edns=0).has("TC")


def test_many_questions_over_one_connection_each_get_their_answer(served):
    asked = [lane.query(f"p{i}.up.test") for i in range(50)] + [lane.query("exact.blocked.test")]
    got = [dns.message.from_wire(w) for w in served.client.tcp([q.to_wire() for q in asked])]
    assert {m.id for m in got} == {q.id for q in asked}
    by_id = {m.id: m for m in got}
    assert all(by_id[q.id].question == q.question and by_id[q.id].answer for q in asked)


def test_a_slow_question_over_tcp_does_not_hold_up_the_next(served):
    asked = [lane.query("a.slow.test"), lane.query("quick.up.test")]
    got = [dns.message.from_wire(w) for w in served.client.tcp([q.to_wire() for q in asked])]
    assert [m.id for m in got] == [asked[1].id, asked[0].id]


def test_tcp_over_ipv6(served):
    assert served.ask("exact.blocked.test", tcp=True, server=lane.SERVER6).data == ["A 0.0.0.0"]


def test_any_gets_one_small_record(served):
    for tcp in False, True:
        reply = served.ask("two.up.test", "ANY", tcp=tcp)
        assert reply.by == "daemon" and reply.rcode == "NOERROR"
        assert [d.split()[0] for d in reply.data] == ["HINFO"]


@pytest.mark.parametrize("shape,rcodes", [
    ({"rdtype": "AXFR"}, {"REFUSED"}),
    ({"rdtype": "IXFR"}, {"REFUSED"}),
    ({"rdtype": "TXT", "rdclass": "CH"}, {"REFUSED"}),
    ({"rdtype": "A", "rd": False}, {"REFUSED"}),
    ({"rdtype": "MAILB"}, {"NOTIMP"}),
    ({"rdtype": "TYPE0"}, {"FORMERR"}),
], ids=["axfr", "ixfr", "class_chaos", "rd_clear", "mailb", "type_0"])
def test_the_daemon_answers_what_is_no_question_for_a_forwarder(served, stub, shape, rcodes):
    before = len(stub.queries("no.up.test"))
    q = lane.query("no.up.test", shape["rdtype"], rdclass=shape.get("rdclass", "IN"), rd=shape.get("rd", True))
    with served.counting() as c:
        wire, _ = served.client.exchange(q.to_wire())
    reply = lane.Reply(wire, 0)
    assert reply.rcode in rcodes and c.daemon == 1 and not reply.msg.answer
    assert len(stub.queries("no.up.test")) == before


def test_opcodes_other_than_query_are_not_implemented(served):
    wire = bytearray(lane.query("two.up.test").to_wire())
    for opcode in 1, 2, 4, 5, 6:
        wire[2] = opcode << 3 | 1
        got, _ = served.client.exchange(bytes(wire))
        assert got[3] & 15 == 4 and got[2] >> 3 & 15 == opcode


def malformed():
    """(sentence, octets) of packets with their own header."""
    head = lambda flags=0x0100, counts=(1, 0, 0, 0): struct.pack("!6H", random.getrandbits(16), flags, *counts)
    q = b"\3two\2up\4test\0\0\1\0\1"
    return [
        ("nothing", b""), ("one_octet", b"\0"), ("half_a_header", head()[:6]), ("a_header_only", head()),
        ("no_questions", head(counts=(0, 0, 0, 0))), ("two_questions", head(counts=(2, 0, 0, 0)) + q + q),
        ("a_question_cut_in_its_name", head() + q[:6]), ("a_question_cut_in_its_type", head() + q[:-3]),
        ("a_pointer_in_the_question", head() + b"\3two\xc0\x0c\0\1\0\1"), ("a_pointer_to_itself", head() + b"\xc0\x0c\0\1\0\1"),
        ("a_label_of_64", head() + b"\x40" + b"a" * 64 + b"\0\0\1\0\1"),
        ("a_name_of_256", head() + b"".join(b"\x3f" + b"a" * 63 for _ in range(4)) + b"\0\0\1\0\1"),
        ("an_answer_in_the_query", head(counts=(1, 1, 0, 0)) + q + b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4\1\2\3\4"),
        ("octets_behind_the_message", head() + q + b"junk"),
        ("two_opts", head(counts=(1, 0, 0, 2)) + q + b"\0\0\x29\4\xd0\0\0\0\0\0\0" * 2),
        ("an_opt_not_at_the_root", head(counts=(1, 0, 0, 1)) + q + b"\1a\0\0\x29\4\xd0\0\0\0\0\0\0"),
        ("an_opt_cut", head(counts=(1, 0, 0, 1)) + q + b"\0\0\x29\4\xd0\0\0\0"),
        ("an_option_longer_than_the_opt", head(counts=(1, 0, 0, 1)) + q + b"\0\0\x29\4\xd0\0\0\0\0\0\4\0\x0a\0\x08"),
        ("a_response", head(0x8180) + q), ("tc_in_a_query", head(0x0300) + q), ("counts_of_65535", head(counts=(65535,) * 4) + q),
    ]


@pytest.mark.parametrize("wire", [m[1] for m in malformed()], ids=[m[0] for m in malformed()])
def test_a_malformed_packet_is_ignored_or_formerr_and_the_daemon_lives(served, wire):
    with served.counting() as c:
        try:
            got, _ = served.client.exchange(wire, timeout=0.15)
            assert got[2] & 0x80 and (got[3] & 15 in (1, 5) or wire[2] == 3 or wire.endswith(b"junk"))
        except lane.NoAnswer:
            pass
    assert c.kernel == 0, c.reasons()
    assert served.process.poll() is None


def test_seven_hundred_packets_of_fuzzers_do_not_harm(served):
    archive = lane.DATA / "wire/dns-fuzzing-packets.tar.gz"
    if not archive.exists():
        pytest.skip("../shared/data/wire is absent")
    rng = random.Random(53)
    with tarfile.open(archive) as tar:
        files = sorted((m for m in tar.getmembers() if m.isfile()), key=lambda m: m.name)
        packets = [tar.extractfile(m).read()[:1400] for m in rng.sample(files, 700)]
    for wire in packets:
        served.client.send(wire)
        served.client.send(bytes([wire[0] if wire else 0]) + os.urandom(1) + wire[2:], server=lane.SERVER6)
    for i in range(40):
        wire = bytearray(lane.query("exact.blocked.test", edns=0).to_wire())
        for _ in range(rng.randrange(1, 4)):
            wire[rng.randrange(len(wire))] ^= 1 << rng.randrange(8)
        served.client.send(bytes(wire))
    served.client.close()
    assert served.warm("exact.blocked.test").data == ["A 0.0.0.0"]
    assert served.ask("after.fuzz.test").by == "daemon"
    assert "bug" not in served.said()


def test_source_port_0_gets_no_answer(lab, served):
    """Only a raw socket can send it; two servers' answers to each other's port 0 must not loop."""
    s = lab.places["client"].submit(socket.socket, socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP).result()
    wire = lane.query("exact.blocked.test").to_wire()
    with s, served.counting() as c:
        s.sendto(struct.pack("!4H", 0, 53, 8 + len(wire), 0) + wire, (lane.SERVER4, 0))
        lane.wait_until("the packet was seen", 2, lambda: served.get("stats")["kernel"]["packets"] > c.before["kernel"]["packets"])
    assert c.kernel == 0 and c["pass_source"] == 1 and c.daemon == 0
