# SPDX-License-Identifier: BSD-2-Clause
"""What outlives the daemon, what comes by itself: dead daemons, restarts, damage, schedules, lists from URLs."""
import contextlib
import http.client
import itertools
import os
import re
import sqlite3
import subprocess
import threading
import time

import pytest

import lane
from filters import FILE, KID4, MB4, blocked, both, post


def test_two_groups_are_answered_differently_with_the_daemon_dead(daemon, addresses):
    daemon.write(FILE)
    daemon.list("list.txt", "exact.list.test")
    daemon.start()
    for source in lane.CLIENT4, KID4:
        daemon.ask("games.test", source=source)
    daemon.warm("games.test", source=lane.CLIENT4)
    daemon.kill()
    assert daemon.client.ask("games.test", source=lane.CLIENT4).rcode == "NOERROR"
    assert daemon.client.ask("games.test", source=KID4).rcode == "NXDOMAIN"
    assert daemon.client.ask("exact.list.test", source=lane.CLIENT4).data == ["A 0.0.0.0"]


@pytest.fixture
def second(lab):
    """A second client: a namespace of its own, whose device has a hardware address of its own."""
    name, mac = f"{lab.name}-second", "02:53:00:00:00:22"
    subprocess.run(["ip", "netns", "add", name], check=True)
    lab.run("client", "ip", "link", "add", "second0", "link", "mrc0", "address", mac, "type", "macvlan", "mode", "bridge")
    lab.run("client", "ip", "link", "set", "second0", "netns", name)
    for words in ["addr", "add", "10.53.0.9/24", "dev", "second0"], ["link", "set", "second0", "up"]:
        subprocess.run(["ip", "-n", name, *words], check=True)

    def ask(question):
        done = subprocess.run(["ip", "netns", "exec", name, "dig", f"@{lane.SERVER4}", question, "+tries=1", "+timeout=3"],
                              capture_output=True, text=True, timeout=20)
        return re.search(r"status: (\w+)", done.stdout)[1]

    yield mac, ask
    subprocess.run(["ip", "netns", "del", name], check=True)


def test_two_client_namespaces_are_answered_differently_with_the_daemon_dead(daemon, second):
    mac, ask = second
    daemon.write({**FILE, "clients": [], "groups": [
        {"name": "default"}, {"name": "kids", "clients": [f"mac:{mac}"], "rules": ["||games.test^"], "block": {"mode": "nxdomain"}}]})
    daemon.list("list.txt", "exact.list.test")
    daemon.start()
    daemon.warm("games.test")
    assert ask("games.test") == "NXDOMAIN"
    daemon.kill()
    assert ask("games.test") == "NXDOMAIN" and ask("exact.list.test") == "NXDOMAIN"
    assert daemon.client.ask("games.test").rcode == "NOERROR"
    assert daemon.client.ask("exact.list.test").data == ["A 0.0.0.0"]


# ---- restarts ----

def test_objects_and_pauses_outlive_a_restart_and_a_kill(daemon, addresses):
    daemon.write(FILE)
    daemon.list("list.txt", "exact.list.test")
    daemon.start()
    daemon.millctl("rule", "add", "||kept.test^")
    daemon.millctl("client", "set", "tv", MB4)
    daemon.millctl("group", "set", "living", "--clients", "tv", "--lists", "none")
    daemon.millctl("pause", "1h", "--group", "kids")
    for end in daemon.stop, daemon.kill:
        end()
        daemon.start()
        assert blocked(both(daemon, "a.kept.test"))
        assert not blocked(daemon.ask("exact.list.test", source=MB4))
        assert not blocked(daemon.ask("exact.list.test", source=KID4))
        assert 3000 < daemon.get("pause")["pauses"][0]["left_s"] <= 3600
        assert [g["origin"] for g in daemon.get("groups")["groups"]] == ["file", "file", "state"]


def test_what_the_file_takes_over_is_said_and_kept(daemon, addresses):
    daemon.write({"filter": {"lists": []}})
    daemon.start()
    daemon.millctl("group", "set", "mine", "--clients", MB4)
    daemon.millctl("rule", "add", "||kept.test^")
    daemon.write({"groups": [{"name": "default"}, {"name": "mine", "clients": [KID4]}]})
    daemon.hup()
    assert "group mine, which millctl made, is not in force" in daemon.said()
    assert daemon.get("status")["objects"]["left_out"] == 1
    assert daemon.get("groups/mine")["clients"] == [KID4]
    assert blocked(daemon.ask("x.kept.test"))
    assert "mine" in daemon.millctl("status").stdout
    daemon.write({"filter": {"lists": []}})
    daemon.hup()
    assert daemon.get("groups/mine")["clients"] == [MB4]
    assert daemon.get("status")["objects"]["left_out"] == 0


def test_an_object_that_was_left_out_and_is_made_good_stays_in_force(daemon):
    daemon.start()
    daemon.millctl("client", "set", "tv", MB4)
    daemon.millctl("rule", "add", "||twice.test^")
    file = {"clients": [{"name": "laptop", "addresses": [MB4]}], "filter": {"rules": ["||twice.test^"]}}
    daemon.write(file)
    assert daemon.hup()["objects"]["left_out"] == 2
    daemon.millctl("client", "set", "tv", KID4)
    daemon.millctl("rule", "remove", "||twice.test^")
    assert daemon.get("status")["objects"] == {"in_force": 1, "left_out": 0, "why": "", "trouble": "", "pauses": 0}
    daemon.millctl("rule", "add", "||more.test^")
    assert daemon.get("clients/tv")["addresses"] == [KID4]


def test_a_reload_that_fails_leaves_out_nothing(daemon):
    daemon.start()
    daemon.millctl("rule", "add", "||mine.test^")
    daemon.write({"filter": {"rules": ["||mine.test^"], "lists": [{"name": "gone", "file": "gone.txt"}]}})
    assert daemon.hup()["reloads"]["failed"] == 1
    assert daemon.get("status")["objects"]["left_out"] == 0
    daemon.millctl("rule", "add", "||more.test^")
    assert blocked(daemon.ask("x.mine.test")) and blocked(daemon.ask("x.more.test"))


def test_the_file_takes_over_hundreds_of_rules_at_once(daemon):
    """Each of them is looked at once: not all of them again for each."""
    daemon.start()
    rules = [f"||r{i}.take.test^" for i in range(400)]
    for rule in rules:
        post(daemon, "rules", {"rule": rule})
    daemon.write({"filter": {"rules": rules}})
    start = time.monotonic()
    assert daemon.hup()["objects"]["left_out"] == 400
    assert time.monotonic() - start < 1
    assert blocked(daemon.ask("x.r399.take.test"))


def test_a_damaged_database_is_set_aside_and_said(daemon):
    daemon.start()
    daemon.millctl("rule", "add", "||lost.test^")
    daemon.stop()
    (daemon.folder / "state/state.db").write_bytes(b"no database any more" * 100)
    daemon.start()
    assert (daemon.folder / "state/state.db.damaged").exists()
    assert "damaged" in daemon.millctl("status").stdout and "damaged" in daemon.said()
    daemon.millctl("rule", "add", "||again.test^")
    assert blocked(daemon.ask("x.again.test"))


def test_names_on_too_many_combinations_of_lists_are_told_in_log_and_status_and_judged_by_their_lists(daemon, addresses):
    daemon.write({"filter": {"lists": [{"name": f"l{b}", "file": f"l{b}.txt"} for b in range(15)]},
                  "groups": [{"name": "default"}, {"name": "few", "clients": [KID4], "lists": ["l3"]}]})
    for b in range(15):
        daemon.list(f"l{b}.txt", *(f"n{i}.sets.test" for i in range(1, 32768) if i >> b & 1))
    for _ in range(2):
        daemon.start()
        asked = daemon.get("status")["filter"]["asked"]
        assert 0 <= asked - (32767 - 16382) < 10 and daemon.get("status")["filter"]["untold"] == 0
        assert f"{asked} names are on combinations of lists beyond the first 16382: the kernel leaves them" in daemon.said()
        assert f"left to the daemon: {asked:,}".replace(",", "") in daemon.millctl("status").stdout.replace(",", "")
        folded = 0
        for i in range(20001, 20041):
            why = daemon.get("why", name=f"n{i}.sets.test", client=KID4)
            folded += why["kernel"]["verdict"] == "ask"
            if i >> 3 & 1:
                line = sum(n >> 3 & 1 for n in range(1, i + 1))
                said = why["daemon"]
                assert (said["verdict"], said["list"], said["line"], said["rule"]) == ("block", "l3", line, f"n{i}.sets.test")
            else:
                assert why["daemon"]["verdict"] == "none"
            assert blocked(daemon.ask(f"n{i}.sets.test", source=KID4)) == bool(i >> 3 & 1)
            assert blocked(both(daemon, f"n{i}.sets.test"))
        assert 0 < folded < 40
        daemon.stop()


def test_a_pause_that_has_no_place_is_refused_and_not_kept(daemon):
    daemon.start()
    answers = [post(daemon, "pause", {"scope": "client", "name": f"2{i:03x}:db8:{i:x}::/{i + 1}"}) for i in range(60, 120)]
    refused = [a for a in answers if "error" in a]
    assert refused and {a["error"]["status"] for a in refused} == {507}
    assert len(daemon.get("pause")["pauses"]) == len(answers) - len(refused)
    daemon.millctl("rule", "add", "||still.test^")
    daemon.stop()
    daemon.start()
    assert len(daemon.get("pause")["pauses"]) == len(answers) - len(refused)
    assert blocked(daemon.ask("x.still.test"))


def test_pauses_that_have_no_place_any_more_keep_no_daemon_from_starting(daemon):
    daemon.start()
    daemon.stop()
    with contextlib.closing(sqlite3.connect(daemon.folder / "state/state.db")) as db:
        db.executemany("INSERT INTO pause VALUES ('client', ?, 0)",
                       [(f"2{i:03x}:db8:{i:x}::/{i + 1}",) for i in range(60, 120)])
        db.execute("INSERT INTO pause VALUES ('group', 'default', 0)")
        db.commit()
    daemon.start()
    assert "pauses of clients have ended" in daemon.said()
    assert [p["scope"] for p in daemon.get("pause")["pauses"]] == ["group"]
    daemon.millctl("rule", "add", "||still.test^")


def test_a_list_that_was_out_of_force_before_a_change_does_not_hinder_it(daemon):
    daemon.write({"filter": {"lists": [{"name": "gone", "file": "gone.txt"}, {"name": "here", "file": "here.txt"}]}})
    daemon.list("here.txt", "name.here.test")
    daemon.start()
    assert not daemon.get("lists/gone")["loaded"]
    daemon.millctl("rule", "add", "||new.test^")
    daemon.millctl("client", "set", "tv", MB4)
    assert blocked(daemon.ask("x.new.test")) and "No such file" in daemon.get("lists/gone")["error"]
    (daemon.folder / "here.txt").unlink()
    refused = daemon.millctl("rule", "add", "||more.test^$dnstype=A", check=False)
    assert refused.returncode == 1 and "here.txt" in refused.stderr, "nobody asked for that list to go"
    daemon.millctl("rule", "add", "||plain.test^")		# one entry: no list is read for it
    assert blocked(daemon.ask("x.plain.test"))
    assert blocked(daemon.ask("name.here.test")) and not blocked(daemon.ask("x.more.test"))
    daemon.hup()
    assert daemon.get("status")["reloads"]["failed"] == 1


# ---- schedules ----

def test_a_schedule_begins_on_its_second_in_both_worlds(daemon, addresses):
    daemon.write({**FILE, "groups": [
        {"name": "default"},
        {"name": "evening", "clients": [KID4], "rules": ["||rules.test^"], "schedules": lane.AT_EVENING}]})
    daemon.list("list.txt", "exact.list.test")
    edges = [int(time.time()) + 4 + 4 * i for i in range(40)]
    daemon.prefix = ("env", f"TZ={lane.zone_file(daemon.folder / 'zone', edges)}")
    daemon.start()
    # a morning that has just begun
    time.sleep(next(e for e in edges[1::2] if e > time.time()) + 0.1 - time.time())
    daemon.warm("exact.list.test", source=KID4)
    assert not blocked(daemon.ask("exact.list.test", source=KID4)) and blocked(daemon.ask("exact.list.test"))
    assert daemon.get("why", name="exact.list.test", client=KID4)["daemon"]["closed"] == "list, group:evening"
    generation = daemon.get("status")["fastpath"]["filter_generation"]
    late, = lane.flips_at(edges[::2], 1, lambda: blocked(daemon.client.ask("exact.list.test", source=KID4)))
    assert blocked(daemon.client.ask("exact.list.test", source=KID4)), "it has begun, not ended"
    lane.figure(f"a schedule: the kernel answers by it {1e3 * late:.2f} ms behind its edge")
    assert blocked(daemon.ask("x.rules.test", source=KID4))
    assert daemon.get("why", name="exact.list.test", client=KID4)["daemon"]["closed"] is None
    assert daemon.get("status")["fastpath"]["filter_generation"] == generation
    # its end; TCP is the daemon's alone (each question opens a connection)
    ask = lane.query("exact.list.test").to_wire()
    late, = lane.flips_at(edges[1::2], 1, lambda: daemon.client.tcp([ask], source=KID4)[0].endswith(bytes(4)))
    lane.figure(f"a schedule: the daemon answers by its end {1e3 * late:.2f} ms behind it")
    assert not blocked(daemon.ask("x.rules.test", source=KID4))


def test_an_edge_does_not_wait_for_lists_that_are_compiled(daemon, tmp_path):
    """Reloads that take the control thread some 100 ms each, without a rest; edges come in the middle of them."""
    with (tmp_path / "many.txt").open("w") as f:
        f.writelines(f"0.0.0.0 n{i}.many{i % 97}.test\n" for i in range(300000))
    daemon.write({"filter": {"lists": [{"name": "many", "file": str(tmp_path / "many.txt")}]},
                  "groups": [{"name": "default", "rules": ["||rules.test^"], "schedules": lane.AT_EVENING}]})
    edges = [int(time.time()) + 4 + i for i in range(60)]
    daemon.prefix = ("env", f"TZ={lane.zone_file(daemon.folder / 'zone', edges)}")
    daemon.start()
    daemon.warm("x.rules.test")
    stop, took = threading.Event(), []

    def reload():
        while not stop.is_set():
            start = time.monotonic()
            daemon.get("reload", "POST")
            took.append(time.monotonic() - start)

    reloading = threading.Thread(target=reload)
    reloading.start()
    try:
        late = sorted(lane.flips_at(edges, 6, lambda: blocked(daemon.client.ask("x.rules.test"))))
    finally:
        stop.set()
        reloading.join()
    took.sort()
    lane.figure(f"an edge while reloads run, each {1e3 * took[len(took) // 2]:.0f} ms: median "
                f"{1e3 * late[len(late) // 2]:.2f}, worst {1e3 * late[-1]:.2f} ms")
    assert daemon.get("status")["reloads"]["failed"] == 0 and len(took) > 1
    assert daemon.said().count("a schedule has begun or ended") >= 6


# ---- lists from URLs ----

@pytest.fixture
def web(lab, tmp_path):
    """An HTTP server of files in the upstream namespace."""
    folder = tmp_path / "web"
    folder.mkdir()
    process = lab.start("upstream", "/usr/bin/python3", "-m", "http.server", "8080", "-d", folder, "-b", lane.UPSTREAM4,
                        stderr=(tmp_path / "web.log").open("w"))
    yield folder
    process.terminate()
    process.wait()


def url(name):
    return f"http://{lane.UPSTREAM4}:8080/{name}"


def loaded(d, name):
    return d.get(f"lists/{name}").get("loaded")


def test_a_list_from_a_url_comes_goes_bad_and_outlives_both(daemon, web):
    (web / "a.txt").write_text("0.0.0.0 first.url.test\n")
    daemon.write({"filter": {"lists": [{"name": "web", "url": url("a.txt"), "refresh": "1h"}]}})
    daemon.start()
    lane.wait_until("the list is in force", 10, lambda: loaded(daemon, "web"))
    assert blocked(both(daemon, "first.url.test"))
    time.sleep(1.1)			# HTTP tells times in seconds
    (web / "a.txt").write_text("0.0.0.0 second.url.test\n0.0.0.0 first.url.test\n")
    daemon.millctl("lists", "refresh", "web")
    lane.wait_until("the new list is in force", 10, lambda: blocked(daemon.ask("second.url.test")))
    time.sleep(1.1)
    (web / "a.txt").write_text("<html><body>Sign in</body></html>\n")
    daemon.millctl("lists", "refresh")
    lane.wait_until("the page is refused", 10, lambda: "HTML" in daemon.get("lists/web")["error"])
    assert blocked(both(daemon, "second.url.test"))
    (web / "a.txt").unlink()
    daemon.stop()
    daemon.start()
    assert blocked(both(daemon, "second.url.test")), "the last good copy"
    daemon.millctl("lists", "add", "more", url("b.txt"))
    lane.wait_until("it is said that there is none", 10, lambda: "404" in daemon.get("lists/more")["error"])
    assert not loaded(daemon, "more")
    (web / "b.txt").write_text("||third.url.test^\n")
    daemon.millctl("lists", "refresh", "more")
    lane.wait_until("the list is in force", 10, lambda: blocked(daemon.ask("x.third.url.test")))
    daemon.millctl("lists", "remove", "more")
    assert not blocked(daemon.ask("x.third.url.test"))
    assert daemon.millctl("lists", "remove", "web", check=False).returncode == 1


def test_a_list_that_is_never_refreshed_is_fetched_at_a_reload(daemon, web):
    (web / "once.txt").write_text("0.0.0.0 first.once.test\n")
    daemon.write({"filter": {"lists": [{"name": "once", "url": url("once.txt"), "refresh": "never"}]}})
    daemon.start()
    lane.wait_until("the list is in force", 10, lambda: loaded(daemon, "once"))
    time.sleep(1.1)
    (web / "once.txt").write_text("0.0.0.0 second.once.test\n")
    daemon.hup()
    lane.wait_until("the list is fetched anew", 10, lambda: blocked(daemon.ask("second.once.test")))
    assert not blocked(daemon.ask("first.once.test"))


def test_a_list_that_needs_a_name_is_fetched_by_the_bootstrap_server(daemon, lab, tmp_path, web):
    names = lane.Stub(lab, tmp_path, "--rule", f"web.boot.test A a={lane.UPSTREAM4}", port=5303, name="bootstrap")
    (web / "boot.txt").write_text("0.0.0.0 first.boot.example\n")
    try:
        daemon.write({"upstreams": {"bootstrap": [f"{lane.UPSTREAM4}:5303"]},
                      "filter": {"lists": [{"name": "boot", "url": "http://web.boot.test:8080/boot.txt"}]}})
        daemon.start()
        lane.wait_until("the list is in force", 10, lambda: loaded(daemon, "boot"))
        assert blocked(both(daemon, "first.boot.example"))
        assert names.queries("web.boot.test", "A")
    finally:
        names.stop()


def test_rules_that_were_acknowledged_outlive_a_kill_in_the_middle_of_the_next(daemon):
    daemon.start()
    done = []

    def add():
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            for i in itertools.count(len(done)):
                if post(daemon, "rules", {"rule": f"||r{i}.kept.test^"}).get("done") == "put":
                    done.append(i)

    for moment in 0.15, 0.311, 0.07:
        adding, before = threading.Thread(target=add), len(done)
        adding.start()
        lane.wait_until("one is acknowledged", 5, lambda: len(done) > before, every=0.001)
        time.sleep(moment)
        daemon.kill()
        adding.join()
        daemon.start()
        there = {r["rule"] for r in daemon.get("rules")["rules"]}
        assert done and {f"||r{i}.kept.test^" for i in done} <= there
        assert len(there) <= len(done) + 1, "one may have been stored and not acknowledged"
        assert blocked(both(daemon, f"x.r{done[-1]}.kept.test"))
        done[:] = range(len(there))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a megabyte for the daemon's state."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "none", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_refuses_changes_and_nothing_is_lost(daemon, small_disk):
    daemon.write({"state": str(small_disk)})
    try:
        daemon.start()
        daemon.millctl("rule", "add", "||old.disk.test^")
        (small_disk / "filler").write_bytes(b"x" * (os.statvfs(small_disk).f_bavail * 4096))
        for words in (["rule", "add", "||new.disk.test^"], ["pause"], ["rule", "remove", "||old.disk.test^"]):
            refused = daemon.millctl(*words, check=False)
            assert refused.returncode == 1 and re.search("full|No space", refused.stderr), refused
        error = post(daemon, "rules", {"rule": "||new.disk.test^"})["error"]
        assert (error["status"], error["file"], error["key"]) == (507, None, "state")
        assert blocked(both(daemon, "x.old.disk.test")) and not blocked(daemon.ask("x.new.disk.test"))
        (small_disk / "filler").unlink()
        daemon.millctl("rule", "add", "||new.disk.test^")
        assert blocked(daemon.ask("x.new.disk.test"))
        daemon.stop()
        daemon.start()
        assert blocked(daemon.ask("x.new.disk.test")) and blocked(daemon.ask("x.old.disk.test"))
    finally:
        daemon.stop()
