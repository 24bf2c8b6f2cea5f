"""All sources of a program that are the user's: their functions, classes and texts (ohm_use_search.py)."""
import ast
import builtins
import linecache
import sys
import types

from ohm_use_files import MOST_ALIKE, File, name_of


class Files:
    """Sources of a program. `own`: UserFiles that tell which are the user's."""

    def __init__(self, own=None):
        self.own = own
        self.read = {}  # name -> File, or None
        self.paths = []  # of the user's modules
        self.modules = 0  # that were loaded when these were found
        self.texts = {}  # path -> source
        self.having = {}  # text -> paths
        self.made = {}  # statement of a class -> the class

    def file(self, name):
        if name not in self.read:
            self.read[name] = File.read(name)
        return self.read[name]

    def functions(self, file, name, has_others=True):
        """(file, function) of the few of this name: of this file, or else of others of the user's."""
        found = [(file, function) for function in file.functions(name)]
        if has_others and name not in file.defined and name.isidentifier():
            found = [(other, function) for other in self.elsewhere(file, f"def {name}(")
                     for function in other.functions(name)]
        return found if len(found) <= MOST_ALIKE else []

    def called(self, file, call):
        """(file, function) of the user's that a call may call: none where it is of a library's module."""
        owner = call.func
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        module = self.globals_of(file).get(getattr(owner, "id", None))
        is_foreign = isinstance(module, types.ModuleType) and not self.is_own(getattr(module, "__file__", None) or "")
        found = [] if is_foreign else self.functions(file, name_of(call))
        is_of_python = isinstance(call.func, ast.Name) and hasattr(builtins, name_of(call))
        return [one for one in found if not is_of_python or not isinstance(one[0].parents[one[1]], ast.ClassDef)]

    def class_of(self, file, name):
        """(file, class) of this name, of this file or another of the user's; or None."""
        if name in file.classes:
            return file, file.classes[name]
        if name[:1].isupper() and name.isidentifier():
            for other in self.elsewhere(file, f"class {name}"):
                if name in other.classes:
                    return other, other.classes[name]
        return None

    def class_made_by(self, file, kind):
        """The class that a statement of a module has made; None: it is not known."""
        if kind not in self.made and file.parents[kind] is file.tree:
            made = self.globals_of(file).get(kind.name)
            is_only = [one.name for one in file.tree.body if isinstance(one, ast.ClassDef)].count(kind.name) == 1
            if isinstance(made, type) and made.__name__ == kind.name and is_only:
                self.made[kind] = made
        return self.made.get(kind)

    def elsewhere(self, file, text):
        """Other files of the user's that have this text."""
        if not self.is_own(file.name):
            return []
        if self.modules != len(sys.modules):
            self._find_paths()
        if text not in self.having:
            self.having[text] = [path for path in self.paths if text in self.text(path)]
        others = [self.file(path) for path in self.having[text] if path != file.name]
        return [other for other in others if other is not None]

    @staticmethod
    def globals_of(file):
        """Variables of the module that was made of a file; empty: there is none."""
        for module in list(sys.modules.values()):
            known = getattr(module, "__dict__", {})
            if known.get("__file__") == file.name:
                return known
        return {}

    def is_own(self, name):
        """Whether a source is the user's."""
        return self.own is not None and self.own.is_program(name)

    def has_defined(self, function):
        """Whether a source of the user's has defined it."""
        return self.is_own(getattr(getattr(function, "__code__", None), "co_filename", ""))

    def _find_paths(self):
        self.modules = len(sys.modules)
        self.having.clear()
        paths = [getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())]
        self.paths = list(dict.fromkeys(path for path in paths if isinstance(path, str)
                                        and path.endswith(".py") and self.own.is_program(path)))

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = "".join(linecache.getlines(path))
        return self.texts[path]
