"""Histories in an object store that fails at some request.

Shows: `ingest s3://…` gives the tables of the same files in a folder, or ends with an error that names the address, without a trace and
with nothing hidden beside it. A store whose objects change meanwhile gives the tables of one version or an error, never a mixture.
"""

import contextlib
import hashlib
import json
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import worlds
from harness import Wrong

BUCKET, PREFIX = "logs", "history"
# The kinds of failures. The first shows that the stand-in is a store as resched needs it.
FAULTS = [
    "none",
    "cut",
    "reset",
    "reset midway",
    "500",
    "503",
    "404",
    "403",
    "too short",
    "too long",
    "whole object",
    "other range",
    "changed",
    "damaged list",
    "page by page",
    "slow",
]
# A page of a list has this many objects, if it comes page by page.
PAGE = 1
SLOW = 0.3
# An entry that is hard to pack, so that an object has several ranges.
NOISE = 200


class Part:
    name = "store"

    def __init__(self, binary):
        pass

    def make(self, rng):
        return {
            "logs": [[rng.choice([1, 20, 900, 3000]), rng.random() < 0.3] for _ in range(rng.randint(1, 4))],
            "fault": rng.choice(FAULTS),
            # At which request it fails first, how many requests fail, and after which part of the body.
            "at": rng.choice([0, 1, 2, 3, 5, rng.randrange(12)]),
            "times": rng.choice([1, 1, 2, 5, 1000]),
            "place": rng.random(),
            "merge": rng.random() < 0.5,
            "over": rng.random() < 0.3,
            "seed": rng.randrange(1000),
        }

    def smaller(self, case):
        for logs in worlds.halves(case["logs"]):
            yield case | {"logs": logs}
        for place, (lines, packed) in enumerate(case["logs"]):
            if lines > 1:
                yield case | {"logs": case["logs"][:place] + [[lines // 2, packed]] + case["logs"][place + 1 :]}

    def judge(self, case, room):
        first, second = ({name: log for name, log in version(case, number)} for number in (0, 1))
        more = ["--merge"] if case["merge"] else []
        expected = [self.local(room, f"{PREFIX}-{number}", files, more) for number, files in enumerate((first, second))]
        if case["over"]:
            room.ok("ingest", f"{PREFIX}-1", "--out", "S")
        before = room.tree("S") if case["over"] else {}
        with store(case, first, second) as (port, server):
            args = ["ingest", f"s3://{BUCKET}/{PREFIX}", *more, "--out", "S", *(["--force"] if case["over"] else [])]
            ran = room.any(*args, environment=environment(port))
        if ran.code == 0:
            found = tables(room.tree("S"))
            if found != expected[0] and not (case["fault"] == "changed" and found == expected[1]):
                raise Wrong("other tables than from a folder", f"{case['fault']}: {ran} after {server.requests} requests")
            return
        if case["fault"] in ("none", "page by page", "slow"):
            raise Wrong("a sound store is refused", str(ran))
        if f"s3://{BUCKET}" not in ran.err:
            raise Wrong("an error without the address", str(ran))
        left = {name for name in room.tree(".") if not name.startswith(PREFIX) and name.split("/")[0] not in ("L0", "L1")}
        if left != {f"S/{name}" for name in before} or (room.tree("S") if case["over"] else {}) != before:
            raise Wrong("what an error leaves behind", f"{sorted(left)}: {ran}")

    def local(self, room, folder, files, more):
        """The tables of the same files in a folder."""
        for name, data in files.items():
            room.write(f"{folder}/{name}", data)
        out = f"L{folder[-1]}"
        room.ok("ingest", folder, *more, "--out", out)
        return tables(room.tree(out))


def tables(tree):
    """The bytes of all tables. The manifest names its sources, which are in different places."""
    return {name: data for name, data in tree.items() if name != "trace.json"}


def version(case, number):
    """The objects: logs of Spark applications, some of which roll over. Another version has other times."""
    for place, (lines, rolls) in enumerate(case["logs"]):
        data = log(f"app-{place}", lines, number, case["seed"])
        if rolls:
            cut = data.index(b"\n", len(data) // 2) + 1
            yield f"eventlog_v2_app-{place}/events_1_app-{place}", data[:cut]
            yield f"eventlog_v2_app-{place}/events_2_app-{place}", data[cut:]
        else:
            yield f"app-{place}", data


def log(name, lines, number, seed):
    events = [
        {"Event": "SparkListenerLogStart", "Spark Version": "4.0.0"},
        {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": name, "Timestamp": 1000, "User": "ann"},
        {"Event": "SparkListenerExecutorAdded", "Timestamp": 1000, "Executor ID": "1", "Executor Info": {"Host": "h1", "Total Cores": 4}},
        {"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 1000, "Stage Infos": [], "Stage IDs": [0]},
    ]
    for task in range(lines):
        launch = 1000 + task + 7 * number
        info = {"Task ID": task, "Index": task, "Attempt": 0, "Launch Time": launch, "Executor ID": "1", "Host": "h1", "Locality": "ANY"}
        own = {"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask"}
        noise = hashlib.sha256(f"{seed} {name} {task}".encode()).hexdigest() * (NOISE // 64)
        end = {"Task End Reason": {"Reason": "Success"}, "Task Info": info | {"Finish Time": launch + 1000}, "Noise": noise}
        events.append(own | end)
    events.append({"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": 90_000, "Job Result": {"Result": "JobSucceeded"}})
    return "".join(json.dumps(event) + "\n" for event in events).encode()


def environment(port):
    return {
        "AWS_ENDPOINT": f"http://127.0.0.1:{port}",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "name",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }


# ---- the stand-in of a store ----


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, case, first, second):
        super().__init__(("127.0.0.1", 0), Handler)
        self.case, self.versions, self.lock = case, (first, second), threading.Lock()
        self.requests = 0

    def turn(self):
        """The failure of the next request, and the objects that it meets."""
        with self.lock:
            number = self.requests
            self.requests += 1
        fails = self.case["at"] <= number < self.case["at"] + self.case["times"]
        objects = self.versions[1 if self.case["fault"] == "changed" and number >= self.case["at"] else 0]
        # A list that comes page by page is one in all requests.
        always = self.case["fault"] == "page by page"
        return (self.case["fault"] if fails or always else "none"), {f"{PREFIX}/{name}": data for name, data in objects.items()}

    def handle_error(self, request, client_address):
        """A client that breaks a connection is no error of the soak."""


@contextlib.contextmanager
def store(case, first, second):
    """A store on this machine, while the block runs."""
    server = Server(case, first, second)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.server_address[1], server
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

    def answer(self):
        self.fault, objects = self.server.turn()
        if self.fault == "slow":
            time.sleep(SLOW)
        if self.fault == "reset":
            return self.reset()
        refused = {"500": "InternalError", "503": "SlowDown", "404": "NoSuchKey", "403": "AccessDenied"}
        if self.fault in refused:
            body = f"<Error><Code>{refused[self.fault]}</Code><Message>no</Message></Error>".encode()
            return self.send(int(self.fault), body, {"Content-Type": "application/xml"})
        place = urlsplit(self.path)
        key = unquote(place.path).strip("/").partition("/")[2]
        query = parse_qs(place.query)
        if self.command == "GET" and not key:
            return self.listed(objects, query)
        if key not in objects:
            return self.send(404, b"<Error><Code>NoSuchKey</Code></Error>", {"Content-Type": "application/xml"})
        return self.object(objects[key])

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
            f"<Name>{BUCKET}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount><MaxKeys>1000</MaxKeys>"
            f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>{more}{entries}</ListBucketResult>"
        )
        if self.fault == "damaged list":
            text = text[: int(self.server.case["place"] * len(text))]
        self.send(200, text.encode(), {"Content-Type": "application/xml"})

    def object(self, data):
        headers = {"ETag": tag(data), "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "Accept-Ranges": "bytes"}
        asked = self.headers.get("If-Match")
        if asked and asked != tag(data):
            return self.send(412, b"<Error><Code>PreconditionFailed</Code></Error>", {"Content-Type": "application/xml"})
        span = self.headers.get("Range")
        if span is None or self.fault == "whole object":
            return self.send(200, data, headers)
        start, _, end = span.removeprefix("bytes=").partition("-")
        start, end = int(start), min(len(data), int(end) + 1 if end else len(data))
        if self.fault == "other range":
            start = max(0, start - 1)
        self.send(206, data[start:end], headers | {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}"})

    def send(self, status, body, headers):
        """Sends an answer, as far as the failure lets it."""
        length = len(body)
        cut = int(self.server.case["place"] * length)
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
