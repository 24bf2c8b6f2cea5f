"""Which parameters and attributes of a program's own functions and classes an argument becomes (ohm_use_search.py)."""
import ast
import functools
import types

from ohm_use_files import is_method_call, name_of, name_of_target, parameters_of

ENUMS = frozenset("Enum IntEnum StrEnum Flag IntFlag".split())
BOUND = frozenset("__init__ __call__".split())  # called without the object


def parameters_for(function, call, argument):
    """Names of those that an argument may become."""
    names = parameters_of(function)
    others = function.args.kwarg
    if isinstance(argument, ast.keyword):
        if argument.arg is None:
            return names
        return [argument.arg] if argument.arg in names else [others.arg] if others else []
    place = call.args.index(argument) if argument in call.args else -1
    if place < 0:
        return []
    place += is_method_call(call, names) or getattr(function, "name", "") in BOUND
    if isinstance(argument, ast.Starred):
        return names[place:]
    most = len(function.args.posonlyargs) + len(function.args.args)
    if place < most:
        return names[place:place + 1]
    return [function.args.vararg.arg] if function.args.vararg else []


def constructor(files, file, kind, depth=4):
    """(file, `__init__`) of a class or of its bases; None: it has none that is known."""
    for statement in kind.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            return file, statement
    for base in kind.bases if depth else ():
        known = files.class_of(file, name_of_target(base) or "")
        found = constructor(files, *known, depth - 1) if known else None
        if found:
            return found
    return None


def fields(kind):
    """Of a dataclass or a NamedTuple."""
    return [statement.target.id for statement in kind.body
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)]


def field_for(kind, call, argument):
    names = fields(kind)
    if isinstance(argument, ast.keyword):
        return argument.arg if argument.arg in names else None
    place = call.args.index(argument) if argument in call.args else len(names)
    return names[place] if place < len(names) else None


def is_enumeration(kind):
    return any(name_of_target(base) in ENUMS for base in kind.bases)


def class_around(file, node):
    while node is not None and not isinstance(node, ast.ClassDef):
        node = file.parents.get(node)
    return node


def class_of_self(file, attribute):
    """The class whose method has the `self` of self.name; None: it is of something else."""
    if getattr(attribute.value, "id", "") != "self":
        return None
    around = file.parents.get(file.home(file.scope(attribute), "self"))
    return around if isinstance(around, ast.ClassDef) else None


def relatives(files, file, kind):
    """Names of the classes that have an heir in common with one, itself among them; empty: they are not known. None:
    its objects may have attributes of any."""
    if passes_on(kind) or hands_on(file):
        return None
    made = files.class_made_by(file, kind)
    return {base.__name__ for heir in heirs_of(made) for base in heir.__mro__} if made is not None else set()


@functools.cache
def hands_on(file):
    """Whether a file gives attributes of one object to others, or methods of one class."""
    values = [file.given[target] for targets in file.targets.values() for target in targets]
    borrows = any(isinstance(value, ast.Attribute) and value.attr in file.defined and (
        name_of_target(value.value) in file.classes) for value in values)
    is_copied = "__dict__" in file.targets or any(
        is_copied_from(file, node) for node in file.loaded.get("__dict__", ()))
    calls = (call for name in ("vars", "asdict") for call in file.calls(name))
    return borrows or is_copied or "__class__" in file.targets or any(is_unpacked(file, call) for call in calls)


def is_copied_from(file, variables):
    """Whether attributes are passed on, rather than printed or looked up: one.update(other.__dict__)"""
    parent = file.parents[variables]
    is_called = isinstance(parent, ast.Attribute) and parent.attr in ("update", "items")
    return is_called or isinstance(parent, (ast.Assign, ast.Call))


def is_unpacked(file, call):
    """As those of f(**vars(one)), one.update(vars(other)) and vars(one).items()."""
    parent = file.parents[call]
    is_given = isinstance(parent, ast.keyword) and parent.arg is None or isinstance(parent, ast.Attribute)
    return is_given or isinstance(parent, ast.Call) and name_of(parent) == "update"


def passes_on(kind):
    """Whether objects of a class may have the attributes of others."""
    methods = (one.name for one in kind.body if isinstance(one, ast.FunctionDef))
    return not {"__getattr__", "__getattribute__"}.isdisjoint(methods)


def heirs_of(made):
    """A class and those that have it among their bases."""
    found, left = set(), [made]
    while left:
        heir = left.pop()
        if heir not in found:
            found.add(heir)
            left += type.__subclasses__(heir)
    return found


def is_super(call):
    """Whether it is super().__init__(...)."""
    value = getattr(call.func, "value", None)
    return name_of(call) == "__init__" and isinstance(value, ast.Call) and name_of(value) == "super"


def is_setter(function):
    return any(name_of_target(one) == "setter" for one in function.decorator_list)


def name_of_default(function, node):
    """Of the parameter whose default an expression is."""
    arguments = function.args
    if node in arguments.kw_defaults:
        return arguments.kwonlyargs[arguments.kw_defaults.index(node)].arg
    named = arguments.posonlyargs + arguments.args
    return named[len(named) - len(arguments.defaults) + arguments.defaults.index(node)].arg


def value_of_name(node, known):
    """Of a Name, or of what a module has; known: variables of a file."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    owner = value_of_name(node.value, known) if isinstance(node, ast.Attribute) else None
    return vars(owner).get(node.attr) if isinstance(owner, types.ModuleType) else None


def is_of(name, modules):
    """Whether a module is one of these, or of a package of theirs."""
    return any(name == one or name.startswith(f"{one}.") for one in modules)


def is_estimator(file, node, known, depth=3):
    """Whether a method such as KMeans(8).fit is of one of scikit-learn's models. known: variables of the file."""
    owner = getattr(node, "value", None)
    if isinstance(owner, ast.Call):
        home = getattr(value_of_name(owner.func, known), "__module__", None) or ""
        return home.startswith("sklearn.") or is_estimator(file, owner.func, known, depth)
    values = file.assigned.get(name_of_target(owner), ()) if depth else ()
    return any(is_estimator(file, ast.Attribute(value=value), known, depth - 1) for value in values)
