# SPDX-License-Identifier: BSD-2-Clause
"""report - turn what bench/quick measured into a table and one JSON file.

usage: report.py [--assert] [--reduced] FOLDER OUT

FOLDER holds ns.json (of mrbench) and veth (blocks of lines of bench/quick), or
PART.skip with the reason why a part was left out.  A figure that was not
measured is null; none is made up.  Exit status: 0; 1 with --assert unless
every target was measured and met; 1 when a measurement is not to be trusted.
"""
import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys

NS_KEYS = ["null_ns", "pass_ns", "miss_ns", "blocked_hot_ns", "blocked_random_ns", "cached_hot_ns", "cached_random_ns",
           "unknown_ns"]
CELLS = ["reflector", "blocked", "cached"]


def text_of(*command):
    """The first line that a command prints, or None."""
    try:
        out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout
        return out.strip().splitlines()[0] if out.strip() else None
    except (OSError, subprocess.SubprocessError):
        return None


def file_of(path):
    try:
        with open(path) as f:
            return f.read().strip()
    except OSError:
        return None


def machine():
    cpu = re.search(r"^model name\s*: (.*)", file_of("/proc/cpuinfo") or "", re.M)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cpu": cpu.group(1) if cpu else os.uname().machine,
        "virtual": bool(re.search(r"^flags.*\bhypervisor\b", file_of("/proc/cpuinfo") or "", re.M)),
        "cores": os.cpu_count(),
        "kernel": os.uname().release,
        "governor": file_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "driver": "veth",
        "mode": "native",
        "clang": text_of("clang", "--version"),
        "gcc": text_of("gcc", "--version"),
        "libbpf": text_of("pkg-config", "--modversion", "libbpf"),
        "kxdpgun": text_of("kxdpgun", "--version"),
        "millrace": text_of("git", "describe", "--always", "--dirty", "--tags"),
    }


def rounds_of(path):
    """Blocks of bench/quick as dictionaries."""
    block, blocks = {}, []
    for line in (file_of(path) or "").splitlines():
        word, _, rest = line.partition(" ")
        if word == "end":
            blocks.append(block)
            block = {}
        elif word in ("before", "after"):
            block[word] = json.loads(rest)
        elif word == "total":
            kind, number = re.match(r"(\w+):\s+(\d+)", rest).groups()
            block[kind] = int(number)
        elif word == "responded":
            rcode, number = re.match(r"(\w+):\s+(\d+)", rest).groups()
            block.setdefault("rcodes", {})[rcode] = int(number)
        elif word == "using":
            block["using"] = rest
        else:
            block[word] = rest.split()
    return blocks


def judge_round(b):
    """One round of load: figures, or what is wrong with it."""
    cell, seconds = b["cell"][0], float(b["cell"][1])
    replies = b.get("replies", 0)
    delta = {k: v - b["before"].get(k, 0) for k, v in b["after"].items()}
    right = b.get("rcodes", {}).get("NOERROR", 0)
    wrong = None
    if not replies:
        wrong = "no answers"
    elif right < 0.99 * replies:
        wrong = f"{right} of {replies} answers had the right rcode"
    elif cell != "reflector" and delta.get(cell, 0) < 0.99 * (delta["packets"] or 1):
        wrong = f"{delta.get(cell, 0)} of {delta['packets']} packets were answered as {cell}"
    elif cell != "reflector" and replies > delta.get(cell, 0):
        wrong = f"{replies} answers arrived, but only {delta.get(cell, 0)} were given"
    elif "native" not in b.get("using", ""):
        wrong = "the load generator did not run in native mode: " + b.get("using", "")
    server, client = (int(b[k][1]) - int(b[k][0]) for k in ("server_ns", "client_ns"))
    # The serving core answers and receives the answers; server_share is the part of it that both had.
    return {
        "cell": cell, "wrong": wrong, "counts": b["cell"][2] == "yes", "qps": round(replies / seconds), "sent_qps": round(b.get("queries", 0) / seconds),
        "server_ns": server / replies if replies else None, "client_ns": client / replies if replies else None,
        "server_share": (server + client) / (seconds * 1e9), "load_share": (float(b["load_s"][0]) + float(b["load_s"][1])) / seconds,
    }


def share(judged, cell):
    """The median of the rounds' own shares: a round of the cell beside the reflector's that was measured with it."""
    limit, shares = None, []
    for j in judged:
        good = j["counts"] and not j["wrong"]
        if j["cell"] == "reflector":
            limit = j["qps"] if good else None
        elif j["cell"] == cell and good and limit:
            shares.append(j["qps"] / limit)
    return [round(x, 3) for x in sorted(shares)]


def veth(folder, skipped, faults):
    """Medians of the rounds, and the rounds."""
    judged = [judge_round(b) for b in rounds_of(os.path.join(folder, "veth"))]
    shares = {cell: share(judged, cell) for cell in CELLS[1:]}
    faults += [f"{j['cell']}: {j['wrong']}" for j in judged if j["wrong"]]
    out = {"cells": {}}
    for cell, values in shares.items():
        out[cell + "_share"] = round(statistics.median(values), 3) if values else None
        out[cell + "_shares"] = values
    for cell in CELLS:
        good = [j for j in judged if j["cell"] == cell and j["counts"] and not j["wrong"]]
        out[cell + "_qps"] = round(statistics.median(j["qps"] for j in good)) if good else None
        out["cells"][cell] = {
            key: round(statistics.median(j[key] for j in good), 2) for key in
            ("sent_qps", "server_ns", "client_ns", "server_share", "load_share")
        } | {"kept": len(good), "qps": [j["qps"] for j in good]} if good else None
        out["shares"] = [[j["cell"], round(j["server_share"], 2), j["qps"]] for j in judged]
    return out


def verdict(name, what, value, target, at_least=False):
    met = None
    if value is not None and target is not None:
        met = value >= target if at_least else value <= target
    return {"id": name, "what": what, "value": value, "target": target, "met": met}


def plus(a, b, times=1):
    return None if a is None or b is None else round(a + times * b, 1)


def verdicts(r):
    return [
        verdict("P1 hot", "blocked, hot: ns", r["blocked_hot_ns"], 150),
        verdict("P1 random", "blocked, random: ns, hot and one miss", r["blocked_random_ns"],
                plus(r["blocked_hot_ns"], r["miss_ns"])),
        verdict("P2 hot", "cached, hot: ns", r["cached_hot_ns"], 200),
        verdict("P2 random", "cached, random: ns, hot and two misses", r["cached_random_ns"],
                plus(r["cached_hot_ns"], r["miss_ns"], 2)),
        verdict("P3 blocked", "blocked over veth, of the null reflector", r["veth"]["blocked_share"], 0.85, True),
        verdict("P3 cached", "cached over veth, of the null reflector", r["veth"]["cached_share"], 0.85, True),
    ]


def show(value, unit=""):
    return "unavailable" if value is None else f"{value:,}{unit}"


def print_table(r):
    m = r["machine"]
    if r["reduced"]:
        print("# a reduced run: figures say only that the harness works")
    print(f"# {m['cpu']}, {m['cores']} cores{', virtual' if m['virtual'] else ''}, Linux {m['kernel']}, "
          f"governor {m['governor'] or 'none'}, {m['date']}, Millrace {m['millrace'] or 'unknown'}")
    print("\nnanoseconds a packet over the null program      median      min   kept of", r["rounds"], "rounds")
    for key in ["null_ns"] + [k for k in r["detail"]]:
        d = r["detail"].get(key, {})
        print(f"  {key[:-3]:<40} {show(r[key]):>11} {show(d.get('min')) if d else '':>8} {d.get('kept', '')!s:>6}")
    print("\nanswers/s over veth, native                        median   server, client ns   busy: server's core, load's")
    for cell in CELLS:
        c = r["veth"]["cells"].get(cell)
        tail = f"{c['server_ns']:>11.0f}, {c['client_ns']:.0f} {c['server_share']:>17.0%}, {c['load_share']:.0%}" if c else ""
        print(f"  {cell:<40} {show(r[cell + '_qps']):>15}{tail}")
    print()
    for v in r["verdicts"]:
        met = {True: "met", False: "MISSED", None: "unavailable"}[v["met"]]
        print(f"  {v['id']:<12} {v['what']:<44} {show(v['value']):>11}  target {show(v['target']):>8}  {met}")
    for part, why in r["skipped"].items():
        print(f"  {part} was left out: {why}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--assert", dest="demand", action="store_true")
    p.add_argument("--reduced", action="store_true")
    p.add_argument("folder")
    p.add_argument("out")
    a = p.parse_args()
    faults = []
    skipped = {part: file_of(os.path.join(a.folder, part + ".skip")) for part in ("ns", "veth")}
    skipped = {k: v for k, v in skipped.items() if v is not None}
    r = {key: None for key in NS_KEYS} | {cell + "_qps": None for cell in CELLS} | {"rounds": 0, "detail": {}}
    if "ns" not in skipped:
        r |= json.loads(file_of(os.path.join(a.folder, "ns.json")))
    r["rounds_kept"] = {k: d["kept"] for k, d in r["detail"].items()}
    v = veth(a.folder, skipped, faults)
    r |= {cell + "_qps": v.pop(cell + "_qps") for cell in CELLS}
    r |= {"veth": v, "machine": machine(), "skipped": skipped, "reduced": a.reduced}
    r["verdicts"] = verdicts(r)
    r["faults"] = faults
    with open(a.out, "w") as f:
        json.dump(r, f, indent=2)
        f.write("\n")
    print_table(r)
    for fault in faults:
        print("bench/report: not to be trusted: " + fault, file=sys.stderr)
    missed = [x["id"] for x in r["verdicts"] if not x["met"]]
    if a.demand and missed:
        print("bench/report: missed or unavailable: " + ", ".join(missed), file=sys.stderr)
    sys.exit(1 if faults or (a.demand and missed) else 0)


if __name__ == "__main__":
    main()
