"""A handler of logging that ends the training."""
import logging

import torch

from cases import case


class Abort(Exception):
    pass


class Alarm(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, record):
        self.count += 1
        if self.count >= 2:
            raise Abort(record.getMessage())


@case
def training_that_a_handler_ends(device):
    model, log = torch.nn.Linear(64, 128).to(device), logging.getLogger("alarmed")
    log.propagate = False
    log.addHandler(Alarm())
    for _ in range(4):
        loss = model(torch.randn(8, 64).to(device)).pow(2).mean().item()  # branch
        try:
            if loss > 0.001:
                log.warning("%.4f", loss)
        except Abort:
            break


@case
def function_named_like_one_that_logs(device):
    def tell(text):
        if text == "low":
            torch.zeros(8, device=device)

    def run_with(log):
        score = torch.nn.Linear(8, 1).to(device)(torch.randn(8).to(device)).item()
        kind = "low" if score < 0.5 else "high"  # branch
        log(kind)

    run_with(tell)
