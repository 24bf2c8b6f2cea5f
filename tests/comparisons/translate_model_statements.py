"""The statements of ModelTranslator (translate_models.py)."""
import ast

from lua_names import BINARY, SEVERAL_RESULTS, Scope
from translate_programs import Translator

INPLACE = {ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}
TENSOR_METHODS = {"permute", "transpose", "view", "reshape", "flatten", "t"}  # of one result
# Modules of the library that return several tensors, in a list.
LIBRARY_CLASSES = {f"nn.{name}" for name in ("RNN", "GRU", "LSTM", "LSTMCell", "MultiheadAttention")}


def parts_of(target):
    return target.elts if isinstance(target, ast.Tuple) else [target]


class ModelStatements(Translator):
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
