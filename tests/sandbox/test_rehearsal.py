"""What a zygote has carried out in advance leaves nothing that a completion could find."""

from evaluator.sandbox import Sandbox
from tests.sandbox.conftest import PATIENT, ran

FOUND = """
import gc, os, random, resource, sys
print(os.listdir("."), max(map(int, os.listdir("/proc/self/fd"))) < 20, "solution" in sys.modules, random.random())
print([resource.getrlimit(limit)[1] for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_AS)])
print([each for each in gc.get_objects() if isinstance(each, type) and each.__module__ == "__main__"])
"""


def test_a_program_finds_nothing_of_a_rehearsal(sandbox: Sandbox) -> None:
    (outcome,) = ran(sandbox, FOUND)
    limits = [int(mb * 2**20) for mb in (PATIENT.output_mb, PATIENT.virtual_mb)]
    assert outcome.stdout.text() == f"['main.py'] True False 0.8444218515250481\n{limits}\n[]\n"
