# SPDX-License-Identifier: BSD-2-Clause
"""What is answered, by kernel and daemon alike: blocking in all modes, lists, EDNS, the shape of a query.

One daemon answers on port 53 with its program on the interface, another with
the same lists on port 5354 without: the reference.
"""
import dns.edns
import dns.flags
import pytest

import lane

LISTS = {
    "hosts.txt": ["127.0.0.1 localhost", "0.0.0.0 exact.blocked.test", "0.0.0.0 freed.blocked.test",
                  "0.0.0.0 mixed.Blocked.test # comment"],
    "adblock.txt": ["! comment", "||tree.blocked.test^", "||wide.test^"],
    "policy.txt": ["nodata.policy.test CNAME *.", "gone.policy.test CNAME .", "wall.policy.test A 192.0.2.99",
                   "garden.policy.test CNAME two.up.test.", "drop.policy.test CNAME rpz-drop."],
    "allow.txt": ["freed.blocked.test", "@@||free.wide.test^"],
}
FILTER = [
    {"name": "hosts", "file": "hosts.txt", "format": "hosts"},
    {"name": "adblock", "file": "adblock.txt", "format": "adblock"},
    {"name": "policy", "file": "policy.txt", "format": "rpz"},
    {"name": "allow", "file": "allow.txt", "action": "allow"},
]
REFERENCE = 5354


@pytest.fixture(scope="module")
def pair(lab, stub, folder):
    config = {"filter": {"lists": FILTER}}
    fast = lane.Daemon(lab, folder / "fast", config)
    slow = lane.Daemon(lab, folder / "slow", lane.merged(config, {
        "server": {"listen": [f"{lane.SERVER4}:{REFERENCE}", f"[{lane.SERVER6}]:{REFERENCE}"]},
        "fastpath": {"interfaces": [], "mode": "off", "required": False}}))
    for d in fast, slow:
        for name, lines in LISTS.items():
            d.list(name, *lines)
    try:
        yield fast.start(), slow.start()
    finally:
        fast.close()
        slow.close()


@pytest.fixture(scope="module")
def fast(pair):
    return pair[0]


def both(pair, name, rdtype="A", **shape):
    """The kernel's answer, once it is equal to that of a daemon without kernel."""
    fast, slow = pair
    quick = fast.warm(name, rdtype, **shape)
    plain = slow.client.ask(name, rdtype, port=REFERENCE, **shape)
    assert lane.facts(quick) == lane.facts(plain)
    return quick


MODES = {
    # mode: (A, AAAA, HTTPS): rcode and data
    "null_address": [("NOERROR", ["A 0.0.0.0"]), ("NOERROR", ["AAAA ::"]), ("NOERROR", [])],
    "nxdomain": [("NXDOMAIN", [])] * 3,
    "nodata": [("NOERROR", [])] * 3,
    "refused": [("REFUSED", [])] * 3,
    "custom": [("NOERROR", ["A 192.0.2.200"]), ("NOERROR", ["AAAA 2001:db8::200"]), ("NOERROR", [])],
}


@pytest.mark.parametrize("edns", [None, 0], ids=["plain", "edns"])
@pytest.mark.parametrize("mode", MODES)
def test_blocked_in_every_mode_the_same_from_kernel_and_daemon(pair, mode, edns):
    block = {"mode": mode, "ttl": 10}
    if mode == "custom":
        block.update(ipv4="192.0.2.200", ipv6="2001:db8::200")
    for d in pair:
        if d.config["filter"]["block"] != block:
            d.write({**d.config, "filter": {"lists": FILTER, "block": block}})
            assert d.hup()["reloads"]["failed"] == 0
    try:
        for rdtype, (rcode, data) in zip(("A", "AAAA", "HTTPS"), MODES[mode]):
            reply = both(pair, "exact.blocked.test", rdtype, edns=edns)
            assert (reply.rcode, reply.data) == (rcode, data)
            assert all(t == 10 for t in reply.ttls)
            soa = [rr for rr in reply.msg.authority if rr.rdtype == 6]
            assert bool(soa) == (not data and rcode != "REFUSED")
            if soa:
                assert soa[0].name.to_text() == "exact.blocked.test." and soa[0][0].minimum == 10
            assert reply.ede == ([15] if edns == 0 else [])
    finally:
        if edns == 0:
            for d in pair:
                d.write({**d.config, "filter": {"lists": FILTER, "block": {"ttl": 10}}})
                d.hup()


@pytest.mark.parametrize("rdtype", ["MX", "TXT", "SVCB", "NS", "SOA", "SRV", "DS", "TYPE65280"])
def test_a_block_covers_other_types_with_nodata(pair, rdtype):
    reply = both(pair, "exact.blocked.test", rdtype, edns=0)
    assert (reply.rcode, reply.data) == ("NOERROR", [])


BLOCKED = [
    ("exact.blocked.test", True, "a name of a hosts list"),
    ("mixed.blocked.test", True, "a name that the list spells with capitals"),
    ("x.exact.blocked.test", False, "below a name of a hosts list"),
    ("blocked.test", False, "above a name of a hosts list"),
    ("tree.blocked.test", True, "the name of a subtree rule itself"),
    ("a.tree.blocked.test", True, "one label below a subtree rule"),
    ("a.b.c.d.e.tree.blocked.test", True, "five labels below a subtree rule"),
    ("xtree.blocked.test", False, "a name that ends like a subtree rule"),
    ("freed.blocked.test", False, "a name on a block list and on an allow list"),
    ("free.wide.test", False, "a name that an allow rule takes out of a subtree"),
    ("deep.free.wide.test", False, "below an allow rule in a blocked subtree"),
    ("other.wide.test", True, "beside an allow rule in a blocked subtree"),
]


@pytest.mark.parametrize("name,blocked", [r[:2] for r in BLOCKED], ids=[r[2].replace(" ", "_") for r in BLOCKED])
def test_lists_mean_what_their_format_says(pair, name, blocked):
    reply = both(pair, name, edns=0)
    assert (reply.data == ["A 0.0.0.0"]) == blocked
    assert reply.ede == ([15] if blocked else [])


def test_a_chain_to_a_blocked_name_is_blocked_by_the_kernel(pair):
    fast, _ = pair
    for _ in range(4):
        reply = fast.ask("toblocked.up.test", edns=0)
    assert (reply.by, reply.data, reply.ede) == ("kernel", ["A 0.0.0.0"], [15])


POLICY = {
    "nodata": ("NOERROR", []),
    "gone": ("NOERROR", ["A 0.0.0.0"]),
    "wall": ("NOERROR", ["A 192.0.2.99"]),
    "garden": ("NOERROR", ["A 192.0.2.1", "A 192.0.2.2", "A 192.0.2.3", "CNAME two.up.test."]),
}


@pytest.mark.parametrize("ede,want", [("code", ([15], [None])), ("none", ([], [])), ("text", ([15], ["policy"]))])
def test_what_a_policy_zone_answers_carries_the_extended_error_of_the_group(pair, ede, want):
    for d in pair:
        d.write({**d.config, "filter": {"lists": FILTER, "block": {"ttl": 10, "ede": ede}}})
        assert d.hup()["reloads"]["failed"] == 0
    for name, told in POLICY.items():
        for d, port in zip(pair, (53, REFERENCE)):
            reply = d.client.ask(f"{name}.policy.test", port=port, edns=0)
            assert (reply.rcode, reply.data) == told
            assert (reply.ede, reply.ede_text) == want, name
        assert pair[0].client.ask(f"{name}.policy.test").msg.edns == -1


def test_an_https_record_of_a_blocked_target_is_blocked_by_the_kernel_and_why_names_it(pair):
    fast, _ = pair
    for _ in range(4):
        reply = fast.ask("totarget.up.test", "HTTPS", edns=0)
    assert (reply.by, reply.data, reply.ede) == ("kernel", [], [15])
    why = fast.get("why", name="totarget.up.test", client=lane.CLIENT4, type="HTTPS")
    assert why["kernel"]["chain_set"], why["kernel"]
    assert (why["daemon"]["step"], why["daemon"]["link"]) == ("link", "exact.blocked.test")


@pytest.mark.parametrize("name", ["ExAcT.bLoCkEd.TeSt", "TWO.up.TEST"])
def test_the_letters_of_the_question_come_back_as_they_were(pair, name):
    reply = both(pair, name)
    assert reply.wire[12:].startswith(b"".join(bytes([len(w)]) + w.encode() for w in name.split(".")))


@pytest.mark.parametrize("name", ["exact.blocked.test", "two.up.test", "gone.nx.test"])
class TestEdns:
    def test_no_opt_without_edns(self, pair, name):
        assert both(pair, name).msg.edns == -1

    def test_exactly_one_opt_with_edns_and_our_size(self, pair, name):
        reply = both(pair, name, edns=0, payload=4096)
        assert (reply.msg.edns, reply.msg.payload) == (0, 1232)

    @pytest.mark.parametrize("payload", [0, 511, 512, 65535])
    def test_any_size_of_the_client_is_taken(self, pair, name, payload):
        both(pair, name, edns=0, payload=payload)

    def test_do_is_copied(self, pair, name):
        assert both(pair, name, edns=0, do=True).msg.ednsflags & dns.flags.DO

    def test_cd_is_copied(self, pair, name):
        assert both(pair, name, cd=True).has("CD")

    @pytest.mark.parametrize("option", [(10, b"12345678"), (10, b"12345678abcdefgh"), (12, bytes(60))],
                             ids=["client_cookie", "client_and_server_cookie", "padding"])
    def test_cookie_and_padding_are_ignored(self, pair, name, option):
        reply = both(pair, name, edns=0, options=[dns.edns.GenericOption(*option)])
        assert not [o for o in reply.msg.options if o.otype in (10, 12)]

    def test_other_options_are_for_the_daemon(self, pair, name):
        fast = pair[0]
        fast.warm(name, edns=0)
        option = dns.edns.GenericOption(65001, b"abc")
        reply = fast.ask(name, edns=0, options=[option])
        assert reply.by == "daemon" and reply.reasons["pass_edns_option"] == 1
        assert reply.data == fast.warm(name, edns=0).data

    def test_edns_version_1_is_badvers(self, pair, name):
        reply = pair[0].ask(name, edns=1)
        assert (reply.by, reply.rcode, reply.msg.edns) == ("daemon", "BADVERS", 0)
        assert not reply.msg.answer

    def test_tcp_gives_the_same_records(self, pair, name):
        quick = pair[0].warm(name, edns=0)
        reply = pair[0].ask(name, edns=0, tcp=True)
        assert reply.by == "daemon"
        assert lane.facts(reply) == lane.facts(quick)

    def test_ipv6_gives_the_same_answer(self, pair, name):
        assert lane.facts(both(pair, name, server=lane.SERVER6)) == lane.facts(both(pair, name))


def test_ra_is_set_and_aa_and_ad_are_not(fast):
    for name in "exact.blocked.test", "two.up.test":
        reply = fast.warm(name, ad=True)
        assert reply.has("RA") and not reply.has("AA") and not reply.has("AD")


def test_why_shows_that_kernel_and_daemon_agree(pair):
    fast = pair[0]
    for name in "exact.blocked.test", "two.up.test", "gone.nx.test":
        fast.warm(name, edns=0)
        with fast.counting() as c:
            why = fast.get("why", name=name, client=lane.CLIENT4, edns="edns")
        assert why["kernel"]["answered"] and c.kernel == 0 and c["packets"] == 0
        replies = [lane.Reply(bytes.fromhex(why[side]["reply"]["hex"]), 0) for side in ("kernel", "daemon")]
        assert lane.facts(replies[0]) == lane.facts(replies[1])
        assert fast.millctl("why", name, "--client", lane.CLIENT4).stdout
    why = fast.get("why", name="exact.blocked.test", client=lane.CLIENT4)
    assert (why["kernel"]["verdict"], why["kernel"]["list"]) == ("block", "hosts")
    assert (why["daemon"]["verdict"], why["daemon"]["list"]) == ("block", "hosts")


def test_a_client_without_access_is_refused_by_the_daemon(lab, fast):
    lab.run("client", "ip", "addr", "add", "192.0.2.99/32", "dev", "mrc0")
    lab.run("server", "ip", "route", "add", "192.0.2.99/32", "dev", "mrs0")
    lab.run("server", "ip", "neigh", "replace", "192.0.2.99", "lladdr", "02:53:00:00:00:01", "dev", "mrs0")
    try:
        for name in "exact.blocked.test", "two.up.test":
            fast.warm(name)
            reply = fast.ask(name, source="192.0.2.99", edns=0)
            assert (reply.by, reply.rcode, reply.ede) == ("daemon", "REFUSED", [18])
            assert reply.reasons["pass_access"] == 1 and not reply.msg.answer
    finally:
        lab.run("server", "ip", "route", "del", "192.0.2.99/32", "dev", "mrs0")
        lab.run("client", "ip", "addr", "del", "192.0.2.99/32", "dev", "mrc0")
