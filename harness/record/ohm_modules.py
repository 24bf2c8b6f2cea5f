"""Names modules on the stacks of what they allocate: while one runs, a frame of MODULE_FILE stands
there, whose function has the module's path for its name, "GPT.blocks.3.mlp".

A path is that of named_modules(), from the outermost module that was called, as it was when it was
first called; what becomes part of it later has its name from then on. A module that is called by
itself, and then as a part of another one, has its later name in all of the snapshot, unless other
modules have had its first one, too. Code that torch.compile makes has no such frames, nor has
anything that runs after the first call of it.

Autograd's threads run no Python: of what they allocate, the gradients of parameters are known by
their addresses, when they are looked at."""
import functools
import types
import weakref

from ohm_calls import NotedCalls
from ohm_categories import Moments, last_allocation_at, stacks_of

# Known to RecordedSites (reports/history), which reads it.
MODULE_FILE = "<ohm record module>"


def _template(module, *arguments, **named):
    return call(module, *arguments, **named)  # noqa: F821 - of the copies' globals


# The line that calls is the same.
def _noting_template(module, *arguments, **named):
    return notes.end(notes.begin(module, arguments, named), call(module, *arguments, **named))  # noqa: F821


class NamedCalls:
    """Stands in torch.nn.Module for __call__, which lookups on the class still get. As a
    descriptor it puts no frame of its own on the stack."""

    def __init__(self, torch):
        self.module_class = torch.nn.Module
        self.call = torch.nn.Module.__call__
        self.callers = {}  # id of a module -> what calls it under its name
        self.watches = {}  # id of a module -> a reference that tells of its end
        self.by_path = {}  # what calls modules of this path from now on
        self.generations = 0  # of callers: frames of equal paths differ in their line
        self.renamed = {}  # (path, line) of frames -> the caller that came after
        self.gradients = Moments()
        self.notes = NotedCalls(torch, self.callers)
        self.template = _noting_template  # of the first steps
        self.globals = {"call": self.call, "notes": self.notes}
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

    def end_notes(self):
        """What is called from now on is not noted."""
        if self.template is _template:
            return
        self.template = _template
        for caller in set(self.callers.values()):
            if caller is not self.call:
                code = caller.__code__
                caller.__code__ = self._code(code.co_name, code.co_firstlineno)

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
                self._give(part, part_path)
        except Exception:  # a program's own classes do what they like
            self.callers[id(module)] = self.call

    def _give(self, module, path):
        key = id(module)
        before, caller = self.callers.get(key), self._caller(path)
        if caller is before:
            return
        self.callers[key] = caller
        caller.modules += 1
        if key not in self.watches:
            self.watches[key] = weakref.ref(module, functools.partial(self._forget, key))
        # The calls of several modules cannot be told apart any more.
        if getattr(before, "modules", 0) == 1:
            self.renamed[before.__name__, line_of(before)] = caller
            self.by_path.pop(before.__name__, None)

    def _forget(self, key, _):
        self.callers.pop(key, None)
        self.watches.pop(key, None)

    def _caller(self, path):
        if path not in self.by_path:
            self.generations += 1
            code = self._code(path, self.generations)
            caller = types.FunctionType(code, self.globals, path)
            caller.modules = 0  # that have ever had it
            self.by_path[path] = caller
        return self.by_path[path]

    def _code(self, path, line):
        return self.template.__code__.replace(co_name=path, co_filename=MODULE_FILE,
                                              co_firstlineno=line)

    # ---- what a snapshot is told ----

    def note_gradients(self):
        """Where the gradients of the parameters are that one module alone has."""
        paths = {}
        for key, watch in list(self.watches.items()):
            module, caller = watch(), self.callers.get(key)
            if module is None or caller is None:
                continue
            for parameter in module._parameters.values():
                if parameter is None or parameter.grad is None or not parameter.grad.is_cuda:
                    continue
                address = parameter.grad.untyped_storage().data_ptr()
                paths[address] = caller if paths.get(address, caller) is caller else None
        self.gradients.add({address: caller for address, caller in paths.items() if caller})

    def mark(self, snapshot):
        self._mark_gradients(snapshot)
        self.notes.mark(snapshot, lambda caller: self._frame_of(caller)["name"])
        if self.renamed:
            for frames in stacks_of(snapshot):
                for frame in frames:
                    if frame["filename"] == MODULE_FILE:
                        caller = self.renamed.get((frame["name"], frame["line"]))
                        if caller is not None:
                            frame.update(self._frame_of(caller))

    def _frame_of(self, caller):
        """With the last name of a module that has had this one."""
        while (caller.__name__, line_of(caller)) in self.renamed:
            caller = self.renamed[caller.__name__, line_of(caller)]
        return {"name": caller.__name__, "filename": MODULE_FILE, "line": line_of(caller)}

    def _mark_gradients(self, snapshot):
        stacks = {}  # one list of frames stands for all requests of a stack
        for entry, caller in last_allocation_at(snapshot, self.gradients.all()):
            if not entry.get("frames"):
                if caller not in stacks:
                    stacks[caller] = [self._frame_of(caller)]
                entry["frames"] = stacks[caller]


def line_of(caller):
    """Of its frames, as the call is the second line of the template."""
    return caller.__code__.co_firstlineno + 1
