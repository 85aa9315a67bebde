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
