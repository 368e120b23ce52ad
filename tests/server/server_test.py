"""The example server from outside: answers, refusals, load, stop. Arguments: the program and a spec."""

import contextlib
import http.server
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from client import PLACEHOLDER, Server, bomb_png, data_url, flat_png, integers, png, read_safetensors

PROGRAM, SPEC = sys.argv[1:3]

# the table of README.md; kInternal is a fault of the library, which no request has
STATUSES = {
    "invalid_argument": 400,
    "corrupt_input": 400,
    "bad_source": 400,
    "fetch_failed": 400,
    "limit_exceeded": 413,
    "unsupported": 415,
    "forbidden": 422,
    "busy": 503,
    "deadline_exceeded": 503,
}
# an address, a source file, a symbol, a folder of the server's machine
LEAKS = r"0x[0-9a-f]{6}|\.(cc|h|so)\b|mmcpp::|std::|/(home|root|usr|tmp|proc|opt|build)\b"


class Refusing(unittest.TestCase):
    def refusal(self, answer):
        """Its error, which has every part and tells nothing of the server."""
        status, headers, body = answer
        error = json.loads(body)["error"]
        self.assertEqual(set(error), {"code", "item", "stage", "reason"})
        self.assertEqual(status, STATUSES[error["code"]], body)
        self.assertEqual(headers["Retry-After"], "1" if status == 503 else None)
        self.assertTrue(error["stage"] and error["reason"], body)
        self.assertLess(len(body), 600)
        self.assertNotRegex(body.decode(), LEAKS)
        return error

    def refused(self, answer, status, code, item, stage, reason):
        self.assertEqual(answer[0], status, answer[2])
        error = self.refusal(answer)
        self.assertEqual((error["code"], error["item"], error["stage"]), (code, item, stage), error)
        self.assertIn(reason, error["reason"])


class Metrics(unittest.TestCase):
    """A server that nobody else asks, whose counts are known."""

    def setUp(self):
        self.server = Server(PROGRAM, SPEC, "--workers", 2)

    def tearDown(self):
        self.assertEqual(self.server.stop(), 0)

    def test_health_and_metrics(self):
        self.assertEqual(self.server.call("GET", "/healthz")[0::2], (200, b"ok\n"))
        before = self.server.metric("mmcpp_requests_total")
        self.assertEqual(self.server.preprocess({})[0], 400)
        self.assertEqual(self.server.metric("mmcpp_requests_total"), before + 1)
        self.assertEqual(self.server.metric("mmcpp_queue_depth"), 0)

    def test_metrics_count_what_requests_came_to(self):
        names = ("items", "duplicate_items", "pixels", "media_bytes", "tensor_bytes", "prompt_tokens")
        before = {name: self.server.metric(f"mmcpp_{name}_total") for name in names}
        picture = png(56, 84)
        request = {"input_ids": [PLACEHOLDER] * 2, "images": [data_url(picture)] * 2, "dtype": "uint8"}
        self.assertEqual(self.server.preprocess(request)[0], 200)
        grown = {name: self.server.metric(f"mmcpp_{name}_total") - before[name] for name in names}
        tensor_bytes = 2 * (24 * 1176 + 3 * 8)
        expected = (2, 1, 56 * 84, 2 * len(picture), tensor_bytes, 2)
        self.assertEqual(grown, dict(zip(names, expected, strict=True)))


class Answers(Refusing):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(PROGRAM, SPEC, "--workers", 2, "--max-request-bytes", 1 << 20, "--body-timeout", 2)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def test_json_and_form_give_the_same_tensors(self):
        pictures = [png(56, 84), png(112, 56, 7)]
        ids = [11, PLACEHOLDER, 12, PLACEHOLDER, 13]
        status, headers, body = self.server.preprocess(
            {"input_ids": ids, "images": [data_url(p) for p in pictures], "dtype": "bfloat16"}
        )
        self.assertEqual((status, headers["Content-Type"]), (200, "application/octet-stream"))
        tensors, metadata = read_safetensors(body)
        self.assertEqual(tensors["pixel_values.0"][:2], ("BF16", [24, 1176]))
        self.assertEqual(tensors["pixel_values.1"][:2], ("BF16", [32, 1176]))
        self.assertEqual(integers(tensors["image_grid_thw.0"]), [1, 4, 6])
        self.assertEqual(integers(tensors["offsets"]), [1, 6, 8, 15])
        expanded = [11, *[PLACEHOLDER] * 6, 12, *[PLACEHOLDER] * 8, 13]
        self.assertEqual(integers(tensors["input_ids"]), expanded)
        self.assertEqual(tensors["position_ids"][1], [3, len(expanded)])
        self.assertIn("position_delta", metadata)
        fields = [("image", p) for p in pictures]
        again = self.server.form([("input_ids", json.dumps(ids).encode()), *fields, ("dtype", b"bfloat16")])
        self.assertEqual((again[0], again[2]), (200, body))

    def test_bad_json(self):
        for body, reason in (
            ("", "not JSON"),
            ("{", "not JSON"),
            ("[]", "expected an object"),
            ("[" * 100000, "expected an object"),
            ('{"input_ids": ' + "[" * 100000, "list of int64"),
            ('{"input_ids": [1.5]}', "list of int64"),
            ('{"input_ids": [9223372036854775808]}', "list of int64"),
            ('{"images": [1]}', "list of strings"),
            ('{"input_ids": [1], "input_ids": [2]}', "given twice"),
            ('{"other": 1}', "unknown key"),
            ('{"input_ids": [1], "images": []}', "without images"),
            ('{"images": ["x"]}', "without input_ids"),
            ('{"dtype": "complex"}', "dtype"),
        ):
            answer = self.server.preprocess(body)
            self.refused(answer, 400, "invalid_argument", None, "request", reason)

    def test_refusals_name_item_stage_and_reason(self):
        good = data_url(png(56, 56))
        ids = [PLACEHOLDER, PLACEHOLDER]
        for image, status, code, stage, reason in (
            (data_url(png(56, 56)[:100]), 400, "corrupt_input", "png", ""),
            (data_url(b"hello"), 415, "unsupported", "decode", ""),
            (data_url(b"II*\0" + bytes(100), "image/tiff"), 415, "unsupported", "decode", ""),
            ("data:nothing", 400, "bad_source", "data url", "comma"),
            ("http://127.0.0.1:1/", 422, "forbidden", "policy", "loopback"),
            ("http://169.254.169.254/latest/", 422, "forbidden", "policy", "metadata"),
            ("/etc/passwd", 422, "forbidden", "policy", "not below an allowed folder"),
            ("file:///etc/passwd", 422, "forbidden", "policy", "not below an allowed folder"),
        ):
            with self.subTest(image=image[:40]):
                answer = self.server.preprocess({"input_ids": ids, "images": [good, image]})
                self.refused(answer, status, code, 1, stage, reason)
        mismatch = self.server.preprocess({"input_ids": [1], "images": [good]})
        self.refused(mismatch, 400, "invalid_argument", None, "request", "placeholder")

    def test_limits(self):
        many = {"input_ids": [1], "images": ["data:,"] * 65}
        self.refused(self.server.preprocess(many), 413, "limit_exceeded", None, "request", "64 images")
        at_the_limit = json.dumps({"input_ids": [1], "images": ["data:,x"]}).ljust(1 << 20)
        self.assertEqual(self.server.preprocess(at_the_limit)[0], 415)
        self.refused(self.server.preprocess(at_the_limit + " "), 413, "limit_exceeded", None, "request", "1048576")
        form = self.server.form([("image", bytes(1 << 20)), ("image", b"x")])
        self.refused(form, 413, "limit_exceeded", None, "request", "1048576")

    def test_other_paths_and_methods(self):
        for method, path in (("GET", "/"), ("GET", "/v1/preprocess"), ("POST", "/../../etc/passwd")):
            status, _, body = self.server.call(method, path)
            self.assertEqual((status, json.loads(body)["error"]["code"]), (404, "http"))

    def test_a_slow_client_is_told_and_let_go(self):
        with socket.create_connection(("127.0.0.1", self.server.port)) as connection:
            connection.settimeout(30)
            connection.sendall(b"POST /v1/preprocess HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(8):
                time.sleep(0.4)
                try:
                    connection.sendall(b" ")
                except OSError:
                    break
            self.assertIn(b" 400 ", connection.recv(100))

    def test_clients_that_go_away(self):
        body = json.dumps({"input_ids": [PLACEHOLDER], "images": [data_url(png(600, 600))]}).encode()
        head = b"POST /v1/preprocess HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
        for cut in (0, 10, len(head), len(head) + 1000, len(head) + len(body)):
            with socket.create_connection(("127.0.0.1", self.server.port)) as connection:
                connection.sendall((head + body)[:cut])
        self.assertEqual(self.server.call("GET", "/healthz")[0], 200)


class Redirect(http.server.BaseHTTPRequestHandler):
    """To whatever the path says, behind its slash."""

    def do_GET(self):
        self.send_response(302)
        self.send_header("Location", self.path[1:])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Sources(Refusing):
    """A server that may ask this machine and read one folder."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = Path(cls.folder.name) / "pictures"
        root.mkdir()
        (root / "good.png").write_bytes(png(56, 56))
        (root / "out.png").symlink_to("/etc/passwd")
        cls.root = root
        options = ["--allow-network", "127.0.0.0/8", "--file-root", str(root)]
        cls.server = Server(PROGRAM, SPEC, "--workers", 2, *options)
        cls.web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Redirect)
        threading.Thread(target=cls.web.serve_forever, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.web.shutdown()
        cls.web.server_close()
        assert cls.server.stop() == 0
        cls.folder.cleanup()

    def answer(self, image):
        return self.server.preprocess({"input_ids": [PLACEHOLDER], "images": [image]})

    def test_a_file_of_the_folder(self):
        self.assertEqual(self.answer(str(self.root / "good.png"))[0], 200)
        for image in ("out.png", "../pictures", "../../etc/passwd"):
            answer = self.answer(f"{self.root}/{image}")
            self.refused(answer, 422, "forbidden", 0, "policy", "not below an allowed folder")
        self.refused(self.answer(f"{self.root}/absent"), 400, "fetch_failed", 0, "file", "cannot be opened")

    def test_a_redirect_leads_nowhere_else(self):
        web = f"http://127.0.0.1:{self.web.server_port}/"
        # The reference crate panicked at the first of these.
        for target in ("file:///etc/passwd", f"file://{self.root}/../x", "data:,x", "ftp://127.0.0.1/", "gopher://x/"):
            self.refused(self.answer(web + target), 422, "forbidden", 0, "url", "the redirect leaves http and https")
        for target in ("http://10.0.0.1/", "http://169.254.169.254/latest/", "http://[::1]/"):
            self.refused(self.answer(web + target), 422, "forbidden", 0, "policy", "not allowed")
        self.refused(self.answer(web + "http://127.0.0.1:1\\@x/"), 400, "bad_source", 0, "url", "")

    def test_a_server_that_is_not_there(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # and does not listen
            answer = self.answer(f"http://127.0.0.1:{taken.getsockname()[1]}/")
        self.refused(answer, 400, "fetch_failed", 0, "fetch", "127.0.0.1")

    def test_pictures_too_large(self):
        self.refused(self.answer(data_url(bomb_png(60000, 60000))), 413, "limit_exceeded", 0, "png", "60000x60000")
        tokens = {"input_ids": [1] * ((1 << 20) + 1), "images": [data_url(png(56, 56))]}
        self.refused(self.server.preprocess(tokens), 413, "limit_exceeded", None, "request", "1048576 input_ids")

    def test_whatever_is_sent_the_refusal_is_typed_and_tells_nothing(self):
        generator = random.Random(5)
        request = json.dumps({"input_ids": [1, PLACEHOLDER], "images": [data_url(png(30, 40))], "dtype": "uint8"})
        codes = set()
        for i in range(300):
            if i % 2 == 0:
                picture = bytearray(png(30, 40))
                for _ in range(generator.randrange(1, 8)):
                    picture[generator.randrange(len(picture))] = generator.randrange(256)
                body = json.dumps({"input_ids": [PLACEHOLDER], "images": [data_url(bytes(picture))]}).encode()
            else:
                changed = bytearray(request.encode())
                for _ in range(generator.randrange(1, 4)):
                    changed[generator.randrange(len(changed))] = generator.randrange(256)
                body = bytes(changed[: generator.randrange(len(changed))] if i % 3 == 0 else changed)
            answer = self.server.preprocess(body)
            if answer[0] != 200:
                codes.add(self.refusal(answer)["code"])
        self.assertLessEqual({"invalid_argument", "corrupt_input", "unsupported", "bad_source"}, codes)


class Deadline(unittest.TestCase):
    def test_a_request_ends_at_its_deadline_in_the_middle_of_a_decode(self):
        server = Server(PROGRAM, SPEC, "--workers", 1, "--deadline-ms", 30)
        # Seconds of work, a few kilobytes: the deadline is past long before the last row.
        large = {"input_ids": [PLACEHOLDER], "images": [data_url(flat_png(12000, 12000))]}
        status, headers, body = server.preprocess(large)
        error = json.loads(body)["error"]
        self.assertEqual((status, headers["Retry-After"]), (503, "1"), body)
        self.assertEqual((error["code"], error["item"]), ("deadline_exceeded", None))
        self.assertEqual(error["reason"], "the deadline has passed")
        self.assertIn(error["stage"], ("hash", "decode", "process"))
        self.assertEqual(server.stop(), 0)


class Memory(unittest.TestCase):
    def test_a_server_without_work_gives_back_what_pictures_took(self):
        server = Server(PROGRAM, SPEC, "--workers", 1)
        request = {"input_ids": [PLACEHOLDER], "images": [data_url(png(1000, 1000))]}  # 24 MB of float32
        self.assertEqual(server.preprocess(request)[0], 200)
        used = server.resident_bytes()
        deadline = time.monotonic() + 60
        while server.resident_bytes() > used - (16 << 20) and time.monotonic() < deadline:
            time.sleep(0.5)
        self.assertLess(server.resident_bytes(), used - (16 << 20))
        self.assertEqual(server.stop(), 0)


class Load(Refusing):
    def test_more_than_the_queue_holds_is_shed(self):
        server = Server(PROGRAM, SPEC, "--workers", 1, "--queue", 1)
        request = {"input_ids": [PLACEHOLDER], "images": [data_url(png(900, 900))]}
        answers, lock = [], threading.Lock()

        def client():
            answer = server.preprocess(request)
            with lock:
                answers.append(answer)

        threads = [threading.Thread(target=client) for _ in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        statuses = [answer[0] for answer in answers]
        self.assertEqual(len(statuses), 24)
        self.assertEqual(set(statuses), {200, 503})
        for status, headers, body in answers:
            if status == 503:
                self.assertEqual(self.refusal((status, headers, body))["code"], "busy")
            else:
                self.assertEqual(body, next(a[2] for a in answers if a[0] == 200))
        self.assertEqual(server.preprocess(request)[0], 200)
        self.assertEqual(server.stop(), 0)

    def test_new_requests_are_refused_while_it_stops(self):
        server = Server(PROGRAM, SPEC, "--workers", 1)
        body = json.dumps({"input_ids": [PLACEHOLDER], "images": [data_url(png(56, 56))]}).encode()
        head = f"POST /v1/preprocess HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(head.encode() + body[:-1])
            while server.metric("mmcpp_in_flight") == 0:
                time.sleep(0.01)
            server.process.send_signal(signal.SIGTERM)
            while server.call("GET", "/healthz")[0] == 200:
                time.sleep(0.01)
            error = self.refusal(server.preprocess(body))
            self.assertEqual((error["code"], error["reason"]), ("busy", "stopping"))
            connection.sendall(body[-1:])  # what was accepted is answered
            self.assertIn(b" 200 OK", connection.recv(100))
            while connection.recv(1 << 16):
                pass
        self.assertEqual(server.stop(), 0)

    def test_stop_answers_what_was_accepted(self):
        server = Server(PROGRAM, SPEC, "--workers", 1)
        answers = []
        request = {"input_ids": [PLACEHOLDER] * 8, "images": [data_url(png(900, 900, i)) for i in range(8)]}
        thread = threading.Thread(target=lambda: answers.append(server.preprocess(request)))
        thread.start()
        while server.metric("mmcpp_in_flight") == 0:
            time.sleep(0.01)
        self.assertEqual(server.stop(), 0)
        thread.join()
        self.assertEqual(answers[0][0], 200)
        read_safetensors(answers[0][2])

    def test_heads_in_drops_do_not_keep_it_from_stopping(self):
        server = Server(PROGRAM, SPEC, "--workers", 1)
        connections = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
        for connection in connections:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        self.assertEqual(server.call("GET", "/healthz")[0], 200)  # accepted after them
        ended = threading.Event()

        def drip():
            while not ended.wait(0.5):
                for connection in connections:
                    with contextlib.suppress(OSError):
                        connection.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            self.assertEqual(server.stop(), 0)
        finally:
            server.process.kill()
            ended.set()
            thread.join()

    def test_arguments_that_cannot_be_meant(self):
        for arguments in (
            [],
            ["--spec"],
            ["--spec", "/nonexistent"],
            ["--spec", SPEC, "--port", "x"],
            ["--spec", SPEC, "--allow-network", "10/8"],
            ["--spec", __file__],
        ):
            result = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn("mmcpp_server: ", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
