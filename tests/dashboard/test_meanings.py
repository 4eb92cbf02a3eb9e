"""Figures explain themselves, and what they lead to is there."""

import re

import pytest

from dashboard import documents, meanings
from evaluator.model import Verdict
from tests.dashboard.test_pages import cards, visit


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize(("page", "key"), [("overview", "cards"), ("audit", "recorded_cards")])
def test_every_figure_says_what_it_means(page: str, key: str) -> None:
    assert [name for name, card in cards(visit(page), key).items() if not card["about"]] == []


def test_each_verdict_has_a_sentence() -> None:
    assert all(meanings.VERDICTS[verdict] for verdict in Verdict)


@pytest.mark.parametrize("name", meanings.NAMES)
def test_the_documentation_has_what_a_figure_leads_to(name: str) -> None:
    doc, _, anchor = meanings.of(name).doc.partition("#")
    if doc:
        titles = re.findall(r"^#+ (.*)$", documents.path(doc).read_text(), re.MULTILINE)
        assert anchor in {"", *(title.lower().replace(" ", "-") for title in titles)}


@pytest.mark.usefixtures("opened")
def test_links_between_documents_stay_on_their_page() -> None:
    shown = "".join(element.value for element in visit("docs", view="verdicts").markdown)
    assert f"]({documents.href('checkers#a-checker-of-the-tasks-own')})" in shown
    assert ".md" not in re.sub(r"`[^`]*`", "", shown)
