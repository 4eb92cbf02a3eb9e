"""Folders of the second way to start: which leftovers are removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evaluator.sandbox.launch import own_folder
from evaluator.sandbox.limits.process_table import started


def test_leftovers_of_ended_processes_are_removed_though_others_remove_some_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ended, gone = tmp_path / "rollscope-sandbox-999999999-1-a", tmp_path / "rollscope-sandbox-999999999-1-b"
    living = tmp_path / f"rollscope-sandbox-{os.getpid()}-{started(os.getpid())}-c"
    ended.mkdir()
    living.mkdir()
    monkeypatch.setattr(own_folder, "_MEMORY", tmp_path)
    monkeypatch.setattr(Path, "glob", lambda folder, _: [gone, ended, living] if folder == tmp_path else [])
    own_folder._sweep_once.cache_clear()
    made = own_folder.make(os.geteuid(), [])
    try:
        assert {*tmp_path.iterdir()} - {made} == {living}
    finally:
        own_folder.remove(made)
