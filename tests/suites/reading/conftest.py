"""Run alone: .venv/bin/python -m pytest tests/assertions"""
