"""Does the check find what it is for?"""

import tempfile
import unittest
from pathlib import Path

import check_includes


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        (self.root / "src").mkdir()

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / "src" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def test_downward_includes_are_fine(self):
        self.write("p2p/a.cc", '#include "core/comm.h"\n#include "base/status.h"\n#include <vector>\n')
        self.assertEqual(list(check_includes.check_layers(self.root)), [])

    def test_upward_include_is_named_with_its_line(self):
        self.write("base/a.h", '#pragma once\n\n#include "core/comm.h"\n')
        problems = list(check_includes.check_layers(self.root))
        self.assertEqual(problems, ["src/base/a.h:3: layer base may not include core/comm.h"])

    def test_sideways_include_is_found(self):
        self.write("datatype/a.cc", '#  include <fiber/completion.h>\n')
        self.assertEqual(len(list(check_includes.check_layers(self.root))), 1)

    def test_unknown_folder_is_found(self):
        self.write("extra/a.cc", "")
        self.assertEqual(len(list(check_includes.check_layers(self.root))), 1)

    def test_layers_have_no_cycle(self):
        for layer, below in check_includes.BELOW.items():
            for other in below:
                self.assertNotIn(layer, check_includes.allowed(other))


if __name__ == "__main__":
    unittest.main()
