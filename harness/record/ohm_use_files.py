"""Syntax trees of a program's sources: where a value is that a frame reads, and where variables,
attributes and functions are used (ohm_uses.py)."""
import ast
import collections
import dis
import linecache

from ohm_use_names import DERIVES

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MATCH_CLASS = (ast.MatchClass,) if hasattr(ast, "MatchClass") else ()  # from Python 3.10 on
LISTINGS = (ast.List, ast.Tuple)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
MOST_ALIKE = 12  # functions of one name that are followed


class File:
    """The syntax tree of a source."""

    def __init__(self, name, tree):
        self.name, self.tree = name, tree
        self.parents = {}
        self.by_line = collections.defaultdict(list)
        self.loaded = collections.defaultdict(list)  # name of an attribute -> nodes
        self.called = collections.defaultdict(list)  # name -> calls
        self.defined = collections.defaultdict(list)  # name -> functions
        self.classes = {}  # name -> class
        self.matched = set()  # names of classes in patterns
        self.assigned = collections.defaultdict(list)  # name of a variable or attribute -> values
        self.targets = collections.defaultdict(list)  # the same name -> Names and Attributes
        self.given = {}  # one of these -> its value
        self.items_given = collections.defaultdict(list)  # constant key -> values that items of it are assigned
        self.changed = set()  # texts of what is assigned items of other keys, or is updated
        self.bound = {}  # function -> names that it binds
        self.named = {}  # (scope, name) -> nodes
        self.by_name = collections.defaultdict(list)  # name of a variable -> nodes
        self.guarded = []  # first statements of what a `try` or a `with` holds
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if hasattr(node, "lineno"):
                self.by_line[node.lineno].append(node)
            self._note(node)

    def _note(self, node):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            self.loaded[node.attr].append(node)
        elif isinstance(node, ast.Name):
            self.by_name[node.id].append(node)
        elif isinstance(node, ast.Call):
            self.called[name_of(node)].append(node)
            if name_of(node) in ("update", "setdefault") and isinstance(node.func, ast.Attribute):
                self.changed.add(ast.unparse(node.func.value))
        elif isinstance(node, FUNCTIONS):
            self.defined[node.name].append(node)
        elif isinstance(node, ast.ClassDef):
            self.classes[node.name] = node
        elif isinstance(node, MATCH_CLASS):
            self.matched.add(name_of_target(node.cls))
        elif isinstance(node, (ast.Try, ast.With)):
            self.guarded.append(node.body[0])
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in getattr(node, "targets", None) or [node.target]:
                self._note_assigned(target, node.value)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                if item.optional_vars is not None:
                    self._note_assigned(item.optional_vars, item.context_expr)

    def _note_assigned(self, target, value):
        if isinstance(target, LISTINGS) and isinstance(value, LISTINGS) and len(target.elts) == len(value.elts):
            for part, its_value in zip(target.elts, value.elts):
                self._note_assigned(part, its_value)
        else:
            self.assigned[name_of_target(target)].append(value)
            self.targets[name_of_target(target)].append(target)
            self.given[target] = value
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            self.items_given[target.slice.value].append(value)
        elif isinstance(target, ast.Subscript):
            self.changed.add(ast.unparse(target.value))

    @classmethod
    def read(cls, name):
        try:
            return cls(name, ast.parse("".join(linecache.getlines(name))))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def expression(self, frame):
        """That the frame's current instruction evaluates; None: it is not known."""
        code = frame.f_code
        if not hasattr(code, "co_positions"):  # Python 3.10 and older know lines
            return self._likely(frame.f_lineno)
        for number, position in enumerate(code.co_positions()):
            if number == frame.f_lasti // 2:
                return self._at(position)
        return None

    def runs_in(self, frame, part):
        """Whether a frame evaluates something within this node."""
        is_own = frame.f_code.co_filename == self.name
        node = self.expression(frame) if is_own else None
        while node is not None and node is not part:
            node = self.parents.get(node)
        return node is not None

    def _at(self, position):
        line, end_line, column, end_column = position
        best = None
        for node in self.by_line.get(line, ()):
            if (node.col_offset, node.end_lineno, node.end_col_offset) == (
                    column, end_line, end_column):
                best = node
        return best

    def _likely(self, line):
        calls = [node for node in self.by_line.get(line, ())
                 if isinstance(node, ast.Call) and name_of(node) in DERIVES]
        statements = [node for node in self.by_line.get(line, ()) if isinstance(node, ast.stmt)]
        return (calls or statements or [None])[-1]

    # ---- variables ----

    def scope(self, node):
        """The function that a node is in, or the file."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, FUNCTIONS):
                return node
        return self.tree

    def home(self, scope, name):
        """The function that binds a name of this scope, or the file."""
        while scope is not self.tree and name not in self.bound_by(scope):
            scope = self.scope(scope)
        return scope

    def bound_by(self, function):
        if function not in self.bound:
            names, others = set(parameters_of(function)), set()
            for node in within(function):
                is_stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
                if is_stored and not self.is_of_comprehension(node):
                    names.add(node.id)
                elif isinstance(node, (ast.Global, ast.Nonlocal)):
                    others.update(node.names)
            self.bound[function] = names - others
        return self.bound[function]

    def names(self, scope, name):
        """Where a variable of the scope is used, also in functions within it that have no other of
        this name."""
        key = scope, name
        if key not in self.named:
            found, left = [], [scope]
            while left:
                node = left.pop()
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                    found.append(node)
                left += [inner for child in ast.iter_child_nodes(node) for inner in self._sharing(child, name)]
            self.named[key] = found
        return self.named[key]

    def _sharing(self, node, name):
        """The node, or the parts of it, where a name means what it means around it."""
        if isinstance(node, FUNCTIONS) and name in self.bound_by(node):
            return []
        if isinstance(node, ast.Lambda) and name in parameters_of(node):
            return [default for default in (*node.args.defaults, *node.args.kw_defaults) if default]
        if isinstance(node, COMPREHENSIONS) and name in bound_in(node):
            return [node.generators[0].iter]
        return [node]

    def is_of_comprehension(self, node):
        """Of a name that is assigned: whether it is a variable of a comprehension's."""
        while isinstance(node, (ast.Name, ast.Starred, *LISTINGS)):
            node = self.parents[node]
        return isinstance(node, ast.comprehension)

    def may_follow(self, node, target):
        """Whether a variable may be used by this node after it was assigned: further down, in a loop around both, or
        in another function."""
        around = set(self.loops_around(target))
        is_further_down = (node.lineno, node.col_offset) >= (target.lineno, target.col_offset)
        return is_further_down or self.scope(node) is not self.scope(target) or self._is_in_lambda(node) or (
            any(loop in around for loop in self.loops_around(node)))

    def _is_in_lambda(self, node):
        while isinstance(node, ast.expr) and not isinstance(node, ast.Lambda):
            node = self.parents.get(node)
        return isinstance(node, ast.Lambda)

    def loops_around(self, node):
        while node in self.parents and not isinstance(node, FUNCTIONS):
            node = self.parents[node]
            if isinstance(node, LOOPS):
                yield node

    def items_of(self, key, scope):
        """Where a function, or the file, asks for the item of this key."""
        return [node for node in ast.walk(scope) if key == asked_key(node)]

    def passes_on(self, name):
        """Whether a function of this name is passed or stored, rather than called."""
        names = (node for node in self.by_name.get(name, ()) if isinstance(node.ctx, ast.Load))
        return any(not self._is_called(node) for node in [*self.loaded.get(name, ()), *names])

    def assigned_in(self, scope, name):
        """What a function, or a module, assigns to a variable."""
        return [value for value in self.assigned.get(name, ()) if self.scope(value) is scope]

    def lambdas(self, name):
        return [value for value in self.assigned.get(name, ()) if isinstance(value, ast.Lambda)]

    def attributes(self, name, is_called):
        """is_called: also where the attribute is called. Numbers are not: it is a method of this name."""
        return [node for node in self.loaded.get(name, ()) if is_called or not self._is_called(node)]

    def _is_called(self, node):
        parent = self.parents.get(node)
        return isinstance(parent, ast.Call) and parent.func is node

    # ---- functions ----

    def functions(self, name):
        """None where there are many of the name."""
        found = self.defined.get(name, ())
        return found if len(found) <= MOST_ALIKE else ()

    def calls(self, name):
        return self.called.get(name, ())

    def is_called_on(self, call, name):
        """Whether a call is of a module of this name: subprocess.run."""
        return name_of_target(getattr(call.func, "value", None)) == name

    def passed(self, function, name):
        """What calls of a function pass for a parameter."""
        names = parameters_of(function)
        place = names.index(name)
        kind = self.parents[function].name if function.name == "__init__" else function.name
        for call in self.calls(kind):
            at = place - (is_method_call(call, names) or function.name == "__init__")
            if 0 <= at < len(call.args):
                yield call.args[at]
            yield from (keyword.value for keyword in call.keywords if keyword.arg == name)


def asks_for_truth(frame):
    """Whether the current instruction asks if a value is true. From Python 3.12 on its position is that of the
    expression that gave the value."""
    return instruction_of(frame).startswith(("TO_BOOL", "POP_JUMP_IF"))


def instruction_of(frame):
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]


def name_of(call):
    """Of what is called: print, or append of losses.append."""
    return getattr(call.func, "attr", None) or getattr(call.func, "id", None) or ""


def name_of_target(target):
    """Of a Name or an Attribute; None of others."""
    return getattr(target, "attr", None) or getattr(target, "id", None)


def targets_of(assignment):
    """Each variable, attribute or element that it assigns to, or to which a call adds something."""
    if isinstance(assignment, ast.Expr):
        return [assignment.value.func.value]
    targets = getattr(assignment, "targets", None) or [assignment.target]
    return [part for target in targets for part in getattr(target, "elts", [target])]


def asked_key(node):
    """The constant of d["loss"] or d.get("loss"); None: it is neither."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return getattr(node.slice, "value", None)
    if isinstance(node, ast.Call) and name_of(node) in ("get", "pop") and node.args:
        return getattr(node.args[0], "value", None)
    return None


def parameters_of(function):
    arguments = function.args
    others = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs + others]


def is_method_call(call, names):
    """names: of the parameters of what is called."""
    return isinstance(call.func, ast.Attribute) and names[:1] == ["self"]


def is_property(function):
    """Whether it is called where an attribute is read."""
    decorators = getattr(function, "decorator_list", ())
    return any((name_of_target(one) or "").endswith("property") for one in decorators)


def bound_in(comprehension):
    """Names of its own variables."""
    targets = [part for loop in comprehension.generators for part in ast.walk(loop.target)]
    return {part.id for part in targets if isinstance(part, ast.Name)}


def within(function):
    """Nodes of a function, without those of functions within it."""
    left = list(function.body)
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            left += ast.iter_child_nodes(node)


def caller_of(file, function, frame):
    """The frame that has called a function, which `frame` runs, or a comprehension in it; None: it
    runs another one."""
    while frame is not None and frame.f_code.co_filename == file.name:
        if is_code_of(function, frame.f_code):
            is_running = function.lineno <= frame.f_lineno <= function.end_lineno
            return frame.f_back if is_running else None
        if not frame.f_code.co_name.startswith("<"):
            return None
        frame = frame.f_back
    return None


def is_code_of(function, code):
    """Decorators may have given it another name: torch.no_grad does."""
    if code.co_name == getattr(function, "name", ""):
        return True
    firsts = [node.lineno for node in (function, *getattr(function, "decorator_list", ())) if hasattr(node, "lineno")]
    return not code.co_name.startswith("<") and code.co_firstlineno in firsts
