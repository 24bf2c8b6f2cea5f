"""The network, as far as a sweep tells of it."""
import contextlib
import os
import sys

SOCK_STREAM = 1  # Linux's; the program may do without the module socket


def note_network(folder):
    """Writes the first host beyond this machine that the program asks for into a file "network"."""
    path = os.path.join(folder, "network")

    def on_event(event, arguments):
        if event == "socket.connect":
            connection, address = arguments
            is_sent = connection.type == SOCK_STREAM and isinstance(address, tuple)
            host = address[0] if is_sent else None
        elif event == "socket.getaddrinfo":
            host = arguments[0]
        else:
            return
        if isinstance(host, bytes):
            host = host.decode("ascii", "replace")
        if not host or is_this_machine(host) or os.path.exists(path):
            return
        # An error here would end the program's own call.
        with contextlib.suppress(OSError), open(path, "w") as file:
            file.write(str(host))

    sys.addaudithook(on_event)


def is_this_machine(host):
    return (host in ("localhost", "0.0.0.0", "::", "::1", os.uname().nodename)
            or host.startswith("127."))
