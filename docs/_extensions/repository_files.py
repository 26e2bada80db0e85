"""Links from pages to files outside docs: they work in the repository, and here they lead to a page with the file's text.

A link whose words are the name of a function in a Python file leads to that function. Files that the site shows otherwise
(``repository_pages`` in conf.py: README.md is the first page, an example is a page of the gallery) have their own page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

KIND = "repository-file"
ANCHOR = re.compile(r'<a id="([\w-]+)">')


class Anchors(SphinxTransform):
    """``<a id="x"></a>`` in a page is a place that links lead to, as it is in the repository."""

    default_priority = 800  # before MyST looks for the places that links lead to

    def apply(self, **kwargs: Any) -> None:
        """Called by Sphinx for each page."""
        slugs = self.env.metadata[self.env.docname].setdefault("myst_slugs", {})
        for node in list(self.document.findall(nodes.raw)):
            found = ANCHOR.fullmatch(node.astext())
            if found:
                place = nodes.target("", "", ids=[found[1]], names=[found[1]])
                node.replace_self(place)
                self.document.note_explicit_target(place)
                slugs[found[1]] = (0, found[1], found[1])


def mark_links(app: Sphinx, tree: nodes.document) -> None:
    """Turn links to files outside docs into references of a kind of their own, before Sphinx copies or misses them.

    In a page that includes a file of the repository, links are meant from that file's folder.
    """
    docs = Path(app.srcdir)
    root = docs.parent
    page = app.env.docname
    included = next(
        (file for file, shown in app.config.repository_pages.items() if shown == page and page != "index"), None
    )
    here = (root / included).parent if included else (docs / page).parent
    for node in list(tree.findall(addnodes.download_reference)) + list(tree.findall(addnodes.pending_xref)):
        if node.get("reftype") != "myst":
            continue
        file, _, anchor = str(node["reftarget"]).partition("#")
        place = next((p for p in ((here / (file + end)).resolve() for end in ("", ".md")) if file and p.exists()), None)
        if place is None or not place.is_relative_to(root):
            continue
        if not place.is_relative_to(docs):
            kind = {"reftype": KIND, "refdomain": "", "reftarget": place.relative_to(root).as_posix()}
        elif included:
            name = place.relative_to(docs).with_suffix("").as_posix()
            kind = {"reftype": "myst", "refdomain": "doc", "reftarget": name, "reftargetid": anchor or None}
        else:
            continue
        marked = addnodes.pending_xref("", *node.children, refdoc=page, refexplicit=True, refwarn=True, **kind)
        marked.source, marked.line = node.source, node.line
        node.replace_self(marked)


def lead(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, words: nodes.TextElement
) -> nodes.Node | None:
    """The page of a file, at the function that the link names."""
    if node.get("reftype") != KIND:
        return None
    file, anchor = node["reftarget"], ""
    page = app.config.repository_pages.get(file)
    if page is None:
        page, name = f"files/{file}", words.astext()
        shown: set[str] = env.__dict__.setdefault("repository_files", set())
        shown.add(file)
        folder = Path(app.srcdir).parent / file
        shown.update(f"{file}/{path.name}" for path in folder.glob("*.py"))
        anchor = f"#{name}" if name in functions(Path(app.srcdir).parent / file) else ""
    address = app.builder.get_relative_uri(node["refdoc"], page) + anchor
    return nodes.reference("", "", *words.children, internal=True, refuri=address)


def functions(path: Path) -> dict[str, int]:
    """The lines of a Python file where its functions and classes begin."""
    if path.suffix != ".py":
        return {}
    found = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.name: node.lineno for node in found if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each file that was linked to."""
    if app.builder.format != "html":
        return
    root = Path(app.srcdir).parent
    for file in sorted(app.env.__dict__.get("repository_files", ())):
        if (root / file).is_dir():
            names = sorted(path.name for path in (root / file).glob("*.py"))
            links = "".join(f'<li><a href="{Path(file).name}/{name}.html">{name}</a></li>' for name in names)
            yield f"files/{file}", {"title": file, "body": f"<h1>{file}</h1><ul>{links}</ul>"}, "page.html"
            continue
        text = (root / file).read_text(encoding="utf-8")
        try:
            lexer = get_lexer_for_filename(file, stripnl=False)
        except ClassNotFound:
            lexer = get_lexer_for_filename("x.txt", stripnl=False)
        lines = highlight(text, lexer, HtmlFormatter(nowrap=True)).splitlines()
        for name, line in functions(root / file).items():
            lines[line - 1] = f'<span id="{name}"></span>{lines[line - 1]}'
        body = f'<h1>{file}</h1><div class="highlight"><pre>' + "\n".join(lines) + "</pre></div>"
        yield f"files/{file}", {"title": file, "body": body}, "page.html"


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_config_value("repository_pages", {}, "env", dict)
    app.add_transform(Anchors)
    app.connect("doctree-read", mark_links)
    app.connect("missing-reference", lead)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
