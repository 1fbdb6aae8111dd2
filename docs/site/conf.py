"""Sphinx's settings. `./dev docs` builds docs/ with these into build/docs.

The pages are plain Markdown that reads well without Sphinx. So they have no directives for Sphinx in them: which page stands below
which in the menu is said here (CHAPTERS, BELOW)."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent

project = "Clump"
version = release = re.search(r"project\(Clump VERSION ([\d.]+)", (DOCS.parent / "CMakeLists.txt").read_text()).group(1)
author = "the authors of Clump"
copyright = author

extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["site", "results"]
nitpicky = True
highlight_language = "text"
smartquotes = False  # "--option" would become a dash
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"Clump {version}"
html_static_path = ["static"]
html_css_files = ["clump.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}

# What the button of a block with commands copies: the commands, without "$ " and without their output.
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_remove_prompts = True

# The menu: titles of its parts, and their pages.
CHAPTERS = {
    "Begin": ["quick-start", "moving", "faq"],
    "Use": ["user-guide", "profile", "reference", "release-notes"],
    "Understand": ["how-it-works", "results", "decisions/README"],
}

# Pages below a page. A name may be a pattern.
BELOW = {
    "reference": ["reference/options", "reference/variables", "reference/functions", "reference/processes"],
    "how-it-works": ["architecture", "find-your-way", "life-of-a-send", "life-of-a-collective", "life-of-a-job", "fibers", "threads-of-a-rank", "images", "functions-with-state"],
    "results": ["performance/method", "performance/limits", "performance/runs", "performance/programs", "performance/programs-16-cores", "experiments/README", "real-programs", "known-failures", "diagnosis", "lab/README"],
    "lab/README": ["lab/*/report"],
    "experiments/README": ["experiments/[0-9]*"],
    "decisions/README": ["decisions/[0-9]*"],
}


def toctree(pages, caption=None):
    options = [":hidden:", ":maxdepth: 1"]
    if any("*" in page for page in pages):
        options.append(":glob:")
    if caption:
        options.append(f":caption: {caption}")
    return "\n\n```{toctree}\n" + "\n".join(options) + "\n\n" + "\n".join(f"/{page}" for page in pages) + "\n```\n"


def in_guide_order():
    """The chapters of the guide, in the order in which user-guide.md links to them."""
    found = re.findall(r"\]\((guide/[\w-]+)\.md", (DOCS / "user-guide.md").read_text())
    return list(dict.fromkeys(found))


def add_menu(_app, name, source):
    """Appends the menu's part below the page `name`, where it has one."""
    if name == "index":
        source[0] += "".join(toctree(pages, caption) for caption, pages in CHAPTERS.items())
    elif name == "user-guide" and in_guide_order():
        source[0] += toctree(in_guide_order())
    elif name in BELOW:
        source[0] += toctree(BELOW[name])


def setup(app):
    app.connect("source-read", add_menu)
    return {"parallel_read_safe": True}
