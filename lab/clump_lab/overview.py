"""Every figure and table of the papers, in a row each: what is printed, what is measured here, and what that says of the paper's sentence today."""

from .model import PAPERS

HEADER = ["paper", "", "it says", "printed", "measured here", "says today"]
TITLE = "Every figure and table"


def listed():
    """[(name as in a finding's `shows`, paper, item of papers/*.json), ...]"""
    return [(f"{paper} {item['what']}", paper, item) for paper, parameters in PAPERS.items() for item in parameters["shown"]]


def verdict_of(found):
    """One word where all agree; otherwise each word with those that it holds for."""
    by_word = {}
    for row in found:
        by_word.setdefault(row["verdict"], []).append(row["who"])
    if len(by_word) == 1:
        return next(iter(by_word))
    return "; ".join(f"{', '.join(dict.fromkeys(those))}: {word}" for word, those in by_word.items())


def missing(item):
    if item["by"] is None:
        return "nothing to measure"
    return f"not in this report: clump lab run {item['by']}" + (" with --host" if item.get("hosts") else "")


def rows(findings):
    """Of the findings of all experiments of a report."""
    made = []
    for name, paper, item in listed():
        found = [row for row in findings if name in row.get("shows", ())]
        here = "; ".join(row["here"] for row in found) if found else missing(item)
        made.append([paper, item["what"], item["says"], item["printed"], here, verdict_of(found) if found else ""])
    return made
