# SPDX-License-Identifier: BSD-2-Clause
#
# stub_tls.py - asks a running mrstub over TLS and HTTPS, with the rules of stub.rules, and prints TAP.
#
# usage: stub_tls.py CERT STATS PID - run by tests/tools/run in the lab's server
# namespace.  The stub has the certificate CERT for dns.test, begins handshakes
# after 200 ms and closes what is idle for a second.  Each function check_* is one
# test, its docstring the name.
import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
import time

import dns.message

V4, TLS, HTTPS = "10.53.1.2", 853, 443
CERT, STATS, PID = sys.argv[1], sys.argv[2], int(sys.argv[3])


def expect(got, wanted):
    if got != wanted:
        raise AssertionError(f"got {got!r}, expected {wanted!r}")


def context(alpn=("dot",), version=None):
    c = ssl.create_default_context(cafile=CERT)
    c.set_alpn_protocols(list(alpn))
    if version:
        c.minimum_version = c.maximum_version = version
    return c


def connect(c, port=TLS, session=None):
    return c.wrap_socket(socket.create_connection((V4, port), timeout=2), server_hostname="dns.test", session=session)


def talk(s, *names):
    """The answers' names and rcodes until the connection ends or a second has gone."""
    for n in names:
        w = dns.message.make_query(n, "A").to_wire()
        s.sendall(struct.pack(">H", len(w)) + w)
    out = []
    s.settimeout(0.4)
    f = s.makefile("rb")
    try:
        while head := f.read(2):
            m = dns.message.from_wire(f.read(struct.unpack(">H", head)[0]))
            out.append((str(m.question[0].name), m.rcode()))
    except socket.timeout:
        out.append("open")
    return out


def check_tls():
    """stub: over TLS 1.2 and 1.3, with ALPN dot, queries are answered, late ones late"""
    for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
        with connect(context(version=version)) as s:
            expect(s.selected_alpn_protocol(), "dot")
            expect(talk(s, "a.slow100.test", "b.test"), [("b.test.", 0), ("a.slow100.test.", 0), "open"])


def check_alpn():
    """stub: another protocol by ALPN ends the handshake"""
    try:
        connect(context(["http/1.1"])).close()
    except ssl.SSLError:
        return
    raise AssertionError("the handshake was done")


def check_hang_up():
    """stub: hang-up and close end a TLS connection, the one behind the answer"""
    with connect(context()) as s:
        expect(talk(s, "a.test", "hangup.test", "b.test"), [("a.test.", 0), ("hangup.test.", 0)])


def check_slow_handshake():
    """stub: --handshake=200 lets a handshake wait"""
    start = time.monotonic()
    connect(context()).close()
    took = time.monotonic() - start
    if not 0.2 <= took < 0.6:
        raise AssertionError(f"{took:.3f} s")


def check_idle():
    """stub: --idle=1000 closes what is idle, with a word of TLS"""
    with connect(context()) as s:
        talk(s, "a.test")
        s.settimeout(2)
        start = time.monotonic()
        expect(s.recv(10), b"")
        if time.monotonic() - start > 1.2:
            raise AssertionError("late")


def stats():
    with open(STATS) as f:
        before = len(f.readlines())
    os.kill(PID, signal.SIGUSR1)
    for _ in range(200):
        with open(STATS) as f:
            lines = f.readlines()
        if len(lines) > before:
            return json.loads(lines[-1])
        time.sleep(0.01)
    raise AssertionError("no counters two seconds after SIGUSR1")


def check_resumption():
    """stub: a session is resumed, and counted"""
    before = stats()
    c = context()
    with connect(c) as s:
        talk(s, "a.test")
        session = s.session
    with connect(c, session=session) as s:
        expect(s.session_reused, True)
        talk(s, "b.test")
    after = stats()
    expect([after[n] - before[n] for n in ("tls", "handshakes", "resumed")], [2, 2, 1])


def kdig(*args):
    done = subprocess.run(["kdig", f"@{V4}", "+time=2", "+retry=0", f"+tls-ca={CERT}", "+tls-hostname=dns.test", *args],
                          capture_output=True, text=True, timeout=10)
    return done.stdout + done.stderr


def check_https():
    """stub: over HTTPS by POST and by GET queries are answered"""
    for how in "+https", "+https-get":
        said = kdig("+https=/dns-query", how, "www.example.test", "A")
        if "192.0.2.1" not in said or "HTTP/2" not in said:
            raise AssertionError(said)


def curl(name, *args):
    body = dns.message.make_query(name, "A").to_wire()
    done = subprocess.run(["curl", "-s", "--http2", "--cacert", CERT, "--resolve", f"dns.test:{HTTPS}:{V4}", "-m", "3",
                           "-H", "content-type: application/dns-message", "--data-binary", "@-", "-o", "-",
                           "-w", "%{http_code} %{http_version}", *args, f"https://dns.test:{HTTPS}/dns-query"],
                          input=body, capture_output=True, timeout=10)
    return done.returncode, done.stdout


def check_status():
    """stub: status=500 is that, and nothing else"""
    expect(curl("http500.test"), (0, b"500 2"))


def check_close_https():
    """stub: close ends an HTTPS connection without an answer"""
    expect(curl("close.test")[0] != 0, True)


def check_goaway():
    """stub: goaway is no answer, and the next connection gets one"""
    got = [curl("goaway.test") for _ in range(2)]
    expect(got[-1][0], 0)
    if not got[-1][1].endswith(b"200 2"):
        raise AssertionError(got)


def check_hang_up_https():
    """stub: over HTTPS hang-up answers and says GOAWAY"""
    for name in "hangup.test", "a.hangslow.test":
        got = curl(name)
        expect((got[0], got[1].endswith(b"200 2")), (0, True))


def main():
    failed = False
    for name, check in list(globals().items()):
        if not name.startswith("check_"):
            continue
        try:
            check()
            print(f"ok - {check.__doc__}")
        except Exception as e:
            failed = True
            print(f"not ok - {check.__doc__}\n# {type(e).__name__}: {e}")
        sys.stdout.flush()
    return failed


sys.exit(main())
