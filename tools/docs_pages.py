"""Hooks of MkDocs: the pages of the documentation's site that stand elsewhere in the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_ROOT: Final = Path(__file__).resolve().parent.parent
_PAGES: Final = {
    "CHANGELOG.md": "project/changelog.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "benchmarks/README.md": "project/benchmarks.md",
}
"""A file of the repository, and its page on the site."""
_LINK: Final = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
_TABLE_CELL_CODE: Final = re.compile(r"`[^`\n]*\\\|[^`\n]*`")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that stand elsewhere."""
    for source, page in _PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(_ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: object, config: MkDocsConfig, files: Files) -> str:
    """Links of the repository as links of the site; what the site does not have is text."""
    del config
    at = page.file.src_uri  # type: ignore[attr-defined]
    sources = {page: source for source, page in _PAGES.items()}
    folder = (_ROOT / (sources.get(at) or f"docs/{at}")).parent

    def linked(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        try:
            path = (folder / target).resolve().relative_to(_ROOT).as_posix()
        except ValueError:
            return text
        uri = _PAGES.get(path) or path.removeprefix("docs/")
        if path == "README.md":
            uri = "index.md"
        if files.get_file_from_path(uri) is None and not path.startswith("docs/"):
            return text  # a file of the repository that is no page
        return f"[{text}]({'../' * at.count('/')}{uri}{anchor})"

    # GitHub wants a bar in the code of a cell escaped; MkDocs would show the backslash, and needs none.
    unescaped = _TABLE_CELL_CODE.sub(lambda found: found[0].replace("\\|", "|"), markdown)
    return _LINK.sub(linked, unescaped)
