"""Runs the package beside this file. `clump lab` starts it as `python3 -I`, which takes modules from Python's own folders only: none from the folder that the
user stands in, nor from one that PYTHONPATH names, where a json.py may lie that means something else."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from clump_lab import __main__, printing  # noqa: E402  -- after the folder is known

printing.run(__main__.main)
