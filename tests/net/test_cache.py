# SPDX-License-Identifier: BSD-2-Clause
"""How an answer comes into the kernel's table, ages there, is renewed, and goes."""
import signal
import time

import pytest

import lane


@pytest.fixture(scope="module")
def served(lab, stub, folder):
    d = lane.Daemon(lab, folder / "d")
    try:
        yield d.start()
    finally:
        d.close()


def test_first_from_upstream_second_from_the_daemon_third_from_the_kernel(served, stub):
    said = [served.ask("thrice.up.test") for _ in range(3)]
    assert [r.by for r in said] == ["daemon", "daemon", "kernel"]
    assert len(stub.queries("thrice.up.test")) == 1
    assert lane.facts(said[0]) == lane.facts(said[1]) == lane.facts(said[2])


def test_negative_answers_take_the_same_way(served, stub):
    said = [served.ask("never.nx.test") for _ in range(3)]
    assert [r.by for r in said] == ["daemon", "daemon", "kernel"]
    assert {r.rcode for r in said} == {"NXDOMAIN"}
    assert len(stub.queries("never.nx.test")) == 1


def test_the_ttl_of_a_negative_answer_is_the_smaller_of_soa_ttl_and_minimum(served):
    reply = served.warm("minimum.nx.test")
    soa = reply.msg.authority[0]
    assert soa.rdtype == 6 and 28 <= soa.ttl <= 30


def test_ttls_count_down_in_the_kernel(served):
    first = served.warm("two.up.test")
    time.sleep(2.1)
    second = served.ask("two.up.test")
    assert second.by == "kernel"
    assert 2 <= first.ttls[0] - second.ttls[0] <= 3


def test_an_entry_dies_on_time(served, stub):
    served.warm("dies.short.test")
    before = len(stub.queries("dies.short.test"))
    time.sleep(2.3)
    reply = served.ask("dies.short.test")
    assert reply.by == "daemon" and reply.reasons.get("pass_expired", 0) + reply.reasons.get("pass_miss", 0) == 1
    assert len(stub.queries("dies.short.test")) == before + 1


def test_an_entry_dies_on_time_when_the_daemon_is_stopped(served):
    """The daemon is held by SIGSTOP: nobody but the kernel can let the answer die."""
    served.warm("held.short.test")
    served.process.send_signal(signal.SIGSTOP)
    try:
        assert served.client.ask("held.short.test").data == ["A 192.0.2.9"]
        time.sleep(2.3)
        with pytest.raises(lane.NoAnswer):
            served.client.ask("held.short.test", timeout=0.3)
    finally:
        served.process.send_signal(signal.SIGCONT)


def test_ttl_0_is_never_kept(served, stub):
    said = [served.ask("zero.up.test") for _ in range(4)]
    assert {r.by for r in said} == {"daemon"}
    assert len(stub.queries("zero.up.test")) == 4
    assert said[-1].ttls == [0]


def test_a_name_in_use_is_renewed_before_it_dies(served, stub):
    """TTL 12, asked steadily for 26 s: not one question misses in the kernel."""
    served.warm("steady.twelve.test")
    end = time.monotonic() + 26
    asked = 0
    with served.counting() as c:
        while time.monotonic() < end:
            reply = served.client.ask("steady.twelve.test")
            assert reply.data == ["A 192.0.2.12"] and 0 < reply.ttls[0] <= 12
            asked += 1
            time.sleep(0.05)
    assert c["cached"] == asked, c.reasons()
    assert c["refresh_asked"] >= 2
    assert 3 <= len(stub.queries("steady.twelve.test")) <= 5


def test_a_name_that_nobody_asks_for_is_not_renewed(served, stub):
    """TTL 12, in both worlds, not asked for: it dies, and nobody upstream hears of it."""
    served.warm("idle.twelve.test")
    with served.counting() as c:
        time.sleep(13)
    assert c["refresh_asked"] == 0
    assert len(stub.queries("idle.twelve.test")) == 1
    assert served.ask("idle.twelve.test").by == "daemon"
    assert len(stub.queries("idle.twelve.test")) == 2


def test_flush_of_a_name_forgets_it_in_both_worlds(served, stub):
    served.warm("flushed.up.test")
    served.warm("stays.up.test")
    said = served.get("flush", "POST", name="flushed.up.test")
    assert said["kernel"] >= 1 and said["cache"] >= 1
    reply = served.ask("flushed.up.test")
    assert reply.by == "daemon" and len(stub.queries("flushed.up.test")) == 2
    assert served.ask("stays.up.test").by == "kernel"


def test_flush_below_a_name_forgets_all_of_it_in_both_worlds(served, stub):
    for name in ("below.up.test", "a.below.up.test", "beside-below.up.test"):
        served.warm(name)
    said = served.get("flush", "POST", name="*.below.up.test")
    assert said["below"] is True and said["kernel"] == 2 and said["cache"] == 2
    assert served.ask("a.below.up.test").by == "daemon" and served.ask("below.up.test").by == "daemon"
    assert served.ask("beside-below.up.test").by == "kernel"


def test_the_cache_says_what_it_knows(served):
    served.warm("known.up.test")
    known = served.get("cache/answers", name="KNOWN.up.test")["answers"]
    assert [(a["type"], a["state"], a["rcode"], a["kernel"]) for a in known] == [("A", "live", "NOERROR", True)]
    assert 0 < known[0]["ttl"] <= 300 and known[0]["asked"] >= 2 and "known.up.test." in known[0]["reply"]["text"]
    assert "in the kernel" in served.millctl("cache", "show", "known.up.test").stdout
    assert served.get("cache/answers", name="unknown.up.test")["answers"] == []
    stats = served.get("cache")
    assert stats["entries"] >= 1 and stats["bytes"] < stats["bytes_max"] and not stats["upstreams_down"]


def test_flush_of_everything_forgets_everything(served, stub):
    served.warm("all.up.test")
    served.millctl("flush")
    reply = served.ask("all.up.test")
    assert reply.by == "daemon" and len(stub.queries("all.up.test")) == 2


@pytest.mark.parametrize("name", ["mid.up.test", "mid2.up.test"], ids=["of_420_octets", "of_900_octets"])
def test_an_answer_that_the_frame_cannot_grow_by_comes_from_the_daemon(served, name):
    """A veth gives 216 octets at the head; at the tail what is left of a page, at times enough for the smaller one."""
    said = [served.ask(name, "TXT", edns=0) for _ in range(8)]
    for reply in said[2:]:
        assert reply.by == ("daemon" if reply.reasons.get("pass_room") else "kernel"), reply.reasons
        assert lane.facts(reply) == lane.facts(said[0]) and not reply.has("TC")
    if name == "mid2.up.test":
        assert all(reply.reasons.get("pass_room") == 1 for reply in said[2:])


def test_do_and_cd_are_parts_of_the_key(served, stub):
    served.warm("signed.up.test", edns=0)
    reply = served.ask("signed.up.test", edns=0, do=True)
    assert reply.by == "daemon" and any(d.startswith("RRSIG") for d in reply.data)
    assert not any(d.startswith("RRSIG") for d in served.ask("signed.up.test", edns=0).data)
    assert any(d.startswith("RRSIG") for d in served.warm("signed.up.test", edns=0, do=True).data)
    assert served.ask("signed.up.test", edns=0, cd=True).by == "daemon"
