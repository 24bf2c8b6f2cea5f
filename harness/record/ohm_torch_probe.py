"""Says, without importing it, why PyTorch's memory could not be recorded in this Python: nothing
where it could be."""
import importlib.util
import os
import runpy
import sys


def reason():
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return f"{sys.executable} has no PyTorch"
    version = os.path.join(os.path.dirname(spec.origin), "version.py")
    if not os.path.exists(version):
        return ""
    known = runpy.run_path(version)
    if known.get("cuda") is None:
        return f"PyTorch {known.get('__version__')} of {sys.executable} is built without CUDA"
    return ""


sys.stdout.write(reason())
