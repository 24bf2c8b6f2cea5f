"""Modules that are waited for: told as soon as a program has imported them, or is about to."""
import collections
import importlib.util
import os
import sys
import threading


def when_imported(name, tell):
    """tell(module), once, behind the import of the module `name`, or at once where it is there."""
    if _finder.has_imported(name):
        tell(sys.modules[name])
    else:
        _finder.behind[name].append(tell)
        _finder.begin()


def before_import(name, prepare):
    """prepare(), once, before a program executes the module `name`. It may wait for modules, this one
    too, and finds those of this folder. At once where the module is there."""
    folder = os.path.dirname(os.path.abspath(__file__))

    def prepare_here():
        sys.path.insert(0, folder)
        try:
            prepare()
        finally:
            sys.path.remove(folder)

    if _finder.has_imported(name):
        prepare_here()
    else:
        _finder.before[name].append(prepare_here)
        _finder.begin()


class _Finder:
    """Finds modules where they are, and follows their execution: programs also look for a module that they
    do not import then, or not yet."""

    def __init__(self):
        self.before = collections.defaultdict(list)  # name -> what is called, once
        self.behind = collections.defaultdict(list)
        self.executed = set()  # names of modules that are not whole yet
        self.thread = threading.local()

    def begin(self):
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def has_imported(self, name):
        return name in sys.modules and name not in self.executed

    def find_spec(self, name, path=None, target=None):
        is_waited_for = self.before.get(name) or self.behind.get(name)
        if not is_waited_for or getattr(self.thread, "finds", None) == name:
            return None
        self.thread.finds = name
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.thread.finds = None
        if spec is not None and spec.loader is not None:
            self._follow_execution(name, spec.loader)
        return spec

    def _follow_execution(self, name, loader):
        execute = loader.exec_module

        def exec_module(module):
            vars(loader).pop("exec_module", None)
            self.executed.add(name)
            try:
                for prepare in self.before.pop(name, ()):
                    prepare()
                execute(module)
            finally:
                self.executed.discard(name)
            for tell in self.behind.pop(name, ()):
                tell(module)

        loader.exec_module = exec_module


_finder = _Finder()
