"""Functions on their way to another process, and that process: python _functions.py FOLDER."""
from __future__ import annotations

import importlib.util
import json
import os
import pickle
import sys
import traceback
from typing import Any, Callable, Dict, Mapping, Sequence

# The script that is running, in the other process: what stands under __name__ == "__main__" is not
# run again.
SCRIPT = "__ohm_script__"


def write(path: str, function: Callable[..., Any], args: Sequence[Any],
          kwargs: Mapping[str, Any]) -> None:
    """Raises TypeError for what cannot be sent."""
    if not callable(function):
        raise TypeError(f"a function is needed, not {type(function).__name__}")
    call = _described(function)
    try:
        arguments = pickle.dumps((tuple(args), dict(kwargs)))
    except Exception as error:
        raise TypeError(f"the arguments cannot be sent to another process: {error}") from error
    with open(path, "wb") as file:
        pickle.dump({"path": sys.path, "call": call, "arguments": arguments}, file)


def _described(function: Callable[..., Any]) -> Dict[str, Any]:
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    script = getattr(sys.modules["__main__"], "__file__", None)
    if module == "__main__" and script and os.path.exists(script) and "<" not in name:
        return {"script": os.path.abspath(script), "name": name}
    if module not in (None, "__main__") and _found(sys.modules.get(module), name) is function:
        return {"module": module, "name": name}
    try:
        import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise TypeError(
            f"{name or function!r} cannot be imported by another process: move it into a module, or "
            "install cloudpickle, which sends functions of notebooks, lambdas and closures") from None
    try:
        return {"pickled": cloudpickle.dumps(function)}
    except Exception as error:
        raise TypeError(f"{name} cannot be sent to another process: {error}") from error


def _found(home: Any, name: str) -> Any:
    for part in name.split("."):
        home = getattr(home, part, None)
    return home


# ---- the other process ----

def _load(call: Dict[str, Any]) -> Any:
    if "pickled" in call:
        return pickle.loads(call["pickled"])
    if "module" in call:
        return _found(importlib.import_module(call["module"]), call["name"])
    spec = importlib.util.spec_from_file_location(SCRIPT, call["script"])
    if spec is None or spec.loader is None:
        raise ImportError(f"{call['script']} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[SCRIPT] = sys.modules["__mp_main__"] = module
    spec.loader.exec_module(module)
    return _found(module, call["name"])


def _run(folder: str) -> int:
    with open(os.path.join(folder, "call"), "rb") as file:
        sent = pickle.load(file)
    sys.path[:] = sent["path"]
    try:
        function = _load(sent["call"])
        args, kwargs = pickle.loads(sent["arguments"])
        function(*args, **kwargs)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if "-packages" + os.sep not in frame.filename]
        torch = sys.modules.get("torch")
        with open(os.path.join(folder, "error.json"), "w", encoding="utf-8") as file:
            json.dump({"type": type(error).__name__, "message": str(error),
                       "file": own[-1].filename if own else "", "line": own[-1].lineno if own else 0,
                       "out_of_memory": torch is not None
                       and isinstance(error, torch.cuda.OutOfMemoryError)}, file)
        return 1
    with open(os.path.join(folder, "done"), "w"):
        return 0


if __name__ == "__main__":
    # This folder has modules whose names other packages have, too.
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]
    sys.exit(_run(sys.argv[1]))
