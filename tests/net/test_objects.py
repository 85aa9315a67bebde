# SPDX-License-Identifier: BSD-2-Clause
"""Objects made by many at once, and while the daemon goes; left out and back; rules of one group."""
import contextlib
import http.client
import json
import sqlite3
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import lane
from filters import FILE, KID4, MB4, blocked, both, post


def test_each_of_200_writers_gets_its_own_result_and_nothing_is_lost(daemon):
    daemon.start()
    with ThreadPoolExecutor(200) as pool:
        done = list(pool.map(lambda i: daemon.millctl("rule", "add", f"||r{i % 100}.many.test^", check=False), range(200)))
    assert sum(d.returncode == 0 for d in done) == 100
    assert all("already" in d.stderr for d in done if d.returncode), [d.stderr for d in done if d.returncode][:5]
    assert len({r["rule"] for r in daemon.get("rules")["rules"]}) == 100
    assert all(blocked(daemon.client.ask(f"x.r{i}.many.test")) for i in range(100))


def test_what_several_set_in_one_group_is_all_set(daemon):
    daemon.start()
    sets = [["--safe-search", "on"], ["--no-types", "HTTPS"], ["--block-ttl", "99"], ["--block-mode", "refused"]]
    with ThreadPoolExecutor(len(sets)) as pool:
        for i in range(8):
            list(pool.map(lambda words: daemon.millctl("group", "set", f"g{i}", *words), sets))
            group = daemon.get(f"groups/g{i}")
            assert (group["safe_search"], group["no_types"]) == (True, ["HTTPS"])
            assert (group["block"]["ttl"], group["block"]["mode"]) == (99, "refused")
    daemon.millctl("group", "set", "g0", "--lists", "none")
    assert daemon.get("groups/g0")["lists"] == []
    daemon.millctl("group", "set", "g0", "--lists", "all")
    assert daemon.get("groups/g0")["lists"] is None and daemon.get("groups/g0")["safe_search"]


def test_a_change_that_the_end_of_the_daemon_meets_is_answered(daemon):
    """Whoever was heard learns whether it was made."""
    for i in range(8):
        daemon.start()
        got = []

        def add():
            try:
                got.append(post(daemon, "rules", {"rule": f"||r{i}.end.test^"}).get("done", "refused"))
            except (OSError, ValueError, http.client.HTTPException) as e:
                got.append(e)
        adding = threading.Thread(target=add)
        adding.start()
        time.sleep(0.01 + 0.002 * i)
        assert daemon.stop() == 0
        adding.join()
        assert got in (["put"], ["refused"]), got
    daemon.start()
    lane.wait_until("it is in force", 5, lambda: blocked(daemon.client.ask("x.r7.end.test")))


# ---- left out, and back ----

def left_out(d):
    return {f"{o['kind']} {o['name']}": o["why"] for o in d.get("status")["left_out"]}


def test_a_bad_rule_of_the_file_hinders_no_change(daemon, addresses):
    """At the start it is left out and said; changes are judged by themselves, the file by itself at a reload."""
    bad = {"filter": {"rules": ["||good.test^", "||bad.test^$nonsense"]},
           "groups": [{"name": "default"}, {"name": "kids", "clients": [KID4], "rules": ["||worse.test^$nonsense"]}]}
    daemon.write(bad)
    daemon.start()
    assert left_out(daemon).keys() == {"rule ||bad.test^$nonsense", "rule of group kids ||worse.test^$nonsense"}
    assert daemon.get("status")["filter"]["bad_rules"] == 2
    assert "||bad.test^$nonsense, from file" in daemon.millctl("status").stdout
    for words in (["rule", "add", "||new.test^"], ["group", "set", "tv", "--clients", MB4],
                  ["rule", "add", "--group", "kids", "||games.test^"], ["rule", "remove", "||new.test^"]):
        daemon.millctl(*words)
    assert blocked(daemon.ask("x.games.test", source=KID4)) and blocked(daemon.ask("x.good.test"))
    refused = daemon.millctl("rule", "add", "||x.test^$nonsense", check=False)
    assert refused.returncode == 1 and "nonsense" in refused.stderr
    assert daemon.hup()["reloads"]["failed"] == 1
    daemon.write(lane.merged(bad, {"filter": {"rules": ["||good.test^", "||bad.test^"]}, "groups": [{"name": "default"}, {"name": "kids"}]}))
    assert daemon.hup()["reloads"]["failed"] == 1
    assert left_out(daemon) == {} and blocked(daemon.ask("x.bad.test"))


def test_a_bad_rule_beside_a_filter_from_disk_hinders_no_change(daemon):
    daemon.write({"filter": {"rules": ["||good.test^"], "lists": [{"name": "list", "file": "list.txt"}]}})
    daemon.list("list.txt", "one.list.test")
    daemon.start()
    daemon.stop()
    daemon.write({"filter": {"rules": ["||good.test^$nonsense"], "lists": [{"name": "list", "file": "list.txt"}]}})
    daemon.list("list.txt", "one.list.test", "two.list.test")
    daemon.start()
    lane.wait_until("the lists are read", 5, lambda: blocked(daemon.ask("two.list.test")))
    daemon.millctl("rule", "add", "||new.test^")
    assert blocked(daemon.ask("x.new.test")) and left_out(daemon).keys() == {"rule ||good.test^$nonsense"}


def test_what_was_left_out_comes_back_with_the_change_that_makes_room(daemon, addresses):
    daemon.start()
    daemon.list("ads.txt", "one.ads.test")
    daemon.millctl("lists", "add", "mine", str(daemon.folder / "ads.txt"))
    daemon.millctl("group", "set", "kids", "--clients", KID4, "--lists", "mine")
    daemon.millctl("group", "set", "default", "--lists", "none")
    assert blocked(daemon.ask("one.ads.test", source=KID4)) and not blocked(daemon.ask("one.ads.test"))
    # the file takes the client: the group is left out
    daemon.write({"groups": [{"name": "fam", "clients": [KID4]}]})
    daemon.hup()
    assert left_out(daemon).keys() == {"group kids"} and "fam" in left_out(daemon)["group kids"]
    daemon.millctl("rule", "add", "||other.test^")
    assert left_out(daemon).keys() == {"group kids"}, "it still cannot be"
    daemon.write({})
    daemon.hup()
    assert left_out(daemon) == {}
    # an object of millctl's stands in the way
    daemon.stop()
    with contextlib.closing(sqlite3.connect(daemon.folder / "state/state.db")) as db:
        db.execute("INSERT INTO object VALUES ('group', 'late', ?, 1, 1)", (json.dumps({"clients": [KID4]}),))
        db.execute("INSERT INTO object VALUES ('group', 'lost', ?, 1, 1)", (json.dumps({"lists": ["gone"]}),))
        db.execute("INSERT INTO object VALUES ('group rule', 'none ||none.test^', ?, 1, 1)",
                   (json.dumps({"group": "none", "rule": "||none.test^"}),))
        db.commit()
    daemon.start()
    assert left_out(daemon).keys() == {"group late", "group lost", "group rule none ||none.test^"}
    assert "gone" in left_out(daemon)["group lost"]
    assert "there is no group" in left_out(daemon)["group rule none ||none.test^"]
    daemon.millctl("group", "set", "kids", "--clients", MB4)
    assert left_out(daemon).keys() == {"group lost", "group rule none ||none.test^"}
    assert not blocked(daemon.ask("one.ads.test", source=KID4)) or daemon.get("groups/late")["clients"] == [KID4]
    daemon.list("gone.txt", "one.gone.test")
    daemon.millctl("lists", "add", "gone", str(daemon.folder / "gone.txt"))
    daemon.millctl("group", "set", "none")
    assert left_out(daemon) == {} and daemon.get("groups/lost")["lists"] == ["gone"]
    assert "group lost is not left out any more" in daemon.said()


def test_a_change_does_not_fail_of_what_would_come_back_with_it(daemon):
    daemon.start()
    daemon.stop()
    clients = [f"2{i:03x}:db8:{i:x}::/{i + 1}" for i in range(60, 120)]		# more lengths than the table of clients takes
    with contextlib.closing(sqlite3.connect(daemon.folder / "state/state.db")) as db:
        db.execute("INSERT INTO object VALUES ('group', 'big', ?, 1, 1)", (json.dumps({"lists": ["gone"], "clients": clients}),))
        db.commit()
    daemon.start()
    daemon.list("gone.txt", "one.gone.test")
    daemon.millctl("lists", "add", "gone", str(daemon.folder / "gone.txt"))
    assert left_out(daemon).keys() == {"group big"} and blocked(daemon.ask("one.gone.test"))
    refused = daemon.millctl("group", "set", "big", "--clients", ",".join(clients), check=False)
    assert refused.returncode == 1 and "no place" in refused.stderr or "room" in refused.stderr or "length" in refused.stderr, refused


def test_lists_show_those_that_are_left_out(daemon):
    daemon.start()
    daemon.list("a.txt", "one.a.test")
    daemon.list("b.txt", "one.b.test")
    daemon.millctl("lists", "add", "mine", str(daemon.folder / "a.txt"))
    daemon.write({"filter": {"lists": [{"name": "mine", "file": "b.txt"}]}})
    daemon.hup()
    rows = [(r["origin"], r["left_out"]) for r in daemon.get("lists")["lists"] if r["name"] == "mine"]
    assert rows == [("file", False), ("state", True)]
    assert "left out: is managed by the configuration's file" in daemon.millctl("lists").stdout
    assert "left out: is managed" in daemon.millctl("status").stdout


def test_hundreds_that_stay_left_out_make_no_change_slow(daemon):
    daemon.start()
    rules = [f"||r{i}.take.test^" for i in range(400)]
    for rule in rules:
        post(daemon, "rules", {"rule": rule})
    daemon.write({"filter": {"rules": rules}})
    assert daemon.hup()["objects"]["left_out"] == 400
    start = time.monotonic()
    daemon.millctl("rule", "add", "||quick.test^")
    assert time.monotonic() - start < 0.5
    assert daemon.get("status")["objects"]["left_out"] == 400
    assert "and 384 more" in daemon.millctl("status").stdout


def test_of_many_clients_those_that_clash_with_the_file_are_left_out_and_no_others(daemon):
    """Each by itself: who clashes with one that is left out already is in force."""
    clients = {f"c{i}": [f"10.70.0.{i}"] for i in range(40)} | {"chain0": ["10.70.0.77", "10.70.0.78"], "chain2": ["10.70.0.79"]}
    daemon.start()
    for name, addresses in clients.items():
        assert post(daemon, f"clients/{name}", {"addresses": addresses}, "PUT").get("done") == "put"
    taken = [f"10.70.0.{i}" for i in range(40) if i % 3] + ["10.70.0.77", "10.70.0.79"]
    daemon.write({"clients": [{"name": "file", "addresses": taken}]})
    assert daemon.hup()["reloads"]["failed"] == 0
    out = {f"c{i}" for i in range(40) if i % 3} | {"chain0", "chain2"}
    assert {o["name"] for o in daemon.get("status")["left_out"]} <= out
    assert daemon.get("status")["objects"]["left_out"] == len(out)
    assert {c["name"] for c in daemon.get("clients")["clients"]} == clients.keys() - out | {"file"}
    assert post(daemon, "clients/chain1", {"addresses": ["10.70.0.78"]}, "PUT").get("done") == "put"
    # a rule brings none of them back, a client does
    daemon.write({})
    assert daemon.hup()["reloads"]["failed"] == 0
    assert daemon.get("status")["objects"]["left_out"] == 1, daemon.get("status")["left_out"]
    daemon.millctl("rule", "add", "||one.clash.test^")
    assert [o["name"] for o in daemon.get("status")["left_out"]] == ["chain1"]
    assert daemon.get("clients/chain1", "DELETE").get("done") == "deleted"
    assert daemon.get("status")["objects"]["left_out"] == 0


def test_rules_beyond_what_there_may_be_are_left_out_and_come_back_one_for_one(daemon):
    daemon.start()
    for i in range(3):
        daemon.millctl("rule", "add", f"||n{i}.over.test^")
    daemon.write({"filter": {"rules": [f"||f{i}.over.test^" for i in range(16383)]}})
    assert daemon.hup()["reloads"]["failed"] == 0
    assert [o["name"] for o in daemon.get("status")["left_out"]] == ["||n1.over.test^", "||n2.over.test^"]
    daemon.millctl("rule", "remove", "||n0.over.test^")
    assert [o["name"] for o in daemon.get("status")["left_out"]] == ["||n2.over.test^"]
    for name, there in ("x.n0.over.test", False), ("x.n1.over.test", True), ("x.n2.over.test", False), ("f9.over.test", True):
        assert blocked(both(daemon, name)) == there, name


# ---- a database that cannot be written ----

@pytest.fixture
def disk(tmp_path):
    """A file system of its own for the daemon's state."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=755", "none", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_database_that_was_read_only_is_written_once_it_can_be(daemon, disk):
    daemon.write({"state": str(disk / "state"), "server": {"user": "nobody"}})
    db = disk / "state/state.db"
    try:
        daemon.start()
        daemon.millctl("rule", "add", "||old.test^")
        daemon.stop()
        subprocess.run(["chattr", "+i", db], check=True)
        daemon.start()
        assert blocked(daemon.ask("x.old.test"))
        for words in (["rule", "add", "||new.test^"], ["pause", "1m"]):
            refused = daemon.millctl(*words, check=False)
            assert refused.returncode == 1 and str(db) in refused.stderr and "not permitted" in refused.stderr, refused
        trouble = daemon.get("status")["objects"]["trouble"]
        assert str(db) in trouble and "each change tries again" in trouble
        subprocess.run(["chattr", "-i", db], check=True)
        daemon.millctl("rule", "add", "||new.test^")
        assert daemon.get("status")["objects"]["trouble"] == ""
        assert blocked(daemon.ask("x.new.test")) and "can be written again" in daemon.said()
        daemon.stop()
        daemon.start()
        assert blocked(daemon.ask("x.new.test"))
    finally:
        subprocess.run(["chattr", "-i", db], check=False)
        daemon.stop()


def test_a_database_that_could_not_be_opened_comes_with_the_next_change(daemon):
    daemon.start()
    daemon.millctl("rule", "add", "||old.test^")
    daemon.millctl("pause", "1h", "--client", MB4)
    daemon.stop()
    db = daemon.folder / "state/state.db"
    db.rename(daemon.folder / "kept.db")
    db.symlink_to(daemon.folder / "kept.db")		# one that is no file of its own is not opened
    daemon.start()
    assert not blocked(daemon.ask("x.old.test"))
    refused = daemon.millctl("rule", "add", "||new.test^", check=False)
    assert refused.returncode == 1 and str(db) in refused.stderr
    assert str(db) in daemon.get("status")["objects"]["trouble"]
    db.unlink()
    (daemon.folder / "kept.db").rename(db)
    daemon.millctl("rule", "add", "||new.test^")
    assert blocked(daemon.ask("x.old.test")) and blocked(daemon.ask("x.new.test"))
    assert len(daemon.get("pause")["pauses"]) == 1 and daemon.get("status")["objects"]["trouble"] == ""


# ---- rules of one group ----

def test_a_rule_for_one_group_is_in_force_there_alone_and_kept(daemon, addresses):
    daemon.write(FILE)
    daemon.list("list.txt", "exact.list.test")
    daemon.start()
    assert not blocked(daemon.ask("x.two.test", source=KID4))
    said = daemon.millctl("rule", "add", "--group", "kids", "||two.up.test^").stdout
    assert said == "rule ||two.up.test^ of group kids is in force\n"
    daemon.millctl("rule", "add", "--group", "default", "||exact.one.test^")
    for end in (lambda: None), daemon.stop, daemon.kill:
        if end() is not None or daemon.process.poll() is not None:
            daemon.start()
        assert daemon.warm("two.up.test", source=KID4).rcode == "NXDOMAIN"
        assert not blocked(both(daemon, "two.up.test")) and blocked(both(daemon, "exact.one.test"))
        assert not blocked(daemon.ask("exact.one.test", source=KID4))
        assert blocked(daemon.ask("games.test", source=KID4)), "the group's own rule"
        ours = [r for r in daemon.get("rules", group="kids")["rules"] if r["origin"] == "state"]
        assert ours == [{"rule": "||two.up.test^", "group": "kids", "origin": "state", "line": None}]
    assert "||two.up.test^  kids   millctl" in daemon.millctl("rule", "list", "--group", "kids").stdout
    assert daemon.get("status")["objects"]["in_force"] == 2
    # setting the group again neither doubles nor takes the rule
    daemon.millctl("group", "set", "mine", "--clients", MB4)
    daemon.millctl("rule", "add", "--group", "mine", "||mine.test^")
    daemon.millctl("group", "set", "mine", "--safe-search", "on")
    assert daemon.get("groups/mine")["rules"] == [] and daemon.get("groups/mine")["added_rules"] == ["||mine.test^"]
    assert blocked(daemon.ask("x.mine.test", source=MB4))
    for words, what in ((["remove", "||two.up.test^"], "made for the group kids"),
                        (["remove", "--group", "kids", "||games.test^"], "managed by file"),
                        (["remove", "--group", "kids", "||none.test^"], "no such rule"),
                        (["add", "--group", "kids", "||games.test^"], "managed by file"),
                        (["add", "--group", "kids", "||two.up.test^"], "already"),
                        (["add", "--group", "none", "||x.test^"], "there is no group \"none\""),
                        (["add", "--group", "kids", "||x.test^$nonsense"], "nonsense")):
        refused = daemon.millctl("rule", *words, check=False)
        assert refused.returncode == 1 and what in refused.stderr, refused
    refused = daemon.millctl("group", "delete", "mine", check=False)
    assert refused.returncode == 1 and "||mine.test^" in refused.stderr
    daemon.millctl("rule", "remove", "--group", "mine", "||mine.test^")
    daemon.millctl("group", "delete", "mine")
    daemon.millctl("rule", "remove", "--group", "kids", "||two.up.test^")
    assert not blocked(daemon.ask("two.up.test", source=KID4)) and blocked(daemon.ask("games.test", source=KID4))


# ---- who asks ----

def test_why_takes_a_hardware_address_and_a_name(daemon, addresses, lab):
    daemon.write({"clients": [{"name": "tablet", "addresses": [KID4]}, {"name": "tv", "addresses": ["mac:02:00:00:00:77:01"]}],
                  "groups": [{"name": "default"}, {"name": "kids", "clients": ["tablet", "mac:02:00:00:00:77:02"],
                                                   "rules": ["||games.test^"]},
                             {"name": "living", "clients": ["tv"], "rules": ["||news.test^"]}]})
    daemon.start()
    for client, name, group in (("tablet", "games.test", "kids"), ("mac:02:00:00:00:77:02", "games.test", "kids"),
                                ("tv", "news.test", "living"), ("mac:02:00:00:00:77:01", "news.test", "living")):
        why = daemon.get("why", name=f"x.{name}", client=client)
        assert (why["kernel"]["group_name"], why["daemon"]["group_name"]) == (group, group), (client, why)
        assert why["kernel"]["verdict"] == why["daemon"]["verdict"] == "block"
    assert "mac:02:00:00:00:77:01" in daemon.millctl("why", "x.news.test", "--client", "tv").stdout
    own = json.loads(subprocess.run(["ip", "-n", f"{lab.name}-client", "-j", "link", "show", "mrc0"], check=True,
                                    capture_output=True).stdout)[0]["address"]
    daemon.ask("warm.test")
    assert daemon.get("why", name="a.test", client=f"mac:{own}")["question"]["client"].startswith("10.53.")
    refused = daemon.millctl("why", "a.test", "--client", "nobody", check=False)
    assert refused.returncode == 2 and "mac:" in refused.stderr


def test_a_list_is_called_in_force_once_it_is(daemon):
    daemon.start()
    daemon.millctl("lists", "add", "far", "http://192.0.2.250:9/none.txt")
    assert "list far is made, and not in force yet: not fetched yet" in daemon.said()
    assert "list far is in force" not in daemon.said()
