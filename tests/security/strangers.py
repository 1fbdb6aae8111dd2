"""Connections to a port of another host, kept until the standard input ends: strangers.py ADDRESS PORT COUNT WHAT. Says "there" when it has tried all.

WHAT: nothing; or what goes over each connection, as a number of bytes of it, then silence: noise, web (a request of a browser), fabric (a part of a
request for a connection as libfabric's tcp sends it), acknowledgement (all of it, and a frame that ends a process which lets it in)."""

import contextlib
import random
import resource
import select
import socket
import struct
import sys

# A header of version 3 for 8 bytes, from a machine of the same byte order; a version, the port and the process.
REQUEST = struct.pack("!BBH20x", 3, 0, 8) + struct.pack("=Q", 1) + struct.pack("!BBHI", 0, 0, 4711, 4711)

# Of a message that nobody has sent: libfabric 1.17 looks for it without a question.
ACKNOWLEDGEMENT = struct.pack("=BBHBBBBQ", 3, 0, 0, 2, 0, 16, 0, 16)


def what(kind: str, number: int) -> bytes:
    draw = random.Random(number)
    if kind == "noise":
        return draw.randbytes(draw.randrange(1, 200))
    if kind == "web":
        return b"GET / HTTP/1.1\r\nHost: h0\r\n\r\n"
    if kind == "acknowledgement":
        return REQUEST + ACKNOWLEDGEMENT
    if kind == "fabric":
        return REQUEST[:draw.randrange(1, len(REQUEST))]
    return b""


def main() -> None:
    address, port, count, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    waiting = {}
    made = []
    watch = select.poll()
    for number in range(count):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex((address, port))
        made.append(one)
        waiting[one.fileno()] = (one, what(kind, number))
        watch.register(one, select.POLLOUT)
    while waiting and (ready := watch.poll(1000)):  # it may take no more
        for descriptor, _ in ready:
            one, text = waiting.pop(descriptor)
            watch.unregister(one)
            with contextlib.suppress(OSError):
                one.send(text)
    print("there", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
