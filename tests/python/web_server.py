"""A web server on loopback whose paths say what it does."""

import gzip
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

BOMB = gzip.compress(bytes(1 << 20), 9)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.seen.append((self.requestline, dict(self.headers)))
        name, _, argument = self.path[1:].partition("/")
        if self.path.startswith("/to?"):
            self.reply(302, b"", {"Location": unquote(self.path[4:])})
        elif name == "redirects":
            status, _, target = argument.partition("/")
            self.reply(int(status), b"", {"Location": unquote(target)})
        elif name == "redirect":
            left = int(argument)
            self.reply(302, b"", {"Location": f"/redirect/{left - 1}"}) if left else self.reply(200, b"end")
        elif name == "loop":
            self.reply(302, b"", {"Location": ""})  # the same again
        elif name == "status":
            self.reply(int(argument), b"no")
        elif name == "size":
            self.reply(200, bytes(int(argument)))
        elif name == "chunked":
            self.start(200, {"Transfer-Encoding": "chunked"})
            for piece in (b"he", b"llo", b""):
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        elif name == "gzip":
            self.reply(200, gzip.compress(argument.encode()), {"Content-Encoding": "gzip"})
        elif name == "bomb":  # decodes to a thousand times its size
            self.reply(200, BOMB * int(argument), {"Content-Encoding": "gzip"})
        elif name == "short":
            self.start(200, {"Content-Length": "10"})
            self.wfile.write(b"short")
            self.close_connection = True
        elif name == "drip":
            self.start(200, {"Content-Length": "1000000"})
            self.drip()
        elif name == "hang":
            self.server.closing.wait(60)
            self.close_connection = True
        else:
            self.reply(200, self.path.encode())

    def do_CONNECT(self):
        self.server.seen.append((self.requestline, dict(self.headers)))
        self.reply(502, b"no tunnel here")

    def start(self, status, headers):
        self.send_response(status)
        for header in headers.items():
            self.send_header(*header)
        self.end_headers()

    def reply(self, status, body, headers=None):
        self.start(status, {"Content-Length": str(len(body)), **(headers or {})})
        try:
            self.wfile.write(body)
        except OSError:  # the client has had enough
            self.close_connection = True

    def drip(self):
        self.close_connection = True
        try:
            while not self.server.closing.wait(0.02):
                self.wfile.write(b"x")
        except OSError:
            pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):  # a client that goes away is part of the tests
        pass


class WebServer:
    def __init__(self, certificate=None, host="127.0.0.1"):
        self.host = host
        self.server = Server((host, 0), Handler)
        self.server.seen = []
        self.server.closing = threading.Event()
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.scheme = "https"

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.closing.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    @property
    def port(self):
        return self.server.server_port

    @property
    def seen(self):
        """The request lines and headers so far."""
        return self.server.seen

    def url(self, path="/"):
        return f"{self.scheme}://{self.host}:{self.port}{path}"
