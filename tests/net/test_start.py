# SPDX-License-Identifier: BSD-2-Clause
"""Starts that cannot be as wished: bad configurations, no BPF, no rights, a foreign program, generic mode."""
import pwd
import subprocess
from pathlib import Path

import pytest

import lane

LISTS = {"filter": {"lists": [{"name": "list", "file": "list.txt"}]}}


@pytest.fixture
def ready(daemon):
    """A daemon that may start without packet path, with one blocked name; not started."""
    daemon.write(lane.merged({"fastpath": {"required": False}}, LISTS))
    daemon.list("list.txt", "exact.blocked.test")
    return daemon


def served_from_user_space(d, *words):
    """It answers all itself, and says why with all of these words, in status and in the log."""
    status = d.get("status")["fastpath"]
    said = " ".join([status["reason"], *(i["reason"] for i in status["interfaces"])])
    for word in words:
        assert word.lower() in said.lower(), said
        assert word.lower() in d.said().lower()
    for _ in range(4):
        for name, data in (("exact.blocked.test", ["A 0.0.0.0"]), ("two.up.test", ["A 192.0.2.1", "A 192.0.2.2", "A 192.0.2.3"])):
            reply = d.ask(name, edns=0)
            assert (reply.by, reply.data) == ("daemon", data)
    assert d.millctl("status").stdout
    return status


@pytest.mark.parametrize("text,line,words", [
    ("server:\n  listne: []\n", 2, ["unknown key", "listne", "listen"]),
    ("filter:\n  block:\n    ttl: 10\n    mode: nothing\n", 4, ["filter.block.mode", "null_address", "nothing"]),
    ("\n\nzones:\n  - { name: home.example }\n", 3, ["zones", "not built yet"]),
    ("fastpath: { answers: many }\n", 1, ["fastpath.answers", "many"]),
    ("server: {\n", 0, []),
    ("access: { allow: [ 10.0.0.0/99 ] }\n", 1, ["access.allow", "10.0.0.0/99"]),
], ids=["unknown_key", "unknown_word", "not_yet", "no_number", "no_yaml", "no_prefix"])
def test_a_bad_configuration_ends_with_status_2_and_says_where(daemon, text, line, words):
    daemon.file.write_text(text)
    daemon.launch()
    daemon.ends_with(2, 5)
    for word in [f"{daemon.file}:{line}:" if line else str(daemon.file)] + words:
        assert word in daemon.said()


def test_a_configuration_that_is_not_there_ends_with_status_2(daemon):
    daemon.file.unlink()
    daemon.launch()
    daemon.ends_with(2, 5)
    assert str(daemon.file) in daemon.said()


def test_wrong_usage_ends_with_status_2():
    done = subprocess.run([lane.BUILD / "millraced", "--nonsense"], capture_output=True, text=True)
    assert done.returncode == 2 and "usage:" in done.stderr


def test_an_address_in_use_is_named(lab, ready, tmp_path):
    ready.start()
    other = lane.Daemon(lab, tmp_path / "o", {"fastpath": {"interfaces": [], "mode": "off", "required": False},
                                              "server": {"listen": ["10.53.0.9:53"]}})
    other.launch()
    other.ends_with(1, 5)
    assert "10.53.0.9" in other.said() and "server.listen" in other.said()


@pytest.mark.parametrize("mode", ["native", "off"])
def test_a_second_daemon_ends_and_takes_no_queries_from_the_first(lab, ready, tmp_path, mode):
    ready.write({**ready.config, "fastpath": {"mode": mode, "required": False}})
    ready.start()
    other = lane.Daemon(lab, tmp_path / "o", ready.config)
    perf = lane.Perf(lab, tmp_path, [(f"n{i}.test", "A") for i in range(2000)], 3, qps=3000, clients=50)
    for _ in range(5):
        other.launch()
        other.ends_with(1, 5)
        assert "millraced holds" in other.said() or "in use" in other.said()
    assert perf.result()["lost"] == 0


def test_a_second_server_of_one_state_directory_is_refused(lab, ready, tmp_path):
    ready.start()
    other = lane.Daemon(lab, tmp_path / "o", {"fastpath": {"mode": "off", "required": False}, "state": str(ready.folder / "state"),
                                              "server": {"listen": ["10.53.0.2:5353"]}})
    other.launch()
    other.ends_with(1, 5)
    assert "another millraced uses this folder" in other.said()


def test_a_state_directory_that_takes_nothing_keeps_nobody_from_starting(ready):
    (ready.folder / "state").mkdir(mode=0o755)
    (ready.folder / "state" / "filter.bin.new").mkdir()     # what is written under this name fails, as on a full disk
    ready.start()
    assert "in memory alone" in ready.said()
    reply = ready.ask("exact.blocked.test")
    assert (reply.by, reply.data) == ("kernel", ["A 0.0.0.0"])
    ready.list("list.txt", "other.blocked.test")
    assert ready.hup()["reloads"]["failed"] == 1
    assert ready.ask("exact.blocked.test").data == ["A 0.0.0.0"]


def test_a_missing_interface_is_named_and_user_space_serves(ready):
    ready.write({**ready.config, "fastpath": {"interfaces": ["nosuch0"], "mode": "auto", "required": False}})
    ready.start()
    served_from_user_space(ready, "nosuch0")


def test_required_refuses_to_start_without_a_packet_path(ready):
    ready.write({**ready.config, "fastpath": {"interfaces": ["nosuch0"], "mode": "auto", "required": True}})
    ready.launch()
    ready.ends_with(1, 10)
    assert "nosuch0" in ready.said()


def test_a_foreign_program_is_named_and_left_alone(lab, ready):
    program = "/sys/fs/bpf/foreign"
    lab.run("server", "bpftool", "prog", "load", lane.ROOT / "build/bpf/tools/lab_pass.bpf.o", program)
    lab.run("server", "bpftool", "net", "attach", "xdpdrv", "pinned", program, "dev", "mrs0")
    try:
        before = lab.xdp()
        ready.start()
        served_from_user_space(ready, "mrs0", "lab_pass")
        assert lab.xdp() == before
        assert ready.stop() == 0
        assert lab.xdp() == before
    finally:
        lab.run("server", "bpftool", "net", "detach", "xdpdrv", "dev", "mrs0")
        lab.run("server", "rm", program)


def test_without_the_rights_for_bpf_user_space_serves_and_says_why(ready):
    ready.prefix = ("setpriv", "--bounding-set=-bpf,-sys_admin", "--inh-caps=-bpf,-sys_admin", "--")
    ready.start()
    served_from_user_space(ready, "CAP_BPF")


def test_without_net_admin_user_space_serves_and_says_why(ready):
    ready.prefix = ("setpriv", "--bounding-set=-net_admin,-sys_admin", "--inh-caps=-net_admin,-sys_admin", "--")
    ready.start()
    served_from_user_space(ready, "CAP_NET_ADMIN")


def test_without_bpffs_user_space_serves_and_says_why(ready):
    ready.prefix = ("sh", "-c", 'umount /sys/fs/bpf && exec "$@"', "sh")
    ready.start()
    served_from_user_space(ready, "bpf", "mount")


def test_mode_off_is_said(ready):
    ready.write({**ready.config, "fastpath": {"interfaces": ["mrs0"], "mode": "off", "required": False}})
    ready.start()
    served_from_user_space(ready, "off")


def test_without_interfaces_user_space_serves(ready):
    ready.write({**ready.config, "fastpath": {"interfaces": [], "mode": "auto", "required": False}})
    ready.start()
    served_from_user_space(ready, "interface")


def test_native_mode_says_driver_and_limits(ready):
    ready.start()
    status = ready.get("status")["fastpath"]
    face = status["interfaces"][0]
    assert (face["name"], face["mode"], face["driver"], face["up"]) == ("mrs0", "native", "veth", True)
    assert 0 < status["verified_instructions"] < 300000
    assert status["notes"], "the room to grow a frame is a limit that status shows"
    text = ready.millctl("status").stdout
    assert "mrs0" in text and "native" in text and "veth" in text


class TestGeneric:
    @pytest.fixture
    def generic(self, ready):
        ready.write({**ready.config, "fastpath": {"interfaces": ["mrs0"], "mode": "generic", "required": True}})
        return ready.start()

    def test_finished_checksums_are_answered_by_the_kernel(self, lab, generic):
        lab.run("client", "ethtool", "-K", "mrc0", "tx", "off")
        try:
            assert lab.xdp()[0] == "generic"
            for shape in ({}, {"edns": 0}, {"server": lane.SERVER6, "edns": 0}):
                assert generic.ask("exact.blocked.test", **shape).by == "kernel"
                generic.warm("two.up.test", **shape)
        finally:
            lab.run("client", "ethtool", "-K", "mrc0", "tx", "on")

    def test_unfinished_checksums_pass_to_the_daemon(self, generic):
        for _ in range(4):
            reply = generic.ask("exact.blocked.test", edns=0)
            assert (reply.by, reply.data) == ("daemon", ["A 0.0.0.0"])
            assert reply.reasons["pass_unfinished"] == 1
        assert generic.get("status")["fastpath"]["interfaces"][0]["reason"]


class TestUser:
    """Privileges go after the start; what a service needs later must still work."""

    @pytest.fixture
    def unprivileged(self, ready):
        ready.write({**ready.config, "server": {**ready.config["server"], "user": "nobody"},
                     "fastpath": {**ready.config["fastpath"], "required": True}})
        return ready.start()

    def test_it_runs_as_its_user_with_few_capabilities(self, unprivileged):
        status = dict(line.split(":\t", 1) for line in
                      Path(f"/proc/{unprivileged.process.pid}/status").read_text().splitlines() if ":\t" in line)
        assert set(status["Uid"].split()) == {str(pwd.getpwnam("nobody").pw_uid)}
        allowed = 1 << 12 | 1 << 10 | 1 << 39 | 1 << 38	# NET_ADMIN NET_BIND_SERVICE BPF PERFMON
        assert int(status["CapPrm"], 16) & ~allowed == 0 and int(status["CapEff"], 16) & ~allowed == 0
        assert unprivileged.get("status")["user"] == "nobody"

    def test_it_publishes_reloads_and_detaches(self, lab, unprivileged):
        unprivileged.warm("two.up.test")
        unprivileged.list("list.txt", "other.blocked.test")
        assert unprivileged.hup()["reloads"]["failed"] == 0
        assert unprivileged.ask("other.blocked.test").by == "kernel"
        assert unprivileged.get("why", name="other.blocked.test", client=lane.CLIENT4)["kernel"]["answered"]
        assert unprivileged.stop() == 0
        # The folder itself is in one that belongs to root.
        assert lab.xdp() == (None, None) and lab.bpf_files() == ["millrace"]

    def test_a_restart_takes_over(self, unprivileged):
        unprivileged.warm("two.up.test")
        unprivileged.kill()
        unprivileged.start()
        assert unprivileged.get("status")["fastpath"]["taken_over"]
        assert unprivileged.ask("two.up.test").by == "kernel"

    def test_a_user_that_does_not_exist_is_said(self, ready):
        ready.write({**ready.config, "server": {**ready.config["server"], "user": "nosuchuser"}})
        ready.start()
        assert "nosuchuser" in ready.said()
        assert ready.ask("exact.blocked.test").by == "kernel"


def test_millctl_without_a_daemon_says_so(tmp_path):
    done = subprocess.run([lane.BUILD / "millctl", "-s", tmp_path / "none.sock", "status"], capture_output=True, text=True)
    assert done.returncode == 1 and "none.sock" in done.stderr

