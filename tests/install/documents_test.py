"""Manual pages and completion say what --help says: each option once."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

import place

NAME = re.compile(r"--?[A-Za-z][\w:+-]*")


def leading(line):
    """The names with which a line begins: "-h, --help   text", "--shape TEXT Needs: --coll"."""
    names = []
    for part in re.split(r", ?", re.split(r"\s{2,}", line.strip())[0]):
        if not part.startswith("-"):
            break
        names.append(NAME.match(part).group())
    return names


def options_of_help(text):
    """All names of options that begin a line of a text of --help, or continue a list there."""
    return [name for line in text.split("\n") if line.startswith("  -") for name in leading(line)]


class Pages(place.Case):
    def page(self, name):
        """Lines of the page, as man shows them."""
        env = place.environment(MANWIDTH="200", LC_ALL="C.UTF-8")
        text = self.run_here("man", "--warnings", "-E", "ascii", "-l", place.PREFIX / "share/man/man1" / f"{name}.1", env=env)
        self.assertEqual(self.err, "")
        return text

    def headings(self, name):
        """Names of options that begin a paragraph, or are listed without a text."""
        text, _, listed = self.page(name).partition("OPTIONS OF OTHER LAUNCHERS")
        names = NAME.findall(listed.partition("EXIT STATUS")[0])
        for line in text.split("\n"):
            if re.match(r" {7}-", line):
                names += leading(line)
        return names

    @unittest.skipIf(shutil.which("man") is None, "not installed: man")
    def test_mpiexec(self):
        wanted = options_of_help(self.run_here("mpiexec", "--help"))
        self.assertGreater(len(wanted), 100)
        self.assertEqual(sorted(self.headings("mpiexec")), sorted(wanted))
        self.assertEqual(len(set(wanted)), len(wanted))

    @unittest.skipIf(shutil.which("man") is None, "not installed: man")
    def test_mpicc(self):
        wanted = options_of_help(self.run_here("mpicc", "--help"))
        self.assertIn("-showme:compile", wanted)
        self.assertEqual(sorted(self.headings("mpicc")), sorted(wanted))

    @unittest.skipIf(shutil.which("man") is None, "not installed: man")
    def test_clump(self):
        text = self.run_here("clump", "--help")
        commands = re.findall(r"(?m)^  ([a-z]+) ", text.split("Subcommands:")[1])
        self.assertIn("info", commands)
        wanted = ["-h", "--help", "--version"]
        for command in commands:
            wanted += [name for name in options_of_help(self.run_here("clump", command, "--help")) if name not in ("-h", "--help", "--version")]
        self.assertEqual(sorted(self.headings("clump")), sorted(wanted))
        for command in commands:
            self.assertIn(f"clump {command}", self.page("clump"))

    @unittest.skipIf(shutil.which("man") is None, "not installed: man")
    def test_found_by_path(self):
        for name in ("mpiexec", "mpirun", "mpicc", "mpif90", "clump"):
            self.assertTrue(self.run_here("man", "-w", name).startswith(str(place.PREFIX)), name)


class Completion(place.Case):
    def bash(self, *words):
        """What is offered for the last of these words."""
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  'eval "$(complete -p "$1" | sed "s/.*-F \\([^ ]*\\) .*/\\1/")" "$1"; printf "%s\\n" "${COMPREPLY[@]}"')
        file = place.PREFIX / "share/bash-completion/completions" / words[0]
        return self.run_here("bash", "-c", script, "bash", file, *words).split()

    def test_bash_options(self):
        self.assertEqual(self.bash("mpiexec", "--hang"), ["--hang-after"])
        self.assertEqual(sorted(self.bash("mpirun", "-")), sorted(options_of_help(self.run_here("mpiexec", "--help"))))
        self.assertEqual(self.bash("mpiexec", "-n", "4", "--ranks", "th"), ["threads"])
        self.assertEqual(self.bash("mpiexec", "-n", "4", "--ranks", "=", "pro"), ["processes"])

    def test_bash_wrappers(self):
        # bash makes a word of its own of ':'.
        for wrapper in ("mpicc", "mpicxx", "mpif90"):
            self.assertIn("-showme:link", self.bash(wrapper, "-showme"))

    def test_bash_programs(self):
        self.assertIn("bash", self.bash("mpiexec", "-n", "4", "bas"))
        self.assertNotIn("--hang-after", self.bash("mpiexec", "-n", "4", "./a.out", "--hang"))
        self.assertEqual(self.bash("mpiexec", "./a.out", ":", "--hang"), ["--hang-after"])
        self.assertIn("bash", self.bash("clump", "explain", "bas"))

    def test_bash_clump(self):
        self.assertEqual(self.bash("clump", "doc"), ["doctor"])
        self.assertEqual(self.bash("clump", "info", "--cov"), ["--coverage"])
        verbs = re.search(r"usage: clump lab \[-h\] ([\w |]+) \.\.\.", self.run_here("clump", "lab", "--help"))[1].split(" | ")
        self.assertEqual(set(self.bash("clump", "lab", "")), {*verbs, "--help"})

    @unittest.skipIf(shutil.which("zsh") is None, "not installed: zsh")
    def test_zsh(self):
        """zsh completes in a terminal only."""
        folder = place.PREFIX / "share/zsh/site-functions"
        for typed, completed in (("mpiexec --hang", "mpiexec --hang-after"), ("clump doc", "clump doctor"),
                                 ("mpicc -showme:libd", "-showme:libdirs"), ("mpiexec -n 2 --ranks thr", "--ranks threads")):
            with self.subTest(typed=typed):
                main, other = pty.openpty()
                shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=other, stdout=other, stderr=other, start_new_session=True,
                                         env=place.environment(TERM="dumb"))
                os.close(other)
                try:
                    os.write(main, f"fpath=('{folder}' $fpath); autoload -U compinit; compinit -u -D; PS1=read\\y\n".encode())
                    self.wait_for(main, "ready")
                    os.write(main, typed.encode() + b"\t")
                    self.wait_for(main, completed)
                finally:
                    shell.kill()
                    shell.wait()
                    os.close(main)

    def wait_for(self, terminal, text, limit=120):
        shown, end = "", time.monotonic() + limit
        while text not in shown:
            ready, _, _ = select.select([terminal], [], [], max(end - time.monotonic(), 0))
            self.assertTrue(ready, f"'{text}' is not in: {shown}")
            # What a narrow terminal shows again, with a carriage return before it, is the same line.
            shown += os.read(terminal, 4096).decode(errors="replace").replace("\r", "").replace("\b", "")


if __name__ == "__main__":
    unittest.main()
