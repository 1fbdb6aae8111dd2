"""Builds the web site of docs/ as `./dev docs` does, follows its links, and looks at its pages in windows of two widths.

Needs Sphinx in .cache/docs (./dev setup --docs) and a headless browser (--browser); without one of them its tests are skipped.
The pages of decisions and experiments, three quarters of all, are looked at if CLUMP_ALL_PAGES is set; one of each always is.
CLUMP_PICTURES names a folder for pictures of the pages that are looked at."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPHINX = ROOT / ".cache" / "docs" / "bin" / "sphinx-build"

sys.path.insert(0, str(ROOT / "tests" / "launcher"))
os.environ.setdefault("CLUMP_BUILD", "")
import browser  # noqa: E402

WIDTHS = (390, 1280)  # a telephone's, and a laptop's

# What sticks out of the window. Tables and blocks of code may be wider: they are moved by themselves, and not the page.
STICKS_OUT = """
[...document.querySelectorAll('.content, .content *')].filter(one =>
  one.getBoundingClientRect().right > innerWidth + 1 && !one.parentElement.closest('.table-wrapper, pre')
).slice(0, 3).map(one => one.outerHTML.slice(0, 80))
"""

# Tables that are wider than the place that they have: the reader has to move them sideways.
WIDE_TABLES = """
[...document.querySelectorAll('.table-wrapper')].filter(one => one.scrollWidth > one.clientWidth + 1)
  .map(one => one.querySelector('th').parentElement.innerText.replace(/\\s+/g, ' ').slice(0, 60))
"""


def pages_of(site):
    """Those that are looked at."""
    pages = sorted(site.rglob("*.html"))
    if os.environ.get("CLUMP_ALL_PAGES"):
        return pages
    records = [[page for page in pages if page.parent.name == folder and page.name != "README.html"] for folder in ("decisions", "experiments")]
    return [page for page in pages if not any(page in some[:-1] for some in records)]


@unittest.skipUnless(SPHINX.exists(), "Sphinx is not there: ./dev setup --docs")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = pathlib.Path(folder.name)
        cls.built = subprocess.run([SPHINX, "-q", "-W", "--keep-going", "-c", ROOT / "docs/site", ROOT / "docs", cls.site, "-d",
                                    cls.site / ".doctrees"], capture_output=True, text=True, check=False)

    def test_sphinx_has_nothing_to_warn_of(self):
        self.assertEqual((self.built.returncode, self.built.stderr), (0, ""))

    def test_links(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "docs/site/check_links.py", "--site", self.site], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "every link leads somewhere\n"))

    def test_every_page_is_in_the_menu(self):
        menu = (self.site / "index.html").read_text()
        for page in ("quick-start", "moving", "faq", "user-guide", "reference/functions", "life-of-a-send", "performance/method", "experiments/README"):
            self.assertIn(f'href="{page}.html"', menu)

    @unittest.skipUnless(browser.path(), "no headless browser: ./dev setup --browser")
    def test_pages_fit_their_window(self):
        pictures = os.environ.get("CLUMP_PICTURES")
        with browser.Browser() as window:
            for page in pages_of(self.site):
                name = str(page.relative_to(self.site))
                window.open(str(page))
                for width in WIDTHS:
                    window.resize(width)
                    with self.subTest(page=name, width=width):
                        self.assertEqual(window.evaluate(STICKS_OUT), [])
                        if width == max(WIDTHS):
                            self.assertEqual(window.evaluate(WIDE_TABLES), [])
                    if pictures:
                        window.picture(f"{pictures}/{name.replace('/', '-').removesuffix('.html')}-{width}.png")
            self.assertEqual(window.problems, [])

    @unittest.skipUnless(browser.path(), "no headless browser: ./dev setup --browser")
    def test_the_look_at_a_page_itself(self):
        with browser.Browser(width=min(WIDTHS)) as window:
            window.open(str(self.site / "index.html"))
            self.assertEqual(window.evaluate(STICKS_OUT), [])
            window.evaluate("document.querySelector('section p').style.width = '900px'")
            self.assertRegex(window.evaluate(STICKS_OUT)[0], "^<p")
            window.open(str(self.site / "results.html"))
            self.assertEqual(len(window.evaluate(WIDE_TABLES)), 1)


if __name__ == "__main__":
    unittest.main()
