#!/usr/bin/env python3
"""Translates small PyTorch programs to Lua: their twins.

A line of programs.jsonl is {"program": name, "source": Python}. The twins live as the Python programs
do: a variable of Python's is a local of the whole function, `del` and the end of the module let go
one name after the other, in Python's order. A form of Python that is not known here is an error.
"""
import ast
import json
import re

from lua_names import Scope
from translate_expressions import ExpressionTranslator
from translate_statements import StatementTranslator

WITHOUT_TWIN = {"fsdp_full_shard_2ranks"}  # of FSDP1


class Translator(StatementTranslator, ExpressionTranslator):
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
