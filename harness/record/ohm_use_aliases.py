"""Objects that have several names: who changes one by a variable changes what other variables, attributes and callers
have (ohm_use_search.py)."""
import ast

from ohm_use_collections import values_of
from ohm_use_files import FUNCTIONS, LISTINGS, name_of, parameters_of, within
from ohm_use_host import looped_over
from ohm_use_kinds import DISPLAYS, worse
from ohm_use_names import BINDS, COLLECTS, FINDS_BY_KEY
from ohm_use_objects import parameters_for

# Calls that give what they are given, or elements of it.
GIVES_PARTS = FINDS_BY_KEY | frozenset("enumerate items iter list max min next reversed sorted values vars zip".split())


NAMES = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.Lambda, ast.Return, ast.IfExp)
KEEPS_OBJECT = COLLECTS | BINDS | frozenset("update setattr".split())


class Aliases:
    """Of Search."""

    def _of_aliased(self, file, scope, target, frame):
        """Of the objects that a variable was assigned, one of which is changed."""
        found, made, step = None, self.made, (target.id, scope, "aliased", self.made)
        if step in self.visited:
            return None
        self.visited.add(step)
        assigned = (value for value in file.assigned.get(target.id, ()) if file.scope(value) is scope)
        for value in (*assigned, *looped_over(file, target)):
            self.made = made
            found = worse(found, self._of_object(file, value, frame))
        self.made = made
        return found

    def _of_aliased_attribute(self, file, target, frame):
        """Of the objects that an attribute was assigned, one of which is changed."""
        found, made, step = None, self.made, (target.attr, "aliased", self.made)
        if step in self.visited:
            return None
        self.visited.add(step)
        for value in values_of(file, target):
            if isinstance(value, (ast.Name, ast.Attribute)):
                self.made = made
                found = worse(found, self._of_object(file, value, frame))
        return found

    def _of_object(self, file, node, frame):
        """Of what an expression gives, which is changed: others may have it, too."""
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return self._of_target(file, node, frame, is_changed=True)
        if isinstance(node, ast.Call) and name_of(node) not in GIVES_PARTS:
            return self._of_given(file, node)
        found, made = None, self.made
        for part in parts_of(node):
            self.made = made
            found = worse(found, self._of_object(file, part, frame))
        return found

    def _of_given(self, file, call):
        """Of an object that functions of the user's return or yield, which is changed."""
        found, made, step = None, self.made, (call, (self.made, "given"), None)
        if step in self.visited:
            return None
        self.visited.add(step)
        for home, function in self.files.functions(file, name_of(call)):
            for node in within(function):
                if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
                    self.made = made
                    found = worse(found, self._of_object(home, node.value, None))
        return found

    def _is_kept(self, file, node, depth=3):
        """Whether an object that is a Name gets another name there, in a collection or an object."""
        parent = file.parents[node]
        while isinstance(parent, (ast.keyword, ast.Starred, *DISPLAYS)):
            node, parent = parent, file.parents[parent]
        if not isinstance(parent, ast.Call):
            return isinstance(parent, NAMES) and node is getattr(parent, "value", node)
        if node is parent.func:
            return False
        name = name_of(parent)
        if name in KEEPS_OBJECT or name in file.classes or name[:1].isupper():
            return True
        uses = ((home, use) for home, function in self.files.functions(file, name)
                for name in parameters_for(function, parent, node) for use in home.names(function, name))
        return depth > 0 and any(self._is_kept(home, use, depth - 1) for home, use in uses)

    def _of_passed(self, file, scope, target):
        """Of what callers pass for a parameter that is changed."""
        step = target, (self.made, "passed"), None
        if scope is file.tree or step in self.visited or target.id not in parameters_of(scope):
            return None
        self.visited.add(step)
        found = None
        for argument in file.passed(scope, target.id):
            found = worse(found, self._of_target(file, argument, None, is_changed=True))
        return found


def parts_of(node):
    """Expressions of which one gives it."""
    if isinstance(node, ast.Call):
        return [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    return node.elts if isinstance(node, LISTINGS) else []


def has_default(scope, name):
    """Whether it is a parameter of a function that may keep an object from one call to the next."""
    if not isinstance(scope, FUNCTIONS):
        return False
    arguments = scope.args
    named = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(named) - len(arguments.defaults)) + arguments.defaults
    pairs = [*zip(named, defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return any(one.arg == name and default is not None for one, default in pairs)
