#!/usr/bin/env python3
"""Python files of another version of the protocol say so, and leave the program alone.

    python_protocol_test.py FOLDER    # harness/record
"""
import os
import subprocess
import sys


def started(**variables):
    environment = {**os.environ, "PYTHONPATH": sys.argv[1], **variables}
    return subprocess.run([sys.executable, "-c", "print('the program')"], env=environment, text=True,
                          capture_output=True)


def main():
    sys.path.insert(0, sys.argv[1])
    import ohm_protocol

    spoken = str(ohm_protocol.VERSION)
    for version, is_refused in (spoken, False), ("0", True), ("", True):
        ended = started(OHM_PROTOCOL=version)
        assert ended.stdout == "the program\n" and ended.returncode == 0, ended
        assert (f"ohm speaks protocol {version}," in ended.stderr) == is_refused, ended
        assert (ended.stderr == "") != is_refused, ended
    assert ohm_protocol.checked_message(ohm_protocol.message_of({"ends": []}))["ends"] == []
    try:
        ohm_protocol.checked_message({"ends": []})
    except RuntimeError as error:
        assert "ohm speaks protocol None," in str(error), error
    else:
        raise AssertionError("a message without a version is taken")


main()
