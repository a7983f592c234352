"""Reader of the view that `judge-view` gets, written from wit/view.md alone.

    python3 read_view.py [view-vectors.json]

reads every vector and compares it with its document. Needs nothing but the standard library.
"""

import json
import struct
import sys
from pathlib import Path

VECTORS = Path(__file__).resolve().parents[3] / "wit" / "view-vectors.json"
NULL, FALSE, TRUE, NUMBER, STRING, ARRAY, OBJECT = range(7)
HEAD, NODE = 4, 16


class View:
    """A parsed document: nodes of a fixed size, then the text to which they refer."""

    def __init__(self, data):
        (self.count,) = struct.unpack_from("<I", data)
        self.data = data
        self.text = data[HEAD + NODE * self.count :]

    def node(self, index):
        """The kind, the key and the last two numbers of a node."""
        if not 0 <= index < self.count:
            raise ValueError(f"no node {index}")
        head, key, one, other = struct.unpack_from("<IIII", self.data, HEAD + NODE * index)
        return head & 0xFF, self.span(key, head >> 8), one, other

    def span(self, start, length):
        """The text of a key, a string or a number. If its length is 0, its start has no meaning."""
        if length and start + length > len(self.text):
            raise ValueError(f"no text of {length} bytes at {start}")
        return self.text[start : start + length].decode() if length else ""

    def parts(self, index):
        """The indices of the parts of an array or object, in order."""
        _, _, _, end = self.node(index)
        part = index + 1
        while part < end:
            yield part
            kind, _, _, after = self.node(part)
            # The end must be greater, because an untrusted view could otherwise cause an endless
            # loop.
            part = max(after, part + 1) if kind in (ARRAY, OBJECT) else part + 1

    def value(self, index=0):
        """The value of a node with all its parts. An interpreter would only read the values that it needs."""
        kind, _, one, other = self.node(index)
        if kind == OBJECT:
            return {self.node(part)[1]: self.value(part) for part in self.parts(index)}
        if kind == ARRAY:
            return [self.value(part) for part in self.parts(index)]
        if kind in (NUMBER, STRING):
            text = self.span(one, other)
            return text if kind == STRING else json.loads(text)
        return {NULL: None, FALSE: False, TRUE: True}[kind]


def main():
    vectors = json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else VECTORS).read_text("utf-8"))
    wrong = 0
    for number, vector in enumerate(vectors):
        value = View(bytes.fromhex(vector["view"])).value()
        # Compared as text, because Python treats 1 and True as equal.
        if json.dumps(value, sort_keys=True) != json.dumps(vector["document"], sort_keys=True):
            wrong += 1
            print(f"vector {number}: read {value!r} instead of {vector['document']!r}")
    print(f"{len(vectors) - wrong} of {len(vectors)} vectors are read right")
    return 1 if wrong or not vectors else 0


if __name__ == "__main__":
    sys.exit(main())
