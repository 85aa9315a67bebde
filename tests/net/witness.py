# SPDX-License-Identifier: BSD-2-Clause
"""witness.py - who lost a query that was lost under load.

A Witness looks at every counter on a query's way before and after a load: the
client's sockets and device, the packet path, the daemon's sockets, the daemon,
its upstream, and the way back.  Each stage counts what it took and what it
gave on, or dropped, so the sums say exactly where a query went: dropped by a
full ring or socket buffer of the lab, which the kernel counts, or lost by us.
Only for a load that is alone in the client's namespace.
"""
import json
import re
import time
from pathlib import Path

DEVICES = {"client": ["mrc0"], "server": ["mrs0", "mrs1"], "upstream": ["mru0"]}
LAB_MAY_LOSE = 1e-5	# of what was sent


def _udp(text):
    names, values = [line.split()[1:] for line in text.splitlines() if line.startswith("Udp:")]
    return dict(zip(names, map(int, values)))


def _device(lab, role, device):
    stats = json.loads(lab.run(role, "ip", "-j", "-s", "link", "show", "dev", device).stdout)[0]["stats64"]
    flat = {f"{way}_{k}": v for way in ("rx", "tx") for k, v in stats[way].items() if k != "bytes"}
    # a device without an XDP program has no queues to show
    said = lab.run(role, "ethtool", "-S", device, check=False).stdout
    flat.update({k: int(v) for k, v in re.findall(r"(\w+): (\d+)", said) if not k.endswith("bytes")})
    return flat


def look(lab, daemon):
    """All counters, by place and name."""
    got = {}
    for role, devices in DEVICES.items():
        got[f"{role} UDP"] = _udp(lab.run(role, "cat", "/proc/net/snmp").stdout)
        for d in devices:
            got[d] = _device(lab, role, d)
    stats = daemon.get("stats")
    for part in ("kernel", "daemon"):
        got[part] = {k: v["value"] for k, v in stats[part]["counters"].items()}
    got["kernel"].update({k: stats["kernel"][k] for k in ("answered", "passed_dns")})
    rows = [[int(w, 16) for w in line.split()] for line in Path("/proc/net/softnet_stat").read_text().splitlines()]
    got["host softnet"] = {"dropped": sum(r[1] for r in rows), "squeezed": sum(r[2] for r in rows)}
    return got


class Witness:
    def __init__(self, lab, daemon):
        self.lab, self.daemon = lab, daemon
        self.said_before = len(daemon.said())
        self.before, self.start = look(lab, daemon), time.monotonic()
        self.after = None

    def look(self):
        """After the load has ended."""
        self.daemon.settle()
        self.after = look(self.lab, self.daemon)
        return self

    def rose(self, place, *names):
        return sum(self.after[place].get(n, 0) - self.before[place].get(n, 0) for n in names)

    def losses(self, result):
        """How many of what was sent went where; the sum is what dnsperf calls lost."""
        arrived = self.rose("kernel", "answered", "passed_dns")
        replies = self.rose("kernel", "answered") + self.rose("daemon", "server_udp_answers")
        lab_in = self.rose("mrc0", "tx_dropped") + self.rose("mrs0", "rx_dropped")
        lab_out = (self.rose("mrs0", "tx_dropped") + self.rose("mrc0", "rx_dropped")
                   + self.rose("client UDP", "RcvbufErrors"))
        return {
            "dropped by the lab": lab_in + lab_out,
            "vanished before the packet path": self.rose("client UDP", "OutDatagrams") - lab_in - arrived,
            "reached the packet path and not answered": arrived - replies,
            "answered and vanished": replies - lab_out - self.rose("client UDP", "InDatagrams"),
            "answered too late": result["lost"] - (result["sent"] - self.rose("client UDP", "InDatagrams")),
        }

    def check(self, load, result):
        """
        Every query that reached the packet path was answered, in time, and every other one is a drop that the
        kernel has counted in the lab's rings and buffers; few of those.
        """
        self.look()
        losses = self.losses(result)
        dropped = losses["dropped by the lab"]
        ours = {k: n for k, n in losses.items() if n and k != "dropped by the lab"}
        assert result["sent"] == self.rose("client UDP", "OutDatagrams"), self.story(load)
        assert not ours, f"{ours}\n{self.story(load)}"
        assert dropped == result["lost"] and dropped <= result["sent"] * LAB_MAY_LOSE, self.story(load)
        return dropped

    def story(self, load):
        """All that rose, and what was said."""
        lines = [f"after {time.monotonic() - self.start:.1f} s, load {Path('/proc/loadavg').read_text().strip()}"]
        for place, counters in self.after.items():
            text = ", ".join(f"{k} {self.rose(place, k)}" for k in counters if self.rose(place, k))
            lines.append(f"{place}: {text or 'nothing'}")
        lines += ["---- dnsperf", load.text, "---- millraced", self.daemon.said()[self.said_before:]]
        return "\n".join(lines)
