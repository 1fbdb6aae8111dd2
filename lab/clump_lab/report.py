"""A lab report: one page of HTML that needs nothing else, and Markdown with the charts as SVG files."""

import html
import json
import re
import statistics
from pathlib import Path

from . import facts, overview, printing, svg
from .experiments import all_experiments
from .model import PAPERS

STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 sans-serif;max-width:1000px;margin:0 auto;padding:1rem;color:#1c1c1c;background:#fff}
h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid #bbb}
figure{margin:1.5rem 0;overflow-x:auto}svg{max-width:100%;height:auto}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;margin:1rem 0}
td,th{border:1px solid #bbb;padding:.25rem .5rem;text-align:left;vertical-align:top}th{background:#eee}
caption{text-align:left;font-weight:bold;padding:.25rem 0}.gap{color:#922b21}.note{color:#555;font-size:.9rem}
nav{display:flex;flex-wrap:wrap;gap:0 1rem}
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}th{background:#2a2a2a}td,th,h2{border-color:#555}.gap{color:#f1948a}.note{color:#aaa}a{color:#7fb3ff}}
"""


def load(folder):
    path = Path(folder) / "results.json"
    try:
        results = json.loads(path.read_text())
    except OSError as problem:
        raise SystemExit(f"clump lab: {path} cannot be read ({problem.strerror}): give the folder that 'clump lab run --out' wrote") from None
    except ValueError as problem:
        raise SystemExit(f"clump lab: {path} is no JSON ({problem}): measure again with 'clump lab run'") from None
    if not isinstance(results, dict) or "experiments" not in results or results.get("clump_lab") != 1:
        raise SystemExit(f"clump lab: {path} is not what 'clump lab run' of this version writes")
    return results


def heading(results):
    """The machine, the libraries, and how quiet it was: paragraphs."""
    hosts = f"; {len(results['hosts'])} hosts: {', '.join(results['hosts'])}" if results["hosts"] else "; one host, whose ranks are divided into nodes"
    rounds = "one round" if results["rounds"] == 1 else f"medians of {results['rounds']} rounds"
    lines = [f"{facts.in_words(results['machine'])}{hosts}. {results['date'][:10]}, {rounds}, size '{results['size']}'."]
    lines.append("Libraries: " + "; ".join(f"{name}: {about['version']}" for name, about in results["libraries"].items()) + ".")
    busy = taken_by_others(results)
    if busy > 0.1:
        lines.append(f"NOT QUIET: others used {100 * busy:.0f} % of the machine when rounds began. The numbers say how things stand to each "
                     "other, and not what the machine can do.")
    return lines


def taken_by_others(results):
    """Which part of the machine others used when rounds began: the median, as all numbers are medians of the rounds."""
    return statistics.median_high(results["busy"] or [0])


def parts(results):
    """[(experiment, [chart or table, ...], [finding, ...], [gap, ...]), ...] of what was measured."""
    found, noisy = [], taken_by_others(results) > NOISY
    for name, experiment in all_experiments().items():
        measured = results["experiments"].get(name)
        if measured is None:
            continue
        items = [item for item in experiment.evaluate(results) if item] if measured["runs"] else []
        items += [item for item in [dates(measured, results["date"])] if item]
        findings = experiment.findings(results) if measured["runs"] else []
        if noisy:
            findings = [row if row["who"] == "computed" else dict(row, verdict=f"cannot be said on a machine that is not quiet (these numbers: {row['verdict']})")
                        for row in findings]
        found.append((experiment, items, findings, measured["gaps"]))
    return found


def dates(measured, date):
    """A table of libraries that were measured in another run than the one that the heading is about."""
    others = [[library, when.replace("T", " ")] for library, when in measured.get("dates", {}).items() if when != date]
    return {"kind": "table", "title": "Measured in another run", "header": ["library", "when"], "rows": others, "note": ""} if others else None


def all_findings(found):
    return [row for _, _, findings, _ in found for row in findings]


NOISY = 0.3  # where others use more of the machine, nothing is concluded
FINDINGS = ["in the paper", "printed there", "measured here", "says today"]


def finding_rows(findings):
    return [[found["where"], found["printed"], found["here"], found["verdict"]] for found in findings]


def gap_words(gap):
    return f"{gap['label']}, {gap['library']}: {gap['reason']}"


def html_table(title, header, rows, note=""):
    escape = lambda cells, tag: "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells)  # noqa: E731
    body = "".join(f"<tr>{escape(row, 'td')}</tr>" for row in rows)
    after = f'<p class="note">{html.escape(note)}</p>' if note else ""
    return f'<div class="wide"><table><caption>{html.escape(title)}</caption><tr>{escape(header, "th")}</tr>{body}</table></div>{after}'


def html_part(experiment, items, findings, gaps):
    paper = PAPERS.get(experiment.paper, {})
    source = f"{paper['authors']}, “{paper['title']}”, {paper['year']} ({experiment.paper})" if paper else experiment.paper
    lines = [f'<section id="{experiment.name}"><h2>{html.escape(experiment.title)}</h2><p>{html.escape(experiment.what)}. After {html.escape(source)}.</p>']
    if not items:
        lines.append('<p class="gap">Nothing was measured.</p>')
    for item in items:
        if item["kind"] == "chart":
            lines.append(f'<figure id="{html.escape(printing.file_name(item["name"]))}">{svg.draw(item)}</figure>')
            if item.get("note"):
                lines.append(f'<p class="note">{html.escape(item["note"])}</p>')
        else:
            lines.append(html_table(item["title"], item["header"], item["rows"], item["note"]))
    if findings:
        lines.append(html_table("Beside the paper", FINDINGS, finding_rows(findings)))
    if gaps:
        lines.append("<h3>Gaps</h3><ul>" + "".join(f'<li class="gap">{html.escape(gap_words(gap))}</li>' for gap in gaps) + "</ul>")
    return "\n".join([*lines, "</section>"])


def page(results):
    found = parts(results)
    links = "".join(f'<a href="#{experiment.name}">{html.escape(experiment.name)}</a>' for experiment, *_ in found)
    about = "".join(f"<p>{html.escape(line)}</p>" for line in heading(results))
    links += '<a href="#overview">every figure</a>'
    body = "\n".join(html_part(*part) for part in found)
    body += f'<section id="overview"><h2>{overview.TITLE}</h2>{html_table("Of the five papers", overview.HEADER, overview.rows(all_findings(found)))}</section>'
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Lab report</title>'
            f"<style>{STYLE}</style></head><body><h1>Lab report</h1>{about}<nav>{links}</nav>{body}</body></html>\n")


# Of characters that can be markup those that are: an asterisk between blanks, an underscore within a word and brackets without a link are not.
MARKUP = re.compile(r"[\\`|~]|\](?=[(\[:])|\*(?=\S)|(?<=\S)\*|(?<!\w)_|_(?!\w)")
IN_BRACKETS = re.compile(r"[\[\]]|" + MARKUP.pattern)


def as_markdown(text, marks=MARKUP):
    """Words as they are, in one line: what others have said in them (versions, errors, names) is no markup, link or HTML."""
    text = printing.printable(" ".join(str(text).split()))
    return marks.sub(r"\\\g<0>", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def markdown_table(header, rows):
    line = lambda cells: "| " + " | ".join(map(as_markdown, cells)) + " |"  # noqa: E731
    return "\n".join([line(header), "|" + "---|" * len(header), *map(line, rows)])


def file_of(chart):
    """Its name has that of a library in it."""
    return printing.file_name(chart["name"]) + ".svg"


def markdown_part(experiment, items, findings, gaps):
    lines = [f"## {experiment.title}", f"{experiment.what[0].upper()}{experiment.what[1:]} (paper {experiment.paper})."]
    if not items:
        lines.append("Nothing was measured.")
    for item in items:
        if item["kind"] == "chart":
            lines.append(f"![{as_markdown(item['title'], IN_BRACKETS)}](figures/{file_of(item)})")
        else:
            lines += [f"**{as_markdown(item['title'])}**", markdown_table(item["header"], item["rows"])]
        if item.get("note"):
            lines.append(as_markdown(item["note"]))
    if findings:
        lines += ["**Beside the paper**", markdown_table(FINDINGS, finding_rows(findings))]
    if gaps:
        lines += ["**Gaps**", "\n".join(f"- {as_markdown(gap_words(gap))}" for gap in gaps)]
    return lines


def markdown(results):
    lines = ["# Lab report", *map(as_markdown, heading(results))]
    found = parts(results)
    for part in found:
        lines += markdown_part(*part)
    lines += [f"## {overview.TITLE}", markdown_table(overview.HEADER, overview.rows(all_findings(found)))]
    return "\n\n".join(lines) + "\n"


def write(results, folder):
    """Writes report.html, report.md and figures/*.svg, in place of those of an earlier report."""
    folder = Path(folder)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for old in (folder / "figures").glob("*.svg"):
        old.unlink()
    for _, items, _, _ in parts(results):
        for item in items:
            if item["kind"] == "chart":
                printing.write_file(folder / "figures" / file_of(item), svg.draw(item) + "\n")
    printing.write_file(folder / "report.html", page(results))
    printing.write_file(folder / "report.md", markdown(results))
