"""Numbers the requests for GPU memory that PyTorch makes in this process, makes some of them fail,
and writes down how the program ended.

$OHM_SWEEP is a folder with job.json: what is to be done (ohm_protocol.py). The first process that
initializes CUDA does it, and writes there:

    process.json      its number
    requests.json     where nothing fails: each request, and the places that make them
    outcome-N.json    how the program ended in which fault N of the job was injected
    ends.json         how the copies of this process ended that were made for the faults
    network           the first host beyond this machine that it asked for, if it did

A fault is injected by the process itself (engine "exec"), or by a copy of it that is made at the
request (engine "fork"): see Note [Copies at a request].
"""
import contextlib
import ctypes
import gc
import json
import os
import signal
import sys
import time
import traceback

import ohm_state
from ohm_imports import when_imported
from ohm_network import note_network
from ohm_outcome import NamedValues, described, is_computed
from ohm_process_copy import (
    bare_fork, end_with, is_quiet, move_to_copy_of_folder, open_files_again, place_in_file)
from ohm_protocol import checked_message, message_of
from ohm_requests import follow_requests, keep_to_one_thread
from ohm_sweep_places import Places, innermost_place

# A program in which one request fails so often goes round in circles.
FAILURES_OF_A_CIRCLE = 1000
# Within which a thread that was just started has come to wait.
SECONDS_TO_GET_QUIET = 1

WAIT_ALL = 0x40000000  # __WALL: children that no SIGCHLD tells of


def sweep_when_torch_is_imported(folder):
    note_network(folder)
    sweeper = Sweeper(folder)
    ohm_state.keeper = sweeper.keep_state
    when_imported("torch", sweeper.wait_for_cuda)


class Sweeper:
    def __init__(self, folder):
        self.folder = folder
        self.torch = None
        self.job = {}
        self.sizes = []  # of each request
        self.places = None
        self.place_of = []  # of each request
        self.calls = 0
        self.is_paused = False  # requests that sweeping makes itself are none of the program's
        self.values = NamedValues()
        self.fault = None  # the one that this process has to bear: an entry of the job
        self.printed_before = 0  # bytes of standard output that a copy finds written; -1: not known
        self.is_persistent = False
        self.failures = 0
        self.ooms_before = 0
        self.failed_request = None  # its bytes and its place; None: it was made again
        self.allocated_at_failure = 0
        self.more_when_again = 0  # bytes allocated then, beyond those at the failure
        self.process = None
        self.wanted = {}  # request -> faults, of the engine "fork"
        self.copies = {}  # number of the process -> (fault, when it is overdue)
        self.ends = []
        self.loud_threads = set()  # that have not come to wait
        self.start_time = 0

    # ---- the beginning ----

    def wait_for_cuda(self, torch):
        self.torch = self.values.torch = torch
        if torch.version.cuda is not None:
            torch.cuda._lazy_call(self.start)

    def start(self):
        if not self.is_first_process():
            return
        self.job = checked_message(json.loads(self.read("job.json")))
        self.places = Places(self.torch)
        self.start_time = time.monotonic()
        for number, fault in enumerate(self.job["faults"]):
            self.wanted.setdefault(fault["call"], []).append({**fault, "number": number})
        # A copy has no other thread than the one that asked for memory.
        keep_to_one_thread(self.torch)
        # What is there by now is not looked at again when a copy of this process ends.
        gc.collect()
        gc.freeze()
        self.follow()
        # What is registered last runs first: torch's own handlers are still to come. This one has
        # to see what the program has at its end, before its objects are gone.
        import atexit

        atexit.register(self.on_exit)

    def is_first_process(self):
        """One process of the command is followed; of others the job is told."""
        path = os.path.join(self.folder, "process.json")
        try:
            with open(path, "x") as file:
                json.dump(message_of({"pid": os.getpid(), "arguments": list(sys.argv),
                                      "torch": str(self.torch.__version__)}), file)
        except FileExistsError:
            with open(os.path.join(self.folder, "others"), "a") as file:
                file.write(f"{os.getpid()}\n")
            return False
        self.process = os.getpid()
        return True

    def follow(self):
        follower = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t)(self.on_request)
        self.follower = follower  # it is called as long as the process lives
        follow_requests(self.torch, self.job["level"], follower)

    # ---- requests ----

    def on_request(self, size):
        try:
            return self.decide(size)
        except KeyboardInterrupt:  # nor can this: the process ends by itself, and so do its copies
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
            return 0
        except Exception:  # an error cannot leave the allocator
            self.note_problem(traceback.format_exc())
            return 0

    def decide(self, size):
        if self.is_paused or self.process != os.getpid():
            return 0  # a process that the program has forked
        call = self.calls
        self.calls += 1
        if self.failures:
            self.compare_with_failure(size)
            return self.fail() if self.is_persistent else 0
        if self.job["engine"] == "count":
            self.sizes.append(size)
            self.place_of.append(self.places.index(sys._getframe(1)))
            return 0
        for fault in self.wanted.get(call, ()):
            if self.job["engine"] == "exec" or self.copied(fault):
                return self.bear(fault, size)
        return 0

    def bear(self, fault, size):
        self.fault = fault
        self.is_persistent = fault["persistent"]
        self.ooms_before = self.count("num_ooms")
        self.failed_request = (size, innermost_place())
        self.allocated_at_failure = self.count("allocated_bytes.all.current")
        failed = self.fail()
        self.write_outcome({})  # all that is known of a program that ends by os._exit()
        return failed

    def compare_with_failure(self, size):
        """When the program, which has got the error, makes its request for the second time."""
        if self.failed_request != (size, innermost_place()):
            return
        if self.count("num_ooms") > self.ooms_before:
            more = self.count("allocated_bytes.all.current") - self.allocated_at_failure
            self.more_when_again = max(0, more)
            self.failed_request = None

    def fail(self):
        self.failures += 1
        if self.failures == FAILURES_OF_A_CIRCLE:
            self.write_outcome({"circling": True})
            os._exit(1)
        return 1

    # ---- copies ----

    # Note [Copies at a request]
    # A copy is made by a bare system call: no handler runs, and locks that are held stay held by
    # the thread that will release them. It must be the only one, and there must be no other
    # process that the copy would share pipes and queues with: then the fault is left to a run of
    # its own. No SIGCHLD tells of copies, and wait() of the program's does not see them.

    def copied(self, fault):
        """True in the copy."""
        if not self.can_be_copied():
            return False
        while len(self.copies) >= self.job["jobs"]:
            self.wait_for_copies()
        sys.stdout.flush()
        sys.stderr.flush()
        # Afterwards it moves with what this process prints: the copy has the same file until then.
        self.printed_before = place_in_file(1)
        parent = os.getpid()
        pid = bare_fork()
        if pid == 0:
            self.become_copy(fault, parent)
            return True
        if pid > 0:
            self.copies[pid] = (fault["number"], time.monotonic() + self.job["copy_seconds"])
        return False

    def can_be_copied(self):
        deadline = time.monotonic() + SECONDS_TO_GET_QUIET
        while loud := [thread for thread in os.listdir("/proc/self/task") if not is_quiet(thread)]:
            if time.monotonic() > deadline or self.loud_threads.issuperset(loud):
                self.loud_threads.update(loud)
                return False
            time.sleep(0.001)
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return all(int(pid) in self.copies for pid in file.read().split())

    def become_copy(self, fault, parent):
        end_with(parent)
        self.process = os.getpid()
        self.copies = {}
        output = os.open(os.path.join(self.folder, f"output-{fault['number']}"),
                         os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        errors = os.open(os.devnull, os.O_WRONLY)
        os.dup2(output, 1)
        os.dup2(errors, 2)
        os.close(output)
        os.close(errors)
        if self.job["scratch"]:
            move_to_copy_of_folder(os.path.join(self.folder, f"scratch-{fault['number']}"))
        open_files_again()

    def wait_for_copies(self):
        """Until at least one of them has ended."""
        while self.copies:
            for pid, (number, deadline) in list(self.copies.items()):
                overdue = time.monotonic() > deadline
                if overdue:
                    os.kill(pid, signal.SIGKILL)
                ended, status = os.waitpid(pid, WAIT_ALL | (0 if overdue else os.WNOHANG))
                if ended:
                    del self.copies[pid]
                    self.ends.append({"fault": number, "status": status, "overdue": overdue})
                    return
            time.sleep(0.001)

    # ---- the end ----

    def on_exit(self):
        if self.process != os.getpid():
            return
        if self.fault is not None:
            self.write_outcome(self.outcome())
            self.end_copy()
            return
        while self.copies:
            self.wait_for_copies()
        if self.job["engine"] == "fork":
            self.write("ends.json", {"ends": self.ends})
        if self.job["engine"] == "count":
            self.write("requests.json", {
                "sizes": self.sizes, "places": self.place_of, "rows": self.places.rows,
                "outcome": self.outcome(), "seconds": time.monotonic() - self.start_time,
            })

    def end_copy(self):
        """At once where its exit status is known: an error has left the program."""
        if self.job["engine"] == "fork" and getattr(sys, "last_value", None) is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(1)

    def outcome(self):
        error = getattr(sys, "last_value", None)
        outcome = {"error": described(error, self.places, self.torch) if error is not None else None}
        if error is None:
            gc.collect()
        outcome["ooms"] = self.count("num_ooms") - self.ooms_before
        outcome["left_bytes"] = self.count("allocated_bytes.all.current")
        outcome["peak_bytes"] = self.count("allocated_bytes.all.peak")
        if error is None:
            outcome.update(self.checked())
        return outcome

    def checked(self):
        """What --check comes to, and what the program itself has named: a line for each that was
        computed, and the names of the others."""
        try:
            with self.pausing():
                texts = self.values.with_check(self.job["check"])
        except Exception as error:
            return {"check_error": f"{type(error).__name__}: {error}"}
        not_computed = [name for name, text in texts.items() if not is_computed(text)]
        # The value of --check has no name.
        lines = [(text if name == "--check" else f"{name} = {text}").replace("\n", " ")
                 for name, text in texts.items() if is_computed(text)]
        return {"not_computed": not_computed, **({"checked": "\n".join(lines)} if lines else {})}

    def keep_state(self, name, value):
        with self.pausing():
            self.values.keep(name, value)

    @contextlib.contextmanager
    def pausing(self):
        self.is_paused = True
        try:
            yield
        finally:
            self.is_paused = False

    def count(self, name):
        devices = range(self.torch.cuda.device_count())
        return sum(self.torch.cuda.memory_stats(device).get(name, 0) for device in devices)

    # ---- files ----

    def write_outcome(self, outcome):
        outcome.update(calls=self.calls, failures=self.failures,
                       printed_before=self.printed_before,
                       more_when_again=self.more_when_again)
        self.write(f"outcome-{self.fault['number']}.json", outcome)

    def note_problem(self, text):
        with open(os.path.join(self.folder, "problems"), "a") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return file.read()

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path + ".part", "w") as file:
            json.dump(message_of(content), file)
        os.replace(path + ".part", path)
