"""`code_reward` as TRL's trainers call it: completions, and each column of the dataset as a list."""

import asyncio
import inspect
import json
import math
import multiprocessing
import pickle
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from evaluator import Limits, RecordError
from evaluator.interop import trl
from evaluator.interop.trl import acode_reward, code_reward, make_acode_reward, make_code_reward
from tests.interop.rows import CALL, FOREVER, HALF, RIGHT

TIMES = {"inputs": ["3\n2", "2\n2"], "outputs": ["6", "4"], "fn_name": "add"}
PRODUCT = "```python\ndef add(a, b):\n    return a * b\n```"


class Logs:
    """What a trainer is given: the columns of the table, and the metrics."""

    def __init__(self) -> None:
        self.columns: dict[str, list[str | None]] = defaultdict(list)
        self.metrics: dict[str, float] = {}
        self.given: dict[str, Any] = {"log_extra": self.log_extra, "log_metric": self.log_metric}

    def log_extra(self, column: str, values: list[str | None]) -> None:
        self.columns[column].extend(values)

    def log_metric(self, name: str, value: float) -> None:
        assert name not in self.metrics
        self.metrics[name] = value


@pytest.fixture(autouse=True)
def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has given no warnings yet."""
    monkeypatch.setattr(trl, "_warned", set())


NO_METRICS = {"log_metric": pytest.fail}


def said(text: str | None) -> list[dict[str, object]]:
    return [{"role": "assistant", "content": text}]


def test_rewards_come_in_the_order_of_the_completions() -> None:
    rewards = code_reward(
        prompts=["p"] * 6,
        completions=[RIGHT, HALF, PRODUCT, RIGHT, "no code", RIGHT],
        completion_ids=[[1]] * 6,
        in_outs=[CALL, CALL, TIMES, TIMES, CALL, json.dumps(CALL)],
        trainer_state=object(),
        log_extra=print,
    )
    assert rewards == [1.0, 0.0, 1.0, 0.0, 0.0, 1.0]
    assert code_reward(completions=[], in_outs=[], **Logs().given) == []


def test_completions_may_be_messages() -> None:
    calls_a_tool = [{"role": "assistant", "content": None, "tool_calls": []}]
    parts = [{"role": "assistant", "content": [{"type": "text", "text": RIGHT}]}]
    later = [*said("hm"), {"role": "tool", "content": "3"}, *said(RIGHT)]
    rewards = code_reward(completions=[said(RIGHT), said(HALF), calls_a_tool, parts, later], in_outs=[CALL] * 5)
    assert rewards == [1.0, 0.0, 0.0, 1.0, 1.0]


def test_the_columns_of_open_r1_and_of_others() -> None:
    case = {"input": "1", "output": "1", "fn_name": None, "type": "stdin_stdout"}
    info = {"language": "python", "test_cases": [case]}
    assert code_reward(completions=["print(input())"], verification_info=[info]) == [1.0]
    assert code_reward(completions=[RIGHT], tests=[["assert add(1, 2) == 3"]]) == [1.0]
    with_name = make_code_reward(column="unit_tests")
    assert with_name(completions=[RIGHT], unit_tests=[CALL], in_outs=[TIMES]) == [1.0]
    # As in datasets that are concatenated: each row has a value in the column of its own.
    columns = {"in_outs": [CALL, None], "verification_info": [None, CALL], "ground_truth": ["4", "5"]}
    assert code_reward(completions=[RIGHT, HALF], **columns) == [1.0, 0.0]


def test_what_can_not_be_graded_has_no_reward_and_costs_no_other() -> None:
    broken = ["add(1, 2) == 3", {"language": "rust", "test_cases": [CALL]}, {"inputs": [], "outputs": []}]
    logs = Logs()
    with pytest.warns(UserWarning, match="completion 1 has no reward from code_reward: the tests are text") as warned:
        rewards = code_reward(completions=[RIGHT] * 5, in_outs=[CALL, *broken, CALL], **logs.given)
    assert rewards == [1.0, None, None, None, 1.0]
    (warning,) = warned
    with warnings.catch_warnings(action="error"):
        assert code_reward(completions=[RIGHT], in_outs=["add(1, 2) == 3"]) == [None]
    assert str(warning.message).endswith("no warning: the metric code_reward/ungraded counts them")
    assert logs.metrics["code_reward/ungraded"] == 3 / 5
    assert logs.columns["code_reward/verdict"][1:4] == ["unknown"] * 3
    assert all(logs.columns["code_reward/error"][1:4])


def test_rows_that_are_not_code_have_no_reward_and_give_one_warning() -> None:
    nothing = [None, "", "{}", [], {"inputs": None, "outputs": None, "fn_name": None}, np.array([]), math.nan, None]
    columns = {"in_outs": [CALL, *nothing], "ground_truth": [None, "42", 42, *[None] * 6]}
    logs = Logs()
    shapes = r"no tests in in_outs, ground_truth \('42'\): give .*asserts \(a list, or one text\)"
    with pytest.warns(UserWarning, match=f"completion 1 has no reward .* {shapes}") as warned:
        rewards = code_reward(completions=[HALF, *[RIGHT] * len(nothing)], **columns, **logs.given)
    assert len(warned) == 1
    assert rewards == [0.0, *[None] * len(nothing)]
    with warnings.catch_warnings(action="error"):
        assert code_reward(completions=["4"], in_outs=[None], **logs.given | NO_METRICS) == [None]
    assert logs.columns["code_reward/verdict"] == ["wrong_answer", *[None] * len(nothing), None]
    assert logs.columns["code_reward/error"] == ["expected 4, got 3", *[None] * len(nothing), None]
    assert (logs.metrics["code_reward/wrong_answer"], logs.metrics["code_reward/ungraded"]) == (1.0, 0.0)


def test_the_table_and_the_metrics_say_why() -> None:
    raises = "```python\ndef add(a, b):\n    raise ValueError('x' * 1000)\n```"
    logs = Logs()
    code_reward(completions=[RIGHT, HALF, raises, ""], in_outs=[CALL] * 4, **logs.given)
    assert logs.columns["code_reward/verdict"] == ["passed", "wrong_answer", "runtime_error", "no_code"]
    passed, wrong, raised, no_code = logs.columns["code_reward/error"]
    assert (passed, wrong) == ("", "expected 4, got 3")
    assert raised is not None
    assert no_code
    assert raised.startswith("ValueError: xxx")
    assert len(raised) <= 200
    shares = dict.fromkeys(("passed", "wrong_answer", "runtime_error", "no_code"), 0.25)
    zeros = dict.fromkeys(("compile_error", "time_limit", "other_failure", "ungraded"), 0.0)
    expected = {f"code_reward/{name}": share for name, share in (shares | zeros | {"pass_rate": 0.375}).items()}
    assert logs.metrics == expected
    # TRL appends values to the column of that name: with one name for both it would have too many rows.
    make_code_reward(continuous=True, name="share")(completions=[HALF] * 4, in_outs=[CALL] * 4, **logs.given)
    assert [len(values) for values in logs.columns.values()] == [4, 4, 4, 4]


def test_a_dataset_without_tests_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no column of tests \(in_outs, .*it has question.*make_code_reward"):
        code_reward(prompts=["p"], completions=[RIGHT], question=["q"])
    with pytest.raises(ValueError, match=r"no column 'unit'; it has in_outs: name it with"):
        make_code_reward(column="unit")(completions=[RIGHT], in_outs=[CALL])
    with pytest.raises(ValueError, match="column 'in_outs' has 1 values for 2 completions"):
        code_reward(completions=[RIGHT, RIGHT], in_outs=[CALL])


def test_options_and_the_name_that_is_logged() -> None:
    for limits in (Limits(cpu_s=0.3), {"cpu_s": 0.3}):
        share = make_code_reward(continuous=True, limits=limits, name="share_of_tests")
        assert (share.__name__, code_reward.__name__) == ("share_of_tests", "code_reward")
        assert share(completions=[RIGHT, HALF, FOREVER], in_outs=[CALL] * 3) == [1.0, 0.5, 0.5]
    with pytest.raises(RecordError, match=r"limits: .*fields: wall_s"):
        make_code_reward(limits={"seconds": 5})
    with pytest.warns(UserWarning, match=r"workers has no effect here: call evaluator.configure\(workers=2\) first"):
        make_code_reward(workers=2)


def test_a_row_has_limits_of_its_own_in_a_column_or_beside_its_tests() -> None:
    inside, logs = {**CALL, "limits": {"cpu_s": 0.3}}, Logs()
    rewards = code_reward(
        completions=[FOREVER, FOREVER, RIGHT],
        in_outs=[CALL, inside, CALL],
        limits=[{"cpu_s": 0.2, "wall_s": None}, None, None],
        **logs.given,
    )
    assert rewards == [0.0, 0.0, 1.0]
    ours, beside, _ = logs.columns["code_reward/error"]
    assert ours is not None
    assert beside is not None
    assert ("0.2" in ours, "0.3" in beside) == (True, True)


def test_functions_that_are_awaited_give_the_same() -> None:
    share = make_acode_reward(continuous=True, name="share")
    logs = Logs()

    async def both() -> list[list[float | None]]:
        completions, tests = [RIGHT, HALF, PRODUCT], [CALL, CALL, None]
        return await asyncio.gather(
            acode_reward(completions=completions, in_outs=tests, log_extra=logs.log_extra),
            share(completions=completions, in_outs=tests, log_extra=logs.log_extra),
        )

    with pytest.warns(UserWarning, match="completion 2 has no reward"):
        assert asyncio.run(both()) == [[1.0, 0.0, None], [1.0, 0.5, None]]
    assert logs.columns["acode_reward/verdict"] == logs.columns["share/verdict"] == ["passed", "wrong_answer", None]
    assert inspect.iscoroutinefunction(acode_reward)  # what TRL asks, of newer instances of its class too
    assert inspect.iscoroutinefunction(share.__call__)
    assert not inspect.iscoroutinefunction(code_reward.__call__)
    assert (acode_reward.__name__, share.__name__) == ("acode_reward", "share")


def test_they_can_be_pickled_and_work_in_a_spawned_process() -> None:
    share = make_code_reward(column="unit", continuous=True, name="share")
    for reward in (share, code_reward, acode_reward, make_acode_reward(name="a")):
        assert pickle.loads(pickle.dumps(reward)).__name__ == reward.__name__
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(share, kwds={"completions": [HALF], "unit": [CALL]}) == [0.5]


def test_equal_rows_share_nothing_that_differs() -> None:
    """Long arrays whose text is the same, since NumPy leaves out their middle."""
    values = np.arange(2000)
    others = values.copy()
    others[1000] = -1
    tests = [{"inputs": [[0]], "outputs": [each], "fn_name": "f"} for each in (values, others, values.tolist())]
    assert code_reward(completions=["def f(x):\n    return list(range(2000))"] * 3, in_outs=tests) == [1.0, 0.0, 1.0]
    large = [{"inputs": [[0]], "outputs": [10**30 + n], "fn_name": "f"} for n in (0, 1)]
    assert code_reward(completions=["def f(x):\n    return 10**30"] * 2, in_outs=large) == [1.0, 0.0]
