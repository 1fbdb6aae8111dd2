"""Does ld.so look for the libraries of an installed binary, which is still in the build tree, in folders of ours and of the system alone? An empty element of a
run path, or a relative one, is the folder that the user stands in.

  check_run_paths.py READELF FILE...
"""

import re
import subprocess
import sys

RUN_PATH = re.compile(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]")


def problems_in(dynamic_section):
    """`dynamic_section`: what readelf -d says of a file."""
    for run_path in RUN_PATH.findall(dynamic_section):
        for folder in run_path.split(":"):
            if not re.match(r"/|\$ORIGIN(/|$)", folder):
                yield f"the run path '{run_path}' has an element '{folder}', which is the working folder or lies in it"


def main():
    readelf, *files = sys.argv[1:]
    found = 0
    problems = []
    for file in files:
        said = subprocess.run([readelf, "-dW", file], check=True, capture_output=True, text=True).stdout
        found += len(RUN_PATH.findall(said))
        problems += [f"{file}: {problem}" for problem in problems_in(said)]
    print("\n".join(problems) or f"{found} run paths in {len(files)} files")
    return int(bool(problems) or found == 0)  # some of ours have one: without any, we have not looked


if __name__ == "__main__":
    sys.exit(main())
