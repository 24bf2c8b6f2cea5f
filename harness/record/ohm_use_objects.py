"""Which parameters and attributes of a program's own functions and classes an argument becomes (ohm_use_search.py)."""
import ast
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


def is_apart(files, one, other):
    """Whether `self` is never the same object in two classes, (file, class) each: no class has both among its bases.
    Those of the sources may have other names there."""
    made = files.made_of(*one) or files.made_of(*other)
    names = {one[1].name, other[1].name}
    return made is not None and not any(
        names <= {base.__name__ for base in heir.__mro__} for heir in (made, *heirs_of(made)))


def heirs_of(made):
    """Classes that have one among their bases."""
    for heir in type.__subclasses__(made):
        yield heir
        yield from heirs_of(heir)


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
