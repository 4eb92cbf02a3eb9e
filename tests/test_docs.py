"""The documentation names everything there is: verdicts, limits, formats, checkers, commands, options, reasons."""

import ast
import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import evaluator
from evaluator.checkers import known_checkers
from evaluator.cli import COMMANDS
from evaluator.formats import known_formats
from evaluator.graders import known_graders, own_function
from evaluator.interop.nemo_gym import ServerConfig
from evaluator.interop.nemo_gym.wire import FailureKind
from evaluator.model import Limits, Verdict
from evaluator.runs.schema import TABLES
from evaluator.suites.guest.errors import Doubt, GaveUp
from evaluator.suites.reading import Refusal
from evaluator.suites.reading.one_process import READ, Reason

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FORMATS = known_formats().values()


PAGES = {path.stem: path for path in DOCS.rglob("*.md")}
"""By name: the dashboard's page Docs knows them by it."""
OF_A_FILE = {"RANGE": own_function.USUAL_RANGE, "RUNS_CODE": True, "WAITS": 0}


def headings(text: str) -> set[str]:
    return set(re.findall(r"^#+ `([^`]+)`", text, re.MULTILINE))


def section(text: str, heading: str) -> str:
    return text.partition(f"\n## `{heading}`\n")[2].partition("\n## ")[0]


def options() -> Iterator[tuple[str, str]]:
    for name, command in COMMANDS.items():
        for flags, _ in command.options:
            yield from ((name, flag) for flag in flags if flag.startswith("--"))


def told(function: str, files: str) -> Iterator[str]:
    """What calls of this name say, with an ellipsis for what is filled in."""
    for path in (ROOT / "evaluator").glob(files):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[text, *_]) if name == function:
                    yield from texts(text)


def texts(node: ast.expr | None) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in parts)
        case ast.Tuple(elts=[_, text]):
            yield from texts(text)


def rows() -> Iterator[tuple[str, str]]:
    """The rows of tables that there have to be, by page."""
    for verdict in Verdict:
        yield "verdicts", f"\n| `{verdict}` | {verdict.letter} | "
    for limit in Limits.__struct_fields__:
        yield "verdicts", f"\n| `{limit}` | {getattr(Limits(), limit):g} | "
    for flag in {
        *told("Flag", "graders/reward_range.py"),
        *told("_flagged", "graders/own_function.py"),
        "judge_failed",
    }:
        yield "graders", f"\n| `{flag}` | "
    for name, default in OF_A_FILE.items():
        yield "graders", f"\n| `{name}` | `{default}` | "
    for field in ServerConfig.model_fields.keys() - {"name", "host", "port"}:
        yield "nemo-gym", f"\n| `{field}` | `{json.dumps(getattr(ServerConfig(), field))}` | "
    for kind in FailureKind:
        yield "nemo-gym", f"\n| `{kind}` | "
    for columns in TABLES.values():
        yield from (("run", f"\n| `{column.name}` | {column.type} | ") for column in columns)
    for path in (*(ROOT / "evaluator").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")):
        for name in re.findall(r"\bROLLSCOPE_[A-Z_]+", path.read_text()):
            yield "environment", f"\n| `{name}` | "


@pytest.mark.parametrize(("page", "row"), sorted(set(rows())))
def test_what_there_is_has_a_row_with_its_default(page: str, row: str) -> None:
    assert row in PAGES[page].read_text()


@pytest.mark.parametrize("name", OF_A_FILE)
def test_the_default_of_what_a_file_of_ones_own_may_say_is_the_one_that_is_told(name: str) -> None:
    assert f'getattr(module, "{name}", ' in inspect.getsource(own_function)


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("checkers", known_checkers()),
        ("formats", [each.name for each in FORMATS]),
        ("graders", known_graders()),
        ("command", [f"rollscope {name}" for name in COMMANDS]),
    ],
)
def test_every_one_has_a_heading_and_no_other_does(page: str, names: Iterable[str]) -> None:
    assert headings(PAGES[page].read_text()) == set(names)


def test_the_formats_are_listed_as_they_are_declared() -> None:
    rows = [f"| [`{each.name}`](#{each.name}) | {', '.join(each.roles)} | {each.title} |" for each in FORMATS]
    table = "\n".join(("| format | holds | fields |", "|---|---|---|", *rows))
    assert table in PAGES["formats"].read_text(), f"docs/reference/formats.md must have this table:\n{table}"


@pytest.mark.parametrize(("command", "option"), list(options()))
def test_an_option_is_named_under_its_command(command: str, option: str) -> None:
    text = section(PAGES["command"].read_text(), f"rollscope {command}")
    assert re.search(re.escape(f"`{option}") + r"\b", text)


def of_grader(name: str) -> str:
    """What is told of a grader: its own part of the page, and the page that it leads to."""
    page = PAGES["graders"].read_text()
    own = re.split(r"\n##+ ", page.partition(f"\n### `{name}`\n")[2])[0]
    linked = "".join(PAGES[link].read_text() for link in re.findall(r"see \[[^]]+\]\([\w/.-]*?(\w+)\.md\)", own))
    judge = PAGES["judge"].read_text() if name == "similarity" else ""
    return own + linked + judge


@pytest.mark.parametrize(
    ("grader", "option"),
    [(name, option) for name, module in known_graders().items() for option in module.Config.__struct_fields__],
)
def test_an_option_of_a_grader_is_told(grader: str, option: str) -> None:
    assert re.search(rf"`[^`\n]*\b{option}\b[^`\n]*`", of_grader(grader))


@pytest.mark.parametrize(
    ("grader", "option"),
    [
        (name, option)
        for name in ("tests", "exact_match", "structured", "weighted")
        for option in known_graders()[name].Config.__struct_fields__
    ],
)
def test_an_option_of_a_grader_has_a_row_with_its_default(grader: str, option: str) -> None:
    default = json.dumps(getattr(known_graders()[grader].Config(), option))
    assert f"\n| `{option}` | `{default}` | " in of_grader(grader)


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md")), ROOT / "CONTRIBUTING.md"])
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)", page.read_text()):
        linked = (page.parent / target) if target else page
        assert linked.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.*)$", linked.read_text(), re.MULTILINE)
            assert anchor[1:] in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def test_the_site_lists_every_page() -> None:
    listed = re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2], re.MULTILINE)
    pages = {str(path.relative_to(DOCS)) for path in PAGES.values()} - {"images/README.md"}
    elsewhere = set(re.findall(r'": "(project/\S+\.md)"', (ROOT / "tools/docs_pages.py").read_text()))
    assert sorted(listed) == sorted(pages | elsewhere)
    assert len(PAGES) == len(list(DOCS.rglob("*.md"))), "two pages share a name"


def test_every_picture_is_shown() -> None:
    shown = set(re.findall(r"images/([\w-]+\.(?:png|gif))\)", " ".join(page.read_text() for page in PAGES.values())))
    assert shown == {path.name for kind in ("*.png", "*.gif") for path in (DOCS / "images").glob(kind)}


def test_the_python_reference_has_every_public_name() -> None:
    assert set(re.findall(r"^::: evaluator\.(\w+)$", PAGES["python"].read_text(), re.MULTILINE)) == set(
        evaluator.__all__
    )


def test_every_message_of_the_troubleshooting_exists() -> None:
    page = PAGES["troubleshooting"].read_text()
    messages = re.findall(r"^\| `([^`]+)` \| ", page.replace("## Verdicts that", "\0").partition("\0")[0], re.MULTILINE)
    source = " ".join(path.read_text() for path in (ROOT / "evaluator").rglob("*.py")).replace("`", "")
    assert messages
    assert [text for text in messages if not all(part.strip() in source for part in text.split("…"))] == []


def test_the_readme_is_read_in_a_minute() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 120


def is_told(text: str, page: str) -> bool:
    parts = [re.escape(part) for part in text.replace("`", "").split("…")]
    return re.search(".+?".join(parts), page.replace("`", "")) is not None


@pytest.mark.parametrize("what", sorted({*READ, *Reason}))
def test_what_takes_the_completions_own_process_has_a_row(what: str) -> None:
    assert is_told(f"\n| {what} | ", PAGES["checks"].read_text())


@pytest.mark.parametrize("reason", [*GaveUp, *Doubt])
def test_every_reason_why_a_grade_is_not_verified_has_a_row(reason: str) -> None:
    assert is_told(f"\n| {reason.replace('{}', '…')} | ", PAGES["checks"].read_text())


@pytest.mark.parametrize("reason", Refusal)
def test_every_reason_why_a_test_can_not_be_graded_is_listed(reason: Refusal) -> None:
    said = re.sub(r"\{.*?\}", "…", reason).removesuffix(": …")
    assert is_told(said, PAGES["checks"].read_text())


def test_every_field_of_the_address_is_documented() -> None:
    from dashboard.state import Filter, View

    text = PAGES["dashboard"].read_text()
    names = {"verdict" if name == "verdicts" else name for name in Filter.__struct_fields__}
    names |= set(View.__struct_fields__) - {"filter"}
    assert {name for name in names if f"`{name}`" not in text} == set()


def commands() -> Iterator[tuple[str, str]]:
    """Each line of `rollscope` in a block of the documentation, by page."""
    for page in (ROOT / "README.md", *PAGES.values()):
        for block in re.findall(
            r"^```(?:sh|text)?\n(.*?)^```|((?:^    .*\n)+)", page.read_text(), re.MULTILINE | re.DOTALL
        ):
            for line in re.findall(
                r"^\s*(?:\S*/)?rollscope (\w.*)$", "".join(block).replace("\\\n", " "), re.MULTILINE
            ):
                yield page.stem, line.partition(" #")[0].strip()


@pytest.mark.parametrize("line", sorted({line for _, line in commands()}))
def test_a_line_of_the_documentation_names_a_command_and_its_options(line: str) -> None:
    name = line.split(maxsplit=1)[0]
    known = {flag for flags, _ in COMMANDS[name].options for flag in flags} | {"--help"}
    assert {flag.partition("=")[0] for flag in re.findall(r"(?<= )--[a-z-]+", line)} <= known
