"""Writes proxy_decisions.json: which proxy the Python package requests takes for an environment and a URL.

    python generate_proxy.py        (with requests 2.34.2, CPython 3.11, Linux)

"cases" are [environment, URL, proxy or null] where mmcpp must say the same. "exceptions" are
[environment, URL, proxy of requests or null, proxy of mmcpp or null, reason].
"""

import json
import os
import random
from pathlib import Path
from unittest import mock

import requests
from requests.utils import get_environ_proxies, select_proxy

PROXIES = [
    "http://proxy-a:3128", "http://user:pass@proxy-b:8080", "proxy-c:3128", "https://proxy-d:443", "10.0.0.1:3128",
]  # fmt: skip
HOSTS = [
    "example.com", "www.example.com", "EXAMPLE.com", "notexample.com", "example.com.evil.org", "a.b.example.org",
    "localhost", "intranet", "127.0.0.1", "10.1.2.3", "10.200.0.1", "192.168.1.77", "8.8.8.8", "[::1]", "[2001:db8::7]",
]  # fmt: skip
PORTS = ["", ":80", ":443", ":8080", ":9000"]
NO_PROXY = [
    "example.com", ".example.com", "EXAMPLE.COM", "www.example.com", "ample.com", ".org", "org", "localhost",
    "intranet",
    "example.com:8080", "localhost:9000", "intranet:80", "127.0.0.1", "127.0.0.0/8", "10.0.0.0/8", "10.1.2.3/16",
    "192.168.1.64/26", "192.168.1.0/33", "8.8.8.8/32", "8.8.8.8/31", "0.0.1", "::1", "2001:db8::7", "[::1]",
    "..example.org",
    "*.example.com", "10.1.2.3/", "a.b.c.d/8", "", " example.com", "example.com ", "\texample.org",
]  # fmt: skip
EXCEPTIONS = [
    ({"NO_PROXY": "fd00::/8"}, "http://[fd12::1]/", "IPv6 networks are read too"),
    ({"NO_PROXY": "2001:db8::/32,::1/128"}, "http://[2001:db8::7]/", "IPv6 networks are read too"),
    ({"NO_PROXY": "[::1]"}, "http://[::1]/", "IPv6 in brackets is the address"),
    ({"NO_PROXY": "[::1]:8080"}, "http://[::1]:8080/", "IPv6 in brackets, with the port"),
    ({"NO_PROXY": "127.0.0.1:8080"}, "http://127.0.0.1:8080/", "host:port for addresses as for names"),
    ({"NO_PROXY": "0.0.0.0/0"}, "http://8.8.8.8/", "/0 is a network like others"),
    ({"NO_PROXY": "example.com,*"}, "http://other.org/", "'*' counts beside other entries"),
    ({"NO_PROXY": " * "}, "http://other.org/", "blanks around '*' do not matter"),
    ({"no_proxy": "", "NO_PROXY": "*"}, "http://a.org/", "an empty no_proxy hides no entry of NO_PROXY"),
    ({"no_proxy": "", "NO_PROXY": "A.org"}, "http://a.org/", "an empty no_proxy hides no entry of NO_PROXY"),
    ({"NO_PROXY": "A.org:80"}, "http://a.org:80/", "letter case does not matter before a port either"),
    ({"NO_PROXY": "2001:DB8::7"}, "http://[2001:0db8:0:0::7]/", "an address is compared in canonical form"),
]


def decide(environment: dict[str, str], url: str) -> "str | None":
    with mock.patch.dict(os.environ, environment, clear=True):
        return select_proxy(url, get_environ_proxies(url))


def random_environment() -> dict[str, str]:
    environment = {}
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        for variant in (name, name.upper()):
            if random.random() < 0.4:
                environment[variant] = "" if random.random() < 0.12 else random.choice(PROXIES)
    for variant in ("no_proxy", "NO_PROXY"):
        if random.random() < 0.55:
            environment[variant] = ",".join(random.choices(NO_PROXY, k=random.choice([0, 1, 1, 2, 3, 4])))
            if random.random() < 0.04:
                environment[variant] = "*"
    if random.random() < 0.05:
        environment["REQUEST_METHOD"] = "GET"
    return environment


def main() -> None:
    random.seed(7)
    print("requests", requests.__version__)
    cases: dict[str, list] = {}
    while len(cases) < 1500:
        environment = random_environment()
        host = random.choice(HOSTS)
        if host == "[::1]" and any("[::1]" in value for value in environment.values()):
            continue  # an exception, below
        upper = environment.get("NO_PROXY", "")
        if environment.get("no_proxy") == "" and ("*" in upper or upper != upper.lower()):
            continue  # likewise
        url = f"{random.choice(['http', 'https'])}://{host}{random.choice(PORTS)}/picture.png"
        case = [environment, url, decide(environment, url)]
        cases[json.dumps(case)] = case
    exceptions = []
    for extra, url, reason in EXCEPTIONS:
        environment = {"HTTP_PROXY": "http://proxy-a:3128", **extra}
        theirs = decide(environment, url)
        assert theirs is not None, (environment, url)  # else it is no exception
        exceptions.append([environment, url, theirs, None, reason])
    lines = [",\n".join(json.dumps(row) for row in rows) for rows in (cases.values(), exceptions)]
    text = '{"cases": [\n' + lines[0] + '\n],\n"exceptions": [\n' + lines[1] + "\n]}\n"
    (Path(__file__).parent / "proxy_decisions.json").write_text(text)
    direct = sum(case[2] is None for case in cases.values())
    print(len(cases), "cases,", direct, "direct;", len(exceptions), "exceptions")


if __name__ == "__main__":
    main()
