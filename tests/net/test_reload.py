# SPDX-License-Identifier: BSD-2-Clause
"""SIGHUP and millctl reload: at once in both worlds, or not at all."""
import json
import os
import re

import pytest

import lane

LISTS = [{"name": "list", "file": "list.txt"}]


FIRST = {"filter": {"lists": LISTS}}


@pytest.fixture(scope="module")
def running(lab, stub, folder):
    d = lane.Daemon(lab, folder / "d", FIRST)
    d.list("list.txt", "old.list.test", "both.list.test")
    try:
        yield d.start()
    finally:
        d.close()


@pytest.fixture
def served(running):
    """The file's daemon, with configuration and list as at its start whatever the test before has done."""
    running.write(FIRST)
    running.list("list.txt", "old.list.test", "both.list.test")
    assert running.hup()["reloads"]["last_error"] == ""
    return running


def test_a_changed_list_is_in_force_at_once_in_kernel_and_daemon(served):
    served.warm("new.list.test")
    assert served.ask("old.list.test").data == ["A 0.0.0.0"]
    served.list("list.txt", "new.list.test", "both.list.test", "||sub.list.test^")
    assert served.hup()["reloads"]["failed"] == 0
    for name, blocked in (("new.list.test", True), ("both.list.test", True), ("old.list.test", False),
                          ("x.sub.list.test", True)):
        quick = served.ask(name, edns=0)
        plain = served.ask(name, edns=0, tcp=True)
        assert (quick.data == ["A 0.0.0.0"]) == blocked, name
        assert lane.facts(quick) == lane.facts(plain), name
        assert quick.by == ("kernel" if blocked else "daemon") and plain.by == "daemon", name


def test_a_cached_name_that_becomes_blocked_is_blocked_and_back(served):
    served.list("list.txt", "both.list.test")
    served.hup()
    free = served.warm("turn.list.test").data
    served.list("list.txt", "both.list.test", "turn.list.test")
    served.millctl("reload")
    assert served.ask("turn.list.test").data == ["A 0.0.0.0"]
    served.list("list.txt", "both.list.test")
    served.millctl("reload")
    reply = served.ask("turn.list.test")
    assert reply.data == free and reply.by == "kernel"


def test_a_chain_to_a_name_that_becomes_blocked(served):
    served.list("list.txt", "both.list.test")
    served.hup()
    assert served.warm("chain.up.test").data
    served.list("list.txt", "both.list.test", "chain.up.test")
    served.hup()
    assert served.ask("chain.up.test").data == ["A 0.0.0.0"]


@pytest.mark.parametrize("what", ["list", "configuration"])
def test_a_pipe_in_place_of_a_file_holds_up_nobody(served, what):
    served.list("list.txt", "old.list.test")
    served.hup()
    file = served.folder / "list.txt" if what == "list" else served.file
    text = file.read_text()
    file.unlink()
    os.mkfifo(file)
    try:
        assert served.hup()["reloads"]["failed"] >= 1
        assert served.ask("old.list.test").data == ["A 0.0.0.0"]
    finally:
        file.unlink()
        file.write_text(text)
    served.hup()


def test_another_state_directory_waits_for_the_next_start(served):
    config = served.config
    served.write({**config, "state": str(served.folder / "missing" / "state")})
    failed = served.get("status")["reloads"]["failed"]
    served.list("list.txt", "state.list.test")
    try:
        assert served.hup()["reloads"]["failed"] == failed
        assert served.ask("state.list.test").data == ["A 0.0.0.0"]
        assert "state has changed" in served.said()
    finally:
        served.write(config)


def test_another_address_to_listen_on_waits_for_the_next_start(served):
    config = served.config
    before = served.get("status")["listen"]
    served.write({**config, "server": {**config["server"], "listen": ["10.53.0.2:5399"]}})
    try:
        status = served.hup()
        assert status["listen"] == before and status["reloads"]["waiting"] == ["server.listen"]
        assert "server.listen has changed" in served.said()
        assert re.search(r"^  waiting +for the next start: server\.listen$", served.millctl("status").stdout, re.M)
        # still, when something else has changed since
        served.write({**config, "server": {**config["server"], "listen": ["10.53.0.2:5399"], "workers": 1}})
        assert served.hup()["reloads"]["waiting"] == ["server.listen", "server.workers"]
    finally:
        served.write(config)
    # and no more when the file is again as it was at the start
    assert served.hup()["reloads"]["waiting"] == []
    assert "waiting" not in served.millctl("status").stdout


def test_block_mode_and_ttl_change_with_a_reload(served):
    config = served.config
    served.write({**config, "filter": {"lists": LISTS, "block": {"mode": "nxdomain", "ttl": 77}}})
    served.hup()
    reply = served.ask("both.list.test")
    assert (reply.by, reply.rcode, reply.ttls) == ("kernel", "NXDOMAIN", [77])
    served.write(config)
    served.hup()
    assert served.ask("both.list.test").data == ["A 0.0.0.0"]


def test_access_changes_with_a_reload(served):
    config = served.config
    served.write({**config, "access": {"allow": ["192.0.2.0/24"]}})
    served.hup()
    assert (lambda r: (r.by, r.rcode))(served.ask("both.list.test")) == ("daemon", "REFUSED")
    served.write(config)
    served.hup()
    assert served.ask("both.list.test").by == "kernel"


def test_upstreams_change_with_a_reload(served, lab, folder):
    other = lane.Stub(lab, folder, "--rule", "* A a=192.0.2.123", port=5302, name="other")
    config = served.config
    try:
        served.write({**config, "upstreams": {"servers": [f"{lane.UPSTREAM4}:5302"], "timeout_ms": 1000}})
        served.hup()
        assert served.ask("asks.other.test").data == ["A 192.0.2.123"]
    finally:
        served.write(config)
        served.hup()
        other.stop()


BAD = [
    ("unknown_key", {"filter": {"lits": []}}, "filter", "lits"),
    ("not_yet", {"rate_limit": {"enabled": True}}, "rate_limit", "not built yet"),
    ("wrong_type", {"upstreams": {"timeout_ms": "soon"}}, "upstreams.timeout_ms", "expected"),
    ("out_of_range", {"filter": {"lists": LISTS, "block": {"ttl": 999999}}}, "filter.block.ttl", "86400"),
    ("unknown_word", {"filter": {"lists": LISTS, "block": {"mode": "maybe"}}}, "filter.block.mode", "null_address"),
]


@pytest.mark.parametrize("change,key,words", [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_a_bad_configuration_is_refused_with_file_line_and_key_and_the_old_one_stays(served, change, key, words):
    good = served.file.read_text()
    bad = lane.merged(served.config, change)
    served.file.write_text(json.dumps(bad, indent=1))
    word = words if words == "lits" else key.rsplit(".")[-1]
    line = max(i for i, text in enumerate(served.file.read_text().splitlines(), 1) if f'"{word}":' in text)
    try:
        status = served.hup()
        error = status["reloads"]["last_error"]
        assert status["reloads"]["failed"] > 0
        for part in f"{served.file}:{line}:", key, words:
            assert part in error, error
            assert part in served.said()
        done = served.millctl("reload", check=False)
        assert done.returncode == 1 and key in done.stderr + done.stdout
        done = served.millctl("config", "check", str(served.file), check=False)
        assert done.returncode == 2 and f"{served.file}:{line}:" in done.stderr + done.stdout
        assert served.ask("both.list.test").by == "kernel"
        assert served.ask("still.up.test").rcode == "NOERROR"
    finally:
        served.file.write_text(good)
    assert served.hup()["reloads"]["last_error"] == ""


def test_a_file_that_is_no_yaml_is_refused(served):
    good = served.file.read_text()
    served.file.write_text('{ "server": [\n')
    try:
        assert f"{served.file}:" in served.hup()["reloads"]["last_error"]
        assert served.ask("both.list.test").by == "kernel"
    finally:
        served.file.write_text(good)
        served.hup()


def test_a_reload_without_a_list_is_refused_and_what_it_held_stays_blocked(served):
    (served.folder / "list.txt").rename(served.folder / "moved.txt")
    try:
        assert "list.txt" in served.hup()["reloads"]["last_error"]
        for reply in served.ask("both.list.test"), served.ask("both.list.test", tcp=True):
            assert reply.data == ["A 0.0.0.0"]
    finally:
        (served.folder / "moved.txt").rename(served.folder / "list.txt")
    assert served.hup()["reloads"]["last_error"] == ""


def test_reloads_under_load_lose_nothing(served, lab, tmp_path):
    served.list("list.txt", "both.list.test", *(f"b{i}.list.test" for i in range(1000)))
    served.hup()
    asked = [(f"b{i}.list.test", "A") for i in range(200)] + [(f"c{i}.up.test", "A") for i in range(200)]
    asked += [(f"m{i}.fresh.test", "A") for i in range(400)]
    load = lane.Perf(lab, tmp_path, asked, 4, qps=4000)
    for i in range(8):
        served.list("list.txt", "both.list.test", f"extra{i}.test", *(f"b{i}.list.test" for i in range(1000)))
        served.hup()
        assert served.ask(f"extra{i}.test").data == ["A 0.0.0.0"]
    result = load.result()
    assert result["lost"] == 0 and set(result["codes"]) == {"NOERROR"}, load.text
