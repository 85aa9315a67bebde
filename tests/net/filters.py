# SPDX-License-Identifier: BSD-2-Clause
"""filters.py - a configuration with groups, and what the tests of filtering look at."""
import json

import lane

KID4 = "10.53.0.7"		# a second address of the client's interface
MB4 = "10.53.0.8"		# a third one
FILE = {
    "filter": {"lists": [{"name": "list", "file": "list.txt"}], "rules": ["||file.rule.test^"],
               "rewrites": [{"name": "printer.home.test", "answers": ["192.0.2.5", "2001:db8::5"], "ttl": 77},
                            {"name": "*.dev.home.test", "answers": ["two.up.test"]}]},
    "clients": [{"name": "phone", "addresses": [KID4]}],
    "groups": [{"name": "default"},
               {"name": "kids", "clients": ["phone"], "rules": ["||games.test^"], "block": {"mode": "nxdomain", "ttl": 33},
                "safe_search": True, "no_types": ["HTTPS"]}],
}


def blocked(reply):
    return reply.data == ["A 0.0.0.0"] or reply.rcode == "NXDOMAIN"


def both(d, name, rdtype="A", **kwargs):
    """The answer, which is the same over UDP and (of the daemon) over TCP."""
    quick, plain = d.ask(name, rdtype, edns=0, **kwargs), None
    if "source" not in kwargs:
        plain = d.ask(name, rdtype, edns=0, tcp=True)
        assert lane.facts(quick) == lane.facts(plain), (name, quick.msg, plain.msg)
    return quick


def post(d, route, body, method="POST"):
    """Send JSON, return the answer's."""
    c = lane._LocalConnection(d.folder / d.config["api"]["socket"], 10)
    try:
        c.request(method, f"/api/v1/{route}", json.dumps(body))
        return json.loads(c.getresponse().read())
    finally:
        c.close()
