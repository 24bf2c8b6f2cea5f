"""Kernels of Triton, which no operator calls: what they are given to write is unknown then.

Of a kernel that a program has written the source tells which of its arguments it stores to; kernels of
inductor name theirs."""
import ast
import functools
import textwrap

from ohm_imports import when_imported
from ohm_use_files import name_of

READ_BY_INDUCTOR = "in_ptr"


class Kernels:
    """Of KnownValues."""

    def __init__(self, torch, known):
        self.torch = torch
        self.known = known

    def follow(self):
        when_imported("triton.runtime.jit", self._follow_triton)
        when_imported("torch._inductor.runtime.triton_heuristics", self._follow_inductor)

    def _follow_triton(self, jit):
        jit.JITFunction.run = self._followed(jit.JITFunction.run, stored_to, self.known.compute_kernel)

    def _follow_inductor(self, heuristics):
        def written(autotuner):
            names = autotuner.fn.arg_names
            return {name for name in names if not name.startswith(READ_BY_INDUCTOR)}

        kind = heuristics.CachingAutotuner
        kind.run = self._followed(kind.run, lambda autotuner: (autotuner.fn.arg_names, written(autotuner)))

    def _followed(self, method, look_at, compute=None):
        """look_at(kernel): the names of its arguments, and those that it writes to.
        compute(kernel, arguments, named): whether what it writes is computed."""
        seen = {}  # kernel -> names

        @functools.wraps(method)
        def run(kernel, *arguments, **named):
            result = method(kernel, *arguments, **named)
            if compute is not None and compute(kernel, arguments, named):
                return result
            if kernel not in seen:
                seen[kernel] = look_at(kernel)
            names, written = seen[kernel]
            for name, value in (*zip(names, arguments), *named.items()):
                if name in written:
                    self._write(value)
            return result

        return run

    def _write(self, value):
        value = getattr(value, "base", value)  # of a descriptor
        if isinstance(value, (list, tuple)):
            for item in value:
                self._write(item)
        elif isinstance(value, self.torch.Tensor) and value.is_cuda:
            self.known.write(value)


def stored_to(kernel):
    """(names of the arguments of a kernel of Triton's, those of them that it may store to)."""
    try:
        function = ast.parse(textwrap.dedent(kernel.src)).body[0]
        written = _Stores(function, kernel.arg_names).written
    except (AttributeError, SyntaxError, TypeError, IndexError):
        written = set(kernel.arg_names)
    return kernel.arg_names, written


class _Stores:
    """Follows arguments through assignments to what is stored to. What is loaded is no address."""

    def __init__(self, function, names):
        self.origins = {name: {name} for name in names}
        self.written = set()
        before = None
        while before != (before := {name: set(found) for name, found in self.origins.items()}):
            for node in ast.walk(function):
                self._assign(node)
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                self._call(node)

    def _assign(self, node):
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.For):
            pairs = [(node.target, node.iter)]
        else:
            return
        for target, value in pairs:
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    self.origins.setdefault(name.id, set()).update(self._of(value))

    def _of(self, node):
        """The arguments that an expression is made of."""
        if isinstance(node, ast.Name):
            return self.origins.get(node.id, set())
        if isinstance(node, ast.Call) and name_of(node) == "load":
            return set()
        return set().union(*(self._of(child) for child in ast.iter_child_nodes(node)))

    def _call(self, call):
        name = name_of(call)
        if name == "store" or name.startswith("atomic_"):
            is_method = isinstance(call.func, ast.Attribute) and not is_module(call.func.value)
            self.written |= self._of(call.func.value if is_method else call.args[0])
        elif not isinstance(call.func, ast.Attribute):  # another function
            for value in (*call.args, *(keyword.value for keyword in call.keywords)):
                self.written |= self._of(value)


def is_module(node):
    return isinstance(node, ast.Name) and node.id in ("tl", "language", "triton", "libdevice")
