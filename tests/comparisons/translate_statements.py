"""The statements of Translator (translate_programs.py): what is assigned, and let go, in Python's order."""
import ast
import re

from lua_names import BINARY, GIVES_A_LIST, INDEXED, LIBRARIES, SEVERAL_RESULTS, Scope, Unknown


class StatementTranslator:
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
