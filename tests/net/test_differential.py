# SPDX-License-Identifier: BSD-2-Clause
"""Names times shapes of questions: what the kernel answers equals what the daemon answers but for ID and TTL.

The kernel's answer is proven by its counters; the reference is a daemon of the
same configuration on another port, without packet path, with the same upstream.
"""
import dns.edns
import pytest

import lane

REFERENCE = 5355
FILTER = {"lists": [{"name": "list", "file": "list.txt"}], "block": {"ttl": 10}}

# what, name, type
NAMES = [
    ("a_blocked_address", "exact.blocked.test", "A"),
    ("a_blocked_ipv6_address", "exact.blocked.test", "AAAA"),
    ("a_blocked_https", "exact.blocked.test", "HTTPS"),
    ("a_blocked_name_below_a_rule", "a.b.tree.blocked.test", "A"),
    ("an_address", "plain.up.test", "A"),
    ("an_ipv6_address", "plain.up.test", "AAAA"),
    ("three_addresses", "two.up.test", "A"),
    ("a_chain", "chain.up.test", "A"),
    ("a_chain_to_ipv6", "chain.up.test", "AAAA"),
    ("two_texts", "text.up.test", "TXT"),
    ("mail_servers", "mail.up.test", "MX"),
    ("an_https_record", "svc.up.test", "HTTPS"),
    ("an_https_record_of_a_blocked_target", "totarget.up.test", "HTTPS"),
    ("nxdomain", "gone.nx.test", "A"),
    ("nodata", "plain.up.test", "MX"),
    ("a_long_name", ".".join(["a" * 60] * 3 + ["up.test"]), "A"),
    ("a_single_label", "single", "A"),
    ("fifteen_labels", ".".join("abcdefghijklm") + ".up.test", "A"),
]
SHAPES = {
    "plain": {},
    "edns": {"edns": 0},
    "edns_512": {"edns": 0, "payload": 512},
    "edns_4096_do": {"edns": 0, "payload": 4096, "do": True},
    "cd": {"cd": True},
    "ad": {"ad": True},
    "cookie": {"edns": 0, "options": [dns.edns.GenericOption(10, b"cookie00")]},
    "ipv6": {"server": lane.SERVER6},
    "ipv6_edns_do_cd": {"server": lane.SERVER6, "edns": 0, "do": True, "cd": True},
    "capitals": {"upper": True},
}


@pytest.fixture(scope="module")
def pair(lab, stub, folder):
    fast = lane.Daemon(lab, folder / "fast", {"filter": FILTER})
    slow = lane.Daemon(lab, folder / "slow", {
        "filter": FILTER, "fastpath": {"interfaces": [], "mode": "off", "required": False},
        "server": {"listen": [f"{lane.SERVER4}:{REFERENCE}", f"[{lane.SERVER6}]:{REFERENCE}"]}})
    for d in fast, slow:
        d.list("list.txt", "exact.blocked.test", "||tree.blocked.test^")
    try:
        yield fast.start(), slow.start()
    finally:
        fast.close()
        slow.close()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("name,rdtype", [r[1:] for r in NAMES], ids=[r[0] for r in NAMES])
def test_equal(pair, name, rdtype, shape):
    fast, slow = pair
    shape = dict(shape)
    if shape.pop("upper", False):
        name = name.upper()
    quick = fast.warm(name, rdtype, **shape)
    plain = slow.client.ask(name, rdtype, port=REFERENCE, **shape)
    assert lane.facts(quick) == lane.facts(plain)
    for a, b in zip(sorted(quick.ttls), sorted(plain.ttls)):
        assert 0 < a and abs(a - b) <= 30
    assert len(quick.wire) <= 1232
