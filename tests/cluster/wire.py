"""A stand-in for ssh whose stream crosses the network of its hosts (hosts.sh), which the usual one's does not: for tests that cut it.

usage: wire.py CLUSTER [options] HOST COMMAND...        in ssh's place
       wire.py --at ADDRESS PORT COMMAND                what it runs on HOST: a shell with a connection as its standard input and output
"""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import threading

HOSTS = pathlib.Path(__file__).resolve().with_name("hosts.sh")


def there(address: str, port: str, command: str) -> None:
    try:
        line = socket.create_connection((address, int(port)), 10)
    except OSError as problem:
        sys.exit(f"wire: connect to address {address}: {problem}")
    line.setblocking(True)
    call("sshd")
    shell = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    threading.Thread(target=give, args=(line, shell.stdin), daemon=True).start()
    carry(shell.stdout.fileno(), line)
    shell.wait()


def give(line: socket.socket, target) -> None:
    with contextlib.suppress(OSError):
        while data := line.recv(1 << 16):
            os.write(target.fileno(), data)
    target.close()


def call(name: str) -> None:
    """What ps shows, for tests that look for it."""
    pathlib.Path("/proc/self/comm").write_text(name)


def carry(source: int, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := os.read(source, 1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def here(cluster: str, *words: str) -> int:
    host, *command = [word for i, word in enumerate(words) if any(not one.startswith("-") for one in words[:i + 1])]
    call("ssh")
    listener = socket.create_server((socket.gethostbyname(socket.gethostname()), 0))
    address, port = listener.getsockname()
    inner = [HOSTS, "run", cluster, host, sys.executable, __file__, "--at", address, port, " ".join(command)]
    child = subprocess.Popen([*map(str, inner)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    listener.settimeout(0.1)
    line = None
    while line is None and child.poll() is None:
        with contextlib.suppress(TimeoutError):
            line, _ = listener.accept()
    listener.close()
    if line is None:
        return 255
    line.setblocking(True)
    threading.Thread(target=carry, args=(0, line), daemon=True).start()
    with contextlib.suppress(OSError):
        while data := line.recv(1 << 16):
            os.write(1, data)
    code = child.wait()
    return 255 if code < 0 or code >= 128 else code


if __name__ == "__main__":
    if sys.argv[1] == "--at":
        there(*sys.argv[2:])
    sys.exit(here(*sys.argv[1:]))
