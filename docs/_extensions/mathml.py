"""Equations as MathML, which browsers show by themselves: no script, nothing from a network.

LaTeX is translated when the site is built, by latex2mathml. Where a browser's system has no font for mathematics, brackets do
not stretch; so the site brings one, STIX Two Math (SIL Open Font Licence), cut down to the signs of equations.
"""

from __future__ import annotations

import logging
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import ziamath
from docutils import nodes
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

FONT = Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"
SIGNS = (  # letters and Greek, marks above letters, punctuation, arrows, operators, brackets; italic, bold and script letters
    *range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x2C6, 0x2DE), *range(0x300, 0x310), *range(0x391, 0x3D7),
    *range(0x2010, 0x2060), *range(0x2061, 0x2065), *range(0x2070, 0x20A0), *range(0x20D0, 0x20E0), *range(0x2100, 0x2150),
    *range(0x2190, 0x21E0), *range(0x2200, 0x2300), *range(0x2308, 0x230C), *range(0x23B0, 0x23B8), *range(0x27E6, 0x27EC),
    *range(0x1D400, 0x1D504), *range(0x1D6A8, 0x1D790),
)  # fmt: skip
BAR = '<mo stretchy="false">&#x0007C;</mo>'  # of an absolute value: not an operator, with space on both sides


def mathml(latex: str, display: bool) -> str:
    """The equation as MathML; its LaTeX goes along for who copies it."""
    latex = re.sub(r"(\\begin\{\w+\}|\\\\)\s*\[", r"\1 {}[", latex)  # a bracket there is an entry's, not an option's
    try:
        found = convert(latex, display="block" if display else "inline")
    except Exception as error:
        raise ExtensionError(f"latex2mathml cannot read {latex!r}: {error}") from error
    if re.search(r"<m[a-z]+>\\", found):  # a command that it does not know stays as it is
        raise ExtensionError(f"latex2mathml does not know a command of {latex!r}")
    return found.replace(BAR, BAR.replace(">", ' lspace="0" rspace="0">', 1))


def visit_math(self: Any, node: nodes.math) -> None:
    """An equation within a line."""
    self.body.append(mathml(node.astext(), display=False))
    raise nodes.SkipNode


def visit_displaymath(self: Any, node: nodes.math_block) -> None:
    """An equation on its own line."""
    self.body.append(self.starttag(node, "div", CLASS="math-block") + mathml(node.astext(), display=True) + "</div>\n")
    raise nodes.SkipNode


def write_font(app: Sphinx, error: Exception | None) -> None:
    """The font for `torsor.css`."""
    if error or app.builder.format != "html":
        return
    font = TTFont(FONT)
    subsetter = Subsetter(Options(layout_features=["ssty", "dtls", "flac"], hinting=False))
    subsetter.populate(unicodes=SIGNS)
    subsetter.subset(font)
    font.flavor = "woff"
    data = BytesIO()
    font.save(data)
    (Path(app.outdir) / "_static" / "mathematics.woff").write_bytes(data.getvalue())


logging.getLogger("fontTools").setLevel(logging.WARNING)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    app.connect("build-finished", write_font)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
