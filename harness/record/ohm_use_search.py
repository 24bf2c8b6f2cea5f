"""The search for what depends on a value, through the syntax trees of a program (ohm_uses.py)."""
import ast
import types

from ohm_use_aliases import Aliases, has_default
from ohm_use_branches import Branch, chooses_number, compares, gives_bool
from ohm_use_callers import Callers
from ohm_use_calls import Calls
from ohm_use_collections import is_list, is_mapping, values_of
from ohm_use_effects import prints_by_name, root_of
from ohm_use_files import COMPREHENSIONS, LISTINGS, instruction_of, name_of, parameters_of
from ohm_use_frames import have_different_shapes, running, value_in
from ohm_use_kinds import (
    ARRAY, BRANCH, CHOSEN, DISPLAYS, GOES_ON, HOLDER, LISTS, NESTED, NUMBER, SET, SHAPE, TEXT, VALUE, WITHIN,
    chooses_text, computes, counts_in_array, gives_text, is_compared_with_itself, is_tested, is_text, item_of_display,
    item_of_index, made_by, made_of, part_of, unknown_part, unpacked_to, worse)
from ohm_use_loops import Loops
from ohm_use_names import FINDS_BY_KEY, KEEPS_NUMBER, REFLECTS, SAME_ARRAY, UPDATES
from ohm_use_objects import class_of_self, is_setter, name_of_default, relatives
from ohm_use_parts import Parts
from ohm_use_rates import Rates, is_rate
from ohm_use_stores import mapped_files

MOST_STEPS = 1000  # of one read
SELECTS = frozenset("max min nlargest nsmallest heappop heappushpop heapreplace".split())
ADDS = frozenset(("SET_ADD", "MAP_ADD"))  # instructions that ask what they add for its hash
MATCH = (ast.Match,) if hasattr(ast, "Match") else ()  # from Python 3.10 on


class Search(Aliases, Calls, Callers, Loops, Parts, Rates):
    """One question. Nodes are visited once for each thing that they may be."""

    def __init__(self, uses, is_followed):
        self.uses = uses
        self.files, self.host = uses.files, uses.host
        self.is_followed = is_followed
        self.visited = set()
        self.relatives = {}  # class -> what relatives() found
        self.has_lost = False  # a number that told itself was made one that does not
        self.key = None  # of a dict that is written out, whose value it is
        self.frame = None  # where it began
        self.item = None  # of a display of collections, or of what it is assigned to: key or index of the unknown one
        self.place = None  # (index, number) of the argument of zip(), or the part of what a function returns
        self.made = None  # of the value, on the way to the node that is looked at
        self.is_itself = True  # the number on the way is the one that was read, or computed of it by what tells

    @property
    def tells(self):
        """Whether the number tells itself when something compares it."""
        return self.is_followed and not self.has_lost and self.is_itself

    def of_frame(self, frame, is_result=False, is_compared=False, is_index=False, is_text=False):
        """is_result: the value is what the frame's expression gives, as it was returned to it. is_index: it is an
        index of this expression, which chooses elements."""
        self.frame = self.frame or frame
        is_of_logging = frame.f_globals.get("__name__", "").partition(".")[0] == "logging"
        if is_of_logging or self._is_printed_by_library(frame, is_result and self.made is TEXT):
            return None
        file = self.files.file(frame.f_code.co_filename)
        running = self.host.running(frame)
        if running is not None:
            home, function, caller, file, call = running
            return self.of_host_result(file, [(home, function)], call, caller)
        node = file.expression(frame) if file else None
        if node is None:
            return VALUE
        if isinstance(node, ast.stmt):
            return self._of_statement(file, node, None, frame)
        if is_result and isinstance(node, COMPREHENSIONS) and instruction_of(frame) not in ADDS:
            loop = node.generators[0]  # what a generator yields to it
            return self._of_names(file, node, unknown_part(loop, self.made, self.place), frame)
        if is_compared and isinstance(node, ast.Call) and isinstance(file.parents[node], ast.Expr):
            return self._of_ordered(file, node, frame, is_result)
        if not is_result:
            if isinstance(node, ast.Call) and counts_in_array(node):  # numpy.flatnonzero(tensor)
                return SHAPE
            if isinstance(node, ast.Call) and self.asks_whether_finite(file, node) or is_compared_with_itself(node):
                return None
            is_selected = is_compared and isinstance(node, ast.Call) and name_of(node) in SELECTS
            is_chosen = is_selected or is_index and not isinstance(node.ctx, ast.Store)
            self.made = CHOSEN if is_chosen else TEXT if is_text else made_of(node)
        return self._outwards(file, node, frame, self.place if is_result else None)

    def _is_printed_by_library(self, frame, is_text):
        """Whether the frame is a library's that the program has called to print or draw something."""
        if self.files.is_own(frame.f_code.co_filename):
            return False
        while frame is not None and not self.files.is_own(frame.f_code.co_filename):
            frame = frame.f_back
        file = self.files.file(frame.f_code.co_filename) if frame is not None else None
        node = file.expression(frame) if file else None
        if not isinstance(node, ast.Call) or not prints_by_name(node):
            return False
        return is_text or name_of(node) not in UPDATES

    def _outwards(self, file, node, frame, place=None):
        """`frame` runs the code of the node; None: it is another function's, or an earlier call."""
        before = self.made, self.key, self.place, self.is_itself, self.item
        self.place = place
        self.item = self.item if isinstance(node, (ast.Name, ast.Attribute)) else None
        try:
            found = self._through_expressions(file, node, frame)
            self.has_lost = self.has_lost or found == VALUE and not self.is_itself
            return found
        finally:
            self.made, self.key, self.place, self.is_itself, self.item = before

    def _through_expressions(self, file, node, frame):
        while True:
            self.is_itself = self.is_itself and self.made is not TEXT and self._keeps_number(file, node)
            step = node, self.made, self.place, self.is_itself, self.item
            if step in self.visited:
                return None
            self.visited.add(step)
            if len(self.visited) > MOST_STEPS:
                return VALUE
            parent = file.parents.get(node)
            if isinstance(parent, ast.stmt):
                return self._of_statement(file, parent, node, frame)
            found = self._of_expression(file, parent, node, frame)
            if found is not GOES_ON:
                return found
            if isinstance(parent, ast.Subscript) and node is parent.value and self._is_other_item(parent):
                return None
            is_index = isinstance(parent, ast.Subscript) and node is parent.slice
            if is_index and frame is not None and have_different_shapes(value_in(frame, parent.value)):
                return SHAPE
            is_counted = is_index and isinstance(file.parents[parent], ast.AugAssign)  # counts[index] += 1
            chosen = None if is_counted and isinstance(parent.ctx, ast.Store) else CHOSEN
            self.made = chosen if is_index else made_by(parent, self.made)
            self.place = None
            self.item = self.item if isinstance(parent, (*DISPLAYS, ast.IfExp, ast.NamedExpr)) else None
            node = parent

    def _keeps_number(self, file, node):
        """Whether what a node gives tells of itself as a number in it does."""
        is_call = isinstance(node, ast.Call)
        return not is_call or name_of(node) in KEEPS_NUMBER or bool(self.files.functions(file, name_of(node)))

    def _of_expression(self, file, parent, node, frame):
        if isinstance(parent, (ast.FormattedValue, ast.JoinedStr)):
            self.made = TEXT
            return GOES_ON
        if isinstance(parent, ast.Slice):
            return SHAPE
        if isinstance(parent, ast.Subscript) and node is parent.slice:
            return self._of_index(file, parent, frame)
        is_stored = isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store)
        if is_stored and not isinstance(file.parents[parent], ast.AugAssign):
            return None
        if isinstance(parent, LISTINGS) and unpacked_to(file.parents.get(parent), parent, node):
            return self._of_target(file, unpacked_to(file.parents[parent], parent, node), frame)
        if isinstance(parent, ast.Tuple) and isinstance(file.parents.get(parent), ast.Return):
            self.place = parent.elts.index(node), len(parent.elts)
            return self._of_caller(file, file.parents[parent], frame)
        if isinstance(parent, ast.Dict) and node in parent.values:
            self.key = getattr(parent.keys[parent.values.index(node)], "value", None)
        if isinstance(parent, ast.DictComp) and node is parent.key or (
                isinstance(parent, ast.Dict) and node in parent.keys):
            self.made = SET
        is_negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        is_tested_only = is_negated or isinstance(parent, ast.BoolOp) and is_tested(parent, file.parents)
        if is_tested_only and self._asks_for_elements(file, node, frame):
            return None
        if isinstance(parent, ast.BoolOp) or isinstance(parent, ast.IfExp) and node is parent.test:
            return self._of_test(file, parent, frame)
        if isinstance(parent, (ast.ListComp, *DISPLAYS)) and self.made in HOLDER:
            self.made = HOLDER[self.made]
            self.item = item_of_display(parent, node)
            return GOES_ON
        if isinstance(parent, ast.Starred) and self.made in WITHIN:
            self.made = WITHIN[self.made]
            return GOES_ON
        if isinstance(parent, ast.withitem):
            return self._of_target(file, parent.optional_vars, frame) if node is parent.context_expr else None
        if isinstance(parent, ast.comprehension):
            return self._of_loop(file, parent, node, frame, file.parents[parent])
        if isinstance(parent, ast.keyword):
            return self._of_argument(file, file.parents[parent], parent, frame)
        if isinstance(parent, ast.Call):
            return self._of_call(file, parent, node, frame)
        if isinstance(parent, ast.BinOp):
            return self._of_operator(parent, node)
        if isinstance(parent, ast.NamedExpr):
            return worse(self._of_target(file, parent.target, frame),
                         self._outwards(file, parent, frame))
        if isinstance(parent, ast.Compare) and self.made not in (CHOSEN, NUMBER) and all(
                isinstance(operator, (ast.Is, ast.IsNot)) for operator in parent.ops):
            return None
        if isinstance(parent, ast.arguments):
            function = file.parents[parent]
            return self._of_variable(file, function, name_of_default(function, node), None)
        if isinstance(parent, (ast.Yield, ast.YieldFrom)):
            return self._of_caller(file, parent, frame)
        if isinstance(parent, ast.Lambda):
            return self._of_lambda(file, parent)
        if parent is None:
            return VALUE
        if isinstance(parent, ast.Attribute):
            return self._of_part(file, parent, node, frame)
        return GOES_ON

    def _of_test(self, file, expression, frame):
        """Of an `and` or `or`, or of what chooses between two values."""
        if isinstance(expression, ast.BoolOp):
            is_answer = is_tested(expression, file.parents) or gives_bool(expression, frame)
            is_plain = is_answer and not any(computes(one) and not compares(one, frame) for one in expression.values)
            if not is_plain and self.made is None and isinstance(expression.op, ast.Or):
                is_plain = chooses_number(file, expression, frame, self.tells)
                self.made = NUMBER if is_plain else None
        elif chooses_text(expression):
            self.made, is_plain = CHOSEN, True
        elif gives_text(expression.body) and gives_text(expression.orelse):
            self.made, is_plain = TEXT, True
        else:
            is_plain = chooses_number(file, expression, frame, self.tells)
            self.made = NUMBER if is_plain else self.made
        if is_plain:
            return GOES_ON
        return None if self.made is TEXT else BRANCH

    # ---- statements ----

    def _of_statement(self, file, statement, node, frame):
        if isinstance(statement, (ast.If, ast.While, ast.Assert)):
            if node is not None and node is not statement.test:
                return None
            if self._asks_for_elements(file, node, frame):
                return None
            return Branch(self, file, statement, frame).decides()
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            home = running(file, statement, frame or self.frame)
            if isinstance(statement, ast.AugAssign) and home and isinstance(value_in(home, statement.target), str):
                self.made = TEXT
            targets = getattr(statement, "targets", None) or [statement.target]
            return self._of_targets(file, [part_of(target, self.place) for target in targets], frame)
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            return self._of_for(file, statement, frame)
        if isinstance(statement, (ast.With, ast.AsyncWith)) and node is None:  # what __enter__ gives
            targets = [item.optional_vars for item in statement.items if item.optional_vars is not None]
            return self._of_targets(file, targets, frame)
        if isinstance(statement, ast.Return):
            return self._of_caller(file, statement, frame)
        if isinstance(statement, (ast.Delete, *MATCH)):
            return BRANCH
        return None

    def _asks_for_elements(self, file, node, frame):
        """Whether a list is true, of which only elements are unknown."""
        if self.made not in (None, ARRAY):
            return False
        kind = class_of_self(file, node) if isinstance(node, ast.Attribute) else None

        def is_other(target):
            one = class_of_self(file, target) if kind and isinstance(target, ast.Attribute) else None
            return one is not None and self._is_apart(file, kind, file, one)

        if not is_list(file, node, running(file, node, frame or self.frame), is_other):
            return False
        others = self.files.elsewhere(file, f".{node.attr} = ") if isinstance(node, ast.Attribute) else ()
        return all(is_list(other, node) or not values_of(other, node) for other in others)

    def _of_targets(self, file, targets, frame):
        found, made = None, self.made
        for target in targets:
            self.made = made
            found = worse(found, self._of_target(file, target, frame))
        return found

    def of_returned(self, file, statement, frame):
        """Of a function that returns one of several numbers."""
        before = self.made, self.is_followed
        self.made, self.is_followed = NUMBER, False
        found = self._of_caller(file, statement, frame)
        self.made, self.is_followed = before
        return found

    def of_chosen(self, file, target, frame, made):
        """Of what a branch assigns numbers to: such numbers do not tell themselves."""
        before = self.made, self.is_followed
        self.made, self.is_followed, self.item = made, False, None
        found = self._of_target(file, target, frame, is_changed=made is SET)
        self.made, self.is_followed = before
        return found

    def _of_target(self, file, target, frame, is_changed=False):
        """Of what is assigned to; is_changed: of an object that stays the same one."""
        if isinstance(target, (ast.Tuple, ast.List)):
            is_known = type(self.item) is int and not any(isinstance(one, ast.Starred) for one in target.elts)
            parts = target.elts[self.item:self.item + 1] if is_known else target.elts
            self.made, self.item = WITHIN.get(self.made, self.made), None
            return self._of_targets(file, parts or target.elts, frame)
        if isinstance(target, ast.Subscript) and is_rate(file.parents, target):
            return self.of_rates(file, target, target)
        if isinstance(target, ast.Subscript):
            if self.made is None and not is_mapping(file, target.value) and not is_changed:
                self.made = ARRAY
            self.item = item_of_index(target.slice) if self.made in HOLDER else None
            self.made = HOLDER.get(self.made, self.made)
            return self._of_target(file, target.value, frame, is_changed=True)
        if isinstance(target, ast.Starred):
            return self._of_target(file, target.value, frame)
        if isinstance(target, ast.Attribute) and target.attr == "__dict__":
            return VALUE
        if isinstance(target, ast.Attribute) and target.attr in SAME_ARRAY and target.attr not in file.assigned:
            return self._of_target(file, target.value, frame, is_changed=True)
        if isinstance(target, ast.Attribute):
            made, found = self.made, None
            if target.attr in SAME_ARRAY and root_of(target) != "self":
                found = self._of_target(file, target.value, frame, is_changed=True)
            self.made = made
            found = worse(found, self._of_attribute(file, target.attr, frame, class_of_self(file, target)))
            if is_changed:
                found = worse(found, self._of_aliased_attribute(file, target, frame))
            self.made = made
            for other, setter in self.files.functions(file, target.attr):
                if is_setter(setter):
                    found = worse(found, self._of_variable(other, setter, parameters_of(setter)[-1], None))
            return worse(found, self._of_setting(target, frame))
        if isinstance(target, ast.Name):
            scope = file.home(file.scope(target), target.id)
            nodes = file.names(scope, target.id)
            stays = is_changed and has_default(scope, target.id)  # the same object at the next call
            if scope is file.scope(target):
                nodes = [node for node in nodes if stays or file.may_follow(node, target) or (
                    is_changed and self._is_kept(file, node))]
            found = self._of_nodes(file, nodes, None if stays else frame)
            if isinstance(file.parents.get(file.parents.get(target)), ast.ClassDef):
                found = worse(found, self._of_attribute(file, target.id, frame))
            for mapped in mapped_files(file, target) if is_changed else ():
                found = worse(found, self._of_written(file, mapped, frame))
            if not is_changed:
                return found
            found = worse(found, self._of_aliased(file, scope, target, frame))
            return worse(found, self._of_passed(file, scope, target))
        if isinstance(target, ast.Call) and name_of(target) in FINDS_BY_KEY:
            return self._of_target(file, target.func.value, frame, is_changed=True)  # d.setdefault(k, [])
        return VALUE if isinstance(target, ast.Call) else None

    def _of_attribute(self, file, name, frame, kind=None):
        """kind: the class of `self`, whose attribute it is."""
        found = self._of_nodes(file, self._attributes(file, name, file, kind), frame)
        if self.is_followed:
            return found
        for other in self.files.elsewhere(file, f".{name}"):
            found = worse(found, self._of_nodes(other, self._attributes(other, name, file, kind), None))
        if found is None and not file.attributes(name, True) and not REFLECTS.isdisjoint(file.called):
            return VALUE
        return found

    def _attributes(self, other, name, file, kind):
        """Where a file uses an attribute of this name, but that of `self` in classes that have nothing to do with
        `kind`, a class of `file`; None: it may be of any."""
        nodes = other.attributes(name, self.made is CHOSEN)
        own = [(node, class_of_self(other, node) if kind else None) for node in nodes]
        return [node for node, one in own if one is None or not self._is_apart(file, kind, other, one)]

    def _is_apart(self, file, kind, other, one):
        """Whether `self` is never the same object in two classes."""
        names, other_names = self._relatives(file, kind), self._relatives(other, one)
        if names is None or other_names is None:
            return False
        return bool(names or other_names) and one.name not in names and kind.name not in other_names

    def _relatives(self, file, kind):
        if kind not in self.relatives:
            self.relatives[kind] = relatives(self.files, file, kind)
        return self.relatives[kind]

    def _of_setting(self, target, frame):
        """Of a variable of another module of the user's."""
        module = value_in(frame, target.value) if frame is not None else None
        path = getattr(module, "__file__", None) if isinstance(module, types.ModuleType) else None
        file = self.files.file(path) if path and self.files.is_own(path) else None
        return self._of_variable(file, file.tree, target.attr, None) if file else None

    def _of_names(self, file, scope, target, frame):
        found = None
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                found = worse(found, self._of_nodes(file, file.names(scope, name.id), frame))
        return found

    def _of_variable(self, file, scope, name, frame):
        return self._of_nodes(file, file.names(scope, name), frame)

    def _of_nodes(self, file, nodes, frame):
        found = None
        for node in nodes:
            found = worse(found, self._outwards(file, node, frame))
        return found
