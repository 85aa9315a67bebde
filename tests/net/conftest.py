# SPDX-License-Identifier: BSD-2-Clause
"""conftest.py - one lab and one stub for the whole run, and folders for daemons.

Nothing runs, and every test says why, where there is no root, no build, or no
network namespaces.  The lab's prefix has our PID, so that two runs do not meet.
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True

import pytest  # noqa: E402

import filters  # noqa: E402
import lane  # noqa: E402


def _obstacle():
    if os.geteuid():
        return "must be root: makes network namespaces"
    for name in ("millraced", "millctl", "mrstub"):
        if not (lane.BUILD / name).exists():
            return f"{name} is missing in {lane.BUILD.name}: run make first"
    if not os.path.exists("/proc/sys/kernel/unprivileged_bpf_disabled"):
        return "this kernel has no BPF"
    if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode:
        return "no network namespaces can be made here"
    return None


def pytest_collection_modifyitems(items):
    reason = _obstacle()
    if reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter):
    terminalreporter.ensure_newline()
    for text in lane.figures:
        terminalreporter.write_line(f"# figure: {text}")


@pytest.fixture(scope="session")
def lab():
    lab = lane.Lab(f"n{os.getpid()}")
    try:
        yield lab.up()
    finally:
        lab.down()


@pytest.fixture(scope="session")
def stub(lab, tmp_path_factory):
    rules = lane.ROOT / "tests/net/stub.rules"
    stub = lane.Stub(lab, tmp_path_factory.mktemp("stub"), "--rules", rules)
    yield stub
    stub.stop()


def entered(path):
    """Let everybody enter the folder, which pytest makes for its user alone; what else may be done there stays."""
    for p in (path, path.parent, path.parent.parent):
        p.chmod(p.stat().st_mode | 0o055)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory, request):
    """A folder that the daemon's user can enter, whoever that is."""
    path = tmp_path_factory.mktemp(request.module.__name__)
    return entered(path)


@pytest.fixture(scope="module")
def addresses(lab):
    """More addresses of the client's interface."""
    for address in filters.KID4, filters.MB4:
        lab.run("client", "ip", "addr", "add", f"{address}/24", "dev", "mrc0", check=False)
    yield
    for address in filters.KID4, filters.MB4:
        lab.run("client", "ip", "addr", "del", f"{address}/24", "dev", "mrc0", check=False)


@pytest.fixture
def daemon(lab, stub, tmp_path):
    """A daemon that the test starts itself; it is gone afterwards, with its pins."""
    d = lane.Daemon(lab, entered(tmp_path) / "d")
    yield d
    d.close()
