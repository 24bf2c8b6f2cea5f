"""A copy of a process that a bare system call makes, and its files: see Note [Copies at a request]."""
import ctypes
import os
import signal
import stat
import threading

SYS_CLONE = {"x86_64": 56, "aarch64": 220}
PR_SET_PDEATHSIG = 1


def is_quiet(thread):
    """This one, or one of autograd's that waits: it gets no work when backward keeps to a thread."""
    if int(thread) == threading.get_native_id():
        return True
    try:
        with open(f"/proc/self/task/{thread}/stat") as file:
            name, _, rest = file.read().rpartition(") ")
        return "(pt_autograd" in name and rest.startswith("S")
    except OSError:
        return True  # it has ended meanwhile


def bare_fork():
    """Without handlers, and without a signal when the child ends; -1: there is no room for it."""
    # A PyDLL keeps Python's own lock: it is the child's, too.
    call = ctypes.PyDLL(None).syscall
    call.restype = ctypes.c_long
    return call(ctypes.c_long(SYS_CLONE[os.uname().machine]), *[ctypes.c_long(0)] * 5)


def end_with(parent):
    """In a copy: it is killed when the process that made it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before that
        os._exit(1)


def place_in_file(descriptor):
    """-1: the descriptor is not seekable."""
    try:
        return os.lseek(descriptor, 0, os.SEEK_CUR)
    except OSError:
        return -1


def open_files_again():
    """Files at the same places, of this process alone: where it reads and writes is its own."""
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        try:
            mode = os.fstat(descriptor).st_mode
            if descriptor < 3 or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                continue
            flags = os.O_CLOEXEC | descriptor_flags(descriptor)
            again = os.open(f"/proc/self/fd/{descriptor}", flags)
            os.lseek(again, os.lseek(descriptor, 0, os.SEEK_CUR), os.SEEK_SET)
            os.dup2(again, descriptor, os.get_inheritable(descriptor))
            os.close(again)
        except OSError:
            pass  # closed meanwhile, or a file that is gone


def descriptor_flags(descriptor):
    import fcntl

    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    return flags & (os.O_ACCMODE | os.O_APPEND)


def move_to_copy_of_folder(folder):
    import shutil

    shutil.copytree(os.getcwd(), folder, symlinks=True)
    os.chdir(folder)
