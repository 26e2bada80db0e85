"""Check the built site without a network: every link and anchor within it, nothing loaded from elsewhere, weights of the pages.

    python tools/check_site.py build/site

A page weighs its HTML and the pictures that it shows. Styles, scripts and the font, which a browser loads once, are counted
apart, and so is the search index, which the search page loads.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HEAVIEST = 2_000_000  # bytes of a page with its pictures
SHARED = 6_000_000  # bytes of styles, scripts, the font and the search index
LOADS = {
    "img": "src",
    "script": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "link": "href",
}


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that a link may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called for each tag."""
        given = {name: value or "" for name, value in attrs}
        self.places.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if (
            tag in LOADS
            and LOADS[tag] in given
            and given.get("rel") not in ("canonical", "next", "prev", "search", "index")
        ):
            self.loads.add(given[LOADS[tag]])


def read(site: Path) -> dict[Path, Page]:
    """All pages of the site by their place."""
    return {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def mistakes(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Links that lead nowhere, and what would be loaded from a network."""
    found = []
    for path, page in pages.items():
        here = path.relative_to(site.resolve())
        for address in sorted(page.links | page.loads):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if address in page.loads and parts.scheme != "data":
                    found.append(f"{here}: loads {address}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{here}: {address} does not exist")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                found.append(f"{here}: {address} names a place that is not on that page")
    return found


def weights(pages: dict[Path, Page]) -> dict[Path, int]:
    """Bytes of each page with its pictures, the heaviest first."""
    found = {}
    for path, page in pages.items():
        shown = {(path.parent / unquote(urlsplit(name).path)).resolve() for name in page.loads if ":" not in name}
        pictures = sum(file.stat().st_size for file in shown if file.suffix not in (".css", ".js") and file.is_file())
        found[path] = path.stat().st_size + pictures
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def main(site: Path) -> int:
    """Print what is found; the number of mistakes."""
    pages = read(site)
    wrong = mistakes(site, pages)
    heavy = weights(pages)
    shared = [
        *site.glob("*.js"),
        *(path for path in (site / "_static").rglob("*") if path.suffix in (".css", ".js", ".woff")),
    ]
    together = sum(path.stat().st_size for path in shared)
    print(f"{len(pages)} pages; with their pictures the heaviest weigh")
    for path, weight in list(heavy.items())[:8]:
        print(f"  {weight / 1000:7.0f} kB  {path.relative_to(site.resolve())}")
    print(
        f"  {sorted(heavy.values())[len(heavy) // 2] / 1000:7.0f} kB  is the median; {together / 1000:.0f} kB are shared by all"
    )
    wrong += [
        f"{path.name}: {weight} bytes, more than {HEAVIEST}" for path, weight in heavy.items() if weight > HEAVIEST
    ]
    if together > SHARED:
        wrong.append(f"styles, scripts and the search index: {together} bytes, more than {SHARED}")
    for line in wrong:
        print(line)
    return len(wrong)


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])) and 1)
