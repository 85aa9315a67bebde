# SPDX-License-Identifier: BSD-2-Clause
"""Plain rules made and taken away in the filter in force: both worlds at once, as a compilation would have it."""
import os
import random

import pytest

import lane
from filters import FILE, KID4, blocked, both, post

SOURCES = lane.CLIENT4, KID4


def make(d, rule):
    assert post(d, "rules", {"rule": rule}).get("done") == "put", rule


def drop(d, rule):
    assert d.get("rules", "DELETE", rule=rule).get("done") == "deleted", rule


def compiled(d):
    """When the filter on the disk was written: what is changed in place leaves it alone."""
    return os.stat(d.folder / "state/filter.bin").st_mtime_ns


def settled(d):
    """Started, and the lists have been read again."""
    d.start()
    lane.wait_until("the lists are read", 10, lambda: "as compiled by an earlier run" not in d.said().split("filter in force")[-1]
                    or d.get("status")["reloads_failed"])
    return d


@pytest.fixture
def served(daemon, addresses):
    daemon.write(FILE)
    daemon.list("list.txt", "exact.list.test", "||tree.list.test^", "@@||free.list.test^", "both.list.test", "||both.list.test^",
                "||cond.list.test^$dnstype=A")
    return settled(daemon)


def said(d, name, source):
    """What both worlds say, and how they got there."""
    why = d.get("why", name=name, client=source)
    kernel, ours = why["kernel"], why["daemon"]
    return [{k: v for k, v in side.items() if k in ("verdict", "list", "depth", "group", "step", "line", "rule")}
            for side in (kernel, ours)] + [lane.facts(d.client.ask(name, edns=0, source=source))]


PATTERNS = "||{}^", "{}", "@@||{}^", "||{}^$important", "@@||{}^$important", "@@|{}^"
NAMES = ("exact.list.test", "tree.list.test", "x.tree.list.test", "free.list.test", "both.list.test", "cond.list.test",
         "new.edit.test", "games.test", "x.games.test", "file.rule.test", "test", "a.b.c.d.edit.test")


def test_changes_in_place_say_what_a_compilation_says(served):
    """At random; the filter is compiled anew by a reload now and then, and says the same of every name to every group."""
    rng = random.Random(7)
    rules, in_place = set(), 0
    look = [n for n in NAMES if n != "test"] + ["sub." + n for n in NAMES] + ["never.said.test"]
    for turn in range(5):
        for _ in range(12):
            rule = rng.choice(PATTERNS).format(rng.choice(NAMES))
            before = compiled(served)
            if rule in rules:
                drop(served, rule)
                rules.remove(rule)
            elif "error" not in post(served, "rules", {"rule": rule}):
                rules.add(rule)
            in_place += compiled(served) == before
        edited = {(n, s): said(served, n, s) for n in look for s in SOURCES}
        served.hup()
        for (n, s), was in edited.items():
            assert said(served, n, s) == was, (turn, n, s, sorted(rules))
    assert in_place > 40, in_place


def test_a_rule_is_in_force_in_both_worlds_when_it_is_acknowledged_and_nothing_is_compiled(served):
    before, entries = compiled(served), served.get("status")["filter"]["entries"]
    for i in range(20):
        make(served, f"||n{i}.edit.test^")
        assert blocked(both(served, f"x.n{i}.edit.test"))
        assert served.ask(f"n{i}.edit.test").by == "kernel"
    assert served.get("status")["filter"]["entries"] == entries + 20
    for i in range(20):
        drop(served, f"||n{i}.edit.test^")
        assert not blocked(both(served, f"x.n{i}.edit.test"))
    assert served.get("status")["filter"]["entries"] == entries
    assert compiled(served) == before


def test_a_cached_answer_whose_chain_is_blocked_now_is_given_no_more(served):
    served.warm("chain.up.test")
    make(served, "||end.up.test^")
    assert blocked(both(served, "chain.up.test"))
    drop(served, "||end.up.test^")
    assert not blocked(both(served, "chain.up.test"))
    served.warm("chain.up.test")


def test_rules_that_are_not_plain_are_compiled(served):
    for rule in "/^plain[0-9]/", "||plain.edit.test^$dnstype=A", "0.0.0.0 a1.edit.test b1.edit.test", "||x.edit.test^$badfilter":
        before = compiled(served)
        make(served, rule)
        assert compiled(served) != before, rule


def test_a_rule_for_one_group_is_compiled_and_those_for_all_change_beside_it(served):
    before = compiled(served)
    served.millctl("rule", "add", "--group", "kids", "||news.edit.test^")
    served.millctl("rule", "add", "--group", "default", "||news.edit.test^$important")
    assert compiled(served) != before
    before = compiled(served)
    for rule, kid, other in (("@@||news.edit.test^", False, True), ("@@||news.edit.test^$important", False, False)):
        make(served, rule)
        assert blocked(served.ask("x.news.edit.test", source=KID4)) == kid
        assert blocked(both(served, "x.news.edit.test")) == other
    for rule in "@@||news.edit.test^", "@@||news.edit.test^$important":
        drop(served, rule)
    assert compiled(served) == before
    assert blocked(served.ask("x.news.edit.test", source=KID4)) and blocked(both(served, "x.news.edit.test"))
    served.millctl("rule", "remove", "--group", "kids", "||news.edit.test^")
    assert compiled(served) != before
    assert not blocked(served.ask("x.news.edit.test", source=KID4)) and blocked(both(served, "x.news.edit.test"))


def test_new_clients_and_pauses_go_with_what_was_changed_in_place(served):
    make(served, "||one.edit.test^")
    served.millctl("pause", "--client", lane.CLIENT4)
    make(served, "||two.edit.test^")
    assert not blocked(both(served, "x.one.edit.test")) and not blocked(both(served, "x.two.edit.test"))
    served.millctl("resume", "--client", lane.CLIENT4)
    drop(served, "||one.edit.test^")
    assert not blocked(both(served, "x.one.edit.test")) and blocked(both(served, "x.two.edit.test"))


def test_a_name_that_a_pattern_means_is_compiled(served):
    make(served, "@@/^re[0-9]+\\./$important")
    before = compiled(served)
    make(served, "re1.edit.test")
    assert compiled(served) != before and not blocked(both(served, "re1.edit.test"))
    before = compiled(served)
    make(served, "||edit.test^")		# of all below some may be meant: that is asked, not compiled
    assert compiled(served) == before
    assert blocked(both(served, "x.edit.test")) and not blocked(both(served, "re2.edit.test"))


def test_why_tells_rules_behind_one_that_is_taken_away_by_their_own_lines(served):
    make(served, "||first.edit.test^")
    make(served, "||cond.edit.test^$dnstype=A")
    make(served, "||last.edit.test^")
    drop(served, "||first.edit.test^")
    assert served.get("why", name="cond.edit.test", client=lane.CLIENT4)["daemon"]["rule"] == "||cond.edit.test^$dnstype=A"
    assert served.get("why", name="x.last.edit.test", client=lane.CLIENT4)["daemon"]["rule"] == "||last.edit.test^"


@pytest.mark.parametrize("lists", ["the_lists_can_be_read", "a_list_has_gone"])
def test_kill_9_after_the_acknowledgement_loses_nothing(served, lists):
    """state.db has the change; the filter on the disk, which has it not, is changed again before the first query."""
    make(served, "||old.edit.test^")
    served.hup()
    before = compiled(served)
    make(served, "||new.edit.test^")
    make(served, "@@||tree.list.test^")
    drop(served, "||old.edit.test^")
    served.kill()
    assert compiled(served) == before
    if lists == "a_list_has_gone":
        (served.folder / "list.txt").unlink()
    served.start()
    assert "changed since the filter was compiled: 3 are in force, 0 wait" in served.said()
    for _ in range(2):
        assert blocked(both(served, "x.new.edit.test"))
        assert blocked(both(served, "exact.list.test"))
        assert not blocked(both(served, "tree.list.test"))
        assert not blocked(both(served, "old.edit.test"))
        served.settle()


def test_the_dead_daemons_tables_hold_what_was_changed(served):
    make(served, "||new.edit.test^")
    served.kill()
    assert blocked(served.client.ask("x.new.edit.test"))
