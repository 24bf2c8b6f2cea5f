"""What the functions take for a recording: a path, or the snapshot itself."""
from __future__ import annotations

import contextlib
import os
import pickle
import tempfile
from typing import Any, Dict, Iterator, Union

Recording = Union[str, "os.PathLike[str]", Dict[str, Any]]


@contextlib.contextmanager
def recording_file(recording: Recording) -> Iterator[str]:
    """Its path. Raises TypeError for what is none, FileNotFoundError where there is no such file."""
    if isinstance(recording, dict):
        with tempfile.TemporaryDirectory(prefix="ohm-") as folder:
            path = os.path.join(folder, "snapshot.pickle")
            with open(path, "wb") as file:
                pickle.dump(recording, file, protocol=4)
            yield path
        return
    if not isinstance(recording, (str, os.PathLike)):
        raise TypeError("a recording is the path of a file, or what torch.cuda.memory._snapshot() "
                        f"returns, not {type(recording).__name__}")
    path = os.fspath(recording)
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}")
    yield path
