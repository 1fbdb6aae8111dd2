"""gdb loads this file together with libmpi_abi.so.1, beside which it lies: what it knows of Clump's ranks is clump_gdb."""

import os
import sys

if "clump_gdb" not in sys.modules:  # a second process may have loaded the library
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    import clump_gdb.commands

    clump_gdb.commands.register()
    sys.dont_write_bytecode = writes_bytecode
    del sys.path[0]
