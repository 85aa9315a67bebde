# SPDX-License-Identifier: BSD-2-Clause
"""Objects made by many at once, and while the daemon goes."""
import http.client
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import lane
from filters import blocked, post


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
