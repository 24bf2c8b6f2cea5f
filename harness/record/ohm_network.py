"""The network, as far as a sweep tells of it."""
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
        if host and not is_this_machine(host) and not os.path.exists(path):
            with open(path, "w") as file:
                file.write(str(host))

    sys.addaudithook(on_event)


def is_this_machine(host):
    return (host in ("localhost", "0.0.0.0", "::", "::1", os.uname().nodename)
            or host.startswith("127."))
