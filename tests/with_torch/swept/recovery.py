"""Code that people recover with from running out of memory, and parts of PyTorch that they recover.

    ohm sweep --points all -- python recovery.py ROW

A step that runs out of memory is tried again, once.
"""
import contextlib
import sys

import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)


def model_and_optimizer():
    model = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.Linear(32, 8)).cuda()
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def retried(steps, step, before_retry):
    for number in range(steps):
        try:
            step(number)
            continue
        except torch.OutOfMemoryError:
            pass
        before_retry()
        step(number)


def grad_scaler():
    """scaler.scale, step and update are made again as they stand."""
    model, optimizer = model_and_optimizer()
    scaler = torch.amp.GradScaler("cuda")

    def step(_):
        with torch.autocast("cuda"):
            loss = model(torch.ones(4, 32, device="cuda")).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

    retried(3, step, optimizer.zero_grad)


def grad_scaler_unscale():
    """The gradients are unscaled first, to clip them."""
    model, optimizer = model_and_optimizer()
    scaler = torch.amp.GradScaler("cuda")

    def step(_):
        loss = model(torch.ones(4, 32, device="cuda")).square().mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

    retried(3, step, optimizer.zero_grad)


def clip_grad_norm():
    model, optimizer = model_and_optimizer()

    def step(_):
        model(torch.ones(4, 32, device="cuda")).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    retried(3, step, optimizer.zero_grad)


def checkpointing():
    model, optimizer = model_and_optimizer()

    def step(_):
        x = torch.ones(4, 32, device="cuda", requires_grad=True)
        checkpoint(model, x, use_reentrant=False).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    retried(3, step, optimizer.zero_grad)


def checkpointing_reentrant():
    model, optimizer = model_and_optimizer()

    def step(_):
        x = torch.ones(4, 32, device="cuda", requires_grad=True)
        checkpoint(model, x, use_reentrant=True).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    retried(3, step, optimizer.zero_grad)


def pinned_loader():
    """A thread pins the batches: faults have runs of their own."""
    model, optimizer = model_and_optimizer()
    data = torch.utils.data.DataLoader(torch.ones(8, 32), batch_size=4, num_workers=1,
                                       pin_memory=True)

    def step(batch):
        model(batch.cuda()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    for batch in data:
        try:
            step(batch)
        except torch.OutOfMemoryError:
            optimizer.zero_grad()
            step(batch)


def compiled():
    """Graphs are traced at the first step, and again when that fails."""
    model, optimizer = model_and_optimizer()
    fast = torch.compile(model, backend="aot_eager")

    def step(_):
        fast(torch.ones(4, 32, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    retried(3, step, optimizer.zero_grad)


def halved_batch():
    """The batch is halved, once, and its halves' gradients add up."""
    model, optimizer = model_and_optimizer()
    batch = torch.ones(4, 32, device="cuda")

    def train(parts):
        optimizer.zero_grad()
        for part in batch.chunk(parts):
            (model(part).square().mean() / parts).backward()
        optimizer.step()

    for _ in range(3):
        fits = True
        try:
            train(1)
        except torch.OutOfMemoryError:
            fits = False
        if not fits:
            torch.cuda.empty_cache()
            train(2)


def step_made_twice():
    """The plain SGD has gone half of its way when a momentum buffer does not fit, and goes all of it
    again: no error, no leak."""
    import ohm.sweep

    model, _ = model_and_optimizer()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)

    def step(_):
        optimizer.zero_grad()
        model(torch.ones(4, 32, device="cuda")).square().mean().backward()
        optimizer.step()

    retried(3, step, optimizer.zero_grad)
    ohm.sweep.state(written=[parameter._version for parameter in model.parameters()])


def stopped():
    """Whatever happens, it ends well."""
    model, optimizer = model_and_optimizer()
    try:
        for number in range(3):
            model(torch.ones(4, 32, device="cuda")).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            print("step", number)
    except Exception:
        print("stopped")


def accelerate_finder():
    """That of Hugging Face's accelerate."""
    from accelerate.utils import find_executable_batch_size

    @find_executable_batch_size(starting_batch_size=4)
    def train(size):
        model, optimizer = model_and_optimizer()
        for _ in range(2):
            model(torch.ones(size, 32, device="cuda")).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    train()


def lightning_finder():
    """The batch is scaled by Lightning's Tuner until it does not fit."""
    import lightning
    from lightning.pytorch.tuner import Tuner

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.batch_size = 2
            self.layers = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.Linear(32, 8))

        def training_step(self, rows):
            return self.layers(rows).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

        def train_dataloader(self):
            return torch.utils.data.DataLoader(torch.ones(64, 32), batch_size=self.batch_size)

    trainer = lightning.Trainer(max_epochs=1, logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False)
    module = Module()
    Tuner(trainer).scale_batch_size(module, mode="power", init_val=2, max_trials=3,
                                    steps_per_trial=2)
    trainer.fit(module)


def data_parallel():
    """One process of DistributedDataParallel: of several no fault is judged."""
    import os
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
    with contextlib.closing(_Group(dist)):
        model, _ = model_and_optimizer()
        model = torch.nn.parallel.DistributedDataParallel(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(_):
            model(torch.ones(4, 32, device="cuda")).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

        retried(3, step, optimizer.zero_grad)


class _Group:
    def __init__(self, dist):
        self.dist = dist
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)

    def close(self):
        self.dist.destroy_process_group()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
