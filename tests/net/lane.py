# SPDX-License-Identifier: BSD-2-Clause
"""lane.py - what the network tests stand on: the lab, the stub, the daemon, the client.

Lab, Stub and Daemon start processes and end them; whatever a test forgets goes
with Lab.down().  Client sends from the lab's client namespace and knows nothing
of the daemon.  Daemon.ask() puts both together and says who answered, which it
knows from the daemon's own counters before and after.
"""
import contextlib
import ctypes
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dns.edns
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rdatatype

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("MR_BUILD", "build")	# another one: with sanitizers
DATA = ROOT.parent / "shared" / "data"
SERVER4, SERVER6 = "10.53.0.2", "fd53::2"
CLIENT4, CLIENT6 = "10.53.0.1", "fd53::1"
UPSTREAM4 = "10.53.1.2"
CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


figures = []


def figure(text):
    """Something measured, for the end of the run's output."""
    figures.append(text)


def wait_until(what, seconds, condition, every=0.02):
    """Poll condition() until it is true, and return what it gave; fail with `what` otherwise."""
    end = time.monotonic() + seconds
    while True:
        got = condition()
        if got:
            return got
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(every)


class Lab:
    """One lab of tools/lab, with a prefix of its own, and sockets inside its namespaces."""

    def __init__(self, name):
        self.name = name
        self.env = dict(os.environ, LAB=name)
        self.places = {}

    def _tool(self, *args):
        return subprocess.run([str(ROOT / "tools/lab"), *args], env=self.env, capture_output=True, text=True, timeout=60)

    def up(self, *options):
        done = self._tool("up", *options)
        assert done.returncode == 0, done.stderr
        for role in ("client", "server", "upstream"):
            self.places[role] = ThreadPoolExecutor(1, initializer=self._enter, initargs=(role,))
        return self

    def down(self):
        for place in self.places.values():
            place.shutdown()
        self.places = {}
        done = self._tool("down")
        assert done.returncode == 0, done.stderr

    def _enter(self, role):
        fd = os.open(f"/run/netns/{self.name}-{role}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            if _libc.setns(fd, CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), f"cannot enter the namespace of {role}")
        finally:
            os.close(fd)

    def socket(self, role, family, kind):
        """A socket that belongs to the namespace of `role`, wherever it is used."""
        return self.places[role].submit(socket.socket, family, kind).result()

    def start(self, role, *argv, **popen):
        """Start a program inside; its PID is the process's."""
        return subprocess.Popen([str(ROOT / "tools/lab"), "exec", role, "--", *map(str, argv)], env=self.env,
                                stdin=subprocess.DEVNULL, **popen)

    def run(self, role, *argv, check=True, timeout=60):
        done = subprocess.run([str(ROOT / "tools/lab"), "exec", role, "--", *map(str, argv)], env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
        assert not check or done.returncode == 0, f"{argv}: status {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def bpf_files(self):
        """Paths below the lab's bpffs, without the two that every bpffs has."""
        top = Path(f"/run/{self.name}-lab/bpf")
        paths = {str(p.relative_to(top)) for p in top.rglob("*")}
        return sorted(paths - {"maps.debug", "progs.debug"})

    def xdp(self, device="mrs0", role="server"):
        """(mode, program id) of what is attached; (None, None) when nothing is."""
        link = json.loads(self.run(role, "ip", "-j", "link", "show", "dev", device).stdout)[0].get("xdp")
        if not link:
            return None, None
        return {1: "native", 2: "generic"}.get(link["mode"], "?"), link["prog"]["id"]


class Stub:
    """build/mrstub in the upstream namespace."""

    def __init__(self, lab, folder, *args, port=53, name="stub", listen=UPSTREAM4):
        self.log = folder / f"{name}.queries"
        self.err = folder / f"{name}.err"
        argv = ["--listen", listen, "--port", port, "--workers", 1, "--log", self.log, *args]
        self.process = lab.start("upstream", BUILD / "mrstub", *argv, stdout=subprocess.DEVNULL,
                                 stderr=self.err.open("w"))
        wait_until("mrstub is ready", 5, lambda: "mrstub: ready" in self.said() or self.process.poll() is not None)
        assert self.process.poll() is None, self.said()

    def said(self):
        return self.err.read_text()

    def queries(self, name, qtype=None):
        """Log lines of a name, each as a list of words: time, protocol, port, id, name, type, address, flags."""
        want = name.rstrip(".").lower()
        rows = [line.split() for line in self.log.read_text().splitlines()]
        return [r for r in rows if len(r) >= 7 and r[4].rstrip(".").lower() == want and qtype in (None, r[5])]

    def stop(self):
        self.process.terminate()
        assert self.process.wait(5) == 0


class NoAnswer(AssertionError):
    pass


class Reply:
    def __init__(self, wire, seconds):
        self.wire, self.seconds, self.by = wire, seconds, None
        self.msg = dns.message.from_wire(wire, ignore_trailing=False)

    @property
    def rcode(self):
        return dns.rcode.to_text(self.msg.rcode())

    @property
    def ttls(self):
        return [rr.ttl for rr in self.msg.answer + self.msg.authority]

    @property
    def data(self):
        """The answer section as a sorted list of texts: type and data."""
        return sorted(f"{dns.rdatatype.to_text(rr.rdtype)} {d.to_text()}" for rr in self.msg.answer for d in rr)

    @property
    def ede(self):
        """The info codes of RFC 8914 in the reply."""
        return [o.code.value for o in self.msg.options if isinstance(o, dns.edns.EDEOption)]

    @property
    def ede_text(self):
        """The text behind them."""
        return [o.text for o in self.msg.options if isinstance(o, dns.edns.EDEOption)]

    def has(self, flag):
        return bool(self.msg.flags & dns.flags.Flag[flag])


def facts(reply):
    """All of a reply but its ID and its TTLs; RRsets as sets, owners without case."""
    m = reply.msg
    sections = {}
    for name, section in (("answer", m.answer), ("authority", m.authority), ("additional", m.additional)):
        sections[name] = sorted((rr.name.to_text().lower(), int(rr.rdtype), int(rr.rdclass), d.to_text())
                                for rr in section for d in rr)
    return {
        "flags": dns.flags.to_text(m.flags & ~0xf), "opcode": int(m.opcode()), "rcode": dns.rcode.to_text(m.rcode()),
        "counts": struct.unpack("!4H", reply.wire[4:12]), "size": len(reply.wire),
        "question": [(q.name.to_text(), int(q.rdtype), int(q.rdclass)) for q in m.question],
        "edns": m.edns, "payload": m.payload, "ednsflags": m.ednsflags, "options": [o.to_wire() for o in m.options],
        **sections,
    }


def query(name, rdtype="A", *, edns=None, do=False, cd=False, ad=False, rd=True, payload=1232, options=(),
          rdclass="IN"):
    """A query; edns is the version, None for no OPT (do, payload and options then are nothing)."""
    q = dns.message.make_query(dns.name.from_text(name), rdtype, rdclass)
    q.flags = (dns.flags.RD if rd else 0) | (dns.flags.CD if cd else 0) | (dns.flags.AD if ad else 0)
    if edns is None:
        q.use_edns(-1)
    else:
        q.use_edns(edns, dns.flags.DO if do else 0, payload, options=list(options))
    return q


class Client:
    """Asks from the client namespace.  Not for two threads at once."""

    def __init__(self, lab):
        self.lab = lab
        self.socks = {}

    def _udp(self, server, port, source):
        key = server, port, source
        if key not in self.socks:
            family = socket.AF_INET6 if ":" in server else socket.AF_INET
            s = self.lab.socket("client", family, socket.SOCK_DGRAM)
            if source:
                s.bind((source, 0))
            s.connect((server, port))
            self.socks[key] = s
        return self.socks[key]

    def close(self):
        for s in self.socks.values():
            s.close()
        self.socks = {}

    def send(self, wire, server=SERVER4, port=53, source=None):
        """Send octets and do not wait."""
        with contextlib.suppress(ConnectionRefusedError):
            self._udp(server, port, source).send(wire)

    def exchange(self, wire, server=SERVER4, port=53, source=None, timeout=3.0):
        """Send octets, return the octets of the answer with the same ID, and the seconds."""
        s = self._udp(server, port, source)
        start = time.monotonic()
        s.settimeout(timeout)
        try:
            s.send(wire)
            while True:
                s.settimeout(max(0.001, start + timeout - time.monotonic()))
                got = s.recv(65535)
                if got[:2] == wire[:2]:
                    return got, time.monotonic() - start
        except (socket.timeout, ConnectionRefusedError) as e:
            raise NoAnswer(f"no answer from {server} port {port}: {e}") from e

    def tcp(self, wires, server=SERVER4, port=53, timeout=5.0, source=None):
        """Send all over one connection, return the answers as they came."""
        s = self.lab.socket("client", socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_STREAM)
        with s:
            s.settimeout(timeout)
            if source:
                s.bind((source, 0))
            s.connect((server, port))
            s.sendall(b"".join(struct.pack("!H", len(w)) + w for w in wires))
            f = s.makefile("rb")
            answers = []
            for _ in wires:
                head = f.read(2)
                if len(head) < 2:
                    raise NoAnswer(f"the connection was closed after {len(answers)} of {len(wires)} answers")
                answers.append(f.read(struct.unpack("!H", head)[0]))
            return answers

    def ask(self, name, rdtype="A", *, server=SERVER4, port=53, source=None, timeout=3.0, tcp=False, **shape):
        q = query(name, rdtype, **shape)
        wire = q.to_wire()
        if tcp:
            start = time.monotonic()
            got, took = self.tcp([wire], server, port, timeout)[0], time.monotonic() - start
        else:
            got, took = self.exchange(wire, server, port, source, timeout)
        return Reply(got, took)


class _LocalConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Counting:
    """What was counted while a block ran."""

    def __init__(self, before):
        self.before, self.after = before, None

    def __getitem__(self, name):
        """By how much a counter of the kernel or of the daemon rose."""
        for part in ("kernel", "daemon"):
            if name in self.after[part]["counters"]:
                return self.after[part]["counters"][name]["value"] - self.before[part]["counters"][name]["value"]
        raise KeyError(name)

    @property
    def kernel(self):
        return self.after["kernel"]["answered"] - self.before["kernel"]["answered"]

    @property
    def daemon(self):
        return self["queries"]

    def reasons(self):
        """The kernel's counters that rose, for messages."""
        return {k: self[k] for k in self.after["kernel"]["counters"] if self[k]}


BASE = {
    "server": {"listen": [f"{SERVER4}:53", f"[{SERVER6}]:53"], "workers": 2, "user": "root"},
    "fastpath": {"interfaces": ["mrs0"], "mode": "native", "required": True, "answers": 20000},
    "upstreams": {"servers": [UPSTREAM4], "timeout_ms": 1000},
    "filter": {"block": {"ttl": 10}, "lists": []},
    "access": {"allow": ["10.0.0.0/8", "fd53::/64"]},
    "api": {"socket": "run/api.sock"},
    "state": "state",
}


def merged(base, change):
    """A copy of base with change laid over it, map by map."""
    out = dict(base)
    for key, value in change.items():
        out[key] = merged(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    return out


class Daemon:
    """build/millraced in the server namespace, its folder, its API."""

    def __init__(self, lab, folder, config=None, prefix=()):
        self.lab, self.folder, self.prefix = lab, folder, prefix
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        self.file = folder / "millrace.yaml"
        self.log = folder / "log"
        self.process = None
        self.ends = set()		# statuses other than 0 that a test wants
        self.config = {}
        self.client = Client(lab)
        self.write(config or {})

    def write(self, change):
        """Write the configuration: BASE, changed.  JSON is YAML, and has line numbers too."""
        self.config = merged(BASE, change)
        self.file.write_text(json.dumps(self.config, indent=1) + "\n")

    def list(self, name, *lines):
        """Write a list file beside the configuration."""
        (self.folder / name).write_text("\n".join(lines) + "\n")

    # ---- life ----

    def launch(self):
        """Start without waiting."""
        with self.log.open("a") as log:
            self.process = self.lab.start("server", *self.prefix, BUILD / "millraced", "-c", self.file, stdout=log,
                                          stderr=log)

    def ends_with(self, status, seconds=10):
        """Wait for an end that is wanted, with that exit status."""
        self.ends.add(status)
        assert self.process.wait(seconds) == status, self.said()

    def start(self, seconds=20):
        self.launch()
        wait_until("the daemon is ready", seconds, lambda: self.process.poll() is not None or self.answers())
        assert self.process.poll() is None, f"status {self.process.returncode}\n{self.said()}"
        return self

    def answers(self):
        try:
            return self.get("status")["pid"] == self.process.pid
        except (OSError, http.client.HTTPException):
            return False

    def said(self):
        return self.log.read_text()

    def kill(self):
        """kill -9"""
        self.ends.add(-signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def stop(self):
        """SIGTERM; returns the exit status."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"does not end on SIGTERM\n{self.said()}") from None
        return self.process.returncode if self.process else None

    def close(self):
        """Stop, and make sure that nothing is left in the kernel; a daemon that ended by itself is a failure."""
        self.client.close()
        try:
            assert not self.process or self.stop() in (0, *self.ends), f"status {self.process.returncode}\n{self.said()}"
            for word in ("AddressSanitizer", "ThreadSanitizer", "LeakSanitizer", "runtime error"):
                assert word not in self.said(), self.said()
        finally:
            forget_pins(self.lab)

    def hup(self):
        """SIGHUP, and wait until it was acted upon; returns status."""
        before = self.get("status")["reloads"]
        self.process.send_signal(signal.SIGHUP)
        return wait_until("the reload is done", 10, lambda: (s := self.get("status"))["reloads"] != before and s)

    # ---- looking ----

    def get(self, route, method="GET", **params):
        c = _LocalConnection(self.folder / self.config["api"]["socket"], 10)
        try:
            c.request(method, f"/api/v1/{route}" + ("?" + urllib.parse.urlencode(params) if params else ""))
            return json.loads(c.getresponse().read())
        finally:
            c.close()

    def millctl(self, *args, check=True):
        done = subprocess.run([BUILD / "millctl", "-s", self.folder / self.config["api"]["socket"], *args],
                              capture_output=True, text=True, timeout=20)
        assert not check or done.returncode == 0, f"millctl {args}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def cpu_s(self):
        """Processor seconds used so far, user and system."""
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def rss(self):
        """Resident bytes that are the process's own."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", text)[1]) * 1024

    def memory(self):
        """(PSS without the kernel's maps, bytes of these maps, each once) in bytes."""
        pss, counts, maps = 0, True, {}
        for line in Path(f"/proc/{self.process.pid}/smaps").read_text().splitlines():
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                counts = "bpf-map" not in line
            elif line.startswith("Pss:") and counts:
                pss += int(line.split()[1]) * 1024
        for info in Path(f"/proc/{self.process.pid}/fdinfo").iterdir():
            with contextlib.suppress(OSError):
                words = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
                if "map_id" in words:
                    maps[words["map_id"]] = int(words["memlock"])
        return pss, sum(maps.values())

    @contextlib.contextmanager
    def counting(self):
        c = Counting(self.get("stats"))
        yield c
        c.after = self.get("stats")

    def settle(self):
        """Wait until it has done with what was sent without waiting for answers."""
        def rests():
            before = self.get("stats")
            time.sleep(0.2)
            after = self.get("stats")
            quiet = ("queries", "server_udp_queries", "upstream_queries", "upstream_timeouts")
            return all(before["daemon"]["counters"][q] == after["daemon"]["counters"][q] for q in quiet)
        wait_until("the daemon has done with what was sent", 15, rests)

    def ask(self, *args, **kwargs):
        """Client.ask(), and who answered in reply.by: "kernel" or "daemon"."""
        with self.counting() as c:
            reply = self.client.ask(*args, **kwargs)
        reply.by = {(1, 0): "kernel", (0, 1): "daemon"}.get((c.kernel, c.daemon), f"{c.kernel} kernel, {c.daemon} daemon")
        reply.reasons = c.reasons()
        return reply

    def warm(self, *args, tries=6, **kwargs):
        """Ask until the kernel answers; that answer."""
        for _ in range(tries):
            reply = self.ask(*args, **kwargs)
            if reply.by == "kernel":
                return reply
        raise AssertionError(f"{args} {kwargs} is not answered by the kernel after {tries} times: {reply.reasons}\n{reply.msg}")


def zone_file(path, edges):
    """Write a zone (RFC 9636) whose clock shows morning, and from each of the instants in turn evening or morning.

    For a daemon that has it as TZ a schedule from 12:00 to 24:00, without a zone, begins at the first of them
    and ends at the second.  A schedule says whole minutes; these may be any seconds.
    """
    ahead = 6 * 3600 - int(edges[0]) % 86400
    types = b"".join(struct.pack("!iBB", offset, 0, 0) for offset in (ahead, ahead + 12 * 3600))
    path.write_bytes(struct.pack("!4s16x6I", b"TZif", 0, 0, 0, len(edges), 2, 4) +
                     b"".join(struct.pack("!i", int(e)) for e in edges) +
                     bytes((i + 1) % 2 for i in range(len(edges))) + types + b"LAB\0")
    return path


AT_EVENING = [{"from": "12:00", "to": "24:00"}]


@contextlib.contextmanager
def urgent():
    """The calling thread goes before others, where it may: less of what it measures is then the machine's load."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def flips(edge, ask, quiet=0.02, patience=2.0):
    """Seconds from an instant until an answer that is another one than before has arrived; None: we came too late.

    ask() gives what an answer is told apart by.  Asked without a rest from `quiet` seconds before on.  An answer
    that changes before its time is an error, as is one that does not.
    """
    time.sleep(max(0.0, edge - time.time() - quiet))
    with urgent():
        before = ask()
        if time.time() >= edge:
            return None
        while True:
            now = ask()
            late = time.time() - edge
            if now != before:
                assert late >= 0, f"{-late:.4f} s too early"
                return late
            assert late < patience, "nothing has changed"


def flips_at(edges, count, ask, **options):
    """flips() of as many of these edges as could be watched from before."""
    late = []
    for edge in edges:
        if len(late) < count and edge > time.time() + 0.1:
            seen = flips(edge, ask, **options)
            late += [] if seen is None else [seen]
    assert len(late) == count, f"of {len(edges)} edges {len(late)} could be watched"
    return late


def forget_pins(lab):
    """Remove what a killed daemon left pinned, and so its program."""
    top = Path(f"/run/{lab.name}-lab/bpf/millrace")
    if top.exists():
        for p in sorted(top.rglob("*"), reverse=True):
            p.rmdir() if p.is_dir() else p.unlink()
        top.rmdir()
        wait_until("the program of the killed daemon is gone", 5, lambda: lab.xdp()[0] is None)


class Perf:
    """dnsperf in the client namespace."""

    def __init__(self, lab, folder, questions, seconds, *, qps=None, clients=4, port=53, mode="udp", server=SERVER4,
                 extra=()):
        file = folder / f"perf-{threading.get_ident()}-{time.monotonic_ns()}"
        file.write_text("".join(f"{name} {rdtype}\n" for name, rdtype in questions))
        argv = ["dnsperf", "-s", server, "-p", port, "-d", file, "-l", seconds, "-c", clients, "-T", 1, "-m", mode,
                "-t", 3, *extra]
        if qps:
            argv += ["-Q", qps]
        self.process = lab.start("client", *argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.text = None

    def result(self):
        """Wait; a map with sent, completed, lost, qps, codes (name: count)."""
        self.text, _ = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, self.text

        def number(label):
            m = re.search(rf"{label}:\s+([\d.]+)", self.text)
            assert m, self.text
            return float(m[1])

        codes = re.search(r"Response codes:\s+(.*)", self.text)
        return {
            "sent": int(number("Queries sent")), "completed": int(number("Queries completed")),
            "lost": int(number("Queries lost")), "qps": number("Queries per second"),
            "codes": {k: int(v) for k, v in re.findall(r"(\w+) (\d+) \(", codes[1])} if codes else {},
        }
