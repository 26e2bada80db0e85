"""How Sphinx builds the site: `make docs`. docs/design.md, "The site", says why it is built so."""

from __future__ import annotations

import os
import sys
import tomllib
from hashlib import blake2b
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
BUILD = ROOT / "build"
sys.path.insert(0, str(DOCS / "_extensions"))
sys.path.insert(0, str(ROOT / "src"))
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
os.environ.setdefault("TORSOR_CACHE_DIR", str(BUILD / "site_kernels"))  # all pages share the kernels
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # a cell shows the pictures it draws

import examples_gallery  # noqa: E402
import inventories  # noqa: E402

import torsor  # noqa: E402

project = "torsor"
author = "The torsor authors"
copyright = author
version = release = torsor.__version__
repository = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "mathml",  # equations without a script and without a network
    "api_pages",  # the reference, from the stubs and the docstrings
    "repository_files",  # links to sources and tests lead to pages of the site
]
exclude_patterns = ["_*", *(f"gallery/*.{end}" for end in ("ipynb", "json", "md5", "py", "zip"))]
nitpicky = True

repository_pages = {  # files outside docs that are pages here
    "README.md": "index",
    "CHANGELOG.md": "about/changelog",
    "CONTRIBUTING.md": "about/contributing",
    "benchmarks/README.md": "about/benchmarks",
}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_typehints = "none"  # docstrings say it in words, with shapes and units
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"

intersphinx_mapping = inventories.write(BUILD / "site_inventories")

examples_gallery.copy_examples()
repository_pages |= {"examples": "gallery/index"}
repository_pages |= {f"examples/{path.name}": f"gallery/{path.stem}" for path in (ROOT / "examples").glob("*.py")}
sphinx_gallery_conf = {
    "examples_dirs": str(examples_gallery.COPIES),
    "gallery_dirs": "gallery",
    "filename_pattern": "",
    "within_subsection_order": "FileNameSortKey",
    "default_thumb_file": str(DOCS / "figures" / "robot.png"),  # of examples that draw nothing
    "reset_argv": "examples_gallery.arguments",
    "image_scrapers": ("examples_gallery.pictures",),
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "download_all_examples": False,
    "write_computation_times": False,
}


def _digest_of_the_sources() -> str:
    digest = blake2b(digest_size=8)
    for path in sorted((ROOT / "src" / "torsor").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


nb_execution_mode = "cache"
nb_execution_cache_path = str(BUILD / "site_notebooks" / _digest_of_the_sources())  # other sources: run again
nb_execution_raise_on_error = True
nb_execution_in_temp = True  # what pages write leaves no trace
nb_execution_timeout = 120
nb_merge_streams = True

html_theme = "furo"
html_title = "torsor"
html_static_path = ["_static"]
html_css_files = ["torsor.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
html_theme_options = {"source_repository": repository, "source_branch": "main", "source_directory": "docs/"}
