"""This version of Rollscope."""

VERSION = "0.1.0"
