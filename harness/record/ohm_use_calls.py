"""What a call makes of a value that it is given, or is of (ohm_use_search.py)."""
import ast
import types

from ohm_use_collections import is_collection, is_copy_of_tensor, is_only_mapping, values_of
from ohm_use_effects import prints_by_name, root_of
from ohm_use_files import name_of, name_of_target
from ohm_use_frames import MISSING, NOT_KNOWN, running, value_in
from ohm_use_host import result_of
from ohm_use_kinds import (
    ALL_CHOSEN, ARRAY, BRANCH, CHOSEN, GOES_ON, HOLDER, LISTS, MASK, NUMBER, SET, SHAPE, TEXT, VALUE, WITHIN,
    computes, counts_in_array, is_indexed, made_by, worse)
from ohm_use_names import (
    ADDS_ELEMENT, ADDS_KEY, ALIGNS, ASKS_FINITE, ASKS_NO_VALUE, BINDS, COLLECTS, DECIDES_BY_TEXT, DERIVES,
    FACTOR_KEYWORDS, FILLED, FINDS_BY_KEY, GIVES_TUPLE, GIVES_WRITTEN, LEARNS, LOSES, MAKES_TENSOR, MAKES_TEXT, MOVES,
    OF_CHOSEN, OF_NUMBERS, PRINTS, PUTS, READS_TEXT, SAVES, SIZES, SIZE_KEYWORDS, UPDATES)
from ohm_use_objects import (
    class_around, constructor, field_for, is_enumeration, is_estimator, is_of, is_super, parameters_for, value_of_name)
from ohm_use_stores import PRINTS_OR_LOGS, WRITES, buffers_of, is_only_written, queries, readers


ITERATES = frozenset("zip enumerate list tuple sorted set reversed".split())


def gives_keys(file, node, made):
    """Of a dict that is looped over: its keys are known, where only values are not."""
    return isinstance(node, (ast.Name, ast.Attribute)) and made is not SET and is_only_mapping(file, node)


class Calls:
    """Of Search."""

    def _of_call(self, file, call, node, frame):
        if node is not call.func:
            return self._of_argument(file, call, node, frame)
        if self.made is CHOSEN and getattr(node, "attr", "") not in OF_CHOSEN:
            return BRANCH  # of several modules or functions
        return self._of_counted(file, call, frame) if self._counts(call) else GOES_ON

    def _counts(self, call):
        """Elements of an array that the values choose."""
        return self.made in (ARRAY, MASK, SET) and counts_in_array(call)

    def _of_counted(self, file, call, frame):
        """How many there are may only be printed."""
        if name_of(call) in GIVES_TUPLE and root_of(call.func) in ("np", "numpy"):
            self.made = LISTS
            return self._outwards(file, call, frame)
        if name_of(call) in GIVES_TUPLE or is_indexed(call, file.parents):
            return SHAPE
        self.made = SET
        return self._outwards(file, call, frame)

    def _of_argument(self, file, call, argument, frame):
        for step in (self._of_constructed, self._of_host_function, self._of_made, self._of_sink, self._of_kept,
                     self._of_function, self._of_derived):
            found = step(file, call, argument, frame)
            if found is not GOES_ON:
                return found
        return VALUE

    def _of_host_function(self, file, call, argument, frame):
        """Of one of the user's that decides nothing but its result."""
        functions = self.host.called(file, call, argument, frame or self.frame)
        return self.of_host_result(file, functions, call, frame) if functions else GOES_ON

    def of_host_result(self, file, functions, call, frame):
        before, self.is_followed, self.has_lost = (self.made, self.is_followed), False, True
        found = None
        for home, function in functions:
            self.made = result_of(home, function, before[0])
            found = worse(found, self._outwards(file, call, frame))
        self.made, self.is_followed = before
        return found

    def of_host_branch(self, file, statement):
        """Of a branch in a function of the user's that decides nothing but its result."""
        function = file.scope(statement)
        calls = [(home, call) for home in (file, *self.files.elsewhere(file, f"{function.name}("))
                 for call in home.calls(function.name)] if function is not file.tree else []
        found = None if calls else BRANCH
        for home, call in calls:
            functions = self.host.called(home, call, None, self.frame)
            found = worse(found, self.of_host_result(home, functions, call, None) if functions else BRANCH)
        return found

    def _of_made(self, file, call, argument, frame):
        """By what the argument is."""
        name = name_of(call)
        if self.made is TEXT:
            return self._of_text(file, call, argument, frame)
        if self.asks_whether_finite(file, call) and (
                self.tells and self.made is None or is_copy_of_tensor(file, argument)):
            return None
        if self.made in (CHOSEN, NUMBER) and name == "to":  # a device or a dtype
            return BRANCH
        if self.made in HOLDER and name in MAKES_TENSOR:
            return SHAPE
        if name == "len" and self.made in (SET, CHOSEN):
            self.made = None
            return self._outwards(file, call, frame)
        return GOES_ON

    def asks_whether_finite(self, file, call):
        """Numbers that were not computed are, by assumption (docs/values.md)."""
        return name_of(call) in ASKS_FINITE and not self.files.called(file, call)

    def _of_sink(self, file, call, argument, frame):
        """Of calls that make text of it, write it, print it or take it for a size."""
        name = name_of(call)
        if name == "setattr" and not self.is_followed:
            return VALUE
        if name in MAKES_TEXT or name in ALIGNS and name not in file.defined:
            self.made = TEXT
            return self._outwards(file, call, frame)
        if name in ("execute", "executemany"):
            return self._of_database(file)
        if name in LOSES:
            return self._of_lost(file, call, frame)
        if name in UPDATES and not self.is_followed and self._is_collection(file, call, frame):
            is_keyword = isinstance(argument, ast.keyword)
            self.made = HOLDER.get(self.made, self.made) if is_keyword else self.made if self.made in WITHIN else SET
            return self._of_target(file, call.func.value, frame, is_changed=True)
        written = self._of_written(file, call, frame) if name in WRITES or name in PRINTS_OR_LOGS else None
        if written is not None:
            return written
        is_factor = isinstance(argument, ast.keyword) and argument.arg in FACTOR_KEYWORDS
        if name in MOVES and not self._is_own(file, call, frame):
            return None if is_only_written(file, call) else SHAPE
        if (name in SAVES or is_factor) and not self.files.called(file, call):
            return None
        if prints_by_name(call) and not self._is_of_numbers(file, call, frame) and not file.lambdas(name):
            return self._of_printed(file, call, argument)
        if name in ASKS_NO_VALUE and not self._is_own(file, call, frame):
            return None
        if name in FILLED and argument not in call.args[:1]:
            self.made = ARRAY
            return self._outwards(file, call, frame)
        if name in SIZES:
            return BRANCH if name == "range" else SHAPE
        return self._of_counted(file, call, frame) if self._counts(call) else GOES_ON

    def _is_own(self, file, call, frame):
        """Whether it may be a function of the user's, or a method of theirs: by the class of its object, if known."""
        is_method = isinstance(call.func, ast.Attribute)
        owner = self._known(file, call, call.func.value, frame) if is_method else None
        if owner is not None:
            return self._is_own_method(owner, call)
        return any(is_method or not isinstance(other.parents[function], ast.ClassDef)
                   for other, function in self.files.called(file, call))

    def _is_own_method(self, owner, call):
        return self.files.has_defined(getattr(type(owner), name_of(call), None))

    def _known(self, file, call, node, frame):
        """What an expression of a call gives, where a frame runs it; None: it is not known, or a module."""
        home = running(file, call, frame or self.frame)
        value = value_in(home, node) if home is not None else MISSING
        return None if value is MISSING or value is NOT_KNOWN or isinstance(value, types.ModuleType) else value

    def _is_collection(self, file, call, frame):
        """Whether it is called on a dict or a set, by what it is assigned or by what it is."""
        owner = getattr(call.func, "value", None)
        home = running(file, call, frame or self.frame) if owner is not None else None
        return is_collection(file, owner) or home is not None and isinstance(value_in(home, owner), (dict, set))

    def _of_kept(self, file, call, argument, frame):
        """Of calls that look it up in what they are called on, or put it there."""
        name = name_of(call)
        is_first, is_method = argument in call.args[:1], isinstance(call.func, ast.Attribute)
        if name in FINDS_BY_KEY and is_method and is_first:
            return self._of_key(file, call, frame)
        if name in COLLECTS and is_method:
            if self._is_own_method(self._known(file, call, call.func.value, frame), call):
                return GOES_ON
            if name in ADDS_KEY and is_first:
                self.made = SET
            elif self.made is CHOSEN:
                self.made = ALL_CHOSEN
            elif self.made in HOLDER and (name in ADDS_ELEMENT or name == "setdefault"):
                self.made = HOLDER[self.made]
            own = self._of_parameters(self.files.functions(file, name), call, argument)
            return worse(own, self._of_target(file, call.func.value, frame, is_changed=True))
        return GOES_ON

    def _of_function(self, file, call, argument, frame):
        """Of one of the user's."""
        name = name_of(call)
        lambdas = file.lambdas(name)
        if lambdas:
            return self._of_parameters([(file, function) for function in lambdas], call, argument)
        functions = self._called_object(call, frame) or self.files.functions(file, name, has_others=name not in DERIVES)
        if not functions:
            return GOES_ON
        return worse(self._of_parameters(functions, call, argument), self._outwards(file, call, frame))

    def _of_derived(self, file, call, argument, frame):
        """Of calls whose result is the value again, or is made of it."""
        name = name_of(call)
        if name == "dict":
            is_keyword = isinstance(argument, ast.keyword) and argument.arg is not None
            self.made = HOLDER.get(self.made, self.made) if is_keyword else self.made
            return self._outwards(file, call, frame)
        if name == "map":
            return self._of_mapped(file, call, frame)
        if name in BINDS and call.args and argument is not call.args[0]:
            return self._of_bound(file, call, argument, frame)
        if name in PUTS and argument not in call.args[:1] and isinstance(file.parents[call], ast.Expr):
            self.made = ARRAY
            return self._of_target(file, call.args[0], frame, is_changed=True)
        if name in LEARNS and is_estimator(file, call.func, self.files.globals_of(file)):
            return self._of_learned(file, call, frame)
        if name not in DERIVES and name not in GIVES_WRITTEN and not self._is_of_numbers(file, call, frame):
            return GOES_ON
        if isinstance(argument, ast.keyword) and argument.arg in SIZE_KEYWORDS:
            return SHAPE
        if name in ITERATES and gives_keys(file, argument, self.made):
            return None
        is_zipped = name == "zip" and argument in call.args
        place = (call.args.index(argument), len(call.args)) if is_zipped else None
        self.made = made_by(call, self.made)
        return self._outwards(file, call, frame, place)

    def _of_bound(self, file, call, argument, frame):
        """Of what partial(function, ...) or executor.submit(function, ...) passes on."""
        passed = ast.Call(func=call.args[0], args=call.args[1:], keywords=call.keywords)
        functions = self.files.called(file, passed)
        if not functions and (prints_by_name(passed) or name_of(passed) in SAVES):
            return None
        known = self._known(file, call, passed.func, frame)
        if isinstance(known, types.FunctionType) and isinstance(passed.func, ast.Attribute):
            passed.func = ast.Name(id=name_of(passed))  # with its object among the arguments
        is_other = known is not None and not self.files.has_defined(known)
        return self._of_parameters(functions, passed, argument) if functions and not is_other else GOES_ON

    def _of_learned(self, file, call, frame):
        """Of what is fitted to it, and what that gives."""
        self.made = ARRAY
        found = None if isinstance(call.func.value, ast.Call) else (
            self._of_target(file, call.func.value, frame, is_changed=True))
        self.made = ARRAY
        return worse(found, self._outwards(file, call, frame))

    def _of_key(self, file, call, frame):
        """Of a mapping or a list that is asked for what a key or an index chooses."""
        name = name_of(call)
        if name == "pop" or name == "setdefault" and any(map(computes, call.args[1:])):
            return BRANCH
        if name == "setdefault":
            self.made = SET
            found = self._of_target(file, call.func.value, frame, is_changed=True)
        else:
            found = None
        self.made = CHOSEN
        return worse(found, self._outwards(file, call, frame))

    def _of_lost(self, file, call, frame):
        """Of what does not tell itself any more."""
        before, self.is_followed, self.has_lost = self.is_followed, False, True
        self.made = made_by(call, self.made)
        found = self._outwards(file, call, frame)
        self.is_followed = before
        return found

    def _of_written(self, file, call, frame):
        """Of what a file or a buffer gives again."""
        before, self.is_followed = self.is_followed, False
        found = None
        for buffer in buffers_of(file, call, frame or self.frame):
            found = worse(found, self._of_target(file, buffer, frame, is_changed=True))
        for reader in readers(file, call):
            has_filter = any(keyword.arg == "filters" for keyword in reader.keywords)
            self.made = SET if has_filter else None
            is_returned = isinstance(file.parents.get(reader), ast.Return)
            scope = file.tree if is_returned else file.scope(reader)
            nodes = file.items_of(self.key, scope) if isinstance(self.key, str) else [reader]
            found = worse(found, self._of_nodes(file, nodes, None))
        self.is_followed, self.has_lost = before, self.has_lost or found is not None
        return found

    def _of_database(self, file):
        """Of what queries of the program give, which may select and order by it."""
        before = self.made, self.is_followed
        self.made, self.is_followed = SET, False
        found = VALUE if self.files.elsewhere(file, ".fetch") else None
        for node in queries(file):
            found = worse(found, self._outwards(file, node, None))
        self.made, self.is_followed = before
        self.has_lost = self.has_lost or found is not None
        return found

    def _is_of_numbers(self, file, call, frame):
        """Whether it is a function of math, NumPy and their like."""
        known = frame.f_globals if frame is not None else self.files.globals_of(file)
        root = known.get(root_of(call.func))
        called = value_of_name(call.func, known)
        homes = [root.__name__] if isinstance(root, types.ModuleType) else []
        if not known:
            homes = [{"np": "numpy", "pd": "pandas"}.get(root_of(call.func), root_of(call.func) or "")]
        if isinstance(called, (types.FunctionType, types.BuiltinFunctionType)):
            homes.append(called.__module__ or "")
        return any(is_of(home, OF_NUMBERS) for home in homes)

    def _called_object(self, call, frame):
        """(file, `__call__`) of an object of a class of the user's."""
        method = None if frame is None else getattr(type(value_in(frame, call.func)), "__call__", None)
        if not isinstance(method, types.FunctionType) or not self.files.is_own(method.__code__.co_filename):
            return []
        file = self.files.file(method.__code__.co_filename)
        return [(file, one) for one in file.defined["__call__"] if one.lineno == method.__code__.co_firstlineno]

    def _of_mapped(self, file, call, frame):
        """map(str, values)"""
        function = getattr(call.args[0], "attr", None) or getattr(call.args[0], "id", "")
        if function in PRINTS:
            return None
        if function in DECIDES_BY_TEXT:  # map(pattern.match, lines)
            return BRANCH
        if function == "len":
            self.made = self.made if self.made is SET else None
        elif function in MAKES_TEXT:
            self.made = TEXT
        elif function not in DERIVES:
            return VALUE
        return self._outwards(file, call, frame)

    def _of_text(self, file, call, argument, frame):
        name = name_of(call)
        if name == "len":
            self.made = None
            return self._outwards(file, call, frame)
        if name in DECIDES_BY_TEXT or "tok" in name or name == "run" and file.is_called_on(call, "subprocess"):
            return BRANCH
        if name in SIZES:
            return SHAPE
        if name in WRITES or name in PRINTS_OR_LOGS:
            found = self._of_written(file, call, frame)
            if found is not None:
                return found
        if name in FINDS_BY_KEY and isinstance(call.func, ast.Attribute) and argument in call.args[:1]:
            return self._of_key(file, call, frame)
        if name in PRINTS or name in ASKS_NO_VALUE:
            found = self._of_parameters(self._functions_of(file, call), call, argument, otherwise=None)
            return None if found == VALUE else found
        if name in COLLECTS and isinstance(call.func, ast.Attribute):
            return self._of_target(file, call.func.value, frame, is_changed=True)
        is_read = name in READS_TEXT or name == "map" and call.args and (
            getattr(call.args[0], "id", "") in READS_TEXT)
        if is_read:
            self.made = None
        elif name not in DERIVES and name not in MAKES_TEXT:
            functions = self.files.functions(file, name)
            return self._of_parameters(functions, call, argument, otherwise=None)
        return self._outwards(file, call, frame)

    def _of_printed(self, file, call, argument):
        """A number that tells itself is followed by that; others, into a method of the program's own."""
        if self.is_followed:
            return None
        found = self._of_parameters(self._functions_of(file, call), call, argument, otherwise=None)
        return None if found == VALUE and name_of(call) not in UPDATES else found

    def _functions_of(self, file, call):
        """Also of those that a variable is assigned: show = tell"""
        values = values_of(file, call.func) if isinstance(call.func, ast.Name) else ()
        names = [name_of(call), *(value.id for value in values if isinstance(value, ast.Name))]
        return [one for name in names for one in self.files.functions(file, name)]

    def _of_parameters(self, functions, call, argument, otherwise=VALUE):
        found = None
        for file, function in functions:
            found = worse(found, self._of_parameter(file, function, call, argument, otherwise))
        return found

    def _of_parameter(self, file, function, call, argument, otherwise):
        names = parameters_for(function, call, argument)
        if self.is_followed and isinstance(argument, ast.keyword) and argument.arg not in names:
            return None  # one of **others
        found, made = None, self.made
        for name in names:
            self.made = made
            found = worse(found, self._of_variable(file, function, name, None))
        self.made = made
        return found if names else otherwise

    def _of_constructed(self, file, call, argument, frame):
        """Of an argument of a class of the user's; GOES_ON: it is none."""
        if self.made is TEXT and isinstance(file.parents.get(call), ast.Raise):
            return None
        if is_super(call):
            kind = class_around(file, call)
            bases = [self.files.class_of(file, name_of_target(base) or "") for base in kind.bases] if kind else []
            made = [constructor(self.files, *base) for base in bases if base]
            known = [one for one in made if one]
            return self._of_parameters(known, call, argument) if known else GOES_ON
        known = self.files.class_of(file, name_of(call))
        if known is None:
            return GOES_ON
        if is_enumeration(known[1]):
            self.made = CHOSEN
            return self._outwards(file, call, frame)
        if name_of(call) in file.matched:
            return BRANCH
        initial = constructor(self.files, *known)
        if initial:
            return self._of_parameters([initial], call, argument)
        field = field_for(known[1], call, argument)
        return self._of_attribute(known[0], field, None) if field else VALUE
