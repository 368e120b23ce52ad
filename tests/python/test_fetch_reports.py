"""Faults that users of servers have met with sources from outside, each kind as a whole, through Python. The parts
are tested one by one in test_fetching.py and tests/cpp/fetch."""

import base64
import dataclasses
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import quote

import pytest

import mmcpp
from samples import encode, noise
from web_server import WebServer

LOOPBACK = mmcpp.FetchPolicy(allowed_networks=["127.0.0.0/8"], environment_proxies=False)
PNG = encode(noise(8, 9))


def code_of(source, policy=None):
    """The error's code, or what was fetched."""
    try:
        return mmcpp.fetch(source, policy=policy)
    except mmcpp.MmError as error:
        return error.code


def test_data_urls_without_base64():
    assert mmcpp.fetch("data:image/png," + quote(PNG)) == PNG
    assert mmcpp.fetch("data:,") == b""
    assert mmcpp.fetch("data:image/png,abc") == b"abc"
    assert mmcpp.fetch("data:base64,AAAA") == b"AAAA"  # a media type, and no parameter
    for source in ("data:", "data:image/png", "data:image/png;base64"):
        assert code_of(source) == "bad_source"


def test_base64_as_clients_send_it():
    data = bytes(range(251, 256)) * 11  # 55 bytes: one "=" at the end, "+" and "/" within
    text = base64.b64encode(data).decode()
    escaped = text.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    lines = "\r\n".join(text[i : i + 76] for i in range(0, len(text), 76))
    assert "+" in text and "/" in text and text.endswith("=")
    for payload in (text, text.rstrip("="), f"  {text}\t", lines, escaped):
        assert mmcpp.fetch("data:image/png;base64," + payload) == data
    urlsafe = base64.urlsafe_b64encode(data).decode()
    for payload in (text + "=", text[:8] + "=" + text[8:], text.replace("+", "@", 1), "A", text[:5], urlsafe):
        assert code_of("data:;base64," + payload) == "bad_source", payload
    assert mmcpp.fetch("data:;base64," + urlsafe, policy=mmcpp.FetchPolicy(url_safe_base64=True)) == data


def loopback_hosts():
    hosts = ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "0", "2130706433", "0x7f.1", "127.1", "017700000001"]
    return [*hosts, "[::ffff:127.0.0.1]", "127.0.0.1.", "localhost."]


def private_hosts():
    hosts = ["169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "[fe80::1]", "[fd00::1]"]
    return [*hosts, "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"]


@pytest.mark.parametrize("host", loopback_hosts() + private_hosts())
def test_no_private_address_is_ever_connected_to(web_server, host):
    port = web_server.port
    for source in (f"http://{host}:{port}/", f"http://picture.example@{host}:{port}/", f"HTTP://{host}:{port}/#@x"):
        assert code_of(source) in ("forbidden", "fetch_failed", "bad_source"), source
    if host not in ("localhost", "localhost."):  # names that may not resolve here
        assert code_of(f"http://{host}:{port}/") in ("forbidden", "bad_source")
    assert web_server.seen == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_every_hop_of_a_redirect_is_looked_at(web_server, status):
    def to(target):
        return code_of(web_server.url(f"/redirects/{status}/{quote(target, safe='')}"), LOOPBACK)

    assert to("/hello") == b"/hello"
    for target in ("http://10.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest/", "file:///etc/passwd"):
        assert to(target) == "forbidden", target
    for target in ("data:,x", "ftp://127.0.0.1/"):
        assert to(target) == "forbidden", target
    one_port = dataclasses.replace(LOOPBACK, allowed_hosts=[f"127.0.0.1:{web_server.port}"])
    with WebServer() as other:
        assert code_of(web_server.url(f"/redirects/{status}/{quote(other.url(), safe='')}"), one_port) == "forbidden"
        assert other.seen == []
    assert code_of(web_server.url(), dataclasses.replace(LOOPBACK, allowed_hosts=[])) == "forbidden"


SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
typedef int (*Resolve)(const char*, const char*, const struct addrinfo*, struct addrinfo**);
static int calls;
int getaddrinfo(const char* host, const char* service, const struct addrinfo* hints, struct addrinfo** list) {
  const Resolve next = (Resolve)dlsym(RTLD_NEXT, "getaddrinfo");
  if (host && strcmp(host, "rebind.example") == 0) host = calls++ ? "127.0.0.2" : "127.0.0.1";
  return next(host, service, hints, list);
}
"""

REBINDING = """
import sys
import mmcpp
policy = mmcpp.FetchPolicy(allowed_networks=["127.0.0.1/32"], environment_proxies=False, timeout=30)
for source in sys.argv[1:]:
    try:
        print(mmcpp.fetch(source, policy=policy).decode())
    except mmcpp.MmError as error:
        print(error.code, error)
"""


def test_a_name_that_changes_its_address_is_looked_at_again(web_server, tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler for the resolver that answers twice")
    (tmp_path / "shim.c").write_text(SHIM)
    shim = tmp_path / "shim.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", shim, tmp_path / "shim.c", "-ldl"], check=True)
    url = f"http://rebind.example:{web_server.port}"

    def lines(*sources):
        command = [sys.executable, "-c", REBINDING, *sources]
        run = subprocess.run(
            command, env={**os.environ, "LD_PRELOAD": str(shim)}, capture_output=True, text=True, check=False
        )
        if "LD_PRELOAD" in run.stderr:
            pytest.skip(f"nothing can be preloaded here: {run.stderr}")
        assert run.returncode == 0, run.stderr
        return run.stdout.splitlines()

    first, second = lines(url + "/hello", url + "/again")
    assert first == "/hello"
    assert second.startswith("forbidden policy: rebind.example has an address that is not allowed (loopback)")
    # Within one fetch the address that was looked at is the one that is asked.
    assert lines(f"{url}/to?{url}/hello") == ["/hello"]
    assert [line.split()[1].split("?")[0] for line, _ in web_server.seen] == ["/hello", "/to", "/hello"]


def test_local_files_are_nobodys_unless_a_folder_is_given(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "secret"
    root.mkdir()
    outside.write_bytes(b"secret")
    (root / "a").write_bytes(b"a")
    (root / "out").symlink_to(outside)
    (root / "in").symlink_to(root / "a")
    for source in (str(root / "a"), (root / "a").as_uri(), "FILE://localhost" + str(root / "a"), "/etc/hostname"):
        assert code_of(source) == "forbidden"
    policy = mmcpp.FetchPolicy(file_roots=[root])
    for name in ("a", "in", "../root/a", "%61"):
        assert code_of(f"file://{root}/{name}", policy) == b"a", name
    for name in ("out", "../secret", "%2e%2e/secret", "..%2fsecret", "a/../../secret"):
        assert code_of(f"file://{root}/{name}", policy) in ("forbidden", "bad_source"), name
    assert code_of(str(root / "out"), policy) == "forbidden"
    assert code_of("../secret", policy) == "bad_source"
    for folders in ([""], ["relative"]):
        with pytest.raises(ValueError, match="file root"):
            mmcpp.FetchPolicy(file_roots=folders)


@pytest.mark.parametrize("path", ["/hang", "/drip"])
def test_a_server_that_keeps_one_waiting(web_server, path):
    began = time.monotonic()
    policy = dataclasses.replace(LOOPBACK, timeout=0.5)
    with pytest.raises(mmcpp.FetchError, match="timed out"):
        mmcpp.fetch(web_server.url(path), policy=policy)
    assert time.monotonic() - began < 25


def test_a_server_that_never_accepts():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        policy = dataclasses.replace(LOOPBACK, timeout=0.5)
        with pytest.raises(mmcpp.FetchError, match="timed out"):
            mmcpp.fetch(url, policy=policy)


def test_a_proxy_is_no_way_around_the_policy(web_server, monkeypatch):
    monkeypatch.setenv("http_proxy", f"127.0.0.1:{web_server.port}")  # without a scheme
    assert mmcpp.fetch("http://picture.example/a") == b"http://picture.example/a"
    seen = len(web_server.seen)
    for source in ("http://10.0.0.1/", "http://2130706433/", "http://localhost/", "http://metadata.google.internal/"):
        assert code_of(source) == "forbidden", source
    assert len(web_server.seen) == seen
    monkeypatch.setenv("no_proxy", "picture.example")
    assert code_of("http://picture.example/a") == "fetch_failed"  # asked for itself, and there is no such host
    assert len(web_server.seen) == seen


def test_concurrent_refusals_are_typed(web_server):
    codes = []
    threads = [threading.Thread(target=lambda: codes.append(code_of(web_server.url("/secret")))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == ["forbidden"] * 16
    assert web_server.seen == []
