"""Looks at the variables of a frame without keeping what they hold alive."""
import inspect
import sys

HOLDERS = 3  # of the dict below, where the program has not asked for it: the frame, a name, an argument


def look_at_variables(frame, look):
    """look(variables): what it returns. Up to Python 3.12 a function's frame keeps the dict that is made of its
    variables, and with it what the program lets go afterwards: it is emptied, unless the program has it, too."""
    variables = frame.f_locals
    try:
        return look(variables)
    finally:
        is_copy = frame.f_code.co_flags & inspect.CO_OPTIMIZED and type(variables) is dict
        if is_copy and sys.getrefcount(variables) <= HOLDERS:
            variables.clear()
