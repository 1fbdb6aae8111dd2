"""Cases of `./dev real debian`: trees, genomes, sequences."""

import random

from debian_case import Case, same_lines, same_numbers, says

DOC = "/usr/share/doc"
UNPACK = "for f in *.gz; do [ ! -e $f ] || gunzip -f $f; done"


def genome(seed, length=20000):
    """A sequence in FASTA's format; one of another seed has the same second half, with a letter in 50 changed."""
    common, own = random.Random(1), random.Random(seed)
    letters = [own.choice("ACGT") for _ in range(length // 2)]
    letters += [own.choice("ACGT") if own.random() < 0.02 else letter for letter in (common.choice("ACGT") for _ in range(length // 2))]
    text = "".join(letters)
    return f">s{seed}\n" + "\n".join(text[at:at + 60] for at in range(0, length, 60)) + "\n"


def relatives(names="abcd", length=600):
    """Sequences that descend from one."""
    draw = random.Random(3)
    first = [draw.choice("ACGT") for _ in range(length)]
    lines = []
    for name in names:
        lines += [f">{name}", "".join(draw.choice("ACGT") if draw.random() < 0.1 else letter for letter in first)]
    return "\n".join(lines) + "\n"


def phylip(text):
    """FASTA's format to PHYLIP's."""
    words = text.split()
    names, sequences = [word[1:] for word in words[::2]], words[1::2]
    return f"{len(names)} {len(sequences[0])}\n" + "".join(f"{name:10}{sequence}\n" for name, sequence in zip(names, sequences))


def contigs(run):
    """The sequences of a FASTA file, each as the lesser of itself and its reverse complement, in order."""
    parts = [part.partition("\n")[2].replace("\n", "") for part in run.read("out/Contigs.fasta").split(">")[1:]]
    return sorted(min(part, part[::-1].translate(str.maketrans("ACGT", "TGCA"))) for part in parts)


def same_contigs(ours, peer):
    mine, other = contigs(ours), contigs(peer)
    if mine == other:
        return ""
    lengths = [(len(found), sum(map(len, found)), max(map(len, found), default=0)) for found in (mine, other)]
    return "" if lengths[0] == lengths[1] else "contigs, bases, longest: {} where Open MPI has {}".format(*lengths)


LIKELIHOOD = r"[Ll]og-likelihood:\s*(-[\d.]+)"

CASES = [
    Case("iqtree2-mpi", "iqtree", "iqtree2-mpi", "-s example.phy -m HKY+G -nt 1 -seed 7 -n 20 -pre out", (2, 4, 16),
         prepare=f"cp {DOC}/iqtree/examples/example.phy* .; {UNPACK}",
         agree=same_numbers(r"BEST SCORE FOUND : (-[\d.]+)", "out.log", absolute=0.05), says="likelihood equal", timeout=300),
    Case("phyml-mpi", "phyml", "phyml-mpi", "-i some.phy -b 16 --r_seed 7 --no_memory_check -o lr", (2, 4, 16),
         made={"some.phy": phylip(relatives("abcdefghijklmn", 500))},
         agree=same_numbers(LIKELIHOOD, "some.phy_phyml_stats.txt", absolute=0.01), says="likelihood equal", timeout=300),
    Case("Ray", "ray", "Ray", "-k 31 -p ecoli_1K_1.fq ecoli_1K_2.fq -o out", (2, 4, 16),
         prepare=f"cp {DOC}/ray/test_data/ecoli* .; {UNPACK}; for f in *.fq; do head -n 1600 $f >short; mv short $f; done",
         sound=lambda run: "" if contigs(run) else "it has made no contigs", agree=same_contigs, says="contigs equal",
         timeout=1200),  # in each step its ranks take turns, some seconds each
    Case("examl-avx", "examl", "/usr/lib/examl/bin/examl-avx", "-t some.tree -m GAMMA -s d.binary -n T1 -D", (2, 4, 16),
         made={"some.phy": phylip(relatives("abcdefghijkl")), "some.tree": "(a,b,(c,(d,(e,(f,(g,(h,(i,(j,(k,l))))))))));"},
         prepare="parse-examl -s some.phy -m DNA -n d",
         agree=same_numbers(r"Likelihood\s*:?\s*(-[\d.]+)", "ExaML_info.T1", absolute=0.5), says="likelihood equal", timeout=300),
    Case("Garli-mpi", "garli-mpi", "/usr/lib/garli/bin/Garli-mpi", "-2 garli.conf", (2, 4), files=("garli.conf",),
         made={"nucleic.phy": phylip(relatives("abcdefgh"))}, says="ends"),
    Case("HYPHYMPI", "hyphy-mpi", "/usr/lib/hyphy/bin/HYPHYMPI", "$PWD/tree.bf", (2, 4, 16), files=("tree.bf",), made={"small.fas": relatives()},
         sound=says("^likelihood "), agree=same_numbers(r"^(?:likelihood|kappa|ranks|total) ([-\d.e+]+)", relative=1e-6, at_least=4)),
    Case("tree-ppuzzle", "tree-ppuzzle", "tree-ppuzzle", "small.phy <keys.txt", (2, 4, 16),
         made={"small.phy": phylip(relatives("abcdefghij")), "keys.txt": "y\n"},
         agree=same_numbers(r"log L: (-[\d.]+)|log likelihood: (-[\d.]+)", "small.phy.puzzle", absolute=0.01)),
    Case("murasaki-mpi", "murasaki-mpi", "murasaki-mpi", "-p [24:36] -n out -d . a.fa b.fa", (2, 4, 16),
         made={"a.fa": genome(5), "b.fa": genome(6)}, agree=same_lines("out.anchors", any_order=True), timeout=200),
    Case("PyroDist", "ampliconnoise", "PyroDist", "-in C005.dat -out out", (2, 4, 16),
         prepare=f"cp {DOC}/ampliconnoise/examples/* .; unxz -f *.xz", agree=same_lines("out.fdist", at_least=10), timeout=300),
    Case("SeqDist", "ampliconnoise", "SeqDist", "-in few.fa", (2, 4), made={"few.fa": relatives("abcdefghijklmnop", 200)},
         agree=same_lines(at_least=10)),
    Case("mplrs", "mplrs", "mplrs", "cube.ine", (4, 16), files=("cube.ine",),
         agree=same_lines(leave_out=r"^\*|^$|time|sec", any_order=True, at_least=64)),
    *[Case(f"mpy.{version}", f"yorick-mpy-{version}", f"mpy.{version}", "-j ring.i <quit.txt", (2, 4, 16), files=("ring.i",), made={"quit.txt": "quit\n"},
           sound=says("sum "), agree=same_numbers(r"sum ([\d.]+) of (\d+)", at_least=2), peer=peer)
      for version, peer in (("openmpi", "openmpi"), ("mpich2", "mpich"))],
]
