"""What a library exports and needs, as nm and readelf show it."""

import os
import pathlib
import re
import subprocess


def exported(library):
    """{name: bytes}; functions have sizes, too."""
    lines = subprocess.run([os.environ["CLUMP_NM"], "-D", "-S", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    return {row[-1].split("@")[0]: int(row[1], 16) if len(row) == 4 else 0 for row in rows}


def needed(library):
    return re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout)


def lines_of_places():
    """Of places.c."""
    lines = pathlib.Path(__file__).with_name("places.c").read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("/* a place */")]
