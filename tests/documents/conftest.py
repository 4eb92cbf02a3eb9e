"""What other systems document. Run alone: .venv/bin/python -m pytest tests/documents"""
