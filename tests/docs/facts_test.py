"""Do pages and error texts tell of variables, functions, commands and algorithms that there are? And has the root only files that a list names?"""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
# Not those that tell what was once: experiments, and reports of the lab.
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md",
         *(page for page in sorted(DOCS.rglob("*.md")) if page.relative_to(DOCS).parts[0] not in ("experiments", "lab"))]
SOURCES = {".cc", ".h", ".c", ".in", ".sh", ".py"}
VARIABLE = r"\bCLUMP_[A-Z0-9_]*[A-Z0-9]\b"


def files(*folders):
    """Those that git has."""
    found = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in found.stdout.splitlines() if (ROOT / name).is_file()]


def is_test(path):
    return re.search(r"(_test|_bench)\.\w+$|^test_", path.name) is not None


def name_of(path):
    return path.relative_to(ROOT).as_posix() if path.is_absolute() else str(path)


def texts(sources):
    """(file, name) of each variable that a string of a program tells of: the string has more than the name."""
    for path, text in sources:
        lines = "\n".join(line for line in text.splitlines() if "CLUMP_" in line)
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', lines.replace("\\n", " ")):
            if re.search(r"[ ,;]", literal):
                yield from ((path, name) for name in re.findall(VARIABLE, literal))


def read_anywhere(sources):
    """The variables that files look at, by the forms of C++, shell, Python and CMake; a constant for a name counts if it is used."""
    whole = "\n".join(text for _, text in sources)
    names = "\n".join(line for line in whole.splitlines() if "CLUMP_" in line)
    constants = re.findall(rf'\b(k[A-Z]\w*)\s*(?:=|\{{)\s*"({VARIABLE})"', names)
    unused = {name for constant, name in constants if len(re.findall(rf"{constant}\b", whole)) == 1}
    forms = (rf'"({VARIABLE})"(?!\s*:)', rf"\$\{{?({VARIABLE})", rf"^\s*(?:#define|option|set)\W+({VARIABLE})", rf"^clump_wrapper\(.*({VARIABLE})")
    return {name for form in forms for name in re.findall(form, names, re.MULTILINE)} - unused


def control_variables(page):
    """Those whose names are made of a control variable's, as `clump info --cvars` has them."""
    return set(re.findall(VARIABLE, page[page.index("## Control variables"):page.index("## What a rank is told")]))


def working_functions(page):
    works = "".join(re.findall(r"^\*\*Work\*\* .*", page, re.MULTILINE))
    return set(re.findall(r"`(MPI_\w+)", works))


def tells_as_missing(text, working):
    """The sentences that tell of a working function, or of functions at all if all work, as one that is missing."""
    missing = re.compile(r"\bnot (?:built|implemented)\b|\bnot (?:there )?yet\b|\b(?:is|are) missing\b|\bmissing function|\bno body yet|\bdoes not work\b")
    for sentence in re.split(r"(?<=[.!?]) |\n\s*\n|\n(?=[-|#*])", text):
        if missing.search(sentence) and (set(re.findall(r"\bMPI_\w+", sentence)) & working or re.search(r"\bfunctions?\b|(?i:\bspawn|\bports?\b)", sentence)):
            yield " ".join(sentence.split())


CHANGES, CHANGED = r"(?:[Ss]upersedes|[Cc]hanges|[Ee]xtends|[Rr]eplaces)", r"(?:[Ss]uperseded|[Cc]hanged|[Ee]xtended) by"


def status(record):
    """Its first paragraph, without the addresses of links."""
    return re.sub(r"\([\w./-]+\.md\)", "", record.split("\n\n")[1])


def relations(text, words):
    return {number for sentence in re.findall(rf"{words}([^.]*)", text) for number in re.findall(r"\[(\d{3})\]", sentence)}


def changed_without_word(records):
    return [f"{old} does not say that {number} changes it" for number, text in records.items() for old in sorted(relations(status(text), CHANGES))
            if number not in relations(status(records[old]), CHANGED)]


def named_tests(guide):
    """The tests that the command lines of a folder's guide name: "^unit.(a|b)_test$" as two, without what a wildcard stands for."""
    for pattern in re.findall(r"^ {4}ctest .* -R '([^']+)'$", guide, re.MULTILINE):
        begin, group, end = re.fullmatch(r"([^(]*)(?:\(([^)]*)\))?(.*)", pattern).groups()
        for word in (group or "").split("|"):
            yield re.split(r"\.\*|\$", begin + word + end)[0].lstrip("^")


def registered_tests():
    """All unit tests; of others the beginnings of their names, by the files that they are made of."""
    for path in files("src", "tools", "bindings", "tests"):
        if path.name == "CMakeLists.txt":
            yield from (f"unit.{name}" for name in re.findall(r"clump_unit_test\((\w+)", path.read_text()))
        elif path.is_relative_to(ROOT / "tests"):
            *folders, _ = path.relative_to(ROOT / "tests").parts
            yield ".".join([*folders, re.sub(r"_test$", "", path.stem)])


def expanded(text):
    """ "030 and 032 to 034" as three-digit numbers."""
    return {f"{n:03}" for first, last in re.findall(r"(\d{3})(?: to (\d{3}))?", text) for n in range(int(first), int(last or first) + 1)}


class Variables(unittest.TestCase):
    products = [(path, path.read_text(errors="replace")) for path in files("src", "tools", "bindings")
                if (path.suffix in SOURCES or path.name == "CMakeLists.txt") and not is_test(path)]
    helpers = [(path, path.read_text(errors="replace")) for path in files("tests", "bench", "lab", "cmake", "packaging", "gen", "dev", "CMakeLists.txt")
               if path.suffix in {*SOURCES, ".txt", ".cmake", ""}]
    controls = control_variables((REFERENCE / "variables.md").read_text())

    def test_each_that_a_text_of_a_program_names_is_read(self):
        told = list(texts(self.products))
        self.assertGreater(len(told), 20)
        read = read_anywhere(self.products) | self.controls
        self.assertEqual([f"{name_of(path)}: {name}" for path, name in told if name not in read], [], "no program reads these variables")

    def test_each_that_a_page_names_is_read(self):
        read = self.controls | read_anywhere(self.products + self.helpers) | {f"CLUMP_LAB_{peer}" for peer in ("MPICH", "OPENMPI", "INTEL")}
        for page in PAGES:
            self.assertEqual(set(re.findall(VARIABLE, page.read_text())) - read, set(), f"{name_of(page)} names these, and nothing reads them")

    def test_what_is_not_read_is_seen(self):
        told = [("a.cc", 'fail("no network:\\nCLUMP_NETWORK chooses");\nfail("CLUMP_A={}: a number", a);')]
        self.assertEqual([name for _, name in texts(told)], ["CLUMP_NETWORK", "CLUMP_A"])
        self.assertEqual(read_anywhere(told), set())
        self.assertEqual(read_anywhere([("a.h", 'const char* kNet = "CLUMP_NETWORK";')]), set())
        self.assertEqual(read_anywhere([("a.h", 'const char* kNet = "CLUMP_NETWORK";'), ("a.cc", "variable(kNet)")]), {"CLUMP_NETWORK"})
        self.assertEqual(read_anywhere([("a.cc", 'getenv("CLUMP_A")'), ("a.sh", "${CLUMP_B-} $CLUMP_C"), ("a.py", 'environ["CLUMP_D"]; run(env={"CLUMP_E": 1})')]),
                         {"CLUMP_A", "CLUMP_B", "CLUMP_C", "CLUMP_D"})


class Functions(unittest.TestCase):
    working = working_functions((REFERENCE / "functions.md").read_text())

    def test_no_page_tells_of_a_working_one_as_missing(self):
        self.assertGreater(len(self.working), 500)
        for page in PAGES:
            if page not in (DOCS / "guide/spawning.md", ROOT / "CONTRIBUTING.md") and page.parent not in (REFERENCE, DOCS / "decisions"):
                with self.subTest(page=name_of(page)):
                    self.assertEqual(list(tells_as_missing(page.read_text(), self.working)), [], "guide/spawning.md is the place for limits of spawn")

    def test_what_is_told_as_missing_is_seen(self):
        told = ["What is not there yet: `MPI_Comm_spawn` on several hosts.", "A call of a function that is not built ends with an error.", "`MPI_Send` does not work.",
                "It lists what fails because spawn is not built."]
        for sentence in told:
            self.assertEqual(list(tells_as_missing(f"Before it. {sentence} And after.", {"MPI_Send", "MPI_Comm_spawn"})), [sentence])
        self.assertEqual(list(tells_as_missing("`MPI_Send` works. A package is not built.", {"MPI_Send"})), [])


class Names(unittest.TestCase):
    options = (REFERENCE / "options.md").read_text()
    variables = (REFERENCE / "variables.md").read_text()
    dev = (ROOT / "dev").read_text()
    sources = "".join(path.read_text() for path in files("src", "tools") if path.suffix in SOURCES)

    def pages(self):
        return [(name_of(page), page.read_text()) for page in PAGES if page.parent != DOCS / "decisions"]

    def test_commands(self):
        of_dev = set(re.findall(r"^  ([a-z]+) {2,}\S", self.dev, re.MULTILINE))
        of_clump = set(re.findall(r"^### clump ([a-z]+)", self.options, re.MULTILINE))
        of_clump |= set(re.findall(r'"clump ([a-z]+)"', self.sources))  # gdb's
        self.assertTrue({"test", "bench"} <= of_dev and {"info", "tune"} <= of_clump, (of_dev, of_clump))
        of_clump |= {"worker", "network"}  # names of threads
        for page, text in self.pages():
            self.assertEqual(set(re.findall(r"\./dev ([a-z]+)", text)) - of_dev, set(), page)
            self.assertEqual(set(re.findall(r"(?:`|\n    \$ |\n\$ )clump ([a-z]+)", text)) - of_clump, set(), page)

    def test_options_of_mpiexec(self):
        known = set(re.findall(r"(?<![\w-])--?([a-z][\w-]*)", self.options[:self.options.index("## mpicc")]))
        known |= set(re.findall(r'"--([a-z][\w-]*)"', self.sources))  # not for users
        for page, text in self.pages():
            for words in re.findall(r"\bmpiexec((?: --?[a-z][\w-]*(?:[ =][\w:,*][\w:,=*]*(?![\w/.]))?)+)", text):
                self.assertEqual(set(re.findall(r"(?<= )--?([a-z][\w-]*)", words)) - known, set(), f"{page}: mpiexec{words}")

    def test_algorithms(self):
        known = set(re.findall(r"[a-z_]+", "".join(re.findall(r"^\| `CLUMP_\w+_ALGORITHM` \|(.*)\|$", self.variables, re.MULTILINE))))
        self.assertIn("shm_nonblocking", known)
        for page, text in self.pages():
            self.assertEqual([name for name in re.findall(r"--coll [a-z]+=([a-z_]+)", text) if name not in known], [], page)
            self.assertEqual(re.findall(r"`(?:team|node): \w+", text), [], f"{page}: algorithms have other names")


class Guides(unittest.TestCase):
    def test_they_name_tests_that_there_are(self):
        registered, guides = set(registered_tests()), [page for page in files("src", "tools", "bindings", "gen") if page.name == "README.md"]
        told = [(name_of(guide), name) for guide in guides for name in named_tests(guide.read_text())]
        self.assertGreater(len(told), 50)
        self.assertEqual([(guide, name) for guide, name in told if not any(one == name if name.startswith("unit.") else one.startswith(name) for one in registered)],
                         [], "no test has this name")

    def test_what_a_command_line_names(self):
        line = "\n    ctest --test-dir build/release -R '{}'\n"
        self.assertEqual(list(named_tests(line.format("^unit.(a|b)_test$") + line.format("^mpi.p2p..*(processes|per2)$"))), ["unit.a_test", "unit.b_test", "mpi.p2p.", "mpi.p2p."])


class Decisions(unittest.TestCase):
    records = {path.name[:3]: path.read_text() for path in sorted((DOCS / "decisions").glob("[0-9]*.md"))}

    def test_a_changed_record_says_by_which(self):
        self.assertEqual(changed_without_word(self.records), [])

    def test_the_list_has_the_status_of_each(self):
        page = (DOCS / "decisions/README.md").read_text()
        unused = re.search(r"The numbers (.*) are not used", page)[1]
        self.assertEqual(sorted(self.records), sorted(f"{n:03}" for n in range(1, int(max(self.records)) + 1) if f"{n:03}" not in expanded(unused)))
        for number, text in self.records.items():
            rows = re.findall(rf"^\| \[{number}\]\([^)]*\).* \| (.*) \|$", page, re.MULTILINE)
            with self.subTest(record=number):
                self.assertEqual([set(re.findall(r"\d{3}", row)) for row in rows], [relations(status(text), CHANGED)])

    def test_what_contradicts_is_seen(self):
        old, new = "# 001: a\n\n**Status:** active.\n", "# 002: b\n\n**Status:** active. Supersedes parts of [001](001-a.md).\n"
        self.assertEqual(changed_without_word({"001": old, "002": new}), ["001 does not say that 002 changes it"])
        self.assertEqual(changed_without_word({"001": old.replace("active", "changed by [002](002-b.md)"), "002": new}), [])


class Root(unittest.TestCase):
    def test_its_files_are_listed(self):
        place = re.search(r"^The root has .*?(?=\n\n)", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE | re.DOTALL)
        told = re.findall(r"`([^`]+)`", place[0]) if place else []
        self.assertEqual(sorted(path.name for path in files() if path.parent == ROOT), sorted(told), "CONTRIBUTING.md lists the files of the root")

    def test_no_file_is_empty(self):
        self.assertEqual([name_of(path) for path in files() if path.stat().st_size == 0 and path.name != "__init__.py"], [])


if __name__ == "__main__":
    unittest.main()
