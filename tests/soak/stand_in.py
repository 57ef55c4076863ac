"""A stand-in of an object store on this machine, which fails at some requests. It knows as much of the interface of S3 as resched uses."""

import contextlib
import hashlib
import socket
import struct
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

# The answers that refuse a request, with the word of the store.
REFUSALS = {"500": "InternalError", "503": "SlowDown", "404": "NoSuchKey", "403": "AccessDenied", "409": "OperationAborted"}
# A page of a list has this many objects, if it comes page by page.
PAGE = 1
SLOW = 0.3
XML = {"Content-Type": "application/xml"}


@dataclass
class Fault:
    """How a store fails: at which of the requests with these methods first, how many of them fail, and after which share of a body."""

    kind: str = "none"
    at: int = 0
    times: int = 0
    place: float = 0.0
    methods: tuple = ("HEAD", "GET", "PUT")

    @classmethod
    def of(cls, case):
        return cls(case["fault"], case["at"], case["times"], case["place"], tuple(case.get("methods", cls.methods)))


class Server(ThreadingHTTPServer):
    """A store with one bucket. `later` are the objects from the failing request on, if the fault is that they change."""

    daemon_threads = True

    def __init__(self, bucket, objects, fault, later):
        super().__init__(("127.0.0.1", 0), Handler)
        self.bucket, self.objects, self.fault, self.later = bucket, objects, fault, later
        self.lock = threading.Lock()
        self.requests = 0

    def turn(self, method):
        """The failure of the next request, and the objects that it meets."""
        with self.lock:
            fault, number = self.fault, self.requests
            if method not in fault.methods:
                return "none", dict(self.objects)
            self.requests += 1
            if fault.kind == "changed" and number >= fault.at:
                self.objects = self.later
            # A list that comes page by page is one in all requests.
            fails = fault.at <= number < fault.at + fault.times or fault.kind == "page by page"
            return (fault.kind if fails else "none"), dict(self.objects)

    def keep(self, key, data):
        with self.lock:
            self.objects[key] = data

    def heal(self):
        """No request fails from now on."""
        with self.lock:
            self.fault = Fault()

    def environment(self):
        """What points resched to this store."""
        address = f"http://127.0.0.1:{self.server_address[1]}"
        return {
            "AWS_ENDPOINT": address,
            "AWS_ENDPOINT_URL": address,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "name",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }

    def handle_error(self, request, client_address):
        """A client that breaks a connection is no error of the soak."""


@contextlib.contextmanager
def store(bucket, objects, fault, later=None):
    """A store on this machine, while the block runs."""
    server = Server(bucket, objects, fault, later)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing is printed."""

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def do_PUT(self):
        self.begin()
        length = int(self.headers["Content-Length"])
        if self.fault == "reset midway":
            self.rfile.read(self.cut(length))
            return self.reset()
        data = self.rfile.read(length)
        if len(data) < length:
            # The client has gone, and a store keeps whole objects only.
            return self.close()
        if self.fault == "reset":
            return self.reset()
        if self.fault in REFUSALS:
            # To put an object where none was is no error. So what is not found is the bucket.
            return self.refuse(int(self.fault), "NoSuchBucket" if self.fault == "404" else REFUSALS[self.fault])
        if self.fault != "lost":
            self.server.keep(self.key, data[: self.cut(length)] if self.fault == "half" else data)
        if self.fault == "kept, reset":
            return self.reset()
        if self.fault == "kept, 500":
            return self.refuse(500, REFUSALS["500"])
        self.send(200, b"", {"ETag": tag(data)})

    def begin(self):
        self.fault, self.objects = self.server.turn(self.command)
        self.place = urlsplit(self.path)
        self.key = unquote(self.place.path).strip("/").partition("/")[2]
        if self.fault == "slow":
            time.sleep(SLOW)

    def answer(self):
        self.begin()
        if self.fault == "reset":
            return self.reset()
        if self.fault in REFUSALS:
            return self.refuse(int(self.fault), REFUSALS[self.fault])
        if self.command == "GET" and not self.key:
            return self.listed(self.objects, parse_qs(self.place.query))
        if self.key not in self.objects:
            return self.refuse(404, "NoSuchKey")
        if self.fault == "other object":
            return self.object(self.objects[max(self.objects.keys() - {self.key}, default=self.key)])
        return self.object(self.objects[self.key])

    def listed(self, objects, query):
        prefix, after = query.get("prefix", [""])[0], query.get("continuation-token", [""])[0]
        names = sorted(name for name in objects if name.startswith(prefix) and name > after)
        page = names[:PAGE] if self.fault == "page by page" else names
        entries = "".join(
            f"<Contents><Key>{escape(name)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
            f"<ETag>{escape(tag(objects[name]))}</ETag><Size>{len(objects[name])}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            for name in page
        )
        more = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if len(page) < len(names) else ""
        text = (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{self.server.bucket}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount><MaxKeys>1000</MaxKeys>"
            f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>{more}{entries}</ListBucketResult>"
        )
        if self.fault == "damaged list":
            text = text[: self.cut(len(text))]
        self.send(200, text.encode(), XML)

    def object(self, data):
        headers = {"ETag": tag(data), "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "Accept-Ranges": "bytes"}
        asked = self.headers.get("If-Match")
        if asked and asked != tag(data):
            return self.refuse(412, "PreconditionFailed")
        if self.fault == "damaged" and data:
            place = min(self.cut(len(data)), len(data) - 1)
            data = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        span = self.headers.get("Range")
        if span is None or self.fault == "whole object":
            return self.send(200, data, headers)
        start, _, end = span.removeprefix("bytes=").partition("-")
        start, end = int(start), min(len(data), int(end) + 1 if end else len(data))
        if self.fault == "other range":
            start = max(0, start - 1)
        self.send(206, data[start:end], headers | {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}"})

    def refuse(self, status, word):
        self.send(status, f"<Error><Code>{word}</Code><Message>no</Message></Error>".encode(), XML)

    def cut(self, length):
        """How many of these bytes come through."""
        return int(self.server.fault.place * length)

    def send(self, status, body, headers):
        """Sends an answer, as far as the failure lets it."""
        length = len(body)
        cut = self.cut(length)
        if self.fault == "too short":
            body, length = body[:cut], cut
        elif self.fault == "too long":
            length += 1 + cut
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.fault in ("cut", "reset midway", "too long"):
            with contextlib.suppress(OSError):
                self.wfile.write(body if self.fault == "too long" else body[:cut])
                self.wfile.flush()
            return self.reset() if self.fault == "reset midway" else self.close()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def close(self):
        self.close_connection = True

    def reset(self):
        """Ends the connection by a reset, so that the client sees an error."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with contextlib.suppress(OSError):
            self.connection.close()
        self.close_connection = True


def tag(data):
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'
