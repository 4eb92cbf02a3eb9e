"""The documented examples run with only the import changed, and give what is documented."""

from tests.documents.colossalai_code_reward import EXAMPLE


def test_the_examples_give_the_documented_results() -> None:
    changed = EXAMPLE.replace("coati.distributed.reward.code_reward.testing_util", "evaluator.interop.colossalai")
    call, stdin = changed.split("# Standard input test\n")
    names: dict[str, object] = {}
    exec(call, names)
    assert (names["results"], names["error_info"]) == ([True, True], {})
    exec(stdin, names)
    assert (names["results"], names["error_info"]) == ([True], {})
