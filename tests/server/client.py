"""What the tests and the load test of the example server share: the process, pictures, requests."""

import base64
import http.client
import json
import os
import re
import signal
import struct
import subprocess
import zlib
from pathlib import Path

PLACEHOLDER = 151655  # image_token_id of cpp/examples/server/qwen2_vl.json


class Server:
    def __init__(self, program, spec, *arguments):
        command = [program, "--spec", spec, *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.port = int(re.fullmatch(r"listening on http://.*:(\d+)\n", line).group(1))

    def stop(self):
        """Its exit status after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        self.process.stdout.close()
        return self.process.wait(60)

    def resident_bytes(self):
        text = Path(f"/proc/{self.process.pid}/statm").read_text()
        return int(text.split()[1]) * os.sysconf("SC_PAGESIZE")

    def call(self, method, path, body=None, headers=None, timeout=60):
        """Status, headers, body of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def preprocess(self, value, **options):
        body = value if isinstance(value, (bytes, str)) else json.dumps(value)
        return self.call("POST", "/v1/preprocess", body, {"Content-Type": "application/json"}, **options)

    def form(self, fields, **options):
        boundary = "end-of-field"
        body = b""
        for name, content in fields:
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="x"\r\n\r\n'
            body += head.encode() + content + b"\r\n"
        body += f"--{boundary}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return self.call("POST", "/v1/preprocess", body, headers, **options)

    def metric(self, name):
        text = self.call("GET", "/metrics")[2].decode()
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.M))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(height, width, seed=1):
    """A grey PNG, one gradient per seed."""
    rows = b"".join(b"\0" + bytes((x * seed + y * 3) & 255 for x in range(width)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def flat_png(height, width):
    """A black one, made as quickly as it is sent."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes((width + 1) * height), 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def bomb_png(height, width):
    """A header, and no pixels that would keep its promise."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"x")


def data_url(data, kind="image/png"):
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def read_safetensors(body):
    """Tensors as (dtype, shape, bytes), and the metadata; refuses gaps and a wrong length."""
    (length,) = struct.unpack("<Q", body[:8])
    header = json.loads(body[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        if begin != end:
            raise ValueError(f"a gap before {name}")
        end = stop
        tensors[name] = (entry["dtype"], entry["shape"], body[8 + length + begin : 8 + length + stop])
    if 8 + length + end != len(body):
        raise ValueError("bytes behind the last tensor")
    return tensors, metadata


def integers(tensor):
    return list(struct.unpack(f"<{len(tensor[2]) // 8}q", tensor[2]))
