"""Printing to a reader that ends first, as `head` does, is no error."""

import os
import sys


def run(main):
    """Runs main() and ends with its result as exit code; with 141 and without a word, as programs that SIGPIPE ends, when nobody reads its output
    any more; with 130 after Ctrl-C. SIGPIPE itself stays ignored: a program that has ended does not end what writes to it."""
    try:
        try:
            code = main()
        except SystemExit as ended:
            code = ended.code
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter writes once more when it ends
        code = 141
    sys.exit(code)
