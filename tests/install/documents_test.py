"""Manual pages and completion say what --help says: each option once."""

import re
import shutil
import subprocess
import unittest

import place

NAME = re.compile(r"--?[A-Za-z][\w:+-]*")


def options_of_help(text):
    """All names of options in the left column of a text of --help."""
    names = []
    for line in text.split("\n"):
        if re.match(r"  ?-|  -|  --", line):
            names += NAME.findall(re.split(r"\s{2,}", line.strip())[0])
    return names


class Pages(place.Case):
    def page(self, name):
        """Lines of the page, as man shows them."""
        env = place.environment(MANWIDTH="200", LC_ALL="C.UTF-8")
        text = self.run_here("man", "--warnings", "-E", "ascii", "-l", place.PREFIX / "share/man/man1" / f"{name}.1", env=env)
        self.assertEqual(self.err, "")
        return text

    def headings(self, name):
        """Names of options that begin a paragraph."""
        text = self.page(name)
        names = []
        for line in text.split("\n"):
            if re.match(r" {7}-", line):
                names += NAME.findall(re.split(r"\s{3,}", line.strip())[0])
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

    @unittest.skipIf(shutil.which("zsh") is None, "not installed: zsh")
    def test_zsh(self):
        """Driven through a terminal of its own, as there is no other way."""
        setup = ("PROMPT='> '; zmodload zsh/zpty; zpty z zsh -f -i; "
                 "zpty -w z \"PROMPT='>'; fpath=($1 \\$fpath); autoload -U compinit; compinit -u -D; setopt no_beep list_rows_first\"; sleep 1; "
                 "zpty -w -n z \"$2\"$'\\t'; sleep 1; zpty -r -t z all; while zpty -r -t z more; do all+=$more; done; print -r -- $all; zpty -d z")
        folder = place.PREFIX / "share/zsh/site-functions"
        for typed, completed in (("mpiexec --hang", "mpiexec --hang-after"), ("clump doc", "clump doctor"), ("mpicc -showme:li", "-showme:lib"),
                                 ("mpiexec -n 2 --ranks thr", "--ranks threads")):
            with self.subTest(typed=typed):
                done = subprocess.run(["zsh", "-f", "-c", setup, "zsh", str(folder).replace(" ", "\\ "), typed], capture_output=True, text=True,
                                      timeout=30, env=place.environment(TERM="dumb"))
                self.assertIn(completed, done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
