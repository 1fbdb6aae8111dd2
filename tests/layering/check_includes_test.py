"""Does the check find what it is for?"""

import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import check_blocking
import check_environment
import check_includes
import check_maps
import check_run_paths
import check_words


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

    def write_precompiled(self, *headers):
        (self.root / "cmake").mkdir()
        listed = " ".join(f"<{header}>" for header in headers)
        (self.root / "cmake" / "Precompiled.cmake").write_text(f"set(CLUMP_PRECOMPILED\n  {listed})\n")

    def test_tools_print_what_is_printable(self):
        (self.root / "tools/clump").mkdir(parents=True)
        path = self.root / "tools/clump/a.cc"
        path.write_text('tools::print_error("{}", name);\nfmt::print(stderr, "\\r{}", done);\n')
        self.assertEqual(list(check_includes.check_printing(self.root)), [])
        for text in ('fmt::print("{}", name);', 'fmt::print(stderr, "{}", name);', 'std::cerr << name;', 'std::fputs(name, stderr);'):
            path.write_text(f"\n{text}\n")
            [problem] = check_includes.check_printing(self.root)
            self.assertTrue(problem.startswith("tools/clump/a.cc:2: "), problem)

    def test_a_precompiled_header_has_to_be_included(self):
        self.write_precompiled("vector", "string")
        self.write("base/a.h", "#pragma once\n#include <string>\ninline std::string a;  // std::vector\n")
        self.write("base/b.h", '#pragma once\n#include "base/a.h"\ninline std::string b;\n')
        self.assertEqual(list(check_includes.check_precompiled(self.root)), [])
        self.write("base/b.h", '#pragma once\n#include "base/a.h"\ninline std::vector<int> b;\n')
        self.assertEqual(list(check_includes.check_precompiled(self.root)), ["src/base/b.h: uses std::vector without including <vector>"])

    def test_precompiled_headers_are_known(self):
        self.write_precompiled("vector", "valarray")
        self.assertEqual(list(check_includes.check_precompiled(self.root)), ["cmake/Precompiled.cmake: <valarray>: not in STANDARD_NAMES"])

    def test_headers_that_sources_begin_with(self):
        self.write("base/a.cc", '// a\n#include "base/a.h"\n\n#include "base/b.h"\n')
        self.assertEqual(check_includes.begun_with(self.root), {"base/a.h"})

    def compiled(self, *texts):
        """What compiling headers a.h, b.h, ... together finds wrong."""
        for name, text in zip("abc", texts):
            self.write(f"base/{name}.h", f"#pragma once\n{text}")
        headers = [self.root / f"src/base/{name}.h" for _, name in zip(texts, "abc")]
        command = (["c++", f"-I{self.root}/src"], self.root)
        return [problem.split(":")[0] for problem in check_includes.compile_together(self.root, headers, command)]

    def test_headers_that_are_compiled_as_one(self):
        self.assertEqual(self.compiled("struct A {};\n", '#include "base/a.h"\nA b();\n'), [])
        self.assertEqual(self.compiled("struct A {};\n", "A b();\n"), ["src/base/b.h"])
        self.assertEqual(self.compiled("B a();\n", "struct B {};\n"), ["src/base/a.h"])
        self.assertEqual(self.compiled("int a();\n", "char a();\n"), [])  # nobody has to include both

    def test_layers_have_no_cycle(self):
        for layer, below in check_includes.BELOW.items():
            for other in below:
                self.assertNotIn(layer, check_includes.allowed(other))


class CheckMaps(unittest.TestCase):
    def problems(self, *files):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "README.md").write_text("# x\n\n| file | what it has |\n|---|---|\n| a.h a.cc | a |\n\n| other | b.cc |\n")
            for name in files:
                Path(folder, name).touch()
            return [problem.rpartition("README.md: ")[2] for problem in check_maps.check(Path(folder))]

    def test_every_file_has_a_row(self):
        self.assertEqual(self.problems("a.h", "a.cc", "CMakeLists.txt"), [])
        self.assertEqual(self.problems("a.h", "a.cc", "b.cc"), ["does not name b.cc"])
        self.assertEqual(self.problems("a.h"), ["names a.cc, which is not there"])

    def test_folders_and_channels_come_from_the_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in ("src/net/link/link_channel.h", "src/p2p/send.cc", "src/p2p/deep/deep.h", "src/p2p/deep/README.md", "tools/mpiexec/job/a.cc", *check_maps.OF_CHANNELS):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("".join(f"{begin} self\n" for begin in check_maps.OF_CHANNELS.values()))
            self.assertEqual([path.relative_to(root).as_posix() for path in check_maps.folders(root)], ["src/net", "src/p2p", "src/p2p/deep", "tools/mpiexec/job"])
            self.assertEqual(check_maps.channels(root), ["link"])
            self.assertEqual(len(list(check_maps.without_channels(root))), len(check_maps.OF_CHANNELS))


class CheckWords(unittest.TestCase):
    def words(self, line, name="src/a.cc"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.cc")
            path.write_text(line + "\n")
            return [problem.split("'")[1] for problem in check_words.problems_in(path, name)]

    def test_words_that_were_given_up(self):
        self.assertEqual(self.words("// A crate, and Carriers."), ["crate", "Carriers"])
        self.assertEqual(self.words("int crate_count = kept_parcels;"), ["crate", "parcels"])
        self.assertEqual(self.words("class Gate;  // at the gate"), ["Gate"])

    def test_what_is_allowed(self):
        self.assertEqual(self.words("// a staging buffer: docs/decisions/024-pending-collectives.md"), [])
        self.assertEqual(self.words("// Aside", "src/coll/check/check.cc"), [])
        self.assertEqual(self.words("// Aside"), ["Aside"])

    def test_pages_name_actors(self):
        self.assertEqual(self.words("Whoever waits wakes nobody.", "docs/a.md"), ["Whoever", "nobody"])
        self.assertEqual(self.words("// nobody", "src/a.cc"), [])

    def test_pages_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in ("src/a.cc", "docs/guide/b.md", "docs/lab/c.md", "README.md", "tests/d.md"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("a crate")
            self.assertEqual([path.relative_to(root).as_posix() for path in check_words.texts(root)], ["src/a.cc", "docs/guide/b.md", "README.md"])

    def test_subjects_of_commits(self):
        [problem] = check_words.too_long(["1234567 " + 72 * "a", "89abcde " + 73 * "a"])
        self.assertIn("89abcde: its subject has 73 characters", problem)

    def test_subjects_are_those_after_a_commit(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            self.assertEqual(check_words.subjects(root), [])  # no repository

            def git(*arguments):
                name = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
                return subprocess.run(["git", "-C", folder, *name, *arguments], check=True, capture_output=True, text=True).stdout

            git("init", "-q")
            git("commit", "-q", "--allow-empty", "-m", "first")
            self.assertEqual(check_words.subjects(root), [])  # a clone without the commit
            with unittest.mock.patch.object(check_words, "SHORT_SINCE", git("rev-parse", "HEAD").strip()):
                self.assertEqual(check_words.subjects(root), [])
                git("commit", "-q", "--allow-empty", "-m", "second", "-m", "its text")
                self.assertEqual([line.partition(" ")[2] for line in check_words.subjects(root)], ["second"])
                (root / "inside").mkdir()
                self.assertEqual(check_words.subjects(root / "inside"), [])  # sources in a folder of another project


class CheckEnvironment(unittest.TestCase):
    def problems(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return list(check_environment.problems_in(Path(folder)))

    def test_other_ways_are_named_with_their_line(self):
        for line in ('if (std::getenv("X"))', 'secure_getenv(name)', "for (char** one = environ;", "::getauxval(AT_SECURE)"):
            [problem] = self.problems("src/host/a.cc", f"int a;\n{line}\n")
            self.assertIn("src/host/a.cc:2: ask base::variable()", problem)

    def test_what_is_meant_is_fine(self):
        self.assertEqual(self.problems("src/host/a.cc", '// getenv()\nbase::variable("environ"); base::environment(); environment_of(rank);\n'), [])
        self.assertEqual(self.problems("src/base/environment.cc", "std::getenv(name); environ;\n"), [])
        self.assertEqual(self.problems("src/process/children/exec.cc", 'std::getenv("PATH")\n'), [])


class CheckBlocking(unittest.TestCase):
    def problems(self, text, allowed=None):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tools" / "mpiexec" / "job" / "a.cc"
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return list(check_blocking.problems_in(Path(folder), allowed or {}))

    def test_calls_that_may_wait_are_named_with_their_line(self):
        for line in ("::write(1, a, b);", "if (::waitpid(-1, &status, 0) > 0) f();", "::connect(s, a, b);", "got = ::read(0, a, b);", "fmt::print(stderr, x);",
                     "all.wait(-1);", "::recv(s, a, b, 0);", "std::this_thread::sleep_for(kLong);"):
            [problem] = self.problems(f"int a;\n{line}\n")
            self.assertIn("tools/mpiexec/job/a.cc:2: ", problem)

    def test_calls_that_do_not_wait_are_fine(self):
        self.assertEqual(self.problems("::send(s, a, b,\n  MSG_DONTWAIT); ::waitpid(-1, &status, WNOHANG); all.wait(left); // ::write(a, b, c)\n"), [])
        self.assertEqual(self.problems("std::string::read(a); buffer.write(); fmt::format(x);\n"), [])

    def test_what_has_a_reason(self):
        allowed = {("job/a.cc", "write"): (1, "a file")}
        self.assertEqual(self.problems("::write(1, a, b);", allowed), [])
        self.assertEqual(len(self.problems("::write(1, a, b); ::write(1, a, b);", allowed)), 1)
        self.assertEqual(len(self.problems("int a;", allowed)), 1)


class CheckRunPaths(unittest.TestCase):
    def test_the_working_folder_is_found(self):
        line = " 0x1d (RUNPATH)            Library runpath: [{}]\n"
        for run_path in ("$ORIGIN:/a/lib:", ":/a", "/a::/b", "", "lib", "./lib", "$ORIGINAL"):
            self.assertEqual(len(list(check_run_paths.problems_in(line.format(run_path)))), 1, run_path)
        for run_path in ("$ORIGIN", "$ORIGIN/../lib:/usr/lib"):
            self.assertEqual(list(check_run_paths.problems_in(line.format(run_path))), [])


if __name__ == "__main__":
    unittest.main()
