"""How a program ended, as sweeps compare it: the values that it has named, what --check comes to, and
the error that left it."""
import hashlib
import re
import traceback

import ohm_values
from ohm_compared import NOT_COMPUTED, text_of
from ohm_sweep_places import innermost_file

# Longer ones are told apart by a number.
CHARACTERS_OF_A_VALUE = 120

# What a handler that is wrong itself raises.
OWN_MISTAKES = (NameError, AttributeError, TypeError, LookupError, ArithmeticError)
OF_DEVICE = re.compile(r"cuda|cublas|cudnn|cufft|curand|cusolver|cusparse|nccl|\bgpu\b|device",
                       re.IGNORECASE)


class NamedValues:
    """Of a program: the last value of each name, as text."""

    def __init__(self):
        self.texts = {}
        self.torch = None

    def keep(self, name, value):
        text = text_of(value, self.torch)
        if NOT_COMPUTED not in text and len(text) > CHARACTERS_OF_A_VALUE:
            digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8)
            text = f"{type(value).__name__}({digest.hexdigest()})"
        self.texts[name] = text

    def with_check(self, check):
        """name -> text, with that of --check first, where there is one. Raises what it raises."""
        texts = {}
        if check:
            import __main__

            texts["--check"] = self._text_of_check(check, vars(__main__))
        texts.update(sorted(self.texts.items()))
        return texts

    def _text_of_check(self, check, names):
        reads = ohm_values.reads_noted()
        value = eval(check, names)
        has_read_unknown = ohm_values.reads_noted() != reads
        return NOT_COMPUTED if has_read_unknown else text_of(value, self.torch)


def is_computed(text):
    return NOT_COMPUTED not in text


def described(error, places, torch):
    """The message "error"."""
    trace = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in trace if not places.of_library(frame.filename)]
    return {
        "type": type(error).__name__,
        "message": str(error),
        "file": places.name_of(frames[-1].filename) if frames else "",
        "line": (frames[-1].lineno or 0) if frames else 0,
        "out_of_memory": is_of_memory(error, places, torch),
    }


def is_of_memory(error, places, torch):
    """It is an out-of-memory error, or the program raised it from one, or while it handled one, and
    says so."""
    seen = set()  # "raise error from error" is its own cause
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, (torch.cuda.OutOfMemoryError, MemoryError)):
            return True
        says_so = re.search(r"out of memory|\bOOM\b", str(error), re.IGNORECASE)
        is_own = not places.of_library(innermost_file(error))
        error = error.__cause__ or (error.__context__ if says_so and is_own else None)
    return False


def is_own_mistake(error):
    """It hides a failure of the GPU: an error of the program's handler that was not raised on
    purpose."""
    is_raised = error.__cause__ is not None or error.__suppress_context__
    return (isinstance(error, OWN_MISTAKES) and not is_raised and error.__context__ is not None
            and not OF_DEVICE.search(str(error)))
