"""Modules that are waited for: told as soon as a program has imported them, or is about to."""
import importlib.util
import os
import sys


def when_imported(name, tell):
    """tell(module), once, behind the import of the module `name`, or at once where it is there."""
    if name in sys.modules:
        tell(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Finder(name, tell))


def before_import(name, prepare):
    """prepare(), once, when a program is about to import the module `name`. It may wait for modules,
    this one too, and finds those of this folder. At once where the module is there."""
    folder = os.path.dirname(os.path.abspath(__file__))

    def prepare_here():
        sys.path.insert(0, folder)
        try:
            prepare()
        finally:
            sys.path.remove(folder)

    if name in sys.modules:
        prepare_here()
    else:
        sys.meta_path.insert(0, _Preparation(name, prepare_here))


class _Preparation:
    """Finds the module where others find it, once."""

    def __init__(self, name, prepare):
        self.name = name
        self.prepare = prepare

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        self.prepare()
        return importlib.util.find_spec(name)


class _Finder:
    """Finds the module where it is, once, and follows its import."""

    def __init__(self, name, tell):
        self.name = name
        self.tell = tell

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            self._follow_import(spec.loader)
        return spec

    def _follow_import(self, loader):
        execute = loader.exec_module

        def exec_module(module):
            vars(loader).pop("exec_module", None)  # another one that waits may have done so
            execute(module)
            self.tell(module)

        loader.exec_module = exec_module
