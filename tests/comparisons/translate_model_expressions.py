"""The expressions of ModelTranslator (translate_models.py)."""
import ast

from lua_names import COMPARISONS, SEVERAL_RESULTS, Scope, Unknown
from translate_model_statements import parts_of
from translate_programs import Translator

BITWISE = {ast.BitAnd: "&", ast.BitOr: "|"}


def is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


class ModelExpressions(Translator):
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
