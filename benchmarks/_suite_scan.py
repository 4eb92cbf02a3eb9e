"""The features that one test suite uses, found with `ast` in the test and the reference solution; nothing is run.

A name's meaning comes from its assignments in the same function (for `self.x`: in the same test), in any order. An
object is an instance of a class of the reference's, or the result of a function whose annotation or `return` names one;
any other result of a call is an answer.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from _suite_terms import (
    COMPARED,
    DEFINITIONS,
    FIXTURES,
    INSTANCE,
    ITERATED,
    OF_ANSWERS,
    RAISES,
    REFLECTED,
    USED,
    Def,
    Env,
    Feature,
    Kind,
    Solution,
    imported,
    leaves,
    literal,
    named,
    outside,
    parsed,
    units,
)

from evaluator import Task

_OWN_KINDS = (Kind.OBJECT, Kind.CLASS)
_OF_KIND = {
    Kind.OBJECT: (Feature.METHODS, Feature.READS, Feature.CONTAINER),
    Kind.CLASS: (Feature.METHODS, Feature.READS, Feature.CONTAINER),
    Kind.ANSWER: (Feature.ANSWER_METHODS, Feature.ANSWER_READS, Feature.ANSWER_CONTAINER),
}
_PASSED = {
    Kind.CALLABLE: Feature.PASSES_FUNCTIONS,
    Kind.OWN: Feature.PASSES_OWN,
    Kind.OWN_CLASS: Feature.PASSES_OWN,
    Kind.MOCK: Feature.PASSES_MOCKS,
    Kind.OBJECT: Feature.PASSES_BACK,
    Kind.CLASS: Feature.PASSES_BACK,
}
_MOCKS = {f"unittest.mock.{name}" for name in ("Mock", "MagicMock", "AsyncMock", "mock_open", "create_autospec")}


class Scan:
    """One suite, whose features are in `found`. Raises `SyntaxError` for a test that is not Python."""

    def __init__(self, task: Task) -> None:
        self.found: set[Feature] = set()
        self._tree = ast.parse(task.test or "")
        reference = parsed(task.reference or task.prompt)
        self._solution = Solution.of(reference, task.entry_point)
        self._libraries = imported(parsed(task.preamble), reference)
        self._names = self._libraries | imported(self._tree)
        self._answer_attributes: set[str] = set()
        self._calls: list[bool] = []  # for each call of the completion's code: is it a function's, with only literals?
        self._scan(Env(dict(self._solution.kinds)))
        self._from_prompt(parsed(task.prompt).body or reference.body)
        self._from_libraries()

    def _scan(self, shared: Env) -> None:
        self._define(shared)
        scopes: list[tuple[list[ast.AST], Env]] = [(list(outside(self._tree)), shared)]
        for unit in units(self._tree):
            scopes.append((list(ast.walk(unit)), shared.new_child(self._parameters(unit))))
        for _ in range(2):  # names bound in a later scope may be used in an earlier one
            for nodes, env in scopes:
                for node in nodes:
                    self._bind(node, env)
        for nodes, env in scopes:
            called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
            for node in nodes:
                self._look(node, env, id(node) in called)
            self._look_for_arguments(nodes, env)
        self._look_at_module()
        if self._calls and all(self._calls):
            self.found.add(Feature.LITERAL)

    # Meaning of names

    def _define(self, shared: Env) -> None:
        """The test's classes and functions, without methods."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ClassDef):
                bases = {self._kind(base, shared) for base in node.bases}
                if Kind.CLASS in bases:
                    self.found.add(Feature.SUBCLASS)
                    shared[node.name] = Kind.CLASS
                elif not any(named(base).endswith("TestCase") for base in node.bases):
                    shared[node.name] = Kind.OWN_CLASS
            elif isinstance(node, DEFINITIONS) and not (node.args.args and node.args.args[0].arg in ("self", "cls")):
                shared.setdefault(node.name, Kind.CALLABLE)

    def _parameters(self, unit: Def) -> dict[str, Kind]:
        """`candidate` is the completion's; the arguments that a decorator `patch` adds are mocks."""
        names = [argument.arg for argument in unit.args.args]
        if unit.name == "check" and names:
            entry = (
                Kind.CLASS if Kind.CLASS in self._solution.kinds.values() and len(self._solution.kinds) == 1 else None
            )
            return {names[0]: entry or Kind.FUNCTION}
        patched = any(self._is_patch(part) for part in unit.decorator_list)
        return {name: Kind.MOCK for name in names if patched and name not in ("self", "cls")}

    def _bind(self, node: ast.AST, env: Env) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                self._bind_all(targets, self._kind(value, env), env)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                self._bind_all([target], self._kind(value, env), env)
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                self._bind_all([target], self._item(value, env), env)
            case ast.comprehension(target=target, iter=value):
                self._bind_all([target], self._item(value, env), env)
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                kind = Kind.MOCK if self._is_patch(value) else self._kind(value, env)
                self._bind_all([target], kind, env)

    def _bind_all(self, targets: list[ast.expr], kind: Kind | None, env: Env) -> None:
        for target in targets:
            match target:
                case ast.Tuple(elts=parts) | ast.List(elts=parts):
                    self._bind_all(parts, Kind.ANSWER if kind is Kind.OBJECT else kind, env)
                case ast.Name(id=name) if kind and env.get(name) is not Kind.OBJECT:
                    env[name] = kind
                case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if kind:
                    env.maps[-1][f"self.{name}"] = kind

    def _item(self, node: ast.expr, env: Env) -> Kind | None:
        """The kind of the items that iteration yields."""
        if isinstance(node, ast.List | ast.Tuple):
            return next((kind for kind in (self._kind(part, env) for part in node.elts) if kind), None)
        return Kind.ANSWER if self._kind(node, env) in (Kind.ANSWER, Kind.OBJECT) else None

    def _kind(self, node: ast.AST | None, env: Env) -> Kind | None:
        match node:
            case ast.Name(id=name):
                return env.get(name)
            case ast.Lambda():
                return Kind.CALLABLE
            case ast.Await(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value):
                return self._kind(value, env)
            case ast.Subscript(value=value):
                return Kind.ANSWER if self._kind(value, env) in (Kind.ANSWER, Kind.OBJECT) else None
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return env.get(f"self.{name}")
            case ast.Attribute(value=value, attr=name):
                base = self._kind(value, env)
                if base in _OWN_KINDS:
                    return Kind.FUNCTION if name in self._solution.methods else Kind.ANSWER
                return base if base in (Kind.ANSWER, Kind.MOCK) else None
            case ast.Call():
                return self._result(node, env)
        return None

    def _result(self, call: ast.Call, env: Env) -> Kind | None:
        match self._kind(call.func, env):
            case Kind.CLASS:
                return Kind.OBJECT
            case Kind.OWN_CLASS:
                return Kind.OWN
            case Kind.FUNCTION:
                return Kind.OBJECT if named(call.func) in self._solution.makers else Kind.ANSWER
            case Kind.ANSWER | Kind.MOCK as kind:
                return kind
        if self._dotted(call.func) in _MOCKS:
            return Kind.MOCK
        if named(call.func) in ("run", "run_until_complete", "next") and call.args:
            return self._kind(call.args[0], env)
        return None

    def _dotted(self, node: ast.AST) -> str:
        """`np.random.rand` as `numpy.random.rand`; empty if the first name is neither an import nor a builtin."""
        match node:
            case ast.Name(id=name):
                return self._names.get(name) or (name if hasattr(builtins, name) else "")
            case ast.Attribute(value=value, attr=name):
                base = self._dotted(value)
                return base and f"{base}.{name}"
        return ""

    def _is_patch(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self._dotted(node.func).startswith(("unittest.mock.patch", "mock.patch"))

    # Uses

    def _look(self, node: ast.AST, env: Env, called: bool) -> None:
        match node:
            case ast.Call():
                self._look_at_call(node, env)
            case ast.Attribute(value=value, attr=name):
                self._look_at_attribute(node, self._kind(value, env), name, called)
            case ast.Compare(left=left, ops=ops, comparators=others):
                for op, one, other in zip(ops, [left, *others], others, strict=False):
                    if isinstance(op, ast.In | ast.NotIn):
                        self._contained(other, env)
                    elif not isinstance(op, ast.Is | ast.IsNot):
                        self._operated([one, other], env)
            case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
                self._operated([left, right], env)
            case ast.Subscript(value=value) | ast.For(iter=value) | ast.comprehension(iter=value):
                self._contained(value, env)
            case ast.withitem(context_expr=value) if self._kind(value, env) in (Kind.OBJECT, Kind.ANSWER):
                self.found.add(Feature.WITH)
            case ast.ExceptHandler(type=kind):
                self._raised([kind] if kind else [], env)
            case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                self.found.add(Feature.ASYNC)
        if isinstance(node, DEFINITIONS):
            self.found |= {feature for feature, names in FIXTURES.items() if node.name in names}
        if isinstance(node, ast.Name | ast.Attribute):
            used = self._dotted(node) + "."
            self.found |= {f for f, names in USED.items() if any(used.startswith(f"{n}.") for n in names.split())}

    def _look_at_attribute(self, node: ast.Attribute, kind: Kind | None, name: str, called: bool) -> None:
        if name in REFLECTED and kind in (*_OWN_KINDS, Kind.FUNCTION):
            self.found.add(Feature.INSPECT)
        if kind not in _OF_KIND:
            return
        if kind is Kind.ANSWER:
            self._answer_attributes.add(name)
            if called and name in ("send", "throw"):
                self.found.add(Feature.GENERATORS)
        elif not isinstance(node.ctx, ast.Load):
            self.found.add(Feature.SETS)
            return
        self.found.add(_OF_KIND[kind][0 if called else 1])

    def _look_at_call(self, call: ast.Call, env: Env) -> None:
        name, kind, arguments = named(call.func), self._kind(call.func, env), call.args
        if self._is_patch(call):
            self._patched(arguments, env)
        if name in COMPARED:
            self._operated(arguments[:2], env)
        elif name in RAISES:
            self._raised(arguments[:1], env)
        elif name in INSTANCE:
            self._instance(arguments, env)
        elif name in ITERATED or name in ("next", "assertIn", "assertNotIn"):
            self._contained(arguments[-1 if name.startswith("assert") else 0] if arguments else call, env)
            if name == "next" and self._kind(arguments[0] if arguments else None, env):
                self.found.add(Feature.GENERATORS)
        elif name in ("getattr", "hasattr", "setattr") and arguments:
            if self._kind(arguments[0], env) in _OWN_KINDS:
                self.found.add(Feature.SETS if name == "setattr" else Feature.READS)
        elif name == "subTest":
            self.found.add(Feature.SUB_TEST)
        if kind in (Kind.CLASS, Kind.FUNCTION):
            self._look_at_own_call(call, kind, env)

    def _look_at_own_call(self, call: ast.Call, kind: Kind, env: Env) -> None:
        """A call of the completion's function, method or class."""
        passed = list(leaves([*call.args, *(keyword.value for keyword in call.keywords)]))
        self._calls.append(kind is Kind.FUNCTION and isinstance(call.func, ast.Name) and all(map(literal, passed)))
        if kind is Kind.CLASS:
            self.found.add(Feature.CONSTRUCTS)
        if named(call.func) in self._solution.generators:
            self.found.add(Feature.GENERATORS)
        for value in passed:
            of_python = getattr(builtins, named(value), None) if isinstance(value, ast.Name) else None
            value_kind = self._kind(value, env)
            if value_kind in _PASSED:
                self.found.add(_PASSED[value_kind])
            elif callable(of_python) and not isinstance(of_python, type) and value_kind is None:
                self.found.add(Feature.PASSES_FUNCTIONS)

    def _operated(self, operands: Iterable[ast.expr], env: Env) -> None:
        if any(self._kind(operand, env) is Kind.OBJECT for operand in operands):
            self.found.add(Feature.OPERATORS)

    def _contained(self, value: ast.expr, env: Env) -> None:
        kind = self._kind(value, env)
        if kind in _OF_KIND:
            self.found.add(_OF_KIND[kind][2])

    def _instance(self, arguments: list[ast.expr], env: Env) -> None:
        kinds = {self._kind(argument, env) for argument in leaves(arguments)}
        if kinds & {*_OWN_KINDS}:
            self.found.add(Feature.ISINSTANCE)
        elif Kind.ANSWER in kinds:
            self.found.add(Feature.ANSWER_ISINSTANCE)

    def _raised(self, classes: list[ast.expr], env: Env) -> None:
        self.found.add(Feature.RAISES)
        if any(self._kind(leaf, env) is Kind.CLASS for leaf in leaves(classes)):
            self.found.add(Feature.RAISES_OWN)

    def _patched(self, arguments: list[ast.expr], env: Env) -> None:
        own = {"__main__", *self._solution.kinds}
        match arguments[:1]:
            case [ast.Constant(value="sys.stdout" | "sys.stderr")]:
                feature = Feature.STDOUT
            case [ast.Constant(value=str(name))]:
                feature = Feature.PATCH_OWN if name.split(".")[0] in own else Feature.PATCH_LIBRARY
            case [ast.JoinedStr() as text]:
                feature = Feature.PATCH_OWN if "__name__" in ast.unparse(text) else Feature.PATCH_LIBRARY
            case [value]:
                feature = Feature.PATCH_OWN if self._kind(value, env) else Feature.PATCH_LIBRARY
            case _:
                return
        self.found.add(feature)

    def _look_for_arguments(self, nodes: list[ast.AST], env: Env) -> None:
        """Names of mutable values that are passed to the completion and read on a later line."""
        names = [node for node in nodes if isinstance(node, ast.Name)]
        fixed = set(_fixed(nodes))
        bound = {node.id for node in names if isinstance(node.ctx, ast.Store)} - fixed
        for call in nodes:
            if not isinstance(call, ast.Call) or self._kind(call.func, env) not in (Kind.CLASS, Kind.FUNCTION):
                continue
            last = call.end_lineno or call.lineno
            passed = {part.id for part in [*call.args, *(k.value for k in call.keywords)] if isinstance(part, ast.Name)}
            later = {node.id for node in names if isinstance(node.ctx, ast.Load) and node.lineno > last}
            again = {name for name in passed & bound & later if env.get(name) is None}
            if again:
                self.found.add(Feature.READ_AGAIN)
                if named(call.func) in self._solution.changers:
                    self.found.add(Feature.CHANGED)

    # Features of the whole suite

    def _look_at_module(self) -> None:
        for node in self._tree.body:
            match node:
                case ast.Import() | ast.ImportFrom() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    continue
                case ast.Expr(value=ast.Constant()) | ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                    continue
                case ast.Assign(value=value) if literal(value):
                    continue
            self.found.add(Feature.MODULE)

    def _from_prompt(self, body: list[ast.stmt]) -> None:
        for node in (part for statement in body for part in ast.walk(statement)):
            if isinstance(node, ast.ClassDef):
                bases = {named(base) for base in node.bases}
                decorators = {named(part.func if isinstance(part, ast.Call) else part) for part in node.decorator_list}
                marks = {Feature.ENUM: bases & {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}}
                marks |= {Feature.DATACLASS: decorators & {"dataclass"}, Feature.NAMED_TUPLE: bases & {"NamedTuple"}}
                self.found |= {feature for feature, there in marks.items() if there}
            elif isinstance(node, ast.Call) and named(node.func) == "namedtuple":
                self.found.add(Feature.NAMED_TUPLE)

    def _from_libraries(self) -> None:
        """Arrays, frames and axes that only the completion returns, by the attributes that the test reads."""
        roots = {name.split(".")[0] for name in self._libraries.values()}
        for feature, (library, attributes) in OF_ANSWERS.items():
            if library in roots and self._answer_attributes & set(attributes.split()):
                self.found.add(feature)


def _fixed(nodes: list[ast.AST]) -> Iterator[str]:
    """Names bound to numbers or texts."""
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() | ast.JoinedStr() | ast.UnaryOp()):
                yield name
