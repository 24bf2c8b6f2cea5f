"""The user's own files, told from those of libraries, by the rule of reports/text/user_files.h:
those in the repository that the program was started in, or in the folder of its script."""
import os
import sys
import sysconfig

LIBRARY, ELSEWHERE, OWN = range(3)
OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
PACKAGES = ("site-packages/", "dist-packages/")
INSTALLED = (*PACKAGES, "lib/python")
# As reports/history/user_frames.cpp reads it.
NOTE = "ohm user files in "


def start_folder():
    """Of this process; empty: it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def user_folders(start, script):
    """The repositories of the folder that the program was started in, and of its script, or these
    folders themselves; as they are spelled, and without symbolic links."""
    folders = [start] if start else []
    beside = script_folder(start, script)
    if beside and not is_installed(beside):
        folders.append(beside)
    roots = [repository_of(folder) or folder for folder in folders]
    return list(dict.fromkeys(
        path for root in roots for path in (root, os.path.realpath(root))))


def script_folder(start, script):
    if not script or script.startswith("-") or not os.path.exists(os.path.join(start, script)):
        return ""
    folder = os.path.dirname(os.path.join(start, script))
    if os.pardir in folder.split(os.sep):  # the folders above are others than those of its spelling
        folder = os.path.realpath(folder)
    # Commands that an environment installs: pytest, torchrun.
    return "" if folder in (sysconfig.get_path("scripts"), "/usr/bin", "/usr/local/bin") else folder


def repository_of(folder):
    """The folder that holds .git, which is a file in other working trees of a repository."""
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def is_installed(path):
    return any(part in path + os.sep for part in INSTALLED)


class UserFiles:
    def __init__(self, folders):
        self.folders = [folder.rstrip(os.sep) + os.sep for folder in folders]
        self.known = {}  # path -> its ownership

    def ownership(self, path):
        if path not in self.known:
            self.known[path] = self._ownership(path)
        return self.known[path]

    def _ownership(self, path):
        if path.startswith(OWN_FOLDER):
            return LIBRARY
        if path.startswith("<ipython-input") or path == "<stdin>" or "/ipykernel_" in path:
            return OWN
        for folder in self.folders:
            if path.startswith(folder):
                return LIBRARY if is_installed(path[len(folder):]) else OWN
        if path == "<string>":
            return ELSEWHERE  # python -c, or what a library has generated
        if path.startswith("<") or is_installed(path) or "/torch/" in path:
            return LIBRARY
        return ELSEWHERE if self.folders and os.path.isabs(path) else OWN

    def is_program(self, path):
        """Whether a file is no library's, nor the recorder's."""
        return bool(path) and self.ownership(path) != LIBRARY

    def named(self, frames, file_of):
        """The frame that a report names, of a stack that has the innermost first: the innermost in
        the user's folders, else that which is no library's; None: all are libraries'."""
        for least in (OWN, ELSEWHERE):
            for frame in frames:
                if self.ownership(file_of(frame)) >= least:
                    return frame
        return None


class StartedIn:
    """Of this process, as it was when Python started: programs go to other folders."""

    def __init__(self):
        self.folder = start_folder()
        self.known = None  # found once: the program may change its root folder

    def folders(self):
        if self.known is None:
            self.known = user_folders(self.folder, (getattr(sys, "argv", None) or [""])[0])
        return self.known

    def files(self):
        return UserFiles(self.folders())


def note_folders(snapshot, folders):
    """For readers of the snapshot."""
    first = min((trace[0]["time_us"] for trace in snapshot["device_traces"] if trace), default=0)
    snapshot.setdefault("external_annotations", []).extend(
        {"stage": "START", "name": NOTE + folder, "device": 0, "time_us": first}
        for folder in folders)
