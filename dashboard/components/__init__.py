"""Streamlit components of our own, drawn by the scripts in `assets/`."""
