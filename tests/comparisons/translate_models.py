"""Lua twins of whole models: what Translator knows, and functions, defaults, loops over lists, subscripts.

A call of a function or class of the program's own takes its arguments by position in Lua: those by name
are put where they belong, and defaults are set where a function begins. Where a list, a tensor or a
module is meant is told by how names are assigned.
"""
import ast
import re

from translate_programs import BINARY, COMPARISONS, SEVERAL_RESULTS, Scope, Translator, Unknown

BITWISE = {ast.BitAnd: "&", ast.BitOr: "|"}
INPLACE = {ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}
NUMBER_FUNCTIONS = {"len", "int", "float"}
TENSOR_METHODS = {"permute", "transpose", "view", "reshape", "flatten", "t"}  # of one result
# Modules of the library that return several tensors, in a list.
LIBRARY_CLASSES = {f"nn.{name}" for name in ("RNN", "GRU", "LSTM", "LSTMCell", "MultiheadAttention")}


def class_of(call):
    """Of an object that is made: `nn.LSTM(8, 8, device="cuda")`, `Net().to("cuda")`."""
    while isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
        call = call.func.value
    return ast.unparse(call.func)


def parts_of(target):
    return target.elts if isinstance(target, ast.Tuple) else [target]


def is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


class ModelTranslator(Translator):
    def __init__(self):
        super().__init__()
        self.signatures = {}  # function or class -> its parameters
        self.defaults = {}
        self.numbers = set()  # names of numbers, wherever they are
        self.module_lists = set()  # fields
        self.several = set()  # functions that return several values, "Class.forward" among them
        self.classes = {}  # what an object is of, by its name: `m`, `self.m`
        self.loops = 0  # around the statement

    # ---- what is known before the first line -------------------------------------------------------

    def program(self, source):
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for function in node.body:
                    name = node.name if function.name == "__init__" else function.name
                    self.note_function(name, function, skip=1, owner=node.name)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                self.classes[ast.unparse(node.targets[0])] = class_of(node.value)
                if ast.unparse(node.value.func) == "nn.ModuleList":
                    self.module_lists.add(ast.unparse(node.targets[0]))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self.note_function(node.name, node, skip=0)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                for name, argument in zip(self.signatures.get(node.func.id, []), node.args):
                    if self.is_number(argument) and not isinstance(argument, ast.Call):
                        self.numbers.add(name)
        return super().program(source)

    def note_function(self, name, function, skip, owner=None):
        arguments = function.args.args[skip:]
        self.signatures.setdefault(name, [argument.arg for argument in arguments])
        for argument, default in zip(reversed(arguments), reversed(function.args.defaults)):
            if isinstance(default, ast.Constant) and isinstance(default.value, (int, float)):
                self.numbers.add(argument.arg)
        returned = [n for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
        if any(isinstance(n.value, ast.Tuple) for n in returned):
            self.several.update({name, f"{owner}.{name}"})

    def is_number(self, node):
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float))
        if isinstance(node, ast.Name):
            return node.id in self.numbers or node.id in self.plain
        if isinstance(node, ast.Attribute):
            return node.attr == "ndim" or ast.unparse(node) in self.numbers
        if isinstance(node, ast.BinOp):
            return self.is_number(node.left) and self.is_number(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_number(node.operand)
        if isinstance(node, ast.Subscript):
            return ast.unparse(node.value).endswith((".shape", ".size()"))
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            is_method = name.endswith((".size", ".item", ".dim"))
            return is_method or name in NUMBER_FUNCTIONS or name.startswith("math.")
        return False

    # ---- statements --------------------------------------------------------------------------------

    def do_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call) and ast.unparse(node.value).endswith(".pop(0)"):
            self.emit(f"table.remove({self.expression(node.value.func.value)}, 1)")
            return
        super().do_Expr(node)

    def do_Assign(self, node):
        (target,) = node.targets
        if isinstance(target, ast.Subscript):
            self.assign_part(target, node.value)
            return
        if isinstance(target, ast.Tuple):
            self.assign_several(target, node.value)
            return
        if self.is_number(node.value) and isinstance(target, (ast.Name, ast.Attribute)):
            self.numbers.add(ast.unparse(target))
        else:
            self.numbers.discard(ast.unparse(target))
        if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
            if ast.unparse(node.value).endswith("None"):
                # A field of nil is none: false stands for None.
                self.fields.add(target.attr)
                text = self.expression(node.value).removesuffix("nil)").removesuffix("nil")
                self.emit(f"{self.target(target)} = {text}false" + (")" if text.startswith("(") else ""))
                return
        name = ast.unparse(target)
        was_list = name in self.lists
        super().do_Assign(node)
        if self.loops and self.is_list(node.value):
            self.lists.add(name)
        elif was_list and not self.is_list(node.value):
            self.lists.discard(name)

    def assign_several(self, target, value):
        parts = [part for each in target.elts for part in parts_of(each)]
        if isinstance(value, ast.Tuple):
            if all(isinstance(part, ast.Attribute) for part in parts):
                for part, each in zip(parts, value.elts):
                    self.do_Assign(ast.Assign([part], each))
                return
            values = ", ".join(self.expression(each) for each in value.elts)
            for part, each in zip(parts, value.elts):
                if self.is_number(each):
                    self.numbers.add(ast.unparse(part))
        else:
            text = ast.unparse(value)
            is_shape = text.endswith((".shape", ".size()"))
            if is_shape:
                self.numbers.update(ast.unparse(part) for part in parts)
            values = self.values_of(value, is_shape, len(parts))
        names = [self.target(part) for part in parts]
        if isinstance(value, ast.Tuple):
            for name, each in zip(names, value.elts):
                self.note_kind([name], each)
        else:
            super().note_kind(names, value)  # what it gives is taken apart
        if len(set(names)) == len(names):
            self.emit(f"{', '.join(names)} = {values}")
        else:
            self.assign_one_by_one(names, values)

    # `a, _, _ = f()`: the last one stays in Python, the first one in Lua.
    def assign_one_by_one(self, names, values):
        new = [f"new{i}" for i in range(1, len(names) + 1)]
        self.emit("do")
        self.emit(f"  local {', '.join(new)} = {values}")
        for name, value in zip(names, new):
            self.emit(f"  {name}, {value} = {value}, nil")
            self.emit("  sweep()")
        self.emit("end")

    def note_kind(self, names, value):
        super().note_kind(names, value)
        if len(names) == 1 and isinstance(value, ast.Call) and self.is_list(value):
            self.lists.update(names)

    def values_of(self, value, is_shape, targets):
        text = self.expression(value)
        if is_shape:
            return f"table.unpack({text.removesuffix(':size()').removesuffix('.shape')}.shape)"
        name = self.called(value)
        if "need_weights" in text:
            return text  # one value
        if "return_indices = true" in text:
            return text
        if name in self.several or name in SEVERAL_RESULTS:
            return text
        if ast.unparse(value).startswith("torch.autograd.grad("):
            return self.unpacked(value, targets)
        if name in ("self", None) or name in TENSOR_METHODS:
            return f"{text}:unbind(0)"
        return f"several({text})"

    def called(self, node):
        """What a call calls: a function, the last part of a method, the method behind a module."""
        if not isinstance(node, ast.Call):
            return None
        if isinstance(node.func, ast.Name) and node.func.id in self.signatures:
            return node.func.id
        if isinstance(node.func, ast.Attribute) and not self.is_module(node.func):
            return node.func.attr
        text = ast.unparse(node.func)
        library = ("rnn", "gru", "lstm")
        if text.split(".")[-1] in library:
            return "module"
        known = self.classes.get(text)
        return f"{known}.forward" if known in self.signatures or known in LIBRARY_CLASSES else "forward"

    def is_module(self, function):
        return ast.unparse(function.value) == "self" and function.attr in self.fields

    def assign_part(self, target, value):
        if isinstance(target.value, ast.Name) and target.value.id in self.lists:
            self.emit(f"{self.of_Subscript(target)} = {self.expression(value)}")
        else:
            super().assign_part(target, value)

    def do_AugAssign(self, node):
        target_text = ast.unparse(node.target)
        if target_text in self.numbers and self.is_number(node.value):
            operator = BINARY[type(node.op)]
            self.emit(f"{target_text} = {target_text} {operator} {self.expression(node.value)}")
            return
        self.numbers.discard(target_text)
        is_field = isinstance(node.target, ast.Attribute) and isinstance(node.op, ast.Add)
        if is_field or isinstance(node.target, ast.Subscript):
            method = "add_" if isinstance(node.op, ast.Add) else INPLACE[type(node.op)]
            self.emit(f"{self.expression(node.target)}:{method}({self.expression(node.value)})")
            return
        if type(node.op) in INPLACE:
            self.emit(f"{self.subject(node.target)}:{INPLACE[type(node.op)]}({self.expression(node.value)})")
            return
        super().do_AugAssign(node)

    # nn.Module's order: a loop's variable lives on after the loop.
    def do_For(self, node):
        self.loops += 1
        self.do_loop(node)
        self.loops -= 1

    def do_loop(self, node):
        iterable = node.iter
        text = ast.unparse(iterable)
        is_call = isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name)
        name = iterable.func.id if is_call else None
        if name == "reversed" and self.range_of(iterable.args[0]):
            start, stop, step = self.range_of(iterable.args[0])
            self.count_loop(node, f"{stop} - 1, {start}, -1")
        elif name == "range":
            start, stop, step = self.range_of(iterable)
            self.count_loop(node, f"{start}, {stop} - 1" + ("" if step == "1" else f", {step}"))
        elif name == "enumerate":
            counter, target = node.target.elts
            self.list_loop(node, [iterable.args[0]], counter.id, [target])
        elif name == "zip":
            self.list_loop(node, iterable.args, None, node.target.elts)
        elif text.endswith(".named_parameters()"):
            names = [self.target(part) for part in node.target.elts]
            self.plain.add(names[0])
            self.emit(f"for item_name, item in {self.expression(iterable)} do")
            self.indent += 1
            self.emit(f"{names[0]}, {names[1]} = item_name, item")
            self.indent -= 1
            self.block(node.body)
            self.emit("end")
        else:
            self.list_loop(node, [iterable], None, [node.target])

    def range_of(self, node):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "range"):
            return None
        bounds = [self.operand(argument) for argument in node.args]
        if len(bounds) == 1:
            return "0", bounds[0], "1"
        return tuple(bounds) if len(bounds) == 3 else (*bounds, "1")

    def count_loop(self, node, bounds):
        self.numbers.add(node.target.id)
        self.emit(f"for {self.name(node.target.id)} = {bounds} do")
        self.block(node.body)
        self.emit("end")

    def list_loop(self, node, iterables, counter, targets):
        self.temporaries += 1
        number = f"number{self.temporaries}"
        lists = [self.list_of(iterable) for iterable in iterables]
        extra = []
        for i, text in enumerate(lists[1:], 2):
            name = f"list{self.temporaries}_{i}"
            self.emit("do")
            self.indent += 1
            self.emit(f"local {name} = {text}")
            extra.append(name)
        item = f"item{self.temporaries}"
        names = [self.target(target) for target in targets]
        used = number if counter or extra else "_"
        self.emit(f"for {used}, {item} in ipairs({lists[0]}) do")
        self.indent += 1
        if counter:
            self.numbers.add(counter)
            self.emit(f"local {counter} = {number} - 1")
        self.emit(f"{names[0]} = {item}")
        for name, other in zip(names[1:], extra):
            self.emit(f"{name} = {other}[{number}]")
        self.indent -= 1
        self.block(node.body)
        self.emit("end")
        for _ in extra:
            self.indent -= 1
            self.emit("end")

    def list_of(self, node):
        text = self.expression(node)
        plain = ast.unparse(node)
        if plain in self.module_lists or plain.endswith((".blocks", ".layers")):
            return f"{text}:children()"
        return text

    def do_With(self, node):
        first, *others = node.items
        super().do_With(ast.With([first], [ast.With(others, node.body)] if others else node.body))

    def do_FunctionDef(self, node, owner=None):
        name = {"__init__": "__init"}.get(node.name, node.name)
        arguments = [argument.arg for argument in node.args.args]
        if owner:
            arguments.pop(0)
            self.emit(f"function {owner}:{name}({', '.join(arguments)})")
        else:
            self.plain.add(name)
            self.scopes[-1].assign(name)
            self.emit(f"function {name}({', '.join(arguments)})")
        scope = Scope()
        for argument in arguments:
            scope.assign(argument)
        self.scopes.append(scope)
        outer = self.plain, self.lists, self.loops
        self.plain, self.lists, self.loops = set(self.plain) - set(arguments), set(self.lists), 0
        start = len(self.lines)
        self.indent += 1
        for argument, default in zip(reversed(arguments), reversed(node.args.defaults)):
            if ast.unparse(default) != "None":
                self.emit(f"if {argument} == nil then {argument} = {self.expression(default)} end")
        self.indent -= 1
        body = [s for s in node.body if "super()" not in ast.unparse(s).splitlines()[0]]
        self.block(body)
        self.plain, self.lists, self.loops = outer
        self.scopes.pop()
        own = [name for name in scope.assigned if name not in arguments]
        if own:
            self.lines.insert(start, "  " * (self.indent + 1) + "local " + ", ".join(own))
        self.emit("end")

    def do_If(self, node):
        self.emit(f"if {self.expression(node.test)} then")
        self.block(node.body)
        orelse = node.orelse
        while len(orelse) == 1 and isinstance(orelse[0], ast.If):
            self.emit(f"elseif {self.expression(orelse[0].test)} then")
            self.block(orelse[0].body)
            orelse = orelse[0].orelse
        if orelse:
            self.emit("else")
            self.block(orelse)
        self.emit("end")

    def do_Return(self, node):
        if isinstance(node.value, ast.Tuple):
            self.emit("return " + ", ".join(self.expression(part) for part in node.value.elts))
        else:
            super().do_Return(node)

    # ---- expressions -------------------------------------------------------------------------------

    # self.method as a value: bound to its object.
    def of_Attribute(self, node):
        is_method = ast.unparse(node.value) == "self" and node.attr in self.signatures
        if is_method and node.attr not in self.fields:
            return f"function(...) return self:{node.attr}(...) end"
        if node.attr == "indices" and isinstance(node.value, ast.Call):
            return f"second({self.expression(node.value)})"
        return super().of_Attribute(node)

    def of_IfExp(self, node):
        test, body, orelse = (self.expression(n) for n in (node.test, node.body, node.orelse))
        return f"({test} and {body} or {orelse})"

    def of_BoolOp(self, node):
        word = " and " if isinstance(node.op, ast.And) else " or "
        return "(" + word.join(self.expression(value) for value in node.values) + ")"

    def of_UnaryOp(self, node):
        if isinstance(node.op, ast.Invert):
            return f"~{self.operand(node.operand)}"
        return super().of_UnaryOp(node)

    def of_BinOp(self, node):
        if type(node.op) in BITWISE:
            return f"{self.operand(node.left)} {BITWISE[type(node.op)]} {self.operand(node.right)}"
        if isinstance(node.op, ast.Add) and self.is_list(node.left):
            return f"joined({self.expression(node.left)}, {self.expression(node.right)})"
        if isinstance(node.op, ast.Pow) and ast.unparse(node.left) == "2" and self.is_number(node.right):
            return f"(1 << {self.operand(node.right)})"
        return super().of_BinOp(node)

    def is_list(self, node):
        if isinstance(node, ast.Name):
            return node.id in self.lists
        is_made = isinstance(node, ast.Call) and ast.unparse(node.func) in ("list", "torch.autograd.grad")
        return is_made or isinstance(node, (ast.List, ast.ListComp))

    def of_Compare(self, node):
        (right,) = node.comparators
        operator = type(node.ops[0])
        if operator in (ast.IsNot, ast.Is) and ast.unparse(node.left).startswith("self."):
            return ("" if operator is ast.IsNot else "not ") + self.expression(node.left)
        if operator in (ast.IsNot, ast.Is):
            sign = "~=" if operator is ast.IsNot else "=="
            return f"{self.operand(node.left)} {sign} {self.expression(right)}"
        if operator is ast.In:
            return f"{self.expression(right)}:find({self.expression(node.left)}, 1, true)"
        texts = {ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "~="}
        if self.is_number(node.left) and self.is_number(right):
            return f"{self.operand(node.left)} {texts[operator]} {self.operand(right)}"
        return f"{self.operand(node.left)}:{COMPARISONS[operator]}({self.expression(right)})"

    # [f(x) for x in xs], [f(a, b) for a, b in zip(as, bs)], [p for n, p in named() if …]
    def of_ListComp(self, node):
        (comprehension,) = node.generators
        source = comprehension.iter
        names = [target.id for target in parts_of(comprehension.target)]
        scope = Scope()
        for name in names:
            scope.assign(name)
        self.scopes.append(scope)
        before = set(self.plain), set(self.numbers)
        is_range = self.range_of(source)
        self.plain -= set(names)
        if is_range:
            self.numbers.update(names)
        elif isinstance(source, (ast.Tuple, ast.Name)) and ast.unparse(source) == "sizes":
            self.numbers.update(names)
        element = self.expression(node.elt)
        tests = [self.expression(test) for test in comprehension.ifs]
        self.scopes.pop()
        self.plain, self.numbers = before
        function = f"function({', '.join(names)}) return {element} end"
        if is_range:
            start, stop, _ = is_range
            return f"collect({stop}, {function})"
        if tests:
            test = f"function({', '.join(names)}) return {tests[0]} end"
            if ast.unparse(source).endswith(".named_parameters()"):
                return f"filter_named({self.expression(source)}, {test})"
            wanted = f"filter({self.list_of(source)}, {test})"
            return wanted if ast.unparse(node.elt) == names[0] else f"map({function}, {wanted})"
        if isinstance(source, ast.Call) and ast.unparse(source.func) == "zip":
            return f"map({function}, {', '.join(self.list_of(argument) for argument in source.args)})"
        return f"map({function}, {self.list_of(source)})"

    of_GeneratorExp = of_ListComp

    def of_Subscript(self, node, is_reading=True):
        index = node.slice
        value = ast.unparse(node.value)
        if value.endswith((".shape", ".size()")):
            owner = self.subject(node.value.func.value if value.endswith("()") else node.value.value)
            return f"{owner}:size({self.expression(index)})"
        if value.split(".")[0] in self.lists and "." not in value or value in self.module_lists:
            return f"{self.expression(node.value)}[{self.one_more(index)}]"
        if value in ("params", "mems", "caches", "cache", "sparse", "hids"):
            return f"{self.expression(node.value)}[{self.one_more(index)}]"
        if isinstance(node.value, ast.Call) and isinstance(index, ast.Constant) and type(index.value) is int:
            return self.one_of(node, index.value)
        indices = index.elts if isinstance(index, ast.Tuple) else [index]
        return self.sliced(node, indices)

    def one_of(self, node, number):
        """f(x)[0] and f(x)[1], where f gives several values."""
        text = self.expression(node.value)
        name = self.called(node.value)
        if name == "grad":
            return f"({text})"
        if name in SEVERAL_RESULTS or name in self.several:
            return f"({text})" if number == 0 else f"second({text})"
        return f"{text}:select(0, {number})"

    def one_more(self, index):
        return str(index.value + 1) if isinstance(index, ast.Constant) else f"{self.expression(index)} + 1"

    # One index after the other, as Python takes them. Tensors among them come after that.
    def sliced(self, node, indices):
        text, dim = self.subject(node.value), 0
        tensors = []
        for position, index in enumerate(indices):
            if isinstance(index, ast.Constant) and index.value is Ellipsis:
                return self.indexed_from_the_end(node, text, indices[position + 1:])
            if is_none(index):
                text = f"{text}:unsqueeze({dim})"
                dim += 1
            elif isinstance(index, ast.Slice):
                text = self.slice_of(text, dim, index)
                dim += 1
            elif self.is_number(index):
                text = f"{text}:select({dim}, {self.expression(index)})"
            else:
                tensors.append((dim, index))
                dim += 1
        if not tensors:
            return text
        if isinstance(tensors[0][1], ast.List):  # x[:, [-1]]
            return f"{text}:index({{{', '.join('nil' for _ in range(tensors[0][0]))}, {self.expression(tensors[0][1])}}})"
        return self.indexed(text, [(dim, self.expression(index)) for dim, index in tensors])

    # What follows `...`: dimensions count from the last.
    def indexed_from_the_end(self, node, text, indices):
        for position, index in enumerate(indices):
            dim = -sum(not is_none(other) for other in indices[position:])
            if is_none(index):
                text = f"{text}:unsqueeze({dim - 1})"
            elif isinstance(index, ast.Slice):
                text = self.slice_of(text, dim, index)
            elif self.is_number(index):
                text = f"{text}:select({dim}, {self.expression(index)})"
            else:
                raise Unknown(ast.unparse(node))
        return text

    def slice_of(self, text, dim, index):
        if index.lower is None and index.upper is None and index.step is None:
            return f"slice({text}, {dim}, 0)"
        first = self.expression(index.lower) if index.lower else "0"
        last = f", {self.expression(index.upper)}" if index.upper else ""
        if index.step is not None:
            return f"slice({text}, {dim}, {first}{last or ', nil'}, {self.expression(index.step)})"
        return f"slice({text}, {dim}, {first}{last})"

    def of_Starred(self, node):
        return f"table.unpack({self.expression(node.value)})"

    # model.decoder(x) calls a module that is a field.
    def callee(self, node):
        is_field = isinstance(node, ast.Attribute) and node.attr in self.fields
        if is_field and node.attr not in self.signatures and ast.unparse(node.value).split(".")[0] == "model":
            return f"{self.expression(node.value)}.{node.attr}"
        return super().callee(node)

    def of_Call(self, node):
        name = ast.unparse(node.func)
        if name in ("len", "int", "list", "isinstance", "min", "sum", "any"):
            special = self.builtin(name, node)
            if special:
                return special
        if name in self.signatures or (isinstance(node.func, ast.Attribute) and node.func.attr in self.signatures
                                       and ast.unparse(node.func.value) in ("self", "model")):
            node = self.by_position(node, self.signatures[name.split(".")[-1]])
        if name.endswith(".repeat"):
            arguments = ", ".join(self.expression(argument) for argument in node.args)
            return f"repeated({self.expression(node.func.value)}, {arguments})"
        if name == "nn.Softmax(dim=-1)":
            module = self.expression(node.func)
            return f"{module}({self.expression(node.args[0])})"
        if name.endswith(".startswith"):
            return f"({self.expression(node.func.value)}:find({self.expression(node.args[0])}, 1, true) == 1)"
        if name.endswith(".endswith"):
            return f"({self.expression(node.func.value)}:sub(-{len(node.args[0].value)}) == {self.expression(node.args[0])})"
        if name == "torch.einsum":  # its operands go as those of a list
            equation, *operands = [self.expression(argument) for argument in node.args]
            return f"ohm.einsum({equation}, {{{', '.join(operands)}}})"
        if name == "itertools.chain":
            return f"joined({', '.join(self.expression(argument) for argument in node.args)})"
        if name == "copy.deepcopy":
            return f"ohm.copy.deepcopy({self.expression(node.args[0])})"
        if name.endswith("float") and node.args and isinstance(node.args[0], ast.Constant):
            return "-math.huge" if "-" in node.args[0].value else "math.huge"
        return super().of_Call(node)

    def builtin(self, name, node):
        arguments = [self.expression(argument) for argument in node.args]
        if name == "len":
            return f"#{arguments[0]}"
        if name == "int":
            return f"math.floor({arguments[0]})"
        if name == "list":
            return arguments[0]
        if name == "min":
            return f"math.min({', '.join(arguments)})"
        if name == "isinstance":
            kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
            return " or ".join(f'is_a({arguments[0]}, "{kind.attr}")' for kind in kinds)
        if name == "any":
            (comprehension,) = node.args[0].generators
            words = self.expression(comprehension.iter)
            inner = self.expression(node.args[0].elt)
            return f"any({words}, function({comprehension.target.id}) return {inner} end)"
        return None

    def by_position(self, node, names):
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        rest = names[len(node.args):]
        while rest and rest[-1] not in given:
            rest = rest[:-1]
        filled = [given.get(name, ast.Constant(None)) for name in rest]
        return ast.Call(node.func, [*node.args, *filled], [])
