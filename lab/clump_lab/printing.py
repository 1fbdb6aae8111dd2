"""What the lab prints and writes. A reader that ends first, as `head` does, is no error; what other programs have said (versions, errors, names of
hosts) is shown without its control characters; files are not written through links of others."""

import os
import secrets
import stat
import sys
from pathlib import Path


def printable(text):
    """Its control characters, but line breaks and tabs, as \\x1b: a terminal would obey them."""
    shown = lambda c: f"\\x{ord(c):02x}" if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 else c  # noqa: E731
    return "".join(map(shown, str(text)))


def file_name(text):
    """As the name of a file, or part of it: letters, digits, and -_.+ behind the first; no folder, and not hidden."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_+" or (c == "." and at)) else "_" for at, c in enumerate(text)) or "_"


def write_file(path, text):
    """The whole file or none of it. What is there is replaced: a link that another user has put there is not followed."""
    path = Path(path)
    fresh = path.with_name(f".{secrets.token_hex(8)}.new")
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


class NotOurs(Exception):
    pass


def own_folder(path):
    """Makes the folder. NotOurs if it is another user's, or all may write to it: programs in it are run."""
    path = Path(path)
    path.mkdir(mode=0o775, parents=True, exist_ok=True)
    info = path.stat()
    if info.st_uid != os.geteuid():
        raise NotOurs(f"{path} belongs to another user (uid {info.st_uid}), and what is built there is run: name another folder")
    if info.st_mode & stat.S_IWOTH:
        raise NotOurs(f"all users may write to {path}, and what is built there is run: name another folder, or 'chmod o-w' it")


def run(main):
    """Runs main() and ends with its result as exit code; with 141 and without a word, as programs that SIGPIPE ends, when nobody reads its output
    any more; with 130 after Ctrl-C. SIGPIPE itself stays ignored: a program that has ended does not end what writes to it."""
    try:
        try:
            code = main()
        except SystemExit as ended:
            code = printable(ended.code) if isinstance(ended.code, str) else ended.code
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter writes once more when it ends
        code = 141
    sys.exit(code)
