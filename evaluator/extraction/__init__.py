"""Completion text to code: what is taken out of a completion and run."""

from evaluator.extraction.choice import ONLY_BLOCK
from evaluator.extraction.others import EXTRACTORS, extracted_by_others
from evaluator.extraction.program import WHOLE, Extraction, extract, outside_thinking

OBVIOUS = (WHOLE, ONLY_BLOCK)
"""How `Extraction.extracted_from` begins where there was nothing to choose."""

__all__ = ["EXTRACTORS", "OBVIOUS", "Extraction", "extract", "extracted_by_others", "outside_thinking"]
