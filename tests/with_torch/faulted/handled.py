"""Work on a GPU that tells little of what it does, by the way that the command line names: how it treats
an error is right, or has a bug that `ohm sweep --faults device` finds by the steps that are missing."""
import atexit
import os
import queue
import subprocess
import sys
import threading
import time

import torch

STEPS = 4
STATE = "state.pt"
WAY, FIRST = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0


class Trainer:
    def __init__(self, device="cuda"):
        torch.random.default_generator.manual_seed(0)  # of the CPU: the GPU may be lost
        self.device = device
        self.model = torch.nn.Linear(8, 8).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def step(self, index):
        batch = torch.full((4, 8), float(index + 1)).to(self.device)
        self.optimizer.zero_grad()
        self.model(batch).square().mean().backward()
        self.optimizer.step()
        if self.device == "cuda":
            torch.cuda.synchronize()


def kept_steps():
    return torch.load(STATE)["step"] if os.path.exists(STATE) else 0


def keep(step):
    torch.save({"step": step}, STATE + ".part")
    os.replace(STATE + ".part", STATE)


def loop(trainer, begin=0):
    for index in range(begin, STEPS):
        trainer.step(index)
        yield index + 1


# ---- right ----

def probes_and_stops():
    """Asks whether the GPU is still there, and says that it is not."""
    try:
        list(loop(Trainer()))
    except RuntimeError as error:
        try:
            torch.cuda.synchronize()
        except RuntimeError:
            print(f"the GPU is lost: {error}", file=sys.stderr)
            sys.exit(3)
        raise


def goes_on_without_gpu():
    done = 0
    try:
        for done in loop(Trainer()):
            pass
        return
    except RuntimeError as error:
        print(f"warning: {error}", file=sys.stderr)
    try:
        torch.ones(1, device="cuda").add_(1)
        torch.cuda.synchronize()
    except RuntimeError:
        print("warning: going on without the GPU", file=sys.stderr)
    for done in loop(Trainer("cpu"), done):
        pass


def hands_errors_over():
    """A thread hands its error to the main thread."""
    errors = queue.Queue()

    def work():
        try:
            list(loop(Trainer()))
        except Exception as error:
            errors.put(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if not errors.empty():
        raise errors.get()


def replaces_its_process():
    """A failed attempt is followed by another one in this process's place."""
    try:
        for done in loop(Trainer(), kept_steps()):
            keep(done)
    except RuntimeError:
        if FIRST >= 3:
            raise
        os.execv(sys.executable, [sys.executable, __file__, WAY, str(FIRST + 1)])


def leaves_a_batch_out():
    trainer = Trainer()
    for index in range(STEPS):
        try:
            trainer.step(index)
        except torch.OutOfMemoryError as error:
            print(f"batch {index} is left out: {error}", file=sys.stderr)
            torch.cuda.empty_cache()


def waits_for_each_stream():
    """Cleans up as far as it can, and fails."""
    streams = [torch.cuda.Stream() for _ in range(2)]
    try:
        trainer = Trainer()
        for index in range(STEPS):
            with torch.cuda.stream(streams[index % 2]):
                trainer.step(index)
    except RuntimeError:
        for stream in streams:
            try:
                stream.synchronize()
            except RuntimeError:
                pass
        raise


def overwrites_nothing():
    """Is started again in another folder, by its user."""
    os.mkdir("results")
    list(loop(Trainer()))


# ---- with a bug ----

def leaves_its_lock():
    """Whether it fails or is killed; the next run takes it for another one's."""
    with open("lock", "x"):
        list(loop(Trainer()))
    os.remove("lock")


def loses_a_thread():
    thread = threading.Thread(target=lambda: list(loop(Trainer())))
    thread.start()
    thread.join()


def leaves_quietly():
    try:
        list(loop(Trainer()))
    except RuntimeError:
        os._exit(0)


def says_and_succeeds():
    try:
        list(loop(Trainer()))
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)


def keeps_all_at_exit():
    """Whatever happened, the end is taken for the end of training."""
    atexit.register(keep, STEPS)
    for done in loop(Trainer(), kept_steps()):
        keep(done)


def supervises(first_of_next):
    first = 0
    for _ in range(3):
        worker = subprocess.run([sys.executable, __file__, "as_worker", str(first)])
        if worker.returncode == 0:
            return
        first = first_of_next()
    sys.exit("the worker failed three times")


def as_worker():
    for done in loop(Trainer(), FIRST):
        keep(done)


def goes_on_where_it_was():
    supervises(kept_steps)


def skips_the_failed_step():
    supervises(lambda: kept_steps() + 1)


def steps_without_gradients():
    """Each failed step is taken for one without gradients."""
    trainer = Trainer()
    for index in range(STEPS):
        trainer.optimizer.zero_grad()
        try:
            batch = torch.full((4, 8), float(index + 1)).to("cuda")
            trainer.model(batch).square().mean().backward()
        except RuntimeError as error:
            print(f"warning: {error}", file=sys.stderr)
        trainer.optimizer.step()


def tries_again():
    """With a pause, as for a network."""
    trainer = Trainer()
    for index in range(STEPS):
        for attempt in range(4):
            try:
                trainer.step(index)
                break
            except RuntimeError:
                if attempt == 3:
                    raise
                time.sleep(0.01 * attempt)


globals()[WAY]()
print("finished")
