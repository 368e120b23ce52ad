"""The example server from outside: answers, refusals, load, stop. Arguments: the program and a spec."""

import json
import socket
import subprocess
import sys
import threading
import time
import unittest

from client import PLACEHOLDER, Server, data_url, flat_png, integers, png, read_safetensors

PROGRAM, SPEC = sys.argv[1:3]


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(PROGRAM, SPEC, "--workers", 2, "--max-request-bytes", 1 << 20, "--body-timeout", 2)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def refused(self, answer, status, code, item, stage, reason):
        self.assertEqual(answer[0], status, answer[2])
        error = json.loads(answer[2])["error"]
        self.assertEqual((error["code"], error["item"], error["stage"]), (code, item, stage), error)
        self.assertIn(reason, error["reason"])
        self.assertNotRegex(answer[2].decode(), r"0x[0-9a-f]{6}|\.cc|\.h:|/home|/root|/usr|/tmp")

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


class Load(unittest.TestCase):
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
                self.assertEqual(headers["Retry-After"], "1")
                self.assertEqual(json.loads(body)["error"]["code"], "busy")
            else:
                self.assertEqual(body, next(a[2] for a in answers if a[0] == 200))
        self.assertEqual(server.preprocess(request)[0], 200)
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
