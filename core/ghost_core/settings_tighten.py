"""What a project file says before the user has trusted it: it may tighten, never loosen.

Kept are values that only take away: shorter lives, more evidence, added rules, lower limits. Everything
else is dropped and named, so that the user can decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from ghost_core.settings_fields import FIELDS, Field
from ghost_core.settings_values import size_bytes

type Tree = dict[str, object]
type Steps = tuple[str, ...]


class Untrusted(dict[str, object]):
    """A rule of a project file that nobody has trusted: whoever reads it may not be locked out by it."""


def tighten(project: Mapping[str, object], base: Mapping[str, object]) -> tuple[Tree, list[str]]:
    """Return what counts of an untrusted project file over `base`, and the names that do not.

    `base` is the home's file; where it is silent, the default is what may not be loosened.
    """
    kept: Tree = {}
    dropped: list[str] = []
    for steps, value in leaves(project):
        if value == {} and _is_section(steps):
            continue
        if _counts(steps, value, base):
            put(kept, steps, _marked(value) if steps == ("rules",) else value)
        else:
            dropped.append(".".join(steps))
    return kept, dropped


def leaves(tree: Mapping[str, object], above: Steps = ()) -> Iterator[tuple[Steps, object]]:
    """Yield each value of a file with the steps that lead to it."""
    for name, value in tree.items():
        # A limit is one value: the field and the ceiling of a sum belong together.
        if isinstance(value, dict) and value and above[-1:] != ("limits",):
            yield from leaves(value, (*above, name))
        else:
            yield (*above, name), value


def lookup(tree: Mapping[str, object], steps: Steps) -> object:
    """Return the value at the end of the steps, or None."""
    value: object = tree
    for name in steps:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def put(tree: Tree, steps: Steps, value: object) -> None:
    """Set the value at the end of the steps, making the tables on the way."""
    *path, last = steps
    for name in path:
        below = tree.setdefault(name, {})
        if not isinstance(below, dict):
            return
        tree = below
    tree[last] = value


def _marked(rules: object) -> object:
    if not isinstance(rules, list):
        return rules
    return [Untrusted(each) if isinstance(each, dict) else each for each in rules]


def _is_section(steps: Steps) -> bool:
    return any(key.startswith(".".join((*steps, ""))) for key in FIELDS)


def _counts(steps: Steps, value: object, base: Mapping[str, object]) -> bool:
    if steps == ("rules",):
        return True  # rules only deny or ask, and are added to the home's
    if len(steps) == 6 and (steps[0], steps[2], steps[4]) == ("tools", "actions", "limits"):
        known = lookup(base, steps[:4])
        return isinstance(known, Mapping) and _lowers(steps[5], value, lookup(base, steps))
    field = FIELDS.get(".".join(steps))
    return field is not None and _is_tighter(field, value, lookup(base, steps))


def _is_tighter(field: Field, value: object, known: object) -> bool:
    floor = field.default if known is None else known
    match field.tighter:
        case None:
            return False
        case "free":
            return True
        case "lower":
            return _at_most(value, floor)
        case ranks:
            # A value of no rank is kept: the check that follows refuses it by name.
            unranked = value not in ranks or floor not in ranks
            return unranked or ranks.index(str(value)) >= ranks.index(str(floor))


def _lowers(name: str, value: object, known: object) -> bool:
    """Tell whether a limit of an action is new, or lower than the home's."""
    if known is None:
        return True
    if name == "bytes":
        return _at_most(_size(value), _size(known))
    if name != "sum":
        return _at_most(value, known)
    if not isinstance(value, Mapping) or not isinstance(known, Mapping):
        return False
    same_field = value.get("field") == known.get("field")
    return same_field and _at_most(value.get("max"), known.get("max"))


def _at_most(value: object, ceiling: object) -> bool:
    number = (int, Decimal)
    return isinstance(value, number) and isinstance(ceiling, number) and value <= ceiling


def _size(value: object) -> object:
    try:
        return size_bytes(value)
    except ValueError:
        return None
