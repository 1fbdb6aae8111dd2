"""Does nothing of ours have a destructor that runs when the process ends? WorkerThreads, the monitor, the network's thread and other ranks still
run then, and would use what is gone. So what lives as long as the process is made by `static auto& x = *new T` and never destroyed.

  check_exit.py SRC OBJDUMP LIBRARY...
"""

import re
import subprocess
import sys
from pathlib import Path

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
# The C library's function for that, which the compiler calls behind a variable's constructor: by name, or by way of an address that ld.so
# fills in.
CALL = re.compile(r"\s(?:callq?|jmpq?|bl?)\s.*(?:<__cxa_atexit(?:@plt)?>$|# ([0-9a-f]+) <)")
# The C++ runtime's own, and the functions behind which a program's registrations come in.
RUNTIME = re.compile(r"^(_ZN?K?St|_ZN?K?10__cxxabiv1|atexit$|__cxa_atexit)")
INITIALISER = re.compile(r"^_GLOBAL__sub_I_([\w-]+\.cc)$")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def callers(objdump, library):
    relocations = (line.split() for line in output_of(objdump, "-R", library).splitlines())
    filled_in = {int(words[0], 16) for words in relocations if len(words) == 3 and words[2].startswith("__cxa_atexit")}
    function = ""
    for line in output_of(objdump, "-d", "--no-show-raw-insn", library).splitlines():
        if begin := FUNCTION.match(line):
            function = begin[1]
        elif (call := CALL.search(line)) and (call[1] is None or int(call[1], 16) in filled_in):
            yield function


def is_runtimes(function, our_files):
    initialiser = INITIALISER.match(function)
    if initialiser is not None:
        return initialiser[1] not in our_files
    return bool(RUNTIME.match(function)) and "clump" not in function  # as a template's argument


def main():
    src, objdump, *libraries = sys.argv[1:]
    our_files = {path.name for path in Path(src).rglob("*.cc")}
    wrong = False
    for library in libraries:
        found = list(callers(objdump, library))
        ours = sorted({function for function in found if not is_runtimes(function, our_files)})
        print(f"{library}: {len(found)} registrations of destructors, ours: {', '.join(ours) or 'none'}")
        wrong |= bool(ours) or not found  # the C++ runtime has some: without any, we have not looked
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
