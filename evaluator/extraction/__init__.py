"""Completion text to code: what is taken out of a completion and run."""

from evaluator.extraction.program import Extraction, extract, outside_thinking

__all__ = ["Extraction", "extract", "outside_thinking"]
