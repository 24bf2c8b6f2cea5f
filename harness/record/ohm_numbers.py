"""Numbers that were read of memory whose values no kernel has computed. They are floats and ints;
what is computed of them is unknown, too, and `on_use` is called where one is compared, `on_plain` where it
becomes a plain number, `on_text` where it becomes text, `on_pickle` where it is pickled, and `on_error` where
one is divided by that is zero. A tensor that takes one for another tensor (x > number, x[0] = number) goes to
`on_tensor`."""


def _nothing(*_):
    pass


class UnknownNumber:
    __slots__ = ()
    on_use = on_plain = on_error = on_tensor = on_text = on_pickle = staticmethod(_nothing)

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        result = function(*map(plain_of, arguments),
                          **{name: plain_of(value) for name, value in (named or {}).items()})
        cls.on_tensor(getattr(function, "__name__", ""), result, arguments)
        return result

    def __reduce__(self):
        self.on_pickle()
        return self.plain, (self.plain(self),)

    def __format__(self, form):
        self.on_text()
        return self.plain.__format__(self, form)

    def __str__(self):
        self.on_text()
        return self.plain.__repr__(self)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class UnknownFloat(UnknownNumber, float):
    __slots__ = ()
    plain = float

    def __float__(self):
        self.on_plain()
        return plain_of(self)


class UnknownInt(UnknownNumber, int):
    __slots__ = ()
    plain = int


def plain_of(value):
    """The number itself, also in a list or a slice."""
    if isinstance(value, UnknownNumber):
        return value.plain.__pos__(value)
    if type(value) in (list, tuple):
        return type(value)(map(plain_of, value))
    return value


def unknown(value):
    if type(value) is float:
        return UnknownFloat(value)
    if type(value) is int:
        return UnknownInt(value)
    if type(value) is tuple:  # of divmod
        return tuple(unknown(item) for item in value)
    return value


def _derived(plain, name):
    method = getattr(plain, name)

    def call(self, *arguments):
        try:
            value = method(self, *arguments)
        except ZeroDivisionError:
            type(self).on_error()
            raise
        if plain is float and type(value) is int:  # round(x): sizes and indices do not tell of their use
            type(self).on_use()
        return unknown(value)

    call.__name__ = name
    return call


def _used(plain, name):
    method = getattr(plain, name)

    def call(self, *arguments):
        type(self).on_use()
        return method(self, *arguments)

    call.__name__ = name
    return call


BINARY = "add sub mul truediv floordiv mod divmod pow".split()
DERIVED = [*(f"__{n}__" for n in BINARY), *(f"__r{n}__" for n in BINARY), "__neg__", "__pos__",
           "__abs__", "__round__", "__floor__", "__ceil__", "__trunc__"]
OF_INTEGERS = [f"__{side}{n}__" for n in "and or xor lshift rshift".split() for side in ("", "r")]
USED = "__lt__ __le__ __gt__ __ge__ __eq__ __ne__ __bool__ __int__".split()

for _kind in (UnknownFloat, UnknownInt):
    for _name in DERIVED + (OF_INTEGERS if _kind is UnknownInt else []):
        if hasattr(_kind.plain, _name):
            setattr(_kind, _name, _derived(_kind.plain, _name))
    for _name in USED:
        setattr(_kind, _name, _used(_kind.plain, _name))
    _kind.__hash__ = _kind.plain.__hash__
