"""Draws the given rewards against our verdicts as a table."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard import facts
from dashboard.escape import html
from dashboard.queries.audits import BINS
from evaluator.model import Verdict


def confusion(counts: Mapping[tuple[int, str], int]) -> str:
    """A row per bin of the given reward, a column per verdict; bins and verdicts that no rollout has are left out."""
    verdicts = [v.value for v in Verdict if any(word == v for _, word in counts)]
    places = sorted({place for place, _ in counts})
    head = "".join(f"<th>{facts.chip_html(word)}</th>" for word in verdicts)
    rows = "".join(
        f"<tr><td>{html(BINS[place])}</td>{''.join(_cell(counts.get((place, word), 0)) for word in verdicts)}"
        f"<td><b>{sum(counts.get((place, word), 0) for word in verdicts):,}</b></td></tr>"
        for place in places
    )
    top = f"<thead><tr><th>given</th>{head}<th>all</th></tr></thead>"
    return f'<div class="rs-confusion-box"><table class="rs-confusion">{top}<tbody>{rows}</tbody></table></div>'


def _cell(count: int) -> str:
    return f"<td>{count:,}</td>" if count else '<td class="none">·</td>'
