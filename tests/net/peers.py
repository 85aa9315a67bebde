# SPDX-License-Identifier: BSD-2-Clause
"""peers.py - other people's servers in the lab's upstream namespace: an authority for one signed zone, six resolvers.

The authority is BIND; the resolvers know nothing but it, and a trust anchor of
the zone.  Each is started by its own program with a small configuration, in the
foreground, and stopped by its PID.  A peer is a row of PEERS; of those that
have them TLS and HTTPS are served on the usual ports.  One version of TLS is a
setting of the library that the peer uses, since not every peer has one.
"""
import os
import re
import shutil
import socket
import subprocess

import dns.message

import lane

ZONE = "peers.example"
AUTHORITY = "10.53.1.60"
MANY = 300

# ---- the zone --------------------------------------------------------------

_RECORDS = f"""
$ORIGIN {ZONE}.
$TTL 300
@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A {AUTHORITY}
www A 198.18.7.1
www A 198.18.7.2
www AAAA 2001:db8:7::1
www TXT "one" "two"
first CNAME second
second CNAME third
third CNAME www
big TXT {' '.join('"' + chr(97 + i) * 250 + '"' for i in range(12))}
""" + "".join(f"n{i} A 198.18.{8 + i // 250}.{i % 250 + 1}\n" for i in range(MANY))


def many_address(i):
    return f"198.18.{8 + i // 250}.{i % 250 + 1}"


def sign_zone(folder):
    """Write the signed zone; (its file, its DS as text)."""
    plain = folder / "zone"
    plain.write_text(_RECORDS)
    for flags in ["-f", "KSK"], []:
        _run("dnssec-keygen", "-q", "-K", folder, "-a", "ECDSAP256SHA256", *flags, ZONE)
    _run("dnssec-signzone", "-q", "-S", "-K", folder, "-d", folder, "-o", ZONE, "-f", folder / "zone.signed", plain)
    ds = (folder / f"dsset-{ZONE}.").read_text()
    return folder / "zone.signed", " ".join(ds.split("DS", 1)[1].splitlines()[0].split())


def _run(*argv):
    done = subprocess.run([*map(str, argv)], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"


# ---- servers ---------------------------------------------------------------

def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class Server:
    """A program in the upstream namespace that answers for `address`."""

    def __init__(self, lab, folder, argv, address, env=()):
        self.lab, self.address, self.err = lab, address, folder / "said"
        self.process = lab.start("upstream", "env", *env, *argv, stdout=self.err.open("w"), stderr=subprocess.STDOUT,
                                 cwd=folder)
        try:
            lane.wait_until(f"{argv[0]} answers", 20, lambda: self.process.poll() is not None or self.answers(),
                            every=0.1)
            assert self.process.poll() is None, self.said()
        except AssertionError as e:
            self.stop()
            raise AssertionError(f"{e}\n{self.said()}") from None

    def said(self):
        return self.err.read_text(errors="replace")

    def answers(self):
        q = dns.message.make_query(f"www.{ZONE}", "A")
        with self.lab.socket("server", socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(0.5)
            s.connect((self.address, 53))
            try:
                s.send(q.to_wire())
                return dns.message.from_wire(s.recv(4096)).answer
            except OSError:
                return False

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_NAMED = """
options {{
	directory "{folder}"; pid-file none; session-keyfile none; lock-file none; listen-on-v6 {{ none; }};
	recursion yes; allow-query {{ any; }}; allow-recursion {{ any; }}; notify no; empty-zones-enable no;
	{options}
}};
controls {{ }};
"""


def authority(lab, folder, zone):
    conf = folder / "named.conf"
    conf.write_text(_NAMED.format(folder=folder, options=f"listen-on {{ {AUTHORITY}; }}; dnssec-validation no;")
                    + f'zone "{ZONE}" {{ type primary; file "{zone}"; }};\n')
    return Server(lab, folder, ["named", "-g", "-n", "1", "-c", conf], AUTHORITY)


def bind9(p):
    tls = f"""
tls own {{ cert-file "{p.cert}"; key-file "{p.key}"; }};
http paths {{ endpoints {{ "/dns-query"; }}; }};
"""
    listen = "".join(f"listen-on {more} {{ {p.address}; }}; " for more in (
        "", "port 853 tls own", "port 443 tls own http paths"))
    anchor = p.ds.split()
    p.write("named.conf", tls + _NAMED.format(folder=p.folder, options=listen + "dnssec-validation yes;")
            + f'trust-anchors {{ {ZONE}. static-ds {" ".join(anchor[:3])} "{"".join(anchor[3:])}"; }};\n'
            + f'zone "{ZONE}" {{ type static-stub; server-addresses {{ {AUTHORITY}; }}; }};\n')
    return ["named", "-g", "-n", "1", "-c", p.path("named.conf")]


def unbound(p):
    listen = "".join(f"interface: {p.address}@{port}\n" for port in (53, 853, 443))
    p.write("unbound.conf", f"""
server:
{listen}
directory: "{p.folder}"
chroot: ""
username: ""
pidfile: ""
use-syslog: no
do-daemonize: no
access-control: 0.0.0.0/0 allow
tls-port: 853
https-port: 443
tls-service-pem: "{p.cert}"
tls-service-key: "{p.key}"
trust-anchor: "{ZONE}. DS {p.ds}"
module-config: "validator iterator"
remote-control:
control-enable: no
stub-zone:
name: "{ZONE}"
stub-addr: {AUTHORITY}
""")
    return ["unbound", "-d", "-c", p.path("unbound.conf")]


def knot_resolver(p):
    p.write("config", f"""
log_target('stderr')
net.listen('{p.address}', 53, {{ kind = 'dns' }})
net.listen('{p.address}', 853, {{ kind = 'tls' }})
net.listen('{p.address}', 443, {{ kind = 'doh2' }})
net.tls('{p.cert}', '{p.key}')
modules.unload('priming')
trust_anchors.remove('.')
trust_anchors.add('{ZONE}. DS {p.ds}')
cache.size = 10 * MB
policy.add(policy.suffix(policy.FORWARD({{ '{AUTHORITY}' }}), {{ todname('{ZONE}.') }}))
""")
    return ["kresd", "-n", "-c", p.path("config"), p.folder]


def dnsdist(p):
    oldest = f"{{ minTLSVersion = 'tls{p.version or '1.2'}' }}"	# it asks OpenSSL for TLS 1.0 otherwise
    p.write("dnsdist.conf", f"""
setACL({{ '0.0.0.0/0' }})
setSecurityPollSuffix('')
setLocal('{p.address}:53')
addTLSLocal('{p.address}:853', '{p.cert}', '{p.key}', {oldest})
addDOHLocal('{p.address}:443', '{p.cert}', '{p.key}', '/dns-query', {oldest})
newServer({{ address = '{AUTHORITY}', checkName = 'www.{ZONE}.', mustResolve = true }})
""")
    return ["dnsdist", "--supervised", "--disable-syslog", "-C", p.path("dnsdist.conf")]


def dnsmasq(p):
    p.write("dnsmasq.conf", f"""
keep-in-foreground
user=root
pid-file=
log-facility=-
no-resolv
no-hosts
bind-interfaces
listen-address={p.address}
except-interface=lo
server={AUTHORITY}
""")
    return ["dnsmasq", "-C", p.path("dnsmasq.conf")]


def pdns_recursor(p):
    p.write("anchor.lua", f"clearTA('.')\naddTA('{ZONE}', '{p.ds}')\n")
    p.write("root", f". 3600 NS a.root.\na.root. 3600 A {AUTHORITY}\n")
    p.write("recursor.conf", f"""
daemon=no
disable-syslog=yes
local-address={p.address}
allow-from=0.0.0.0/0
dont-query=
forward-zones={ZONE}={AUTHORITY}
hint-file={p.path("root")}
lua-config-file={p.path("anchor.lua")}
security-poll-suffix=
socket-dir={p.folder}
threads=1
""")
    return ["pdns_recursor", f"--config-dir={p.folder}"]


# name: (last octet of its address, program, Debian package, configuration, over TLS and HTTPS too, validates)
PEERS = {
    "bind9": (61, "named", "bind9", bind9, True, True),
    "unbound": (62, "unbound", "unbound", unbound, True, True),
    "knot-resolver": (63, "kresd", "knot-resolver", knot_resolver, True, True),
    "dnsdist": (64, "dnsdist", "dnsdist", dnsdist, True, False),
    "dnsmasq": (65, "dnsmasq", "dnsmasq-base", dnsmasq, False, False),
    "pdns-recursor": (66, "pdns_recursor", "pdns-recursor", pdns_recursor, False, True),
}


class Peer:
    """One resolver that runs; version is "1.2" or "1.3", the only one of TLS, or None."""

    def __init__(self, lab, folder, name, ds, certificate, version=None):
        octet, _, _, configure, self.secure, self.validates = PEERS[name]
        self.name, self.folder, self.ds, self.address = name, folder, ds, f"10.53.1.{octet}"
        self.cert, self.key = certificate
        self.version = version
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
        self.server = Server(lab, folder, configure(self), self.address, self.only(version) if version else ())

    def path(self, name):
        return self.folder / name

    def write(self, name, text):
        self.path(name).write_text(text)

    def only(self, version):
        """The environment in which OpenSSL and GnuTLS speak one version."""
        self.write("openssl.cnf", f"""
openssl_conf = init
[init]
ssl_conf = ssl
[ssl]
system_default = only
[only]
MinProtocol = TLSv{version}
MaxProtocol = TLSv{version}
""")
        other = "1.3" if version == "1.2" else "1.2"
        self.write("gnutls.cnf", f"[overrides]\ndisabled-version = tls{other}\n")
        return [f"OPENSSL_CONF={self.path('openssl.cnf')}", f"GNUTLS_SYSTEM_PRIORITY_FILE={self.path('gnutls.cnf')}"]

    def versions(self, port=853):
        """Which versions of TLS it speaks."""
        said = {v: self.server.lab.run("server", "sh", "-c", "openssl s_client -connect $0 $1 </dev/null 2>&1",
                                       f"{self.address}:{port}", f"-tls{v.replace('.', '_')}", check=False).stdout
                for v in ("1.2", "1.3")}
        return [v for v, text in said.items() if re.search(rf"New, TLSv{v}", text)]

    def stop(self):
        self.server.stop()
