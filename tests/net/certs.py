# SPDX-License-Identifier: BSD-2-Clause
"""certs.py - an authority and certificates of servers, made by openssl for a run of tests."""
import base64
import hashlib
import subprocess


def _openssl(*argv):
    done = subprocess.run(["openssl", *map(str, argv)], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, f"openssl {argv}: {done.stderr}"
    return done.stdout


class Authority:
    """Signs what a test wants; `file` is what its clients trust."""

    def __init__(self, folder, name="authority"):
        self.folder, self.file, self.key = folder, folder / f"{name}.pem", folder / f"{name}.key"
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 30,
                 "-subj", f"/CN={name}", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", self.key,
                 "-out", self.file)
        self.file.chmod(0o644)

    def sign(self, name, alt, days=10):
        """(certificate, key) for `alt` as openssl says it ("DNS:dns.test,IP:10.53.1.2"); days below 0: expired."""
        cert, key, request, more = (self.folder / f"{name}.{end}" for end in ("pem", "key", "csr", "ext"))
        more.write_text(f"subjectAltName={alt}\nbasicConstraints=CA:FALSE\n")
        _openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        _openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key, "-CAcreateserial",
                 "-days", days, "-extfile", more, "-out", cert)
        for path in cert, key:		# servers that give up root read them too
            path.chmod(0o644)
        return cert, key


def pin(cert):
    """The SHA-256 of a certificate's public key, as the configuration has it."""
    public = _openssl("x509", "-in", cert, "-pubkey", "-noout")
    der = base64.b64decode("".join(public.splitlines()[1:-1]))
    return base64.b64encode(hashlib.sha256(der).digest()).decode()
