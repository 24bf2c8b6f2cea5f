"""What a sweep of faults learns from the Python processes of a command: where they make calls of CUDA,
their steps, and how each of them ends.

$OHM_WATCH is a folder with job.json: what is to be done (ohm_protocol.py, "watch"). Each process
writes there:

    places-PID     a line of JSON for each place that makes calls, by numbers from 0
    steps-PID      a line for each step that is complete: its kind, the rank, which restart, and how
                   many calls of CUDA had failed since the injected failure
    ended-PID.json how it ended
    lost           which process was lost on purpose
    network        the first host beyond this machine that it asked for, if it did

A step is one of an optimizer or, in a job that has none, a collective.
"""
import atexit
import ctypes
import functools
import importlib
import json
import os
import signal
import struct
import sys
import time

import ohm_state
from ohm_imports import when_imported
from ohm_network import note_network
from ohm_outcome import NamedValues, described, is_computed, is_own_mistake
from ohm_protocol import checked_message, message_of
from ohm_sweep_places import Places

COLLECTIVES = ("all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor",
               "reduce_scatter_tensor", "all_to_all_single", "barrier")


def watch(folder):
    note_network(folder)
    watcher = Watcher(folder)
    ohm_state.keeper = watcher.values.keep
    when_imported("torch", watcher.on_torch)


class Watcher:
    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "job.json")) as file:
            self.job = checked_message(json.load(file))
        self.process = os.getpid()
        self.torch = None
        self.places = None
        self.values = NamedValues()
        self.uses_cuda = False
        self.known_rank = number_in("RANK", -1)
        self.steps = {"step": 0, "collective": 0}  # complete ones
        atexit.register(self.on_exit)

    def on_torch(self, torch):
        self.torch = self.values.torch = torch
        self.places = Places(torch)
        if torch.version.cuda is not None:
            torch.cuda._lazy_call(self.on_cuda)
        hooks = importlib.import_module("torch.optim.optimizer")
        hooks.register_optimizer_step_pre_hook(lambda *_: self.on_begin("step"))
        hooks.register_optimizer_step_post_hook(lambda *_: self.on_end("step"))
        if torch.distributed.is_available():
            self.follow_collectives(torch.distributed)
        # What is registered last runs first: it sees what the program has at its end.
        atexit.unregister(self.on_exit)
        atexit.register(self.on_exit)

    def on_cuda(self):
        self.uses_cuda = True
        if self.job["places"]:
            # It is called as long as the process lives.
            self.follower = ctypes.CFUNCTYPE(ctypes.c_int)(self.place)
            ctypes.CDLL(None).ohm_follow_calls(self.follower)

    # ---- places ----

    def place(self):
        try:
            known = len(self.places.rows)
            index = self.places.index(sys._getframe(1))
            if len(self.places.rows) > known:
                self.append("places", json.dumps(self.places.rows[index]))
            return index
        except Exception:  # nothing can leave a call
            return -1

    # ---- steps ----

    def follow_collectives(self, distributed):
        for name in COLLECTIVES:
            function = getattr(distributed, name, None)
            if function is not None:
                setattr(distributed, name, self.followed(function))

    def followed(self, function):
        @functools.wraps(function)
        def call(*arguments, **named):
            self.on_begin("collective")
            result = function(*arguments, **named)
            self.on_end("collective")
            return result

        return call

    def on_begin(self, kind):
        try:
            if self.is_lost_at(kind) and self.is_first_to_be_lost():
                os.kill(os.getpid(), signal.SIGKILL)
        except Exception:  # nothing can leave a step
            pass

    def on_end(self, kind):
        try:
            self.append("steps", f"{kind} {self.rank()} {restarts()} {self.failed_calls()}")
        except Exception:
            pass
        self.steps[kind] += 1

    def failed_calls(self):
        """Since the injected failure (FaultTrace in fault_trace.h)."""
        try:
            with open(os.path.join(self.folder, "fault"), "rb") as file:
                _, _, _, again, later_work, _ = struct.unpack("6i", file.read(24))
            return again + later_work
        except (OSError, struct.error):
            return 0

    def is_lost_at(self, kind):
        lost = self.job.get("lose")
        return (lost and lost["kind"] == kind and lost["step"] == self.steps[kind]
                and lost["rank"] == self.rank())

    def is_first_to_be_lost(self):
        try:
            with open(os.path.join(self.folder, "lost"), "x") as file:
                file.write(str(os.getpid()))
            return True
        except FileExistsError:
            return False

    def rank(self):
        """-1: the process is none of several."""
        distributed = self.torch.distributed if self.torch else None
        if distributed and distributed.is_available() and distributed.is_initialized():
            self.known_rank = distributed.get_rank()
        return self.known_rank

    # ---- the end ----

    def on_exit(self):
        if self.process != os.getpid():
            return
        error = getattr(sys, "last_value", None)
        end = {"pid": self.process, "rank": self.rank(), "restarts": restarts(),
               "uses_cuda": self.uses_cuda, "time": time.monotonic(), "error": None,
               "own_mistake": False}
        if error is not None and self.places is not None:
            end["error"] = described(error, self.places, self.torch)
            end["own_mistake"] = is_own_mistake(error)
        if error is None:
            end.update(self.checked())
        path = os.path.join(self.folder, f"ended-{self.process}.json")
        with open(path + ".part", "w") as file:
            json.dump(message_of(end), file)
        os.replace(path + ".part", path)

    def checked(self):
        has_result = self.uses_cuda or self.known_rank >= 0  # a launcher has none
        try:
            texts = self.values.with_check(self.job["check"] if has_result else "")
        except Exception as error:
            return {"check_error": f"{type(error).__name__}: {error}"}
        return {"values": [[name, text.replace("\n", " ")] for name, text in texts.items()
                           if is_computed(text)],
                "not_computed": [name for name, text in texts.items() if not is_computed(text)]}

    def append(self, name, line):
        with open(os.path.join(self.folder, f"{name}-{os.getpid()}"), "a") as file:
            file.write(line + "\n")


def restarts():
    return number_in("TORCHELASTIC_RESTART_COUNT", 0)


def number_in(variable, otherwise):
    try:
        return int(os.environ.get(variable, otherwise))
    except ValueError:
        return otherwise
