"""The `ohm` command: where it is, and how it is run."""
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing is not imported for it: pytest is restarted with little else
if TYPE_CHECKING:
    import subprocess
    from typing import Any, Optional, Sequence

OVERRIDE = "OHM_COMMAND"


class OhmError(RuntimeError):
    """The command could not do what it was asked to do.

    `exit_code` is that of the command (docs/reference.md); None where it could not be run.
    """

    def __init__(self, message: str, exit_code: Optional[int] = None):
        super().__init__(message)
        self.exit_code = exit_code


def command_path() -> str:
    """The `ohm` command: $OHM_COMMAND, the one installed beside this Python, that of PATH, or that of
    the checkout which holds this package.

    Raises OhmError where there is none.
    """
    override = os.environ.get(OVERRIDE)
    if override:
        return override
    checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folders = (os.path.dirname(sys.executable), *os.environ.get("PATH", os.defpath).split(os.pathsep),
               os.path.join(checkout, "build", "release", "harness"))
    for folder in folders:
        path = os.path.join(folder, "ohm")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise OhmError("the ohm command is not installed: there is none beside "
                   f"{sys.executable}, and none in PATH; {OVERRIDE} names it")


def completed(arguments: Sequence[str], *, stdin: str = "",
              without: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """`ohm ARGUMENTS`, once it has ended; `without`: variables of the environment that it does not
    get. Raises OhmError where it cannot be run."""
    import subprocess

    path = command_path()
    # This process may be on a virtual GPU itself; the command is not.
    variables = {name: value for name, value in os.environ.items()
                 if name != "LD_PRELOAD" and name not in without}
    try:
        return subprocess.run([path, *arguments], input=stdin, text=True, env=variables,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace")
    except OSError as error:
        raise OhmError(f"{path} cannot be run: {error}") from error


def run(arguments: Sequence[str], *, stdin: str = "", accepted: Sequence[int] = (0,)) -> str:
    """What `ohm ARGUMENTS` prints. Raises OhmError with what it says on an exit code not accepted."""
    ended = completed(arguments, stdin=stdin)
    if ended.returncode not in accepted:
        said = (ended.stderr.strip() or ended.stdout.strip()).replace("ohm: ", "", 1)
        raise OhmError(said or f"ohm {arguments[0]} ended with {ended.returncode}", ended.returncode)
    return ended.stdout


def run_json(arguments: Sequence[str], *, accepted: Sequence[int] = (0,)) -> Any:
    """The JSON that `ohm ARGUMENTS` prints."""
    import json

    return json.loads(run(arguments, accepted=accepted))
