"""A resource server's folder: writes a new one from the files in `_template/`, and reads the rows and faults of any.

Template files that end in `.template` get `$name`, `$class_name` and so on filled in; the others are copied.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from string import Template
from typing import Final

import evaluator
from evaluator.formats.nemo_gym import read_task
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.interop.nemo_gym.config import SERVERS, ConfigError, content_of, instances_of
from evaluator.interop.nemo_gym.server_checks import Finding, Status
from evaluator.interop.nemo_gym.tried_server import Row
from evaluator.interop.nemo_gym.wire import JsonObject
from evaluator.model import RecordError

EXAMPLES: Final = 5
"""How many rows NeMo Gym requires in example.jsonl, and in example_rollouts.jsonl."""
_ROWS: Final = 5
_SHOWN: Final = 3
_MORE: Final = "; --validate-data lists all faults"
_ASKED: Final = "responses_create_params"
_TRIED_FIRST: Final = ("example.jsonl", "validation.jsonl", "train.jsonl")
_NO_DATASETS: Final = ("rollouts", "_prepare", "_failures", "_materialized_inputs")
_AGENTS, _ENVIRONMENTS = "responses_api_agents", "environment_servers"
_DOMAINS: Final = (
    "math", "coding", "agent", "knowledge", "instruction_following", "long_context", "safety", "games", "translation",
    "e2e", "rlhf", "other",
)  # fmt: skip
_LICENSES: Final = (
    "Apache 2.0", "MIT", "Creative Commons Attribution 4.0 International",
    "Creative Commons Attribution-ShareAlike 4.0 International", "CC BY-SA 4.0", "CC BY-NC 3.0",
    "NVIDIA Internal Use Only, Do Not Distribute", "NVIDIA Evaluation Dataset License Agreement", "TBD",
    "GNU General Public License v3.0",
)  # fmt: skip
_TYPES: Final = ("train", "validation", "example")
_TEMPLATE: Final = Path(__file__).parent / "_template"
_ENDING: Final = ".template"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST_NAME: Final = 40


class NewServerError(ValueError):
    """The folder can't be written. One line that says why and how to fix it."""


def write_server(folder: Path, name: str | None = None) -> list[Path]:
    """Writes a server's files into a new or empty folder and returns their paths.

    `name`: the server's in NeMo Gym's configuration; None: the folder's. Raises `NewServerError`.
    """
    name = _checked_name(folder, name)
    if folder.is_symlink() or folder.exists():
        if not folder.is_dir():
            raise NewServerError(f"{folder}: a file of that name exists: give another folder")
        found = min((path.name for path in folder.iterdir()), default=None)
        if found is not None:
            raise NewServerError(f"{folder}: not empty (it has {found}): give a new folder")
    words = {
        "name": name,
        "class_name": "".join(part.capitalize() for part in name.split("_")) + "ResourcesServer",
        "agent_name": f"{name}_simple_agent",
        "requirement": requirement(),
    }
    written = []
    for source in sorted(path for path in _TEMPLATE.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        path = source.relative_to(_TEMPLATE)
        target = folder / str(path).removesuffix(_ENDING).replace("server.yaml", f"{name}.yaml")
        text = source.read_text(encoding="utf-8")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(text).substitute(words) if source.suffix == _ENDING else text, encoding="utf-8")
        written.append(target)
    return written


def requirement() -> str:
    """The requirement that installs this version of Rollscope, or this checkout."""
    root = Path(evaluator.__file__).resolve().parent.parent
    if (root / "pyproject.toml").is_file() and (root / "tools" / "hatch_build.py").is_file():
        return f"-e {root.as_uri()}\nrollscope[serve]"
    return f"rollscope[serve]=={evaluator.__version__}"


def _checked_name(folder: Path, name: str | None) -> str:
    given = folder.resolve().name if name is None else name
    if _NAME.fullmatch(given) and len(given) <= _LONGEST_NAME:
        return given
    better = re.sub(r"[^a-z0-9]+", "_", given.lower()).strip("_")[:_LONGEST_NAME]
    if not _NAME.fullmatch(better):
        better = "my_task"
    raise NewServerError(
        f"{given[:80]!r} can't be a server's name (lower-case letters, digits and _, a letter first, at most"
        f" {_LONGEST_NAME}): give --name {better}"
    )


def rows_of_folder(folder: Path) -> list[Row]:
    """The rows to try a server with: its examples, else the first rows of other data, with their responses from
    `example_rollouts.jsonl`. Malformed lines are skipped."""
    for name in _TRIED_FIRST:
        rows = rows_of_file(folder / "data" / name)
        if rows:
            return _with_responses(rows, folder / "data" / "example_rollouts.jsonl")
    return []


def rows_of_file(path: Path) -> list[Row]:
    """The first rows of a file; the `query` of the tutorial's rows is also made their prompt."""
    rows: list[Row] = []
    for number, fields in _lines(path):
        if fields is not None:
            query = fields.get("query")
            asked: JsonObject = {_ASKED: {"input": query}} if _ASKED not in fields and isinstance(query, str) else {}
            rows.append(Row(f"{path.name}:{number}", asked | fields))
        if len(rows) == _ROWS:
            break
    return rows


def check_readable(folder: Path) -> Iterator[Finding]:
    """A finding for each malformed file that a server is tried with."""
    for path in (folder / "data" / name for name in _TRIED_FIRST):
        broken = [number for number, fields in _lines(path) if fields is None]
        if broken:
            yield Finding(f"data/{path.name}", Status.FAILED, f"line {broken[0]}: must be a JSON object{_MORE}")
    for path in _configurations(folder):
        try:
            content_of(path)
        except ConfigError as error:
            yield Finding(f"configs/{path.name}", Status.FAILED, f"{error}{_MORE}")


def check_data(folder: Path) -> Iterator[Finding]:
    """A finding per data file, with the numbers of its faulty lines."""
    data = folder / "data"
    if not (data / "example.jsonl").is_file():
        yield Finding("data/example.jsonl", Status.FAILED, f"missing: give exactly {EXAMPLES} rows")
    for path in sorted(data.glob("*.jsonl")):
        if any(word in path.stem for word in _NO_DATASETS):
            continue
        lines = list(_lines(path))
        wrong = [f"line {number}: {fault}" for number, fields in lines if (fault := _wrong_row(fields))]
        if path.name == "example.jsonl" and len(lines) != EXAMPLES:
            wrong.insert(0, f"{len(lines)} rows: give exactly {EXAMPLES}")
        elif not lines:
            wrong.append("no rows")
        yield _finding(f"data/{path.name}", wrong, f"{len(lines)} rows")
    yield from _check_companions(data)


def check_configuration(folder: Path) -> Iterator[Finding]:
    """A finding per configuration."""
    paths = _configurations(folder)
    if not paths:
        yield Finding("configs", Status.FAILED, "no configs/*.yaml: NeMo Gym starts nothing without one")
    for path in paths:
        yield _finding(f"configs/{path.name}", list(_wrong_configuration(path, folder)), "valid for NeMo Gym 0.7")
    if (folder / "requirements.txt").is_file() == (folder / "pyproject.toml").is_file():
        yield Finding("requirements.txt", Status.FAILED, "give exactly one of requirements.txt and pyproject.toml")
    else:
        yield Finding("requirements.txt", Status.OK, "NeMo Gym's launcher can install it")


def _configurations(folder: Path) -> list[Path]:
    return sorted(folder.glob("configs/*.y*ml"))


def _finding(check: str, wrong: list[str], otherwise: str) -> Finding:
    if not wrong:
        return Finding(check, Status.OK, otherwise)
    more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return Finding(check, Status.FAILED, "; ".join(wrong[:_SHOWN]) + more)


def _check_companions(data: Path) -> Iterator[Finding]:
    """The two files that `gym env test +should_validate_data=true` requires beside example.jsonl."""
    rollouts, metrics = data / "example_rollouts.jsonl", data / "example_metrics.json"
    count = sum(1 for _ in _lines(rollouts))
    wrong = [] if count == EXAMPLES else [f"{count} rollouts: give one per example, {EXAMPLES}"]
    yield _finding(f"data/{rollouts.name}", wrong, f"{count} rollouts")
    content = _object_in(metrics.read_text(encoding="utf-8", errors="replace")) if metrics.is_file() else None
    examples = content.get("Number of examples") if content else None
    wrong = [] if examples == EXAMPLES else [f'"Number of examples" is {examples}: `gym dataset collate` writes this']
    yield _finding(f"data/{metrics.name}", wrong, f"of {EXAMPLES} examples")


def _wrong_row(fields: JsonObject | None) -> str | None:
    """Why NeMo Gym refuses a row; None for a good one."""
    if fields is None:
        return "must be a JSON object"
    asked = fields.get(_ASKED)
    if isinstance(fields.get("task_id"), dict):
        return None if isinstance(fields.get("task_input"), dict) else "task_input is missing beside task_id"
    if not isinstance(asked, dict):
        fix = ' (for a row with a query, {"input": QUERY})' if "query" in fields else ""
        return f'no {_ASKED}: give {{"input": [{{"role": "user", "content": ...}}]}}{fix}'
    given = asked.get("input")
    if isinstance(given, str):
        return None if given.strip() else f"{_ASKED}.input is empty"
    if not isinstance(given, list) or not given:
        return f"{_ASKED}.input is {'empty' if given == [] else 'missing'}: give text or messages"
    if not all(isinstance(item, dict) and ("role" in item or "type" in item) for item in given):
        return f"{_ASKED}.input: each message needs a role and a content"
    details = fields.get("verifier_metadata")
    if details is not None and not isinstance(details, dict):
        return "verifier_metadata must be an object"
    if not details or "unit_tests" not in details:  # only the server knows about its other fields
        return None
    try:
        task = read_task(fields)
    except RecordError as error:
        return str(error)
    return None if task.cases or task.test else "verifier_metadata.unit_tests: inputs and outputs are empty"


def _wrong_configuration(path: Path, folder: Path) -> Iterator[str]:
    try:
        content = content_of(path)
    except ConfigError as error:
        yield str(error)
        return
    servers, agents = instances_of(content, SERVERS), instances_of(content, _AGENTS)
    if not servers:
        yield f"no {SERVERS}: give NAME: {{{SERVERS}: {{{folder.resolve().name}: {{entrypoint: app.py, ...}}}}}}"
    for name, (kind, fields) in servers.items():
        yield from _wrong_server(name, kind, fields, folder)
    for name, (_, fields) in agents.items():
        yield from _wrong_reference(name, fields, "resources_server", servers)
        yield from _wrong_agent(name, fields, folder)
    environments = instances_of(content, _ENVIRONMENTS)
    if agents and not environments:
        yield f"no {_ENVIRONMENTS}: NeMo Gym 0.7 warns and adds one: name its agent_server"
    for name, (_, fields) in environments.items():
        yield from _wrong_reference(name, fields, "agent_server", agents)


def _wrong_server(name: str, kind: str, fields: JsonObject, folder: Path) -> Iterator[str]:
    entrypoint, domain = fields.get("entrypoint"), fields.get("domain")
    if not isinstance(entrypoint, str) or not (folder / entrypoint).is_file():
        yield f"{name}: entrypoint is {entrypoint!r}: name a file in the folder, app.py"
    if domain not in _DOMAINS:
        yield f"{name}: domain is {domain!r}: give one of {', '.join(_DOMAINS)}"
    if kind != folder.resolve().name:
        yield f"{name}: NeMo Gym looks for {kind!r} in {SERVERS}/{kind}, but this folder is {folder.resolve().name!r}"


def _wrong_reference(name: str, fields: JsonObject, what: str, known: Collection[object]) -> Iterator[str]:
    meant = _named(fields, what)
    if meant not in known:
        yield f"{name}: {what} is {meant!r} (known: {', '.join(map(str, known)) or 'none'})"


def _named(fields: JsonObject, what: str) -> object:
    value = fields.get(what)
    return value.get("name") if isinstance(value, dict) else None


def _wrong_agent(name: str, fields: JsonObject, folder: Path) -> Iterator[str]:
    if _named(fields, "model_server") is None:
        yield f"{name}: no model_server: give {{type: responses_api_models, name: policy_model}}"
    datasets = fields.get("datasets")
    for dataset in datasets if isinstance(datasets, list) else ():
        if isinstance(dataset, dict):
            yield from (f"{name}: dataset {dataset.get('name')}: {fault}" for fault in _wrong_dataset(dataset, folder))


def _wrong_dataset(dataset: JsonObject, folder: Path) -> Iterator[str]:
    kind, path, license_ = dataset.get("type"), dataset.get("jsonl_fpath"), dataset.get("license")
    if kind not in _TYPES:
        yield f"type is {kind!r}: give one of {', '.join(_TYPES)}"
    if license_ not in _LICENSES and (license_ is not None or kind != "example"):
        yield f"license is {license_!r}: give one of {', '.join(_LICENSES[:3])}, ..."
    if not isinstance(path, str):
        yield "jsonl_fpath is missing"
    elif not _found(path, folder) and not any(
        "identifier" in key or key in ("source", "prepare_script") for key in dataset
    ):
        yield f"jsonl_fpath {path}: no such file"


def _found(path: str, folder: Path) -> bool:
    """Whether NeMo Gym would find it, from the folder above `resources_servers/`, which may not exist yet."""
    own = Path(SERVERS, folder.resolve().name)
    inner = Path(path).relative_to(own) if Path(path).is_relative_to(own) else Path(path)
    return (folder / inner).is_file() or Path(path).is_file()


def _with_responses(rows: list[Row], path: Path) -> list[Row]:
    by_prompt: dict[str, JsonObject] = {}
    for _, fields in _lines(path):
        response = fields.get("response") if fields else None
        if fields and isinstance(response, dict):
            by_prompt.setdefault(_prompt(fields), response)
    return [Row(row.place, row.fields, by_prompt.get(_prompt(row.fields))) for row in rows]


def _prompt(fields: JsonObject) -> str:
    """The prompt, without the fields that a collection adds to messages."""
    asked = fields.get(_ASKED)
    given = asked.get("input") if isinstance(asked, dict) else None
    if isinstance(given, list):
        given = [[item.get("role"), item.get("content")] if isinstance(item, dict) else item for item in given]
    return json.dumps(given)


def _lines(path: Path) -> Iterator[tuple[int, JsonObject | None]]:
    """The number and the object of each line that is not blank, None if it has none; nothing if there is no file."""
    if path.is_file():
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from ((number, _object_in(line)) for number, line in enumerate(file, 1) if line.strip())


def _object_in(text: str) -> JsonObject | None:
    try:
        value = decode_json(text)
    except JsonError:
        return None
    return value if isinstance(value, dict) else None
