"""Counts cache-line transfers of collectives (coherence.py), and writes docs/performance/many-cores.md and its charts.

usage: ./dev bench --transfers              writes them
       ./dev bench --transfers --check      fails where they are not what would be written"""

import argparse
import sys

from . import page


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --transfers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    differ = False
    for name, text in page.pages().items():
        file = page.FOLDER / name
        if file.exists() and file.read_text() == text:
            continue
        differ = True
        if options.check:
            print(f"{file}: is not what is counted; './dev bench --transfers' writes it again")
        else:
            file.write_text(text)
            print(f"written: {file}")
    return 1 if options.check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
