"""What these files say to whoever runs the program."""
import contextlib
import sys


def say(text):
    """On standard error; nowhere in a program that has closed it, as daemons do."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"ohm: {text}\n")
