# SPDX-License-Identifier: BSD-2-Clause
"""The life of the daemon under load: killed, restarted, replaced, stopped, its interface gone and back."""
import json
import signal
import subprocess
import time

import pytest

import lane

HOT = [(f"hot{i}.up.test", "A") for i in range(60)]
BLOCKED = [(f"b{i}.blocked.test", t) for i in range(40) for t in ("A", "AAAA", "HTTPS")]


@pytest.fixture
def loaded(daemon):
    """A daemon with blocked names and 60 names in the kernel's table."""
    daemon.write({"filter": {"lists": [{"name": "list", "file": "list.txt"}], "block": {"ttl": 10}}})
    daemon.list("list.txt", *(n for n, t in BLOCKED if t == "A"))
    daemon.start()
    for name, rdtype in HOT:
        daemon.warm(name, rdtype)
    return daemon


def answers(daemon):
    """What is said to every hot and every blocked name."""
    return {(n, t): daemon.client.ask(n, t, timeout=1) for n, t in HOT + BLOCKED}


def same(before, after):
    for key, reply in before.items():
        assert lane.facts(reply) == lane.facts(after[key]), key


def test_kill_9_under_load_loses_and_changes_nothing(lab, loaded, tmp_path):
    before = answers(loaded)
    load = lane.Perf(lab, tmp_path, HOT + BLOCKED, 5, qps=8000)
    time.sleep(1.5)
    loaded.kill()
    time.sleep(0.5)
    dead = answers(loaded)
    same(before, dead)
    time.sleep(1.2)
    later = answers(loaded)
    same(before, later)
    aged = [dead[k].ttls[0] - later[k].ttls[0] for k in HOT]
    assert min(aged) >= 1, "TTLs count down without the daemon"
    assert all(later[k].ttls[0] == 10 for k in BLOCKED), "those of blocked names do not"
    with pytest.raises(lane.NoAnswer):
        loaded.client.ask("unknown.up.test", timeout=0.3)
    result = load.result()
    assert result["lost"] == 0 and set(result["codes"]) == {"NOERROR"}, load.text
    assert result["sent"] > 20000


def test_a_restart_takes_the_tables_over_and_loses_nothing(lab, loaded, tmp_path):
    before = answers(loaded)
    link = loaded.get("status")["fastpath"]["interfaces"][0]["link_id"]
    load = lane.Perf(lab, tmp_path, HOT + BLOCKED, 6, qps=8000)
    time.sleep(1)
    for round in range(2):
        loaded.kill()
        time.sleep(0.3)
        loaded.start()
        status = loaded.get("status")["fastpath"]
        assert status["taken_over"] and status["answers"]["in_use"] >= len(HOT)
        assert status["interfaces"][0]["link_id"] == link, "the link stays, its program is replaced"
    same(before, answers(loaded))
    result = load.result()
    assert result["lost"] == 0 and set(result["codes"]) == {"NOERROR"}, load.text
    for name, rdtype in HOT[:10] + BLOCKED[:6]:
        assert loaded.ask(name, rdtype).by == "kernel"
    assert "took over" in loaded.said()


def test_an_upgrade_replaces_the_program_under_load(lab, loaded, tmp_path):
    """What a new version does: the old daemon goes without a stop, the new one updates the link."""
    load = lane.Perf(lab, tmp_path, HOT + BLOCKED, 4, qps=8000)
    old = lab.xdp()
    loaded.kill()
    loaded.start()
    new = lab.xdp()
    assert old[0] == new[0] == "native" and old[1] != new[1]
    result = load.result()
    assert result["lost"] == 0 and set(result["codes"]) == {"NOERROR"}, load.text


def test_a_restart_with_other_list_is_in_force_and_keeps_the_answers(loaded):
    loaded.kill()
    loaded.list("list.txt", "b0.blocked.test", "hot7.up.test")
    loaded.start()
    lane.wait_until("the new list is in force", 5, lambda: loaded.client.ask("hot7.up.test").data == ["A 0.0.0.0"])
    assert loaded.ask("hot7.up.test").by == "kernel"
    assert loaded.ask("b1.blocked.test").data != ["A 0.0.0.0"]
    assert loaded.ask("b0.blocked.test").data == ["A 0.0.0.0"]
    assert loaded.ask("hot8.up.test").by == "kernel"


@pytest.mark.parametrize("answers", [40000, 5000], ids=["more", "fewer"])
def test_a_restart_with_another_size_of_table_makes_a_fresh_one(loaded, answers):
    loaded.kill()
    loaded.write({**loaded.config, "fastpath": {**loaded.config["fastpath"], "answers": answers}})
    loaded.start()
    status = loaded.get("status")["fastpath"]
    assert status["on"] and not status["taken_over"] and status["answers"]["max"] >= answers
    assert loaded.ask("b0.blocked.test").by == "kernel"
    loaded.warm("hot0.up.test")


def test_a_changed_secret_makes_fresh_tables(loaded):
    loaded.kill()
    for file in (loaded.folder / "state").iterdir():
        file.unlink()
    loaded.start()
    assert not loaded.get("status")["fastpath"]["taken_over"]
    assert loaded.ask("b0.blocked.test").by == "kernel"
    loaded.warm("hot0.up.test")


def test_a_second_daemon_is_refused_and_the_first_goes_on(lab, loaded, tmp_path):
    second = lane.Daemon(lab, tmp_path / "second", {"server": {"listen": ["10.53.0.2:5359"]}})
    second.launch()
    second.ends_with(1, 10)
    assert "another millraced" in second.said()
    assert loaded.ask("b0.blocked.test").by == "kernel" and loaded.ask("hot0.up.test").by == "kernel"


def test_sigterm_detaches_and_unpins(lab, loaded):
    assert lab.bpf_files()
    assert loaded.stop() == 0
    assert lab.xdp() == (None, None)
    assert not lab.bpf_files()
    with pytest.raises(lane.NoAnswer):
        loaded.client.ask("b0.blocked.test", timeout=0.3)


def test_an_interface_that_goes_down_and_up_is_answered_in_the_kernel_again(lab, loaded):
    lab.run("server", "ip", "link", "set", "mrs0", "down")
    time.sleep(0.1)
    lab.run("server", "ip", "link", "set", "mrs0", "up")
    lane.wait_until("the kernel answers again", 5, lambda: kernel_answers(loaded))
    assert loaded.ask("hot0.up.test").by == "kernel"
    lane.wait_until("the daemon answers again", 5, lambda: tried(loaded, "fresh.up.test"))


def test_an_interface_that_is_made_anew_is_attached_again(lab, loaded):
    """The veth pair is deleted and made again with the same names and addresses."""
    lab.run("server", "ip", "link", "del", "mrs0")
    time.sleep(0.3)
    assert loaded.process.poll() is None
    make = f"""
    link add name mrs0 address 02:53:00:00:00:02 type veth peer name mrc0 address 02:53:00:00:00:01 netns {lab.name}-client
    link set dev mrs0 up
    addr add 10.53.0.2/24 dev mrs0
    addr add fd53::2/64 dev mrs0 nodad
    neigh replace 10.53.0.1 lladdr 02:53:00:00:00:01 dev mrs0 nud permanent
    neigh replace fd53::1 lladdr 02:53:00:00:00:01 dev mrs0 nud permanent
    """
    client = """
    link set dev mrc0 up
    addr add 10.53.0.1/24 dev mrc0
    addr add fd53::1/64 dev mrc0 nodad
    neigh replace 10.53.0.2 lladdr 02:53:00:00:00:02 dev mrc0 nud permanent
    neigh replace fd53::2 lladdr 02:53:00:00:00:02 dev mrc0 nud permanent
    """
    for role, text in (("server", make), ("client", client)):
        subprocess.run(["ip", "-n", f"{lab.name}-{role}", "-batch", "-"], input=text, text=True, check=True)
    program = "/sys/fs/bpf/again"
    lab.run("client", "bpftool", "prog", "load", lane.ROOT / "build/bpf/tools/lab_pass.bpf.o", program)
    lab.run("client", "bpftool", "net", "attach", "xdpdrv", "pinned", program, "dev", "mrc0")
    lab.run("client", "rm", program)
    loaded.client.close()
    lane.wait_until("the program is attached again", 5, lambda: lab.xdp()[0] == "native")
    lane.wait_until("the kernel answers again", 5, lambda: kernel_answers(loaded))
    assert loaded.ask("fresh2.up.test").by == "daemon"
    assert loaded.get("status")["fastpath"]["interfaces"][0]["mode"] == "native"


def tried(daemon, name):
    try:
        return daemon.ask(name, timeout=0.3)
    except lane.NoAnswer:
        return None


def kernel_answers(daemon):
    reply = tried(daemon, "b0.blocked.test")
    return reply and reply.by == "kernel"


def test_an_address_that_is_added_is_served_by_a_wildcard_listener(lab, daemon):
    daemon.write({"server": {"listen": ["0.0.0.0:53", "[::]:53"]},
                  "filter": {"lists": [{"name": "list", "file": "list.txt"}]}})
    daemon.list("list.txt", "b0.blocked.test")
    daemon.start()
    assert daemon.ask("b0.blocked.test").by == "kernel"
    assert daemon.ask("b0.blocked.test", server=lane.SERVER6).by == "kernel"
    lab.run("server", "ip", "addr", "add", "10.53.0.22/24", "dev", "mrs0")
    try:
        lane.wait_until("the kernel answers at the new address", 5,
                        lambda: daemon.ask("b0.blocked.test", server="10.53.0.22").by == "kernel")
    finally:
        lab.run("server", "ip", "addr", "del", "10.53.0.22/24", "dev", "mrs0")


def test_stop_under_load_ends_in_time_with_status_0(lab, loaded, tmp_path):
    load = lane.Perf(lab, tmp_path, HOT + [(f"m{i}.miss.test", "A") for i in range(500)], 2, qps=3000)
    time.sleep(0.7)
    start = time.monotonic()
    assert loaded.stop() == 0
    assert time.monotonic() - start < 4
    load.process.kill()
    load.process.communicate()


def test_the_filter_of_the_last_run_is_in_force_when_its_list_has_gone(loaded):
    assert loaded.stop() == 0
    (loaded.folder / "list.txt").unlink()
    loaded.start()
    for name, rdtype in BLOCKED[:6]:
        assert loaded.ask(name, rdtype).by == "kernel"
    assert "list.txt" in lane.wait_until("the missing list is said", 5,
                                         lambda: loaded.get("status")["reloads"]["last_error"])


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "rubbish"])
def test_a_damaged_filter_on_disk_is_made_anew_from_the_lists(loaded, damage):
    assert loaded.stop() == 0
    file = loaded.folder / "state/filter.bin"
    good = file.read_bytes()
    middle = len(good) // 2
    file.write_bytes({"flipped": good[:middle] + bytes(b ^ 0xff for b in good[middle:middle + 64]) + good[middle + 64:],
                      "cut": good[:middle], "empty": b"", "rubbish": bytes(range(256)) * (len(good) // 256)}[damage])
    loaded.start()
    for name, rdtype in BLOCKED[:9]:
        assert loaded.ask(name, rdtype).by == "kernel"
    assert loaded.ask("hot3.up.test").data != ["A 0.0.0.0"]
    lane.wait_until("it is written again", 5, lambda: len(file.read_bytes()) == len(good))


def test_a_start_that_fails_late_leaves_the_kernel_answering(lab, loaded):
    before = answers(loaded)
    loaded.kill()
    socket = loaded.folder / loaded.config["api"]["socket"]
    socket.unlink()
    socket.write_text("in the way of the last step of a start")
    loaded.launch()
    loaded.ends_with(1)
    assert lab.xdp()
    same(before, answers(loaded))


def test_what_others_do_to_the_interface_does_not_detach_the_program(lab, loaded):
    before = lab.xdp()
    lab.run("server", "ip", "link", "set", "dev", "mrs0", "xdp", "off", check=False)
    lab.run("server", "ip", "link", "set", "dev", "mrs0", "mtu", "1400")
    try:
        assert lab.xdp() == before
        assert loaded.ask("b0.blocked.test").by == "kernel" and loaded.ask("hot0.up.test").by == "kernel"
    finally:
        lab.run("server", "ip", "link", "set", "dev", "mrs0", "mtu", "1500")


def test_pins_that_somebody_removed_do_not_stop_the_daemon(lab, loaded):
    lab.run("server", "sh", "-c", "rm -r /sys/fs/bpf/millrace/*")
    assert loaded.ask("b0.blocked.test").by == "kernel" and loaded.ask("hot0.up.test").by == "kernel"
    loaded.warm("after.up.test")
    assert loaded.stop() == 0
    assert lab.xdp() == (None, None)
    loaded.start()
    assert loaded.ask("b0.blocked.test").by == "kernel"


@pytest.mark.parametrize("what, said", (
    ("link-mrs0", "links: 1, maps: none"), ("*/mr_filter", "links: 0, maps: all"), ("*", "links: 1, maps: all"),
    ("../millrace", "links: 1, maps: all")))
def test_pins_removed_by_hand_are_pinned_again_and_outlive_the_daemon(lab, daemon, what, said):
    daemon.write({"filter": {"lists": [{"name": "list", "file": "list.txt"}]}})
    daemon.list("list.txt", "exact.blocked.test")
    daemon.start()
    daemon.warm("kept.up.test")
    pins = lab.bpf_files()
    assert "millrace/link-mrs0" in pins
    lab.run("server", "sh", "-c", f"rm -r /sys/fs/bpf/millrace/{what}")
    assert lab.bpf_files() != pins
    lane.wait_until("all is pinned again", 5, lambda: lab.bpf_files() == pins)
    daemon.get("status")		# it has said so by now
    time.sleep(1.2)
    told = [line for line in daemon.said().splitlines() if "pins" in line]
    assert len(told) == 1 and told[0].endswith(said), told
    daemon.kill()
    assert daemon.client.ask("exact.blocked.test").data == ["A 0.0.0.0"]
    assert daemon.client.ask("kept.up.test").rcode == "NOERROR"
    assert daemon.start().get("status")["fastpath"]["taken_over"]
    assert daemon.ask("kept.up.test").by == "kernel"


def test_a_link_detached_by_hand_is_attached_again(lab, daemon):
    daemon.write({"filter": {"lists": [{"name": "list", "file": "list.txt"}]}})
    daemon.list("list.txt", "exact.blocked.test")
    daemon.start()
    link = daemon.get("status")["fastpath"]["interfaces"][0]["link_id"]
    lab.run("server", "bpftool", "link", "detach", "id", str(link))
    assert lab.xdp()[0] is None
    # at once, with tables that must grow, and so with another program
    daemon.list("list.txt", "exact.blocked.test", *(f"n{i}.grown.test" for i in range(40000)))
    assert daemon.hup()["reloads"]["failed"] == 0
    lane.wait_until("the program is attached again", 5, lambda: lab.xdp()[0] == "native")
    for name in ("exact.blocked.test", "n39999.grown.test"):
        reply = daemon.ask(name)
        assert (reply.by, reply.data) == ("kernel", ["A 0.0.0.0"])


def test_many_sighups_are_few_reloads_and_do_not_delay_the_end(daemon):
    daemon.write({"filter": {"lists": [{"name": "list", "file": "list.txt"}]}})
    daemon.list("list.txt", *(f"n{i}.many.test" for i in range(100000)))
    daemon.start(30)
    for _ in range(100):
        daemon.process.send_signal(signal.SIGHUP)
        time.sleep(0.005)
    start = time.monotonic()
    assert daemon.stop() == 0
    assert time.monotonic() - start < 4
    assert daemon.said().count("filter in force") < 20
