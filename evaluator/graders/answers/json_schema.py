"""JSON Schemas as functions that examine a value: compiled once, they fetch nothing and always end.

A schema comes from the dataset and is trusted, a value is not. So patterns are RE2's, unique items are found in one
pass, and the steps through `$ref` are counted.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, Final

from evaluator.extras import needs
from evaluator.lru_cache import LruCache
from evaluator.model import JsonValue
from evaluator.suites.reading import UngradableError

with needs("schema", "a JSON Schema needs jsonschema"):
    import referencing.exceptions
    from jsonschema import FormatChecker
    from jsonschema.exceptions import SchemaError, ValidationError
    from jsonschema.validators import Draft202012Validator, extend, validator_for
    from referencing import Registry

    from evaluator.graders.answers.patterns import PatternError, has_group, matches

_MOST_STEPS: Final = 20_000
_LONGEST_MESSAGE: Final = 400
_FORMATS: Final = ("date", "email", "ipv4", "ipv6", "uuid")
_NO_SCHEMAS: Final = frozenset(("const", "enum", "default", "examples"))
"""Keywords whose values are data, not schemas."""
_PROBES: Final[tuple[JsonValue, ...]] = (None, 0, "", [], {})

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]
Check = Callable[[JsonValue], str | None]
"""What is wrong with a value; None if it meets the schema."""


class _TooManyStepsError(Exception):
    """The schema refers to itself too often on this value."""


class _Steps(threading.local):
    left = _MOST_STEPS


_steps = _Steps()
_known: LruCache[str, Check] = LruCache(256)


def schema_check(schema: JsonValue) -> Check:
    """Raises `UngradableError` if it is not a schema, or one that can't be used here."""
    return _known.get(json.dumps(schema, sort_keys=True), lambda: _compiled(schema))


def _compiled(schema: JsonValue) -> Check:
    if not isinstance(schema, dict | bool):
        raise UngradableError(f"schema is {type(schema).__name__}: give a JSON Schema, an object")
    base = validator_for(schema, default=Draft202012Validator)
    try:
        base.check_schema(schema)
        for part in _parts(schema):
            _require_usable(part, is_root=part is schema)
    except SchemaError as error:
        raise UngradableError(f"schema is not a JSON Schema: at {error.json_path}: {_cut(error.message)}") from None
    except (PatternError, RecursionError) as error:
        raise UngradableError(f"schema: {error}") from None
    if isinstance(schema, dict):  # with `$schema`, a reference to the root would use the library's own class
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    validator = _bounded(base)(schema, registry=Registry(), format_checker=FormatChecker(_FORMATS))
    for probe in _PROBES:
        try:
            _first_error(validator, probe)
        except (RecursionError, _TooManyStepsError):
            raise UngradableError("schema refers to itself endlessly") from None
    return partial(_problem, validator)


def _problem(validator: Any, value: JsonValue) -> str | None:
    try:
        error = _first_error(validator, value)
    except (RecursionError, _TooManyStepsError):
        return "the schema takes too many steps on it"
    return None if error is None else f"at {error.json_path}: {_cut(error.message)}"


def _first_error(validator: Any, value: JsonValue) -> ValidationError | None:
    _steps.left = _MOST_STEPS
    try:
        return next(validator.iter_errors(value), None)
    except referencing.exceptions.Unresolvable as error:
        raise UngradableError(f"schema refers to {error.ref!r}, which is not in it; nothing is fetched") from None


def _parts(schema: JsonValue) -> Iterator[dict[str, JsonValue]]:
    """Every object in a schema, itself first, except data."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += [value for key, value in part.items() if key not in _NO_SCHEMAS]
        elif isinstance(part, list):
            waiting += part


def _require_usable(part: dict[str, JsonValue], *, is_root: bool) -> None:
    """Raises `PatternError`, `UngradableError`."""
    if isinstance(part.get("$schema"), str) and not is_root:
        raise UngradableError("schema: $schema may only be at the top")
    keys = part.get("patternProperties")
    patterns = [part["pattern"]] if isinstance(part.get("pattern"), str) else []
    for pattern in [*patterns, *(keys if isinstance(keys, dict) else ())]:
        has_group(pattern)
    if isinstance(keys, dict) and "unevaluatedProperties" in part:
        raise UngradableError("schema: patternProperties and unevaluatedProperties can't be used together here")


@cache
def _bounded(base: Any) -> Any:
    """The same rules, each certain to end."""
    known = base.VALIDATORS
    references = ("$ref", "$dynamicRef", "$recursiveRef")
    bounded: dict[str, Keyword] = {name: partial(_counted, known[name]) for name in references if name in known}
    ours = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
    }
    return extend(base, bounded | {name: rule for name, rule in ours.items() if name in known})


def _counted(rule: Keyword, validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    _steps.left -= 1
    if _steps.left < 0:
        raise _TooManyStepsError
    yield from rule(validator, value, instance, schema) or ()


def _pattern(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    del schema
    if validator.is_type(instance, "string") and not matches(value, instance):
        yield ValidationError(f"{instance!r} does not match {value!r}")


def _pattern_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    del schema
    if not validator.is_type(instance, "object"):
        return
    for pattern, inner in value.items():
        for key, each in instance.items():
            if matches(pattern, key):
                yield from validator.descend(each, inner, path=key, schema_path=pattern)


def _additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    patterns = schema.get("patternProperties", ())
    properties = schema.get("properties", ())
    for key, each in instance.items():
        if key in properties or any(matches(pattern, key) for pattern in patterns):
            continue
        if value is False:
            yield ValidationError(f"the property {key!r} is not allowed")
        else:
            yield from validator.descend(each, value, path=key)


def _unique_items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    del schema
    if not value or not validator.is_type(instance, "array"):
        return
    seen: set[str] = set()
    for each in instance:
        key = json.dumps(_with_whole_numbers(each), sort_keys=True)
        if key in seen:
            yield ValidationError(f"the item {each!r} is not unique")
            return
        seen.add(key)


def _with_whole_numbers(value: JsonValue) -> JsonValue:
    """Numbers that JSON Schema considers equal in one form: 1.0 as 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_with_whole_numbers(each) for each in value]
    return {key: _with_whole_numbers(each) for key, each in value.items()} if isinstance(value, dict) else value


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 3]}..."
