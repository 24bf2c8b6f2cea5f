"""Lua twins of whole models: what Translator knows, and functions, defaults, loops over lists, subscripts.

A call of a function or class of the program's own takes its arguments by position in Lua: those by name
are put where they belong, and defaults are set where a function begins. Where a list, a tensor or a
module is meant is told by how names are assigned.
"""
import ast

from translate_model_expressions import ModelExpressions
from translate_model_statements import ModelStatements

NUMBER_FUNCTIONS = {"len", "int", "float"}


def class_of(call):
    """Of an object that is made: `nn.LSTM(8, 8, device="cuda")`, `Net().to("cuda")`."""
    while isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
        call = call.func.value
    return ast.unparse(call.func)


class ModelTranslator(ModelStatements, ModelExpressions):
    def __init__(self):
        super().__init__()
        self.signatures = {}  # function or class -> its parameters
        self.defaults = {}
        self.numbers = set()  # names of numbers, wherever they are
        self.module_lists = set()  # fields
        self.several = set()  # functions that return several values, "Class.forward" among them
        self.classes = {}  # what an object is of, by its name: `m`, `self.m`
        self.loops = 0  # around the statement

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
