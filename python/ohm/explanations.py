"""Why a job ran out of memory."""
from __future__ import annotations

import dataclasses
import os
from typing import Any, Dict, Union

from ohm import _html
from ohm._command import run
from ohm._inputs import recording_file


@dataclasses.dataclass(frozen=True)
class Explanation:
    """What `ohm why` prints."""

    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _html.preformatted(self.text)


def why(x: Union[str, "os.PathLike[str]", Dict[str, Any], BaseException]) -> Explanation:
    """Explains an out-of-memory error.

    `x` is the error itself (torch.OutOfMemoryError), the text of a log or of the message, the path
    of a log, a snapshot or a JSON report, or a snapshot (torch.cuda.memory._snapshot()). Text of
    one line that names a file is a path.

    Raises OhmError where there is nothing to explain, TypeError for another `x`.
    """
    if isinstance(x, BaseException):
        return Explanation(run(["why", "-"], stdin=f"{type(x).__name__}: {x}\n"))
    if isinstance(x, str) and not os.path.exists(x):
        if "\n" not in x and "memory" not in x.lower():
            raise FileNotFoundError(f"there is no file {x}")
        return Explanation(run(["why", "-"], stdin=x))
    with recording_file(x) as path:
        return Explanation(run(["why", path]))
