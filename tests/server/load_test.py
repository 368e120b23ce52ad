"""Load on the example server: good, bad, huge, slow and killed clients, then twice what it can do.

    load_test.py PROGRAM SPEC [--seconds 600]

Fails unless every request of a client that stays gets exactly one whole answer, good ones the right
tensors, refusals a typed body; resident memory is flat after warm-up (within 5 %, runs of a minute
and more); and overload is shed with 503 while the rest is served.
"""

import argparse
import collections
import contextlib
import hashlib
import json
import multiprocessing
import random
import socket
import statistics
import struct
import threading
import time

from client import PLACEHOLDER, Server, bomb_png, data_url, integers, png, read_safetensors

BODY_LIMIT = 4 << 20
SIZES = ((64, 64), (200, 300), (480, 360), (700, 500))


class Failure(Exception):
    pass


def pack(body, kind="application/json"):
    head = f"POST /v1/preprocess HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def receive(connection):
    """The status and body of the one answer that the connection holds; nothing may follow it."""
    data = bytearray()
    while piece := connection.recv(1 << 20):
        data += piece
    head, _, body = bytes(data).partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
    if not lines[0].startswith("HTTP/1.1 ") or len(body) != int(headers.get("content-length", -1)):
        raise Failure(f"not one whole answer: {lines[0]!r}, {len(body)} bytes, {headers}")
    return int(lines[0].split()[1]), body


def exchange(port, data, pause=0.0):
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        if pause:
            step = max(1, len(data) // 20)
            for i in range(0, len(data), step):
                connection.sendall(data[i : i + step])
                time.sleep(pause)
        else:
            connection.sendall(data)
        return receive(connection)


def good_request(number, picture, encoded):
    ids = [number, PLACEHOLDER, number]
    dtype = ("float32", "bfloat16", "uint8")[picture % 3]
    return pack(json.dumps({"input_ids": ids, "images": [encoded[picture]], "dtype": dtype}).encode())


def check_good(number, body):
    """The digest of the feature; the ids must be this request's own."""
    tensors, _ = read_safetensors(body)
    ids = integers(tensors["input_ids"])
    if ids[0] != number or ids[-1] != number or set(ids[1:-1]) != {PLACEHOLDER}:
        raise Failure(f"request {number} got the ids of another")
    return hashlib.blake2b(tensors["pixel_values.0"][2]).hexdigest()


def bad_requests():
    """(bytes, statuses that may be) of each refusal."""

    def asking(image):
        return pack(json.dumps({"input_ids": [PLACEHOLDER], "images": [image]}).encode())

    return [
        (pack(b"{"), 400),
        (pack(b"\xff\xfe\x00"), 400),
        (asking(data_url(png(64, 64)[:90])), 400),
        (asking(data_url(bomb_png(60000, 60000))), 413),
        (asking(data_url(b"%PDF-1.7")), 415),
        (asking("http://127.0.0.1:22/"), 422),
        (asking("http://2130706433/"), 422),
        (asking("/etc/passwd"), 422),
        (pack(bytes(BODY_LIMIT + 1)), 413),
        (pack(json.dumps({"input_ids": [1] * 200_000, "images": ["data:,x"]}).encode()), 415),
    ]


def client_process(port, encoded):
    """Good requests until it is killed."""
    number = 1
    while True:
        exchange(port, good_request(number, number % len(encoded), encoded))
        number += 1


class Load:
    def __init__(self, server, seconds):
        self.server, self.seconds = server, seconds
        self.pictures = [png(height, width, 1 + i) for i, (height, width) in enumerate(SIZES * 3)]
        self.encoded = [data_url(picture) for picture in self.pictures]
        self.bad = bad_requests()
        # Much to do and little to send, so that the server and not this client is what is tried.
        costly = {"input_ids": [PLACEHOLDER], "images": [data_url(png(2400, 2400))], "dtype": "uint8"}
        self.costly = pack(json.dumps(costly).encode())
        self.counts = collections.Counter()
        self.latencies, self.errors, self.memory = [], [], []
        self.lock = threading.Lock()
        self.end = threading.Event()
        self.expected = {}
        for picture in range(len(self.encoded)):
            status, body = exchange(server.port, good_request(7, picture, self.encoded))
            if status != 200:
                raise Failure(f"{status}: {body[:200]!r}")
            self.expected[picture] = check_good(7, body)

    def count(self, kind, status):
        with self.lock:
            self.counts[kind, status] += 1

    def typed(self, status, body):
        error = json.loads(body)["error"]
        if set(error) != {"code", "item", "stage", "reason"} or status < 400:
            raise Failure(f"{status} with {body[:200]!r}")

    def good(self, number, generator, pause=0.0):
        picture = generator.randrange(len(self.encoded))
        began = time.monotonic()
        status, body = exchange(self.server.port, good_request(number, picture, self.encoded), pause)
        took = time.monotonic() - began
        if status == 200:
            if check_good(number, body) != self.expected[picture]:
                raise Failure(f"request {number}: wrong tensors")
            if not pause:
                with self.lock:
                    self.latencies.append(took)
        elif status != 503:
            raise Failure(f"request {number}: {status} {body[:200]!r}")
        else:
            self.typed(status, body)
        self.count("slow" if pause else "good", status)

    def refusal(self, generator):
        data, expected = generator.choice(self.bad)
        status, body = exchange(self.server.port, data)
        if status not in (expected, 503):
            raise Failure(f"{status} instead of {expected}: {body[:200]!r}")
        self.typed(status, body)
        self.count("bad", status)

    def vanish(self, generator):
        data = good_request(1, generator.randrange(len(self.encoded)), self.encoded)
        with socket.create_connection(("127.0.0.1", self.server.port)) as connection:
            connection.sendall(data[: generator.randrange(len(data) + 1)])
            if generator.random() < 0.5:
                # Part of an answer, or none: a request that was not sent whole has none yet.
                connection.settimeout(0.2 if generator.random() < 0.2 else 0.01)
                with contextlib.suppress(TimeoutError):
                    connection.recv(100)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
        self.count("vanished", 0)

    def run_thread(self, index):
        generator = random.Random(index)
        number = index << 32
        while not self.end.is_set():
            number += 1
            try:
                what = generator.random()
                if what < 0.6:
                    self.good(number, generator)
                elif what < 0.85:
                    self.refusal(generator)
                elif what < 0.88:
                    self.good(number, generator, pause=0.02)
                else:
                    self.vanish(generator)
            except Exception as error:
                with self.lock:
                    self.errors.append(f"{type(error).__name__}: {error}")

    def kill_clients(self):
        """Processes that are killed in the middle of whatever they do, and started again."""
        while not self.end.is_set():
            process = multiprocessing.get_context("fork").Process(
                target=client_process, args=(self.server.port, self.encoded), daemon=True
            )
            process.start()
            self.end.wait(3)
            process.kill()
            process.join()
            self.count("killed", 0)

    def mixed(self, threads):
        began = time.monotonic()
        running = [threading.Thread(target=self.run_thread, args=(i,)) for i in range(1, threads + 1)]
        running.append(threading.Thread(target=self.kill_clients))
        for thread in running:
            thread.start()
        while time.monotonic() - began < self.seconds:
            time.sleep(min(1, self.seconds / 10))
            self.memory.append(self.server.resident_bytes())
        self.end.set()
        for thread in running:
            thread.join()

    def overload(self, seconds):
        """Twice the rate that the workers keep up with, each request by a client that does not wait for others."""
        rate = max(4.0, 2 * self.capacity())
        statuses, waiting = collections.Counter(), []
        request = self.costly

        def one():
            try:
                status, body = exchange(self.server.port, request)
                if status != 200:
                    self.typed(status, body)
            except Exception as error:
                status = f"{type(error).__name__}: {error}"
            with self.lock:
                statuses[status] += 1

        began = time.monotonic()
        for i in range(int(rate * seconds)):
            time.sleep(max(0, began + i / rate - time.monotonic()))
            waiting.append(threading.Thread(target=one))
            waiting[-1].start()
        # One burst larger than workers and queue together, however slow this client is.
        waiting += [threading.Thread(target=one) for _ in range(40)]
        for thread in waiting[-40:]:
            thread.start()
        for thread in waiting:
            thread.join()
        took = time.monotonic() - began
        return rate, dict(statuses), statuses[200] / took

    def capacity(self):
        request = self.costly
        done, end = [], time.monotonic() + min(5, self.seconds)

        def one():
            while time.monotonic() < end:
                done.append(exchange(self.server.port, request)[0])

        threads = [threading.Thread(target=one) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return done.count(200) / min(5, self.seconds)


def flatness(memory):
    """The last quarter of the samples against those after the first quarter, as medians."""
    quarter = len(memory) // 4
    return statistics.median(memory[-quarter:]) / statistics.median(memory[quarter : 2 * quarter])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("spec")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--threads", type=int, default=12)
    arguments = parser.parse_args()
    # A client that this machine keeps from sending is not one that is slow on purpose.
    options = ["--workers", 2, "--queue", 8, "--max-request-bytes", BODY_LIMIT, "--body-timeout", 60]
    server = Server(arguments.program, arguments.spec, *options)
    failed = []
    load = Load(server, arguments.seconds)
    load.mixed(arguments.threads)
    answered = sum(count for (kind, _), count in load.counts.items() if kind in ("good", "bad", "slow"))
    counted = server.metric("mmcpp_requests_total")
    print("answers by kind and status:", {f"{k} {s}": c for (k, s), c in sorted(load.counts.items())})
    print(f"answered {answered}, counted by the server {counted:.0f} (those of killed clients too)")
    if load.errors:
        failed.append(f"{len(load.errors)} requests went wrong, such as {load.errors[0]}")
    if counted < answered:
        failed.append("the server counts fewer requests than were answered")
    if load.latencies:
        cuts = statistics.quantiles(load.latencies, n=100)
        print(f"good requests: p50 {cuts[49] * 1e3:.0f} ms, p99 {cuts[98] * 1e3:.0f} ms, n {len(load.latencies)}")
    if arguments.seconds >= 60:
        ratio = flatness(load.memory)
        print(f"resident: {load.memory[len(load.memory) // 4] >> 20} MiB after warm-up, {load.memory[-1] >> 20} MiB at")
        print(f"the end, highest {max(load.memory) >> 20}; last quarter / second quarter {ratio:.3f}")
        if ratio > 1.05:
            failed.append("resident memory grows")
    rate, statuses, goodput = load.overload(min(20, arguments.seconds))
    print(f"overload: {rate:.0f} requests/s offered, {statuses}, {goodput:.1f} served per second")
    if set(statuses) != {200, 503}:
        failed.append(f"overload: {statuses}")
    if server.call("GET", "/healthz")[0] != 200 or server.metric("mmcpp_queue_depth") != 0:
        failed.append("not healthy after overload")
    if server.stop() != 0:
        failed.append("does not stop")
    print("FAILED: " + "; ".join(failed) if failed else "passed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
