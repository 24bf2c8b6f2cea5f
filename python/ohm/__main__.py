"""`python -m ohm`: the ohm command that was installed with this package."""
import os
import sys
import sysconfig


def main() -> None:
    """Replaces this process with the command; exits with an error where it is missing."""
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", "posix_user")]
    for folder in folders:
        program = os.path.join(folder, "ohm")
        if os.access(program, os.X_OK):
            os.execv(program, [program, *sys.argv[1:]])
    sys.exit(f"ohm: the command is neither in {' nor in '.join(folders)}; install ohm-memory again")


if __name__ == "__main__":
    main()
