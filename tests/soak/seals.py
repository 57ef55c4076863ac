"""The seals of resched's files, so that a forger's files can be made. docs/how-to/check-result.md: hashes show damage, not forgery."""

import hashlib
import json
import struct


def sealed(fields):
    """A marker with its seal: the hash of all bytes before it."""
    text = json.dumps({key: value for key, value in fields.items() if key != "seal"}, indent=2, ensure_ascii=False)
    body = text.rstrip().removesuffix("}").rstrip().encode()
    return body + b',\n  "seal": "' + hashlib.sha256(body).hexdigest().encode() + b'"\n}\n'


HEAD = b"RESCHED\x01"


def resealed_cell(name, data):
    """The file of a cell after its bytes were changed, with a seal that fits them. The seal stands before the footer."""
    footer = len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]
    start = footer - len(HEAD) - 64
    if start < 0 or footer > len(data) or data[start : start + len(HEAD)] != HEAD:
        return data
    rest = data[:start] + data[footer:]
    seal = hashlib.sha256(name.encode() + b"\0" + rest).hexdigest().encode()
    return data[:start] + HEAD + seal + data[footer:]
