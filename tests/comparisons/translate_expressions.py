"""The expressions of Translator (translate_programs.py)."""
import ast
import json
import re

from lua_names import (BINARY, COMPARISONS, DTYPES, KEYWORDS, LIBRARIES, MODULES, RENAMED, SEVERAL_RESULTS,
                       TAKES_TENSORS_IN_A_ROW, Scope, Unknown)


class ExpressionTranslator:
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
