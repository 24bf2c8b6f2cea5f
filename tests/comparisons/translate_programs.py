#!/usr/bin/env python3
"""Translates small PyTorch programs to Lua: their twins.

A line of programs.jsonl is {"program": name, "source": Python}. The twins live as the Python programs
do: a variable of Python's is a local of the whole function, `del` and the end of the module let go
one name after the other, in Python's order. A form of Python that is not known here is an error.
"""
import ast
import json
import re

DTYPES = {"half": "float16", "float": "float32", "double": "float64", "long": "int64", "int": "int32"}
MODULES = {"torch": "ohm", "nn": "nn", "F": "F", "math": "math", "copy": "ohm.copy"}
LIBRARIES = {
    "torch.nn": "nn",
    "nn.functional": "F",
    "torch.nn.functional": "F",
    "torch.cuda": "ohm.cuda",
    "torch.utils.checkpoint": "ohm.utils.checkpoint",
    "torch.nn.attention": "nn.attention",
    "torch.nn.parallel": "nn.parallel",
}
RENAMED = {"torch._C._cuda_clearCublasWorkspaces": "ohm.cuda.clear_cublas_workspaces"}
BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Pow: "^",
          ast.Mod: "%", ast.LShift: "<<"}
COMPARISONS = {ast.Gt: "gt", ast.GtE: "ge", ast.Lt: "lt", ast.LtE: "le", ast.Eq: "eq", ast.NotEq: "ne"}
INDEXED = re.compile(r"(.*):index\((\{.*?\})(, \{.*\})?\)")  # a part that indices of tensors choose
SEVERAL_RESULTS = ("chunk", "split", "unbind", "topk", "max", "min", "sort", "where", "tensor_split", "hsplit",
                   "vsplit", "dsplit", "cummax", "cummin", "kthvalue", "mode", "median", "var_mean",
                   "std_mean", "unique", "unique_consecutive", "nanmedian")  # of ops
TAKES_TENSORS_IN_A_ROW = ("ohm.block_diag", "ohm.cartesian_prod", "ohm.meshgrid")  # a list in Lua
# Modules of several results.
GIVES_A_LIST = re.compile(r"nn\.((LSTM|GRU|RNN|MultiheadAttention|LSTMCell)\(|MaxPool.*return_indices=True)")
KEYWORDS = {"end", "local", "then", "repeat", "until", "nil", "function", "do"}

WITHOUT_TWIN = {"fsdp_full_shard_2ranks"}  # of FSDP1


class Unknown(Exception):
    """A form of Python that has no translation here."""


class Scope:
    """What one Python function, or the module, has assigned, in the order of its dictionary."""

    def __init__(self):
        self.assigned = []  # every name that ever was
        self.alive = []  # those that are there now, in the order in which they came
        self.outer = set()  # of the module, which the function assigns

    def assign(self, name):
        if name not in self.assigned:
            self.assigned.append(name)
        if name not in self.alive:
            self.alive.append(name)

    def delete(self, name):
        self.alive.remove(name)


class Translator:
    def __init__(self):
        self.lines = []
        self.indent = 0
        self.scopes = []
        self.fields = set()  # what `self` holds and calls: modules
        self.lists = set()  # variables with lists
        self.pairs = set()  # functions of the program's own that return several values
        self.plain = set()  # variables with numbers and strings
        self.listing = set()  # variables with modules that give a list
        self.errors = []  # what the handlers around a statement call what they caught
        self.functions = {}  # names that stand for something of the library
        self.temporaries = 0

    # ---- output -------------------------------------------------------------------------------

    def emit(self, line):
        self.lines.append("  " * self.indent + line)

    def block(self, statements):
        self.indent += 1
        for statement in statements:
            self.statement(statement)
        self.indent -= 1

    def program(self, source):
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                        if isinstance(part, ast.Attribute) and ast.unparse(part.value) == "self":
                            self.fields.add(part.attr)
        scope = Scope()
        self.scopes.append(scope)
        for statement in tree.body:
            self.statement(statement)
        head = "local " + ", ".join(scope.assigned) if scope.assigned else ""
        self.emit('mark("end of program (globals alive)")')
        for name in scope.alive:
            self.forget(name)
        self.emit('mark("globals deleted")')
        return "\n".join(([head] if head else []) + self.lines) + "\n"

    def forget(self, name):
        if name not in self.plain:
            self.emit(f"{name} = nil")

    # ---- statements ---------------------------------------------------------------------------

    def statement(self, node):
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            raise Unknown(f"{type(node).__name__}: {ast.unparse(node).splitlines()[0]}")
        method(node)

    def do_Import(self, node):
        pass

    do_Pass = do_Import

    def do_Global(self, node):
        self.scopes[-1].outer.update(node.names)

    def do_ImportFrom(self, node):
        for name in node.names:
            full = f"{node.module}.{name.name}"
            self.functions[name.asname or name.name] = LIBRARIES.get(full, self.library_name(full))

    def library_name(self, dotted):
        for prefix in sorted(LIBRARIES, key=len, reverse=True):
            if dotted.startswith(prefix + "."):
                return LIBRARIES[prefix] + dotted[len(prefix):]
        return dotted.replace("torch", "ohm", 1)

    def do_Expr(self, node):
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append":
            name = self.expression(call.func.value)
            self.emit(f"{name}[#{name} + 1] = {self.expression(call.args[0])}")
        elif ast.unparse(call).endswith(".__enter__()"):
            pass  # a mode begins where it is made
        elif isinstance(call, ast.Call):
            text = self.expression(call)
            # Lua would take a bracket that begins a line for the arguments of a call.
            text = (";" if text.startswith("(") else "") + text
            self.emit(text)
        else:
            raise Unknown(ast.unparse(node))

    def target(self, node):
        if isinstance(node, ast.Name):
            is_outer = node.id in self.scopes[-1].outer
            self.scopes[0 if is_outer else -1].assign(node.id)
            return self.name(node.id)
        if isinstance(node, ast.Attribute):
            return f"{self.expression(node.value)}.{node.attr}"
        raise Unknown("assignment to " + ast.unparse(node))

    def do_Assign(self, node):
        (target,) = node.targets
        if isinstance(target, ast.Subscript):
            self.assign_part(target, node.value)
            return
        if isinstance(target, ast.Tuple) and self.gives_a_list(node.value):
            self.unpack_list(target, node.value)
            return
        if isinstance(target, ast.Tuple):
            are_fields = all(isinstance(part, ast.Attribute) for part in target.elts)
            if are_fields and isinstance(node.value, ast.Tuple):
                # Lua assigns from right to left: one by one they are registered in Python's order.
                for part, value in zip(target.elts, node.value.elts):
                    self.emit(f"{self.target(part)} = {self.expression(value)}")
                return
            values = (
                [self.expression(value) for value in node.value.elts]
                if isinstance(node.value, ast.Tuple)
                else [self.unpacked(node.value, len(target.elts))]
            )
            names = [self.target(part) for part in target.elts]
            self.note_kind(names, node.value)
            self.emit(f"{', '.join(names)} = {', '.join(values)}")
            return
        value = self.expression(node.value)
        name = self.target(target)
        self.note_kind([name], node.value)
        made = ast.unparse(node.value)
        copied = re.fullmatch(r"copy\.deepcopy\((\w+)\)|(\w+)\.\w+\(.*\)", made)
        if GIVES_A_LIST.match(made) or (copied and self.listing & set(copied.groups())):
            self.listing.add(name)
        drops = value == "nil" and self.errors  # before the handler's next statement
        self.emit(f"{name} = {value}" + ("; sweep()" if drops else ""))

    def gives_a_list(self, node):
        return isinstance(node, ast.Call) and ast.unparse(node.func) in self.listing

    # Attention gives its output and weights, a recurrent layer its output and last states; those of an
    # LSTM are a pair, a list here.
    def unpack_list(self, target, call):
        output, states = target.elts
        parts = [output, *(states.elts if isinstance(states, ast.Tuple) else [states])]
        self.emit("do")
        self.emit(f"  local results = {self.expression(call)}")
        for number, part in enumerate(parts, 1):
            name = self.target(part)
            self.plain.discard(name)
            self.emit(f"  {name} = results[{number}]")
        self.emit("end")

    def note_kind(self, names, value):
        if isinstance(value, (ast.List, ast.ListComp)):
            self.lists.update(names)
        elif all(isinstance(part, (ast.Constant, ast.Tuple, ast.Load)) for part in ast.walk(value)):
            self.plain.update(names)
        else:
            self.plain.difference_update(names)

    # An iterable on the right of several targets: a tensor gives its parts, an op several results.
    def unpacked(self, node, targets=2):
        text = self.expression(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("autograd.grad"):
            return text if targets == 1 else f"table.unpack({text})"
        is_op = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if is_op and node.func.attr in (*SEVERAL_RESULTS, "pad_packed_sequence"):
            return text
        if "return_indices = true" in text or (isinstance(node, ast.Call) and ast.unparse(node.func) in self.pairs):
            return text
        return f"{text}:unbind(0)"

    def do_AugAssign(self, node):
        # Python's += writes into a tensor in place; a number plus a tensor makes a new one.
        value = self.expression(node.value)
        target = self.target(node.target)
        self.plain.discard(target)
        if isinstance(node.op, ast.Add):
            self.emit(f"{target} = iadd({target}, {value})")
        else:
            self.emit(f"{target} = {target} {BINARY[type(node.op)]} {value}")

    def do_Delete(self, node):
        for target in node.targets:
            if not isinstance(target, ast.Name):
                raise Unknown("del " + ast.unparse(target))
            self.scopes[-1].delete(target.id)
            self.forget(self.name(target.id))

    def do_For(self, node):
        iterable = node.iter
        if isinstance(node.target, ast.Name) and ast.unparse(iterable).startswith("range("):
            bounds = [self.expression(argument) for argument in iterable.args]
            start, stop = ("0", bounds[0]) if len(bounds) == 1 else bounds
            last = str(int(stop) - 1) if stop.isdigit() else f"{stop} - 1"
            self.emit(f"for {self.name(node.target.id)} = {start}, {last} do")
        elif isinstance(node.target, ast.Name):
            self.temporaries += 1
            item = f"item{self.temporaries}"
            text = self.expression(iterable)
            is_list = isinstance(iterable, ast.List)
            if not is_list and not ast.unparse(iterable).endswith("parameters()"):
                text = f"{text}:children()"
            name = self.target(node.target)
            self.emit(f"for _, {item} in ipairs({text}) do")
            self.indent += 1
            self.emit(f"{name} = {item}")
            self.indent -= 1
        else:
            raise Unknown("for " + ast.unparse(node.target))
        self.block(node.body)
        self.emit("end")

    def do_With(self, node):
        (item,) = node.items
        context = ast.unparse(item.context_expr)
        self.emit("do")
        if context != "contextlib.nullcontext()":
            self.temporaries += 1
            guard = f"  local mode{self.temporaries} <close> = {self.expression(item.context_expr)}"
            self.emit(guard)
        self.block(node.body)
        self.emit("end")

    def do_Try(self, node):
        """What a failed request raised is held until the handler ends."""
        (handler,) = node.handlers
        if "OutOfMemoryError" not in ast.unparse(handler.type):
            raise Unknown("except " + ast.unparse(handler.type))
        self.emit("do")
        self.indent += 1
        self.emit("local is_done, problem = pcall(function()")
        self.block(node.body)
        self.emit("  sweep()  -- what the last statement replaced")
        self.emit("end)")
        self.emit("if not is_done then")
        self.indent += 1
        self.emit('if not tostring(problem):find("out of memory") then error(problem) end')
        self.indent -= 1
        self.errors.append(handler.name)
        plain = set(self.plain)
        self.block(handler.body)
        self.plain = plain  # where nothing failed they are what they were
        self.errors.pop()
        self.indent += 1
        self.emit("problem = nil; sweep()")
        self.indent -= 1
        self.emit("end")
        self.indent -= 1
        self.emit("end")

    def do_ClassDef(self, node):
        self.plain.add(node.name)
        self.scopes[-1].assign(node.name)
        self.emit(f'{node.name} = nn.Module:extend("{node.name}")')
        for function in node.body:
            self.do_FunctionDef(function, node.name)

    # A method of `owner`, or a function of the program.
    def do_FunctionDef(self, node, owner=None):
        name = {"__init__": "__init"}.get(node.name, node.name)
        arguments = [argument.arg for argument in node.args.args]
        defaults = [ast.unparse(default) for default in node.args.defaults]
        if owner and arguments.pop(0) != "self" or any(default != "None" for default in defaults):
            raise Unknown("def " + node.name)
        if not owner:
            self.plain.add(name)
            self.scopes[-1].assign(name)
        self.emit(f"function {f'{owner}:' if owner else ''}{name}({', '.join(arguments)})")
        scope = Scope()
        for argument in arguments:
            scope.assign(argument)
        self.scopes.append(scope)
        start = len(self.lines)
        last = node.body[-1]
        if not owner and isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple):
            self.pairs.add(name)
        self.block([s for s in node.body if "super()" not in ast.unparse(s)])
        self.scopes.pop()
        own = [name for name in scope.assigned if name not in arguments]
        if own:
            self.lines.insert(start, "  " * (self.indent + 1) + "local " + ", ".join(own))
        self.emit("end")

    def do_If(self, node):
        self.emit(f"if {self.expression(node.test)} then")
        self.block(node.body)
        if node.orelse:
            self.emit("else")
            self.block(node.orelse)
        self.emit("end")

    def do_Return(self, node):
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        self.emit(f"return {', '.join(self.expression(value) for value in values)}")

    # ---- expressions --------------------------------------------------------------------------

    def name(self, text):
        if text in KEYWORDS:
            raise Unknown("the name " + text)
        return text

    def expression(self, node, level=0):
        method = getattr(self, "of_" + type(node).__name__, None)
        if method is None:
            raise Unknown(f"{type(node).__name__}: {ast.unparse(node)}")
        return method(node)

    def of_Constant(self, node):
        if node.value is None:
            return "nil"
        if isinstance(node.value, bool):
            return str(node.value).lower()
        if isinstance(node.value, str):
            return json.dumps(node.value)
        return repr(node.value)

    def of_Name(self, node):
        known = any(node.id in scope.assigned for scope in self.scopes)
        if not known and node.id in self.functions:
            return self.functions[node.id]
        return MODULES.get(node.id, self.name(node.id)) if not known else self.name(node.id)

    def of_Attribute(self, node):
        dotted = ast.unparse(node)
        if dotted in RENAMED:
            return RENAMED[dotted]
        if dotted.startswith("torch.") and node.attr in DTYPES:
            return "ohm." + DTYPES[node.attr]
        if dotted in LIBRARIES:
            return LIBRARIES[dotted]
        if isinstance(node.value, ast.Call) and node.attr == "values":
            return f"({self.expression(node.value)})"  # the first of several results
        value = self.expression(node.value)
        if isinstance(node.value, (ast.BinOp, ast.UnaryOp)):
            value = f"({value})"
        return f"{value}.{node.attr}"

    def of_Tuple(self, node):
        return "{" + ", ".join(self.expression(part) for part in node.elts) + "}"

    # [*m0.parameters(), *m1.parameters()]
    def of_List(self, node):
        if not any(isinstance(part, ast.Starred) for part in node.elts):
            return self.of_Tuple(node)
        lists = [self.expression(part.value) if isinstance(part, ast.Starred)
                 else f"{{{self.expression(part)}}}" for part in node.elts]
        text = lists[0]
        for other in lists[1:]:
            text = f"joined({text}, {other})"
        return text

    def of_Dict(self, node):
        fields = [f"{key.value} = {self.expression(value)}" for key, value in zip(node.keys, node.values)]
        return "{" + ", ".join(fields) + "}"

    def of_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return f"not {self.operand(node.operand)}"
        sign = "~" if isinstance(node.op, ast.Invert) else "-"
        return f"{sign}{self.operand(node.operand)}"

    def operand(self, node):
        text = self.expression(node)
        return f"({text})" if isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp)) else text

    def of_BinOp(self, node):
        if isinstance(node.op, ast.MatMult):
            return f"ohm.matmul({self.expression(node.left)}, {self.expression(node.right)})"
        operator = BINARY.get(type(node.op))
        if operator is None:
            raise Unknown(ast.unparse(node))
        return f"{self.operand(node.left)} {operator} {self.operand(node.right)}"

    def of_Compare(self, node):
        (right,) = node.comparators
        if isinstance(node.ops[0], ast.Is):
            return f"{self.operand(node.left)} == {self.expression(right)}"
        is_remainder = isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Mod)
        if isinstance(node.ops[0], ast.Eq) and is_remainder:
            return f"{self.operand(node.left)} == {self.expression(right)}"
        method = COMPARISONS.get(type(node.ops[0]))
        if method is None:
            raise Unknown(ast.unparse(node))
        return f"{self.operand(node.left)}:{method}({self.expression(right)})"

    def of_JoinedStr(self, node):
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(json.dumps(part.value))
            else:
                parts.append(self.operand(part.value))
        return " .. ".join(parts) if len(parts) > 1 else f"tostring({parts[0]})"

    def of_Lambda(self, node):
        arguments = [argument.arg for argument in node.args.args]
        scope = Scope()
        for argument in arguments:
            scope.assign(argument)
        self.scopes.append(scope)
        body = self.expression(node.body)
        self.scopes.pop()
        # The last arguments may have defaults, which are what they are where the function is made.
        defaults = [self.expression(default) for default in node.args.defaults]
        bound = arguments[len(arguments) - len(defaults):]
        own = arguments[: len(arguments) - len(defaults)]
        text = f"function({', '.join(own)}) return {body} end"
        if not defaults:
            return text
        return f"(function({', '.join(bound)}) return {text} end)({', '.join(defaults)})"

    # [expression for _ in range(n)], [p for p in parameters if p.requires_grad]
    def of_ListComp(self, node):
        (comprehension,) = node.generators
        name = comprehension.target.id
        source = ast.unparse(comprehension.iter)
        scope = Scope()
        scope.assign(name)
        if comprehension.ifs:
            self.scopes.append(scope)
            (condition,) = comprehension.ifs
            test = f"function({name}) return {self.expression(condition)} end"
            self.scopes.pop()
            return f"filter({self.expression(comprehension.iter)}, {test})"
        if not source.startswith("range("):
            raise Unknown(ast.unparse(node))
        (count,) = comprehension.iter.args
        self.scopes.append(scope)
        element = self.expression(node.elt)
        self.scopes.pop()
        return f"collect({self.expression(count)}, function() return {element} end)"

    of_GeneratorExp = of_ListComp

    # One dimension after the other, as Python's indices are taken: numbers drop theirs, None adds one.
    # Tensors among the indices come after the slices, each with its dimension. Behind an ellipsis
    # dimensions are counted from the last one.
    def sliced(self, node, indices):
        text, dim = self.subject(node.value), 0
        tensors = []
        for position, index in enumerate(indices):
            if isinstance(index, ast.Constant) and index.value is Ellipsis:
                dim = -sum(not self.is_none(behind) for behind in indices[position + 1:])
            elif isinstance(index, ast.Slice):
                text = self.slice_of(text, index, dim)
                dim += 1
            elif re.fullmatch(r"-?\d+", ast.unparse(index)):
                text = f"{text}:select({dim}, {ast.unparse(index)})"
                if dim < 0:
                    tensors = [(place + (place < 0), name) for place, name in tensors]
                    dim += 1
            elif self.is_none(index) and dim >= 0:
                text = f"{text}:unsqueeze({dim})"
                dim += 1
            elif isinstance(index, ast.Name):
                tensors.append((dim, self.expression(index)))
                dim += 1
            else:
                raise Unknown(ast.unparse(node))
        return self.indexed(text, tensors)

    @staticmethod
    def is_none(index):
        return isinstance(index, ast.Constant) and index.value is None

    # What one slice alone gives is a node, where it is whole too.
    def part_of(self, node):
        text, first, last = self.subject(node.value), node.slice.lower, node.slice.upper
        bounds = [int(ast.unparse(bound)) if re.fullmatch(r"\d+", ast.unparse(bound)) else None
                  for bound in (first or ast.Constant(0), last or ast.Constant(0))]
        if last is None and first is None:
            return f"{text}:narrow(0, 0, {text}:size(0))"
        if last is not None and None not in bounds:
            return f"{text}:narrow(0, {bounds[0]}, {bounds[1] - bounds[0]})"
        if first is None and not isinstance(last, ast.UnaryOp):
            return f"{text}:narrow(0, 0, {self.expression(last)})"
        return self.slice_of(text, node.slice, 0)

    def slice_of(self, text, index, dim):
        first = self.expression(index.lower) if index.lower else "0"
        last = self.expression(index.upper) if index.upper else "nil" if index.step else None
        step = self.expression(index.step) if index.step else None
        return f"slice({', '.join(part for part in (text, str(dim), first, last, step) if part)})"

    def indexed(self, text, tensors):
        if not tensors:
            return text
        dims, names = zip(*tensors)
        if list(dims) == list(range(len(dims))):
            return f"{text}:index({{{', '.join(names)}}})"
        return f"{text}:index({{{', '.join(names)}}}, {{{', '.join(map(str, dims))}}})"

    # x[i] = value, x[a:b] = 0, x[ids] = value
    def assign_part(self, target, value):
        if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
            self.emit(f"{self.expression(target.value)}.{target.slice.value} = {self.expression(value)}")
            return
        if ast.unparse(target.value) in self.lists and isinstance(target.slice, ast.Constant):
            self.emit(f"{self.expression(target.value)}[{target.slice.value + 1}] = {self.expression(value)}")
            return
        place, text = self.of_Subscript(target, is_reading=False), self.expression(value)
        places = INDEXED.fullmatch(place)
        if isinstance(target.slice, ast.Name) and places:
            self.emit(f"{self.expression(target.value)}[{self.expression(target.slice)}] = {text}")
        elif places:
            self.emit(f"set_at({places[1]}, {places[2]}, {text}{places[3] or ''})")
        else:
            self.emit(f"{place}:{'fill_' if self.is_number(value) else 'copy_'}({text})")

    def is_number(self, node):
        return isinstance(node, ast.Constant) and type(node.value) in (int, float)

    def of_Subscript(self, node, is_reading=True):
        value = self.expression(node.value)
        index = node.slice
        if isinstance(index, ast.Tuple):
            return self.sliced(node, index.elts)
        if isinstance(index, ast.Constant) and index.value is None:
            return f"{self.subject(node.value)}:unsqueeze(0)"
        if isinstance(index, ast.Slice):
            if is_reading and index.step is None:
                return self.part_of(node)
            return self.slice_of(self.subject(node.value), index, 0)
        if isinstance(index, ast.Constant) and isinstance(index.value, int):
            is_list = isinstance(node.value, ast.Name) and node.value.id == "model"
            if is_list:
                return f"{value}[{index.value + 1}]"
            if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
                if "need_weights=False" in ast.unparse(node.value):
                    return value  # beside weights that are None there
                return f"{value}[{index.value + 1}]"  # a module that returns a tuple
            if isinstance(node.value, ast.Call) and index.value == 0:
                return f"({value})"  # an op that returns several values: the first
            if isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith(
                    tuple(f".{name}" for name in SEVERAL_RESULTS)):
                return f"second({value})" if index.value == 1 else f"select({index.value + 1}, {value})"
            return f"{value}:select(0, {index.value})"
        if isinstance(index, ast.UnaryOp) and isinstance(index.operand, ast.Constant):
            return f"{self.subject(node.value)}:select(0, {ast.unparse(index)})"
        if isinstance(index, (ast.Name, ast.Call)):
            return f"{self.subject(node.value)}:index({{{self.expression(index)}}})"
        raise Unknown(ast.unparse(node))

    def subject(self, node):
        text = self.expression(node)
        is_simple = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
        return text if is_simple else f"({text})"

    def of_Call(self, node):
        if self.errors and ast.unparse(node) == f"str({self.errors[-1]})":
            return "tostring(problem)"
        function = self.callee(node.func)
        arguments = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                arguments.append(self.expression(argument.value))
            else:
                arguments.append(self.expression(argument))
        if function in TAKES_TENSORS_IN_A_ROW:
            arguments = [f"{{{', '.join(arguments)}}}"]
        named = [f"{keyword.arg} = {self.expression(keyword.value)}" for keyword in node.keywords]
        if named:
            arguments.append("{" + ", ".join(named) + "}")
        if function.rsplit(":", 1)[-1] in KEYWORDS:
            owner, name = function.rsplit(":", 1)  # a method whose name is a word of Lua's
            return f'{owner}["{name}"]({", ".join([owner, *arguments])})'
        if function == "float" and arguments in (['"-inf"'], ['"inf"']):
            return "-math.huge" if "-" in arguments[0] else "math.huge"
        return f"{function}({', '.join(arguments)})"

    def callee(self, node):
        if isinstance(node, ast.Call) and ast.unparse(node) == "torch.no_grad()":
            return "ohm.no_grad"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
            raise Unknown(ast.unparse(node))
        if isinstance(node, ast.Lambda):
            return f"({self.expression(node)})"
        if not isinstance(node, ast.Attribute):
            return self.expression(node)
        owner = ast.unparse(node.value)
        if owner == "self" and node.attr in self.fields:
            return f"self.{node.attr}"
        root = owner.split(".")[0]
        is_library = root in MODULES and not any(root in scope.assigned for scope in self.scopes)
        if is_library and re.fullmatch(r"[\w.]+", owner):
            return self.of_Attribute(node)
        return f"{self.subject(node.value)}:{node.attr}"


def fix_no_grad_call(source):
    """`torch.no_grad()(lambda: E)()` is `torch.no_grad()(lambda: E)` in Lua: it calls at once."""
    return re.sub(r"(torch\.no_grad\(\)\(lambda: .*\))\(\)", r"\1", source)


def settings_of(source):
    first = source.splitlines()[0]
    return first[len("# settings:"):].strip() if first.startswith("# settings:") else ""


def twins_of_programs(programs, by_hand):
    """{family: [twin]} of the lines of `programs`, but those that have a twin in `by_hand`."""
    done = set(re.findall(r"^--== (\S+)", by_hand.read_text(), re.M)) | WITHOUT_TWIN
    families = {}
    for line in programs.read_text().splitlines():
        program = json.loads(line)
        name = program["program"]
        if name in done:
            continue
        python = fix_no_grad_call(program["source"])
        head = f"--== {name} {settings_of(python)}".rstrip()
        families.setdefault(name.split("_")[0], []).append(f"{head}\n{Translator().program(python)}")
    return families
