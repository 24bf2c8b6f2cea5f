"""The folder that a recorder writes to: reachable until the process ends, though the program
changes its user, its root folder or its environment, or closes descriptors that it does not
know."""
import contextlib
import errno
import fcntl
import functools
import os
import resource

from ohm_console import say

# Programs may count on the numbers that their own descriptors have.
LEAST_DESCRIPTORS = (1000, 500, 100)


class RecordFolder:
    def __init__(self, path):
        self.path = path
        self.descriptor, self.identity = None, None

    def open(self):
        """Once, before the program does anything to be unable to; what fails here is tried again by
        path."""
        try:
            first = os.open(self.path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return
        for least in LEAST_DESCRIPTORS:
            try:
                self.descriptor = fcntl.fcntl(first, fcntl.F_DUPFD_CLOEXEC, least)
                break
            except OSError:
                continue
        self.identity = identity_of(first)
        os.close(first)
        self._keep_open()

    def _keep_open(self):
        """Daemons close all descriptors that there may be."""
        close, closerange = os.close, os.closerange

        @functools.wraps(close)
        def close_others(descriptor):
            if descriptor == self.descriptor:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return close(descriptor)

        @functools.wraps(closerange)
        def close_others_of_range(first, end):
            own = self.descriptor
            if own is None or not first <= own < end:
                return closerange(first, end)
            closerange(first, own)
            return closerange(own + 1, end)

        os.close, os.closerange = close_others, close_others_of_range

    def write(self, name, content):
        """The file is there as a whole, or as it was. Where it cannot be written
        NAME.unwritten-ERRNO is there instead, which is empty: a name takes no room on a disk that
        is full."""
        part = name + ".part"
        try:
            with UnlimitedFiles():
                self._write_new(part, content)
            self._rename(part, name)
        except OSError as error:
            self._note(name, part, error)
            raise

    def _note(self, name, part, error):
        if not self._is_there():
            return  # whoever asked for the record has gone
        mark = f"{name}.unwritten-{error.errno or errno.EIO}"
        with contextlib.suppress(OSError):
            self._remove(part)
        with contextlib.suppress(OSError):
            self._write_new(mark, b"")
        say(f"what was recorded cannot be written: {error}")

    def _write_new(self, name, content):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        with open(self._open(name, flags), "wb") as file:
            file.write(content)

    def _open(self, name, flags):
        if self._has_descriptor():
            return os.open(name, flags, 0o600, dir_fd=self.descriptor)
        return os.open(os.path.join(self.path, name), flags, 0o600)

    def _rename(self, old, new):
        if self._has_descriptor():
            os.replace(old, new, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        else:
            os.replace(os.path.join(self.path, old), os.path.join(self.path, new))

    def _remove(self, name):
        if self._has_descriptor():
            os.remove(name, dir_fd=self.descriptor)
        else:
            os.remove(os.path.join(self.path, name))

    def _has_descriptor(self):
        """The program may have closed it, and opened something else."""
        return self.descriptor is not None and identity_of(self.descriptor) == self.identity

    def _is_there(self):
        if self._has_descriptor():
            return os.fstat(self.descriptor).st_nlink > 0
        return os.path.isdir(self.path)


class UnlimitedFiles:
    """While it lives a file may be as large as the process may make it."""

    def __enter__(self):
        self.limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.limits[1], self.limits[1]))

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_FSIZE, self.limits)


def identity_of(descriptor):
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino
