"""Names modules on the stacks of what they allocate: while one runs, a frame of MODULE_FILE stands
there, whose function has the module's path for its name, "GPT.blocks.3.mlp".

A path is that of named_modules(), from the outermost module that was called, as it was when it was
first called; what becomes part of it later has its name from then on. Code that torch.compile makes
has no such frames, nor has anything that runs after the first call of it."""
import functools
import types
import weakref

# Known to RecordedSites (reports/history), which reads it.
MODULE_FILE = "<ohm record module>"


def _template(module, *arguments, **named):
    return call(module, *arguments, **named)  # noqa: F821 - of the copies' globals


class NamedCalls:
    """Stands in torch.nn.Module for __call__, which whoever asks the class for still gets. As a
    descriptor it puts no frame of its own on the stack."""

    def __init__(self, torch):
        self.module_class = torch.nn.Module
        self.call = torch.nn.Module.__call__
        self.callers = {}  # id of a module -> what calls it under its name
        self.watches = {}  # id of a module -> a reference that tells of its end
        self.by_path = {}
        self.registration = None

    def begin(self, torch):
        self.module_class.__call__ = self
        registered = torch.nn.modules.module.register_module_module_registration_hook
        self.registration = registered(self._on_registration)
        compile_program = torch.compile

        @functools.wraps(compile_program)
        def compile_without_names(*arguments, **named):
            self.end()
            return compile_program(*arguments, **named)

        torch.compile = compile_without_names

    def end(self):
        """Another one may have taken this one's place since."""
        if vars(self.module_class)["__call__"] is self:
            self.module_class.__call__ = self.call
            self.registration.remove()

    def __get__(self, module, kind=None):
        if module is None:
            return self.call
        caller = self.callers.get(id(module)) or self._first_call(module)
        return types.MethodType(caller, module)

    def _first_call(self, module):
        self._name(module, type(module).__name__)
        return self.callers.get(id(module), self.call)

    def _on_registration(self, parent, name, module):
        caller = self.callers.get(id(parent))
        if caller is not None and module is not None:
            self._name(module, f"{caller.__name__}.{name}")

    def _name(self, module, path):
        try:
            for part_path, part in self.module_class.named_modules(module, prefix=path):
                key = id(part)
                self.callers[key] = self._caller(part_path)
                self.watches[key] = weakref.ref(part, functools.partial(self._forget, key))
        except Exception:  # a program's own classes do what they like
            self.callers[id(module)] = self.call

    def _forget(self, key, _):
        self.callers.pop(key, None)
        self.watches.pop(key, None)

    def _caller(self, path):
        if path not in self.by_path:
            code = _template.__code__.replace(co_name=path, co_filename=MODULE_FILE)
            self.by_path[path] = types.FunctionType(code, {"call": self.call}, path)
        return self.by_path[path]
