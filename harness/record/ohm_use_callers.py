"""What becomes of a value that a function returns or yields (ohm_use_search.py)."""
import ast

from ohm_use_files import caller_of, is_property, name_of_target
from ohm_use_kinds import BRANCH, SET, TEXT, VALUE, worse

GIVES_TEXT = frozenset("__str__ __repr__ __format__ __rich__".split())
MAKES_PLAIN = frozenset("__len__ __bool__ __index__ __int__ __float__".split())


class Callers:
    """Of Search."""

    def _of_caller(self, file, statement, frame):
        function = file.scope(statement)
        caller = caller_of(file, function, frame)
        while caller is not None and caller.f_globals.get("__name__", "").partition(".")[0] == "json":
            caller, self.made = caller.f_back, TEXT
        if caller is None or self._is_event_loop(function, caller):
            return self._of_results(file, function)
        if self._is_asked_until(file, function):
            return BRANCH
        is_compared = function.name.startswith("__")  # __lt__ of what is sorted
        self.made = SET if function.name == "__hash__" else self.made
        return self.of_frame(caller, is_result=True, is_compared=is_compared)

    def _is_asked_until(self, file, function):
        """Whether iter(function, last) calls it until it returns a certain value."""
        name = getattr(function, "name", "")
        return any(len(call.args) == 2 and name_of_target(call.args[0]) == name
                   for other in (file, *self.files.elsewhere(file, f"{name}, ")) for call in other.calls("iter"))

    def _is_event_loop(self, function, caller):
        is_coroutine = isinstance(function, ast.AsyncFunctionDef)
        return is_coroutine and not self.files.is_own(caller.f_code.co_filename)

    def _of_results(self, file, function):
        """Of what calls of a function give, or reads of a property."""
        name = getattr(function, "name", "")
        if is_property(function):
            return self._of_attribute(file, name, None)
        if name.startswith("__") and name.endswith("__"):
            return self._of_protocol(name)
        found = self._of_nodes(file, file.calls(name), None)
        if name and not self.is_followed:
            for other in self.files.elsewhere(file, f"{name}("):
                found = worse(found, self._of_nodes(other, other.calls(name), None))
        if not self.is_followed and file.passes_on(name):
            found = worse(found, VALUE)
        return found

    def _of_protocol(self, name):
        """Of what a method gives that Python calls: numbers that tell themselves go on, but through some."""
        if name in GIVES_TEXT or self.is_followed and name not in MAKES_PLAIN:
            return None
        self.has_lost = True
        return VALUE
