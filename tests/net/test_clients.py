# SPDX-License-Identifier: BSD-2-Clause
"""Programs that people use: dig, kdig and dnsperf, over UDP and TCP."""
import json
import queue
import re
import subprocess
import threading

import pytest

import lane


@pytest.fixture(scope="module")
def served(lab, stub, folder):
    d = lane.Daemon(lab, folder / "d", {"filter": {"lists": [{"name": "list", "file": "list.txt"}]}})
    d.list("list.txt", "exact.blocked.test", *(f"b{i}.blocked.test" for i in range(200)))
    d.start()
    for name in "two.up.test", "gone.nx.test":
        for shape in ({}, {"edns": 0}, {"edns": 0, "do": True}):
            d.warm(name, **shape)
    try:
        yield d
    finally:
        d.close()


RUNS = [
    # sentence, who, words of the command, what must be in its output
    ("dig_a_blocked", "kernel", "dig exact.blocked.test A", ["status: NOERROR", r"exact.blocked.test.\s+10\s+IN\s+A\s+0.0.0.0", "EDE: 15"]),
    ("dig_aaaa_blocked", "kernel", "dig exact.blocked.test AAAA", [r"IN\s+AAAA\s+::"]),
    ("dig_https_blocked", "kernel", "dig exact.blocked.test HTTPS", ["ANSWER: 0, AUTHORITY: 1", "SOA"]),
    ("dig_without_edns", "kernel", "dig +noedns exact.blocked.test", ["ADDITIONAL: 0"]),
    ("dig_without_cookie", "kernel", "dig +nocookie two.up.test", ["192.0.2.1", "192.0.2.2", "192.0.2.3"]),
    ("dig_dnssec", "kernel", "dig +dnssec two.up.test", ["flags: do; udp: 1232"]),
    ("dig_padding", "kernel", "dig +padding=128 two.up.test", ["192.0.2.1"]),
    ("dig_nxdomain", "kernel", "dig gone.nx.test", ["status: NXDOMAIN", "SOA"]),
    ("dig_mixed_case", "kernel", "dig TwO.uP.tEsT", ["TwO.uP.tEsT."]),
    ("dig_tcp", "daemon", "dig +tcp two.up.test", ["192.0.2.1"]),
    ("dig_ipv6", "kernel", "dig -6 @fd53::2 exact.blocked.test", ["0.0.0.0"]),
    ("dig_ipv6_tcp", "daemon", "dig -6 +tcp @fd53::2 exact.blocked.test", ["0.0.0.0"]),
    ("dig_big_falls_back_to_tcp", None, "dig big.up.test TXT", ["Truncated, retrying in TCP mode", "ANSWER: "]),
    ("dig_subnet_option", "daemon", "dig +subnet=192.0.2.0/24 two.up.test", ["192.0.2.1"]),
    ("kdig_a_blocked", "kernel", "kdig exact.blocked.test", ["0.0.0.0"]),
    ("kdig_edns", "kernel", "kdig +edns +bufsize=1400 exact.blocked.test", ["0.0.0.0", "Version: 0"]),
    ("kdig_tcp", "daemon", "kdig +tcp two.up.test", ["192.0.2.1", "(TCP)"]),
    ("kdig_ipv6", "kernel", "kdig @fd53::2 two.up.test", ["192.0.2.1"]),
]


@pytest.mark.parametrize("who,command,expected", [r[1:] for r in RUNS], ids=[r[0] for r in RUNS])
def test_one_question(lab, served, who, command, expected):
    words = command.split()
    if not any(w.startswith("@") for w in words):
        words.insert(1, f"@{lane.SERVER4}")
    words[1:1] = ["+tries=1", "+time=2"] if words[0] == "dig" else ["+retry=0", "+timeout=2"]
    with served.counting() as c:
        out = lab.run("client", *words).stdout
    for text in expected:
        assert re.search(text if "\\" in text else re.escape(text), out), out
    if who:
        assert (c.kernel, c.daemon) == ((1, 0) if who == "kernel" else (0, 1)), c.reasons()
    assert "WARNING" not in out and ";; Warning" not in out, out


def test_kdig_keeps_a_connection_open_for_many_questions(lab, served):
    names = [f"k{i}.up.test" for i in range(5)]
    with served.counting() as c:
        out = lab.run("client", "kdig", f"@{lane.SERVER4}", "+tcp", "+keepopen", "+timeout=2", *names).stdout
    assert out.count("status: NOERROR") == 5 and c.daemon == 5
    assert "timeout" not in out.lower() and "failed" not in out.lower(), out


@pytest.mark.parametrize("mode", ["udp", "tcp"])
def test_dnsperf_loses_nothing(lab, served, tmp_path, mode):
    asked = [(f"b{i}.blocked.test", "A") for i in range(200)] + [(f"d{i}.up.test", "A") for i in range(200)]
    with served.counting() as c:
        result = (load := lane.Perf(lab, tmp_path, asked, 2, qps=5000, mode=mode)).result()
    assert result["lost"] == 0 and set(result["codes"]) == {"NOERROR"}, load.text
    assert c.kernel + c.daemon == result["sent"]
    if mode == "tcp":
        assert c.kernel == 0
    else:
        assert c.daemon <= 500, "each name is asked twice of the daemon"


def test_dnsperf_over_ipv6_loses_nothing(lab, served, tmp_path):
    asked = [(f"b{i}.blocked.test", "AAAA") for i in range(200)]
    with served.counting() as c:
        result = (load := lane.Perf(lab, tmp_path, asked, 1, qps=5000, server=lane.SERVER6)).result()
    assert result["lost"] == 0, load.text
    assert c.kernel == result["sent"] and c.daemon == 0


def test_tail_shows_answers_of_kernel_and_daemon_alike(served):
    tail = subprocess.Popen([lane.BUILD / "millctl", "-s", served.folder / served.config["api"]["socket"], "--json", "tail"],
                            stdout=subprocess.PIPE, text=True)
    lines = queue.Queue()
    reader = threading.Thread(target=lambda: [lines.put(json.loads(line)) for line in tail.stdout])
    reader.start()
    try:
        lane.wait_until("tail sees a first event", 5,
                        lambda: served.client.ask("exact.blocked.test") and not lines.empty(), every=0.1)
        served.client.ask("exact.blocked.test", "AAAA")
        served.client.ask("two.up.test")
        served.client.ask("two.up.test", tcp=True)
        seen = {}
        while len(seen) < 3:
            event = lines.get(timeout=3)
            if (event["name"].rstrip("."), event["type"]) != ("exact.blocked.test", "A"):
                seen[event["by"], event["protocol"], event["source"]] = event
    finally:
        tail.terminate()
        tail.wait(5)
        reader.join()
    assert set(seen) == {("kernel", "udp", "filter"), ("kernel", "udp", "cache"), ("daemon", "tcp", "cache")}
    assert all(e["client"] == lane.CLIENT4 and e["rcode"] == "NOERROR" for e in seen.values())
    blocked = seen["kernel", "udp", "filter"]
    assert (blocked["verdict"], blocked["list"], blocked["type"]) == ("block", "list", "AAAA")


def test_millctl_shows_status_stats_memory_and_lists(served):
    for command, words in (("status", ["mrs0", "native", lane.SERVER4]), ("stats", ["blocked", "cached"]),
                           ("memory", ["mr_filter", "mr_answers"]), ("lists", ["list", "201"])):
        text = served.millctl(command).stdout
        assert all(word in text for word in words), text
        assert json.loads(served.millctl("--json", command).stdout)
    assert served.millctl("nonsense", check=False).returncode == 2
