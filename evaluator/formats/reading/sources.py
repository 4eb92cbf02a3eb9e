"""Finds the files that a person means: files, folders, patterns, `-` for what is piped in, and `s3://` addresses.

What can be read only once is copied to a file. `extent_after` says whether files that were read before have only grown.
"""

from __future__ import annotations

import atexit
import glob
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec

from evaluator.extras import MissingExtraError, needs
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.formats.reading.problems import FormatError, one_line
from evaluator.user_files import cache_folder


class Source(msgspec.Struct, frozen=True):
    """A local file that is known by another name: a copy of what came through a pipe, or from a store.

    `name` is shown, and read for what a file's name says. `typed` is the word that it was found by.
    """

    path: Path
    name: str
    typed: str = ""

    def __str__(self) -> str:
        return self.name


FileLike: TypeAlias = str | Path | Source

_copies: dict[tuple[int, int], Path] = {}
"""The copy of each pipe, by its device and number: what was read from a pipe is not in it any more."""


def source_of(file: FileLike) -> Source:
    """The file by its own name, or a copy of it where it can be read only once. Raises `FormatError`."""
    if isinstance(file, Source):
        return file
    name = one_line(str(file))
    return Source(_readable_again(Path(file), name), name, str(file))


def _readable_again(path: Path, name: str) -> Path:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return path  # opening it says why
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return path
    if stat.S_ISBLK(status.st_mode) or path.name in ("zero", "random", "urandom", "full"):
        raise FormatError(f"{name}: is a device: pass a file")
    key = (status.st_dev, status.st_ino)
    if key not in _copies:
        _copies[key] = _copy(path, name)
    return _copies[key]


def _copy(path: Path, name: str) -> Path:
    try:
        with path.open("rb") as pipe, tempfile.NamedTemporaryFile(prefix="rollscope-", delete=False) as copy:
            atexit.register(_remove, Path(copy.name))
            shutil.copyfileobj(pipe, copy, 1 << 20)
        return Path(copy.name)
    except OSError as error:
        why = one_line(error.strerror or str(error))
        raise FormatError(f"{name}: can't be copied to {tempfile.gettempdir()} to be read: {why}") from None


def _remove(copy: Path) -> None:
    with suppress(OSError):
        copy.unlink()


STDIN = "-"

_S3 = "s3://"
_PACKINGS = (".gz", ".zst", ".bz2", ".xz")
_ENDINGS = (".jsonl", ".json", ".ndjson", ".parquet", ".csv", ".tsv", ".eval", ".traj")
SIDECARS = ("_materialized_inputs.jsonl", "_failures.jsonl", "_aggregate_metrics.json")
"""What NeMo Gym writes next to its rollouts: the inputs, the failures, the figures."""
_RUN = "run.json"
_OTHERS_SHOWN = 3
_PATTERN = re.compile(r"[*?\[]")
_NUMBER = re.compile(r"(\d+)")


def resolve(words: FileLike | Sequence[FileLike], *, remote: bool = False) -> list[Source]:
    """The files, in the order of the words; those of a folder or a pattern in natural order (step 9 before step 10).

    In a folder these are all files with a known ending, at any depth, without what is hidden, run directories and the
    files that NeMo Gym writes next to its rollouts. `remote`: whether an `s3://` address may be read; only for words
    that were typed on the command line. Raises `FormatError` for a word that means no file.
    """
    found: dict[Path, Source] = {}
    for word in [words] if isinstance(words, str | Path | Source) else words:
        for source in [word] if isinstance(word, Source) else _meant(str(word), remote=remote):
            found.setdefault(Path(os.path.abspath(source.path)), source)  # noqa: PTH100 - links stay what they are
    return list(found.values())


def source_names(sources: Sequence[Source]) -> list[str]:
    """The words that the files were found by, each once."""
    return list(dict.fromkeys(source.typed or source.name for source in sources))


def _meant(word: str, *, remote: bool) -> Iterator[Source]:
    if word == STDIN:
        piped = source_of("/dev/stdin")
        yield Source(piped.path, STDIN, STDIN)
    elif word.startswith(_S3):
        if not remote:
            raise FormatError(f"{one_line(word)}: is only read where it is named on the command line")
        yield from _from_s3(word)
    elif os.path.isfile(os.path.join(word, _RUN)):  # noqa: PTH113, PTH118 - a name with a NUL is not a file
        raise FormatError(f"{one_line(word)}: a run, not rows: name the files that it was made of{_made_of(word)}")
    elif os.path.isdir(word):  # noqa: PTH112 - a name with a NUL is not a directory
        yield from _all_of(_in_folder(Path(word)), word, f"holds no file of rows{_others_in(Path(word))}")
    elif _PATTERN.search(word) and not os.path.lexists(word):
        yield from _all_of(_matching(word), word, "no file matches")
    elif not os.path.exists(word):  # noqa: PTH110 - as above
        raise FormatError(f"{one_line(word)}: no such file: check the path")
    else:
        yield source_of(word)


def _made_of(run: str) -> str:
    """The files that a run says it was made of, as the rest of a sentence."""
    try:
        made = decode_json(Path(run, _RUN).read_bytes())
    except (OSError, JsonError):
        return ""
    names = [made.get(name) for name in ("rollouts", "dataset")] if isinstance(made, dict) else []
    shown = dict.fromkeys(one_line(name) for name in names if isinstance(name, str) and name)
    return f" ({', '.join(shown)})" if shown else ""


def _all_of(paths: list[Path], word: str, why: str) -> Iterator[Source]:
    """The files that a word means. Raises `FormatError` that says why if there are none."""
    if not paths:
        raise FormatError(f"{one_line(word)}: {why}: check the path (files end in {', '.join(_ENDINGS)})")
    for path in sorted(paths, key=_natural):
        yield msgspec.structs.replace(source_of(path), typed=word)


def _matching(pattern: str) -> list[Path]:
    paths: list[Path] = []
    for path in map(Path, glob.glob(pattern, recursive=True)):  # noqa: PTH207 - of a pattern that may be absolute
        paths += _in_folder(path) if path.is_dir() else [path]
    return paths


def _in_folder(folder: Path) -> list[Path]:
    found = []
    for here, folders, names in os.walk(folder):
        if _RUN in names:
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(here, name) for name in names if _is_known(name)]
    return found


def _others_in(folder: Path) -> str:
    """What a folder has instead, as the rest of a sentence."""
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    shown = ", ".join(map(one_line, names[:_OTHERS_SHOWN]))
    return f", only {shown}{', ...' if len(names) > _OTHERS_SHOWN else ''}" if names else ""


def _is_known(name: str) -> bool:
    unpacked = name
    for packing in _PACKINGS:
        unpacked = unpacked.removesuffix(packing)
    return unpacked.lower().endswith(_ENDINGS) and not name.startswith(".") and not unpacked.endswith(SIDECARS)


def _natural(path: Path | str) -> list[list[tuple[bool, int, str]]]:
    """Sorts by parts, numbers by their values."""
    parts = Path(path).parts
    return [
        [
            (not piece.isdecimal(), int(piece) if piece.isdecimal() else 0, piece)
            for piece in _NUMBER.split(part)
            if piece
        ]
        for part in parts
    ]


def _from_s3(address: str) -> Iterator[Source]:
    """Copies of the objects, kept as long as the objects are the same."""
    try:
        with needs("s3", f"{one_line(address)}: reading from S3 needs s3fs"):
            import s3fs
    except MissingExtraError as error:
        raise FormatError(str(error)) from None
    try:
        store = s3fs.S3FileSystem(use_listings_cache=False, skip_instance_cache=True)
        keys = _keys(store, address)
        if not keys:
            raise FileNotFoundError
        for key in sorted(keys, key=_natural):
            yield Source(_cached(store, key), one_line(_S3 + key), address)
    except FormatError:
        raise
    except FileNotFoundError:
        raise FormatError(f"{one_line(address)}: there is no such object: check the bucket and the key") from None
    except Exception as error:
        why = one_line(str(error) or type(error).__name__)
        raise FormatError(f"{one_line(address)}: can't be read from S3: {why}") from None


def _keys(store: Any, address: str) -> list[str]:
    key = address.removeprefix(_S3)
    if _PATTERN.search(key):
        return [found for found in store.glob(key) if store.isfile(found)]
    if not key.endswith("/") and store.isfile(key):
        return [key]
    return [found for found in store.find(key.rstrip("/")) if _is_known(found.rpartition("/")[2])]


def _cached(store: Any, key: str) -> Path:
    about = store.info(key)
    version = f"{os.environ.get('AWS_ENDPOINT_URL', '')} {key} {about.get('ETag')} {about.get('size')}"
    folder = cache_folder("s3") / hashlib.sha256(version.encode()).hexdigest()[:32]
    copy = folder / key.rpartition("/")[2]
    if not copy.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with (
            tempfile.NamedTemporaryFile(dir=folder, prefix=".", delete=False) as part,
            store.open(key, "rb") as object_,
        ):
            try:
                shutil.copyfileobj(object_, part, 8 << 20)
            except BaseException:
                Path(part.name).unlink()
                raise
        Path(part.name).replace(copy)
    return copy


_PIECE = 1 << 20


class Extent(NamedTuple):
    """So many bytes from the start, as they are on the disk, and their hash in the form of `dataset_hash`."""

    size: int
    digest: str


def extent_after(files: Sequence[Source], before: Extent) -> Extent:
    """All bytes that there are now. Raises `FormatError` unless they begin with those of before."""
    digest, size, start = hashlib.sha256(), 0, Extent(0, _hash_named(hashlib.sha256()))
    for piece in _pieces(files, before.size):
        digest.update(piece)
        size += len(piece)
        if size <= before.size:
            start = Extent(size, _hash_named(digest))
    if size < before.size:
        was = f"{size:,} bytes, and had {before.size:,} when it was graded: it was cut off or replaced"
        raise FormatError(f"{files[0]}: has {was}: use another --output")
    if before.size and start.digest != before.digest:
        raise FormatError(
            f"{files[0]}: its first {before.size:,} bytes are not the ones that were graded: use another --output"
        )
    return Extent(size, _hash_named(digest))


def same_files(some: Sequence[Source], others: Sequence[Source]) -> bool:
    """Whether two lists name the same files."""
    return len(some) == len(others) and all(map(_same, some, others))


def _same(one: Source, other: Source) -> bool:
    return one.path == other.path or (one.path.exists() and other.path.exists() and one.path.samefile(other.path))


def _pieces(files: Sequence[Source], end: int) -> Iterator[bytes]:
    """The bytes of all files; one piece ends at `end`."""
    size = 0
    for source in files:
        try:
            with source.path.open("rb") as file:
                while piece := file.read(min(_PIECE, end - size) if size < end else _PIECE):
                    size += len(piece)
                    yield piece
        except OSError as error:
            raise FormatError(f"{source}: can't be read: {error.strerror}") from None


def _hash_named(digest: hashlib._Hash) -> str:
    return f"sha256:{digest.hexdigest()}"
