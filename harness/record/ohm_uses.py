"""What a program does with a value that it reads, as its source tells: whether a size or a branch
depends on it, or whether it is only printed.

The expression that is being evaluated is found in the syntax tree by the instruction of a frame, and
followed outwards: into variables and their uses, into functions of the same file, to callers by the
frames that are running. Text, logs and progress bars end it."""
import ast
import linecache

# From what matters most.
SHAPE, BRANCH, VALUE = "shape", "branch", "value"
RANK = {SHAPE: 3, BRANCH: 2, VALUE: 1, None: 0}
MOST_STEPS = 1000  # of one read

# Calls that end in text, a log, a plot, or what ohm sweep compares.
PRINTS = frozenset("""print pprint info debug warning warn error critical exception log log_metrics
    log_metric log_dict logged add_scalar add_scalars add_histogram write writelines writerow writerows
    set_postfix set_postfix_str set_description set_description_str format dump dumps display report
    track plot record_metric state update echo secho str repr log_param push_to_logs show""".split())
# Calls whose result is the value again, or is made of it.
DERIVES = frozenset("""int float bool abs round min max sum list tuple sorted set item tolist cpu
    numpy detach mean exp log log2 log10 sqrt pow floor ceil isnan isinf isfinite divmod enumerate zip
    array asarray stack concatenate tensor as_tensor clone reversed get pop items values keys copy
    deepcopy index count reshape view flatten squeeze unsqueeze astype to double half long""".split())
# Calls that put it into what they are called on.
COLLECTS = frozenset("append extend add insert appendleft setdefault put".split())
# Calls that take it for a size.
SIZES = frozenset("""range zeros ones empty full rand randn randint arange linspace new_zeros new_ones
    new_empty new_full narrow split chunk view reshape expand repeat pad randperm eye one_hot
    repeat_interleave resize_ unflatten unfold interpolate islice tile broadcast_to topk""".split())
# Calls that ask about a value, not for it.
ASKS_NO_VALUE = frozenset("isinstance type hasattr callable id is_tensor len".split())
# Calls whose result has as many elements as the values say.
COUNTS = frozenset("""nonzero argwhere masked_select unique unique_consecutive repeat_interleave where
    bincount one_hot histc""".split())


# Operators of PyTorch that read whether they worked, or a seed.
READS_OWN_STATE = frozenset("""cholesky cholesky_ex inv inv_ex inverse solve solve_ex lstsq lu lu_factor
    lu_factor_ex lu_solve ldl_factor ldl_factor_ex qr svd svdvals eig eigvals eigh eigvalsh pinv det
    slogdet logdet matrix_rank cond cholesky_inverse cholesky_solve lstm gru rnn_tanh
    rnn_relu""".split())
# Operators that give Python a number.
GIVES_NUMBER = frozenset("equal allclose is_nonzero item tolist bool int float complex range".split())

# What the expression on the way is, where its length or what it selects depends on the values: an array, a
# mask of its elements, a set.
ARRAY, MASK, SET = "array", "mask", "set"
MAKES_ARRAY = frozenset("numpy asarray array".split())
MAKES_MASK = frozenset("""isin isnan isinf isfinite logical_and logical_or logical_not logical_xor greater less
    equal""".split())
KEEPS = frozenset("copy astype reshape flatten ravel squeeze abs list tuple sorted".split())
KEEPS_SET = KEEPS | frozenset("enumerate zip reversed items keys values most_common".split())
# Calls whose first argument becomes an element or a key of what they are called on.
ADDS_KEY = frozenset("add setdefault".split())
MAPPINGS = frozenset("dict defaultdict Counter OrderedDict".split())
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
MATCH = getattr(ast, "Match", ())  # () before Python 3.10


def made_by(node, made):
    """What a node makes of a part that is `made`; None: a number, or nothing that is known."""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return SET
    if isinstance(node, ast.Call):
        return made_by_call(name_of(node), made)
    if isinstance(node, ast.Compare):
        return MASK if made is ARRAY else None
    if isinstance(node, ast.BinOp):
        is_kept = made is ARRAY or made is MASK and isinstance(node.op, BITWISE)
        return made if is_kept else None
    if isinstance(node, ast.Subscript):
        has_slice = any(isinstance(part, ast.Slice) for part in ast.walk(node.slice))
        return made if has_slice else None
    return made


def made_by_call(name, made):
    if name in MAKES_ARRAY:
        return ARRAY
    if name in ("set", "frozenset"):
        return SET
    if name in MAKES_MASK:
        return MASK if made in (ARRAY, MASK) else None
    return made if name in (KEEPS_SET if made is SET else KEEPS) else None


def worse(first, second):
    return first if RANK[first] >= RANK[second] else second


class Uses:
    def __init__(self):
        self.files = {}  # name -> File, or None
        self.stops = {}  # (file, first line) -> last line of statements that may stop the program for a value

    def of_result(self, frame, is_followed=False):
        """What depends on the value of the expression that this frame evaluates: SHAPE, BRANCH,
        VALUE, or None where it is only printed. is_followed: the value tells itself when it is
        used (ohm_numbers.py), so that it may go where the source does not tell."""
        found = _Search(self).of_frame(frame)
        return None if is_followed and found == VALUE else found

    def called(self, frame):
        """The name of what the frame calls: "" for an index, None for anything else."""
        file = self.file(frame.f_code.co_filename)
        node = file.expression(frame) if file else None
        if isinstance(node, ast.Call):
            return name_of(node)
        return "" if isinstance(node, ast.Subscript) else None

    def file(self, name):
        if name not in self.files:
            self.files[name] = File.read(name)
        return self.files[name]


class File:
    """The syntax tree of a source."""

    def __init__(self, name, tree):
        self.name, self.tree = name, tree
        self.parents = {}
        self.by_line = {}
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if hasattr(node, "lineno"):
                self.by_line.setdefault(node.lineno, []).append(node)

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

    def scope(self, node):
        """The function that a node is in, or the file."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node
        return self.tree

    def names(self, scope, name):
        return [node for node in ast.walk(scope) if isinstance(node, ast.Name)
                and node.id == name and isinstance(node.ctx, ast.Load)]

    def attributes(self, name):
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)
                and node.attr == name and isinstance(node.ctx, ast.Load)]

    def is_mapping(self, target):
        """Whether what a Name or an Attribute names is assigned a dict."""
        name = getattr(target, "attr", None) or getattr(target, "id", None)
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and is_dict(node.value):
                targets = getattr(node, "targets", None) or [node.target]
                if name in [getattr(t, "attr", None) or getattr(t, "id", None) for t in targets]:
                    return True
        return False

    def function(self, name):
        found = [node for node in ast.walk(self.tree)
                 if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name]
        return found[0] if len(found) == 1 else None

    def calls(self, name):
        return [node for node in ast.walk(self.tree)
                if isinstance(node, ast.Call) and name_of(node) == name]


class _Search:
    """One question. Nodes are visited once, and once for sets."""

    def __init__(self, uses):
        self.uses = uses
        self.visited = set()
        self.made = None  # of the value, on the way to the node that is looked at

    def of_frame(self, frame):
        file = self.uses.file(frame.f_code.co_filename)
        node = file.expression(frame) if file else None
        if node is None:
            return VALUE
        if isinstance(node, ast.stmt):
            return self._of_statement(file, node, None, frame)
        self.made = made_by(node, None)
        return self._outwards(file, node, frame)

    def _outwards(self, file, node, frame):
        """`frame` runs the code of the node; None: it is another function's, or an earlier call."""
        before = self.made
        try:
            return self._through_expressions(file, node, frame)
        finally:
            self.made = before

    def _through_expressions(self, file, node, frame):
        while True:
            step = node, self.made is SET
            if step in self.visited:
                return None
            self.visited.add(step)
            if len(self.visited) > MOST_STEPS:
                return VALUE
            parent = file.parents.get(node)
            if isinstance(parent, ast.stmt):
                return self._of_statement(file, parent, node, frame)
            found = self._of_expression(file, parent, node, frame)
            if found is not _GOES_ON:
                return found
            self.made = made_by(parent, self.made)
            node = parent

    def _of_expression(self, file, parent, node, frame):
        if isinstance(parent, (ast.FormattedValue, ast.JoinedStr)):
            return None
        is_index = isinstance(parent, ast.Subscript) and node is parent.slice
        if isinstance(parent, ast.Slice) or is_index and self.made is MASK:
            return SHAPE
        if is_index and isinstance(parent.ctx, ast.Store) and file.is_mapping(parent.value):
            self.made = SET
            return self._of_target(file, parent.value, frame)
        if isinstance(parent, ast.DictComp) and node is parent.key or (
                isinstance(parent, ast.Dict) and node in parent.keys):
            self.made = SET
        if isinstance(parent, ast.BoolOp) or isinstance(parent, ast.IfExp) and node is parent.test:
            return BRANCH
        if isinstance(parent, ast.comprehension):
            return self._of_loop(file, parent, node, frame, file.parents[parent])
        if isinstance(parent, ast.keyword):
            return self._of_argument(file, file.parents[parent], parent, frame)
        if isinstance(parent, ast.Call) and node is not parent.func:
            return self._of_argument(file, parent, node, frame)
        if isinstance(parent, ast.NamedExpr):
            return worse(self._of_target(file, parent.target, frame),
                         self._outwards(file, parent, frame))
        if isinstance(parent, ast.Compare) and all(isinstance(operator, (ast.Is, ast.IsNot))
                                                   for operator in parent.ops):
            return None
        if isinstance(parent, ast.Lambda) or parent is None:
            return VALUE
        if isinstance(parent, ast.Attribute) and parent.attr in ("shape", "size", "dtype", "device"):
            return None
        return _GOES_ON

    def _of_loop(self, file, loop, node, frame, scope):
        if node is not loop.iter or self.made is SET:
            return BRANCH
        self.made = None
        return self._of_names(file, scope, loop.target, frame)

    def _of_argument(self, file, call, argument, frame):
        name = name_of(call)
        if name == "len" and self.made is SET:
            return self._outwards(file, call, frame)
        if name in PRINTS or name in ASKS_NO_VALUE:
            return None
        if name in SIZES:
            return BRANCH if name == "range" else SHAPE
        if name in COLLECTS and isinstance(call.func, ast.Attribute):
            if name in ADDS_KEY and argument is call.args[0]:
                self.made = SET
            return self._of_target(file, call.func.value, frame)
        function = file.function(name)
        if function is not None:
            return worse(self._of_parameter(file, function, call, argument),
                         self._outwards(file, call, frame))
        if name in DERIVES:
            self.made = made_by(call, self.made)
            return self._outwards(file, call, frame)
        return VALUE

    def _of_parameter(self, file, function, call, argument):
        names = [a.arg for a in function.args.posonlyargs + function.args.args]
        if isinstance(argument, ast.keyword):
            name = argument.arg
        else:
            place = call.args.index(argument) if argument in call.args else -1
            place += isinstance(call.func, ast.Attribute) and names[:1] == ["self"]
            name = names[place] if 0 <= place < len(names) else None
        return self._of_variable(file, function, name, None) if name else VALUE

    def _of_statement(self, file, statement, node, frame):
        if isinstance(statement, (ast.If, ast.While, ast.Assert)):
            if node is not None and node is not statement.test:
                return None
            if not only_prints(statement):
                return BRANCH
            if may_stop(statement):
                self.uses.stops[file.name, statement.lineno] = statement.end_lineno
            return None
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = getattr(statement, "targets", None) or [statement.target]
            found = None
            for target in targets:
                found = worse(found, self._of_target(file, target, frame))
            return found
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            if self.made is SET:
                return BRANCH
            self.made = None
            return self._of_target(file, statement.target, frame)
        if isinstance(statement, ast.Return):
            return self._of_caller(file, statement, frame)
        if isinstance(statement, MATCH):
            return BRANCH
        return None

    def _of_target(self, file, target, frame):
        """Of what is assigned to."""
        if isinstance(target, (ast.Tuple, ast.List)):
            found = None
            for element in target.elts:
                found = worse(found, self._of_target(file, element, frame))
            return found
        if isinstance(target, (ast.Subscript, ast.Starred)):
            return self._of_target(file, target.value, frame)
        if isinstance(target, ast.Attribute):
            return self._of_nodes(file, file.attributes(target.attr), frame)
        if isinstance(target, ast.Name):
            return self._of_variable(file, file.scope(target), target.id, frame)
        return None

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

    def _of_caller(self, file, statement, frame):
        if frame is not None and frame.f_back is not None:
            caller = frame.f_back
            if file.scope(statement) is not file.tree:
                return self.of_frame(caller)
        function = file.scope(statement)
        return self._of_nodes(file, file.calls(getattr(function, "name", "")), None)


_GOES_ON = object()


def name_of(call):
    """Of what is called: print, or append of losses.append."""
    return getattr(call.func, "attr", None) or getattr(call.func, "id", None) or ""


def is_dict(node):
    is_display = isinstance(node, (ast.Dict, ast.DictComp))
    return is_display or isinstance(node, ast.Call) and name_of(node) in MAPPINGS


def may_stop(statement):
    """Of one that only prints."""
    return isinstance(statement, ast.Assert) or any(isinstance(inner, ast.Raise)
                                                    for inner in [*statement.body, *statement.orelse])


def only_prints(statement):
    """Whether nothing but text depends on a branch, or it stops the program."""
    if not isinstance(statement, ast.If):
        return isinstance(statement, ast.Assert)
    for inner in [*statement.body, *statement.orelse]:
        is_call = isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call)
        if is_call and name_of(inner.value) in PRINTS or isinstance(inner, (ast.Raise, ast.Pass)):
            continue
        return False
    return True
