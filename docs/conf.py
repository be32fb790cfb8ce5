"""Sphinx: `make docs` builds the site into docs/_build/html. Nothing is fetched, no notebook is run."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.ext.napoleon import NumpyDocstring
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.inspect import TypeAliasForwardRef

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import _pages

import diffnb

log = logging.getLogger("diffnb.docs")

project = "diffnb"
author = "The diffnb developers"
copyright = author
version = release = diffnb.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build", "Thumbs.db", ".DS_Store"]
root_doc = "index"
# `x` in a docstring is code, as in Markdown
default_role = "literal"

nb_execution_mode = "off"
nb_merge_streams = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # panels leave a static image; no external script is loaded
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_update_mathjax = False
myst_dmath_double_inline = True
# equations are converted to MathML, which browsers render without a script
html_math_renderer = "mathml"

autosummary_generate = False  # _pages writes the pages, from the __all__ of every subpackage
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {"KernelFunction": "KernelFunction"}
napoleon_google_docstring = False
napoleon_use_rtype = False
maximum_signature_line_length = 88
python_use_unqualified_type_names = True
add_module_names = False

# every reference within diffnb must resolve; those to other packages would need their inventories from the network
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!diffnb\.).*")]

html_theme = "sphinx_book_theme"
html_title = f"diffnb {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "repository_url": _pages.REPOSITORY,
    "use_repository_button": True,
    "use_issues_button": True,
    "show_toc_level": 2,
    "home_page_in_toc": True,
    "navbar_persistent": [],  # the search field of the sidebar is enough
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark-high-contrast",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def returns_as_written(self: NumpyDocstring, section: str) -> list[str]:
    """Read a Returns section as sentences, not as a list of types."""
    return self._format_block(":returns: ", self._dedent(self._consume_to_next_section()))


NumpyDocstring._parse_returns_section = returns_as_written  # type: ignore[method-assign]
# show the name of an alias where it is part of a union
TypeAliasForwardRef.__repr__ = lambda self: self.name  # type: ignore[method-assign]


def mathml(self, node) -> None:
    """Write an equation as MathML."""
    try:
        self.body.append(tex2mathml(node.astext(), as_block=isinstance(node, nodes.math_block)))
    except MathError as error:
        log.warning("cannot write this equation as MathML: %s", error, location=node)
    raise nodes.SkipNode


class LinkedNames(SphinxTransform):
    """Link every `dn.tl.disc` in the text to its page."""

    default_priority = 5

    def apply(self, **kwargs: object) -> None:
        """Wrap literals that are the name of a public function."""
        for literal in list(self.document.findall(nodes.literal)):
            found = re.fullmatch(r"(?:(?:dn|diffnb)\.)?(\w+)\.(\w+)(?:\(.*\))?", literal.astext())
            if not found or found[1] not in _pages.SUBPACKAGES or found[2] not in getattr(diffnb, found[1]).__all__:
                continue
            if isinstance(literal.parent, nodes.reference | addnodes.pending_xref):
                continue
            target = f"diffnb.{found[1]}.{found[2]}"
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="func", reftarget=target, refexplicit=True, refwarn=True
            )
            literal.replace_self(link)
            link += literal


def read(app, docname: str, source: list[str]) -> None:
    """Convert the links of a page, and add pages that the index of a section does not list."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".md" or docname.startswith(_pages.PROJECT_PAGES + "/"):
        return
    source[0] = source[0].replace("<others>", "\n".join(_pages.unlisted(source[0], path.parent)))
    source[0] = _pages.with_site_links(source[0], path, path.relative_to(app.srcdir))
    if "<functions>" in source[0]:
        source[0] = source[0].replace("<functions>", _pages.function_tables())
    if "<figures>" in source[0]:
        source[0] = source[0].replace("<figures>", _pages.figure_table())


def panel(app, env, node, text):
    """Link the class of each panel to the methods that all panels share."""
    if not re.fullmatch(r"diffnb\.panels\._\w+\.\w+Panel", node.get("reftarget", "")):
        return None
    target = "diffnb.panels._frame.Panel"
    return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "class", target, node, text)


def setup(app) -> None:
    """Generate pages before Sphinx reads them."""
    _pages.gather()
    app.add_html_math_renderer("mathml", inline_renderers=(mathml, None), block_renderers=(mathml, None))
    app.add_transform(LinkedNames)
    app.connect("source-read", read)
    app.connect("missing-reference", panel)
