"""Files of the field that are known and not read: what each is, and what to do with it."""

from __future__ import annotations

from evaluator.formats.reading.registry import Refusal
from evaluator.formats.reading.spec import claims

_REPOSITORY = (
    "its functions need their whole repository, which is not set up here: grade them with its own scripts, and map the "
    "result with --map"
)

SWE_BENCH = Refusal(
    "SWE-bench",
    claims("3: instance_id, base_commit, test_patch, repo"),
    "these are SWE-bench's instances, whose repositories are not set up here: grade predictions with its harness, then "
    "open the predictions or the report that it writes",
)
CODEREVAL = Refusal(
    "CoderEval", claims("3: _id, project, level, generate_results"), f"these are samples of CoderEval: {_REPOSITORY}"
)
EVOCODEBENCH = Refusal(
    "EvoCodeBench", claims("3: namespace, completion"), f"these are samples of EvoCodeBench or DevEval: {_REPOSITORY}"
)
HELM = Refusal(
    "HELM",
    claims("3: adapter_spec, request_states"),
    "this is a scenario_state.json of HELM: write each of its request_states as a line of JSON, then use --map "
    "task_id=instance.id,prompt=request.prompt,completion=result.completions[*].text",
)
P3 = Refusal(
    "P3",
    claims("3: name, sat, ans_type"),
    "these are programming puzzles (P3), whose `sat` is a checker without inputs: write a native task for each, with a "
    "test that calls `sat` with the answer",
)
CAN_AI_CODE = Refusal(
    "can-ai-code",
    claims("3: Signature, Input, Output, answer"),
    "these are interviews of can-ai-code, whose tests are in its repository: use --map "
    "task_id=name,completion=answer,model=model with a dataset of these tests",
)
X_CODE_EVAL_PROBLEMS = Refusal(
    "xCodeEval's problems",
    claims("3: src_uid, hidden_unit_tests, input_from"),
    "these are problems of xCodeEval, each of whose tests may have several right outputs: use --map "
    "task_id=src_uid,prompt=description,in_outs=hidden_unit_tests after keeping one output a test",
)
X_CODE_EVAL_PROGRAMS = Refusal(
    "xCodeEval's programs",
    claims("3: src_uid, source_code, lang_cluster"),
    "these are programs of xCodeEval: keep the rows whose lang_cluster is Python, then use --map "
    "task_id=src_uid,sample_id=code_uid,completion=source_code",
)
