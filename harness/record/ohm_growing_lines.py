"""The line of a program that makes a variable hold more: that appends to it, stores into it, or adds to
it. Where none does, the line that assigns to it what it holds."""
import ast
import linecache

from ohm_unrolled import is_unrolled
from ohm_use_files import name_of

GROWS = frozenset(
    "add append appendleft extend insert put put_nowait push setdefault update".split())
GROWS_FIRST = frozenset("heappush insort insort_left insort_right".split())  # their first argument
TAKES_ITEM = frozenset(("get", "setdefault"))
LEAVES_GPU = frozenset("item tolist cpu numpy".split())
NUMBERS = frozenset("bool float int len str".split())
QUEUES = "LifoQueue PriorityQueue Queue SimpleQueue".split()
EMPTY = frozenset("Counter OrderedDict defaultdict deque dict list set".split() + QUEUES)
CONCATENATES = frozenset("cat concat concatenate hstack vstack".split())
BACKWARD = "backward"
CALLS = GROWS | GROWS_FIRST | {BACKWARD}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
ASSIGNMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)
MOST_SOURCE = 1_000_000  # characters


class Name:
    """A variable of a function; of a module where the function is "<module>"."""

    def __init__(self, name, function="<module>", first_line=0):
        self.name, self.function, self.first_line = name, function, first_line

    def part_of(self, source):
        return source.function(self.function, self.first_line)

    def is_in(self, node):
        return isinstance(node, ast.Name) and node.id == self.name


class Attribute:
    """Of an object of a class, "" where the class is not of the file."""

    def __init__(self, name, class_name=""):
        self.name, self.class_name = name, class_name

    def part_of(self, source):
        if not self.class_name:
            return source.tree
        return next((node for node in source.classes if node.name == self.class_name), None)

    def is_in(self, node):
        return isinstance(node, ast.Attribute) and node.attr == self.name


class Item:
    """container[key]: of what `container` names; or one with a key that the source does not have."""

    def __init__(self, container, key):
        self.container, self.key = container, key

    def part_of(self, source):
        return self.container.part_of(source)

    def is_in(self, node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return (node.func.attr in TAKES_ITEM and self.container.is_in(node.func.value) and
                    node.args and self._is_key(node.args[0]))
        return (isinstance(node, ast.Subscript) and self.container.is_in(node.value) and
                self._is_key(node.slice))

    def _is_key(self, node):
        return not isinstance(node, ast.Constant) or repr(node.value) == self.key


class Source:
    """A file of the program: its functions and classes, and what may make a variable hold more."""

    def __init__(self, tree):
        self.tree = tree
        self.functions, self.classes, self.steps, self.loops = [], [], [], []
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS):
                self.functions.append(node)
            elif isinstance(node, ast.ClassDef):
                self.classes.append(node)
            elif isinstance(node, LOOPS):
                self.loops.append(node)
            elif isinstance(node, ASSIGNMENTS) or isinstance(node, ast.Call) and name_of(node) in CALLS:
                self.steps.append(node)

    def function(self, name, first_line):
        """The whole for code that is in no function; None: there is no such function."""
        if name.startswith("<"):
            return self.tree
        for node in self.functions:
            begin = min([node.lineno] + [one.lineno for one in node.decorator_list])
            if node.name == name and begin <= first_line <= node.lineno:
                return node
        return None

    def steps_in(self, part):
        if part is self.tree:
            return self.steps
        return [node for node in self.steps if part.lineno <= node.lineno <= part.end_lineno]


class Sources:
    """Files of the program, read once."""

    def __init__(self):
        self.known = {}

    def of(self, file):
        """None: the file is none of Python's, or cannot be read."""
        if file not in self.known:
            self.known[file] = read_source(file)
        return self.known[file]


def read_source(file):
    text = "".join(linecache.getlines(file)) if file else ""
    if not text or len(text) > MOST_SOURCE:
        return None
    try:
        return Source(ast.parse(text))
    except (SyntaxError, ValueError):
        return None


class Place:
    """A line of a file: whether what is named grows there: by more that is added to it, or carried from
    one pass of a loop to the next; whether the program concatenates it with more, and in the loop does
    nothing else with it; whether it calls backward() of it; whether it is of an unrolled loop."""

    def __init__(self, line, grows=False, is_added_to=False, is_carried=False, is_concatenated=False,
                 is_collected=False, is_differentiated=False, is_unrolled=False):
        self.line, self.grows = line, grows
        self.is_added_to, self.is_carried = is_added_to, is_carried
        self.is_concatenated, self.is_collected = is_concatenated, is_collected
        self.is_differentiated, self.is_unrolled = is_differentiated, is_unrolled


def growing_place(source, what):
    """Of what a Name, an Attribute or an Item names in a file; None: no line of it gives that a value."""
    place = own_place(source, what)
    if place is not None or not isinstance(what, Item):
        return place
    # memory = {**memory, "turns": [*memory["turns"], turn]}
    whole = growing_place(source, what.container)
    return whole and Place(whole.line, whole.grows, is_added_to=whole.grows)


def own_place(source, what):
    part = source and what.part_of(source)
    if part is None:
        return None
    steps = source.steps_in(part)
    grown = [node for node in steps if grows(node, what)]
    grown = [node for node in grown if not stores_numbers(node)] or grown
    found = grown or [node for node in steps if assigns(node, what)]
    if not found:
        return None
    concatenated = [node for node in grown if concatenates(node, what)]
    return Place(max(node.lineno for node in found), bool(grown),
                 is_added_to=any(adds_to(node, what) for node in grown),
                 is_carried=any(is_carried(source, node, what) for node in grown),
                 is_concatenated=bool(concatenated),
                 is_collected=any(is_collected(source, node, what) for node in concatenated),
                 is_differentiated=any(differentiates(node, what) for node in steps),
                 is_unrolled=any(is_in_unrolled_loop(source, node, part, what) for node in grown))


def is_in_unrolled_loop(source, node, part, what):
    loop = innermost_loop(source, node)
    return loop is not None and is_unrolled(loop, part, what)


def line_of_result(function):
    """Of what it returns last, itself and not a function in it."""
    inner = [node for node in ast.walk(function) if isinstance(node, FUNCTIONS) and node is not function]
    lines = [node.lineno for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
    return max((line for line in lines if not any(one.lineno <= line <= one.end_lineno for one in inner)),
               default=function.lineno)


def grows(node, what):
    if isinstance(node, ast.Call):
        return calls_growth(node, what)
    if isinstance(node, ast.AugAssign):
        return what.is_in(node.target) or is_item_of(node.target, what)
    targets = targets_of(node)
    if any(is_item_of(target, what) for target in targets):
        return True
    # total = total + loss; h = f(h)
    return any(map(what.is_in, targets)) and any(map(what.is_in, ast.walk(node.value)))


def adds_to(node, what):
    """losses.append(loss), kept[key] = out, total += loss"""
    return not any(map(what.is_in, targets_of(node)))


def is_carried(source, node, what):
    """state = f(state): from pass to pass of a loop, where no pass begins anew. An object's attribute
    outlasts the function."""
    if adds_to(node, what):
        return False
    if not isinstance(what, Name):
        return True
    loop = innermost_loop(source, node)
    if loop is None or isinstance(loop, (ast.For, ast.AsyncFor)) and any(map(what.is_in, ast.walk(loop.target))):
        return False
    others = [one for one in ast.walk(loop) if isinstance(one, ASSIGNMENTS) and one is not node]
    return not any(assigns(one, what) and not grows(one, what) for one in others)


def innermost_loop(source, node):
    loops = [one for one in source.loops if one.lineno <= node.lineno <= one.end_lineno]
    return max(loops, key=lambda one: one.lineno, default=None)


def concatenates(node, what):
    """keys = torch.cat([keys, key])"""
    if not isinstance(node, ASSIGNMENTS) or not any(map(what.is_in, targets_of(node))):
        return False
    calls = [one for one in ast.walk(node.value) if isinstance(one, ast.Call)]
    return any(name_of(one) in CONCATENATES and any(map(what.is_in, ast.walk(one))) for one in calls)


def is_collected(source, node, what):
    """Of what is concatenated in a loop: nothing there reads it, as attention reads keys."""
    loop = innermost_loop(source, node)
    return loop is not None and not any(reads(one, what) for one in ast.iter_child_nodes(loop))


def is_read(source, what):
    """Beside the lines that make it longer."""
    part = what.part_of(source)
    grown = [node for node in source.steps_in(part) if grows(node, what)]
    return any(what.is_in(one) and isinstance(one.ctx, ast.Load) and
               not any(step.lineno <= one.lineno <= step.end_lineno for step in grown)
               for one in ast.walk(part))


def reads(node, what):
    """Beyond asking whether there is any, and giving it its own value."""
    if isinstance(node, ast.Compare) or isinstance(node, ASSIGNMENTS) and assigns(node, what):
        return False
    return what.is_in(node) or any(reads(one, what) for one in ast.iter_child_nodes(node))


def calls_growth(call, what):
    if isinstance(call.func, ast.Attribute) and call.func.attr in GROWS and what.is_in(call.func.value):
        return True
    return name_of(call) in GROWS_FIRST and bool(call.args) and what.is_in(call.args[0])


def differentiates(node, what):
    """loss.backward(), scaler.scale(loss).backward()"""
    is_call = isinstance(node, ast.Call) and name_of(node) == BACKWARD
    return is_call and any(map(what.is_in, ast.walk(node)))


def is_item_of(target, what):
    return isinstance(target, ast.Subscript) and what.is_in(target.value)


def assigns(node, what):
    return any(map(what.is_in, targets_of(node))) and not is_empty(node.value)


def targets_of(node):
    """Also the parts of out, (h, c) = lstm(x, (h, c))."""
    if isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        return [node.target] if node.value is not None else []
    return with_parts(node.targets) if isinstance(node, ast.Assign) else []


def with_parts(targets):
    found = []
    for target in targets:
        found.append(target)
        if isinstance(target, (ast.Tuple, ast.List)):
            found += with_parts(target.elts)
        elif isinstance(target, ast.Starred):
            found.append(target.value)
    return found


def is_empty(value):
    """Whether it holds no tensor: [], dict(), None, 0."""
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return all(map(is_empty, value.elts))
    if isinstance(value, ast.Dict):
        return all(map(is_empty, value.values))
    if isinstance(value, ast.Call):
        return name_of(value) in EMPTY and not any(map(may_hold, value.args))
    return isinstance(value, ast.Constant)


def may_hold(argument):
    """defaultdict(list), deque([], 10)"""
    return not isinstance(argument, (ast.Name, ast.Lambda)) and not is_empty(argument)


def stores_numbers(node):
    """losses.append(loss.item()): nothing of a GPU."""
    values = [*node.args, *(one.value for one in node.keywords)] if isinstance(node, ast.Call) else [node.value]
    return bool(values) and all(map(is_number, values))


def is_number(value):
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, (ast.BinOp, ast.UnaryOp)):
        parts = [value.left, value.right] if isinstance(value, ast.BinOp) else [value.operand]
        return all(map(is_number, parts))
    if not isinstance(value, ast.Call):
        return False
    # x.float() is a tensor, float(x) a number.
    return getattr(value.func, "attr", "") in LEAVES_GPU or getattr(value.func, "id", "") in NUMBERS
