# SPDX-License-Identifier: BSD-2-Clause
"""What stays inside: special names, private addresses, signatures that were not asked for."""
import pytest

import lane


@pytest.fixture
def served(lab, stub, folder):
    d = lane.Daemon(lab, folder / "d")
    try:
        yield d.start()
    finally:
        d.close()


@pytest.mark.parametrize("name, rdtype, rcode, data", [
    ("localhost", "A", "NOERROR", ["A 127.0.0.1"]),
    ("db.localhost", "AAAA", "NOERROR", ["AAAA ::1"]),
    ("1.0.0.127.in-addr.arpa", "PTR", "NOERROR", ["PTR localhost."]),
    ("5.1.168.192.in-addr.arpa", "PTR", "NXDOMAIN", []),
    ("www.onion", "A", "NXDOMAIN", []),
    ("_dns.resolver.arpa", "SVCB", "NOERROR", []),
])
def test_special_names_are_answered_here(served, stub, name, rdtype, rcode, data):
    for _ in range(3):
        reply = served.ask(name, rdtype)
        assert (reply.rcode, reply.data, reply.by) == (rcode, data, "daemon")
        assert reply.has("AA")
    assert stub.queries(name) == []


def test_a_private_address_of_a_public_name_is_refused_until_it_is_allowed(served, stub):
    reply = served.ask("inside.up.test", edns=0)
    assert (reply.rcode, reply.data, reply.ede) == ("NOERROR", [], [15])
    assert reply.ede_text == ["private address for a public name"]
    served.write({"upstreams": {"rebinding": {"allow": ["up.test"]}}})
    served.hup()
    reply = served.ask("inside.up.test", edns=0)
    assert (reply.rcode, reply.data, reply.ede) == ("NOERROR", ["A 10.0.0.5"], [])
    served.write({})
    served.hup()
    reply = served.ask("inside.up.test", edns=0)
    assert (reply.data, reply.ede) == ([], [15])


def test_both_forms_of_a_signed_answer_come_from_one_question(served, stub):
    before = len(stub.queries("signed.up.test"))
    plain = [served.ask("signed.up.test") for _ in range(3)]
    signed = [served.ask("signed.up.test", edns=0, do=True) for _ in range(3)]
    assert all(r.data == ["A 192.0.2.44"] for r in plain)
    assert all(any(d.startswith("RRSIG A ") for d in r.data) for r in signed)
    assert (plain[-1].by, signed[-1].by) == ("kernel", "kernel")
    assert len(stub.queries("signed.up.test")) == before + 1
