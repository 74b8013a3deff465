"""Speaks the conversations of docs/protocol.md, the blocks ```resp, with a daemon over a plain socket, and compares the replies.
TEXT, NUMBER and FENCE stand for any text or number. Prints TAP from number NUMBER on. Usage: protocol.py FILE SOCKET NUMBER"""

import re
import socket
import sys

path, place, number = sys.argv[1], sys.argv[2], int(sys.argv[3])


def read(stream):
    line = stream.readline().rstrip(b"\r\n").decode()
    kind, rest = line[0], line[1:]
    if kind == "+":
        return rest
    if kind == "-":
        return "(error) " + rest
    if kind == ":":
        return rest
    if kind == "_":
        return "null"
    if kind == "#":
        return {"t": "true", "f": "false"}[rest]
    if kind == "$":
        text = stream.read(int(rest) + 2)[:-2].decode() if rest != "-1" else None
        return '"%s"' % text if text is not None else "null"
    if kind in "*>":
        return "[" + ", ".join(read(stream) for _ in range(int(rest))) + "]"
    if kind == "%":
        return "{" + ", ".join("%s: %s" % (read(stream), read(stream)) for _ in range(int(rest))) + "}"
    raise ValueError(line)


for block in re.findall(r"^```resp\n(.*?)^```", open(path).read(), re.S | re.M):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(place)
        stream = client.makefile("rb")
        for said, expected in re.findall(r"^> (.*)\n< (.*)\n", block, re.M):
            client.sendall(said.encode() + b"\r\n")
            reply = read(stream)
            pattern = re.escape(expected).replace("TEXT", '"[^"]*"').replace("NUMBER", "[0-9]+").replace("FENCE", "[0-9]+")
            number += 1
            good = re.fullmatch(pattern, reply)
            if not good:
                print("# expected %s\n# got      %s" % (expected, reply))
            print("%sok %d - docs/protocol.md: %s" % ("" if good else "not ", number, said))
