"""What training decides by a loss, and what it only prints of it."""
import copy
import logging
import math
import statistics

import torch
import torch.nn.functional as F

from cases import case


class Trained:
    """A small model, its optimizer and a batch."""

    def __init__(self, device):
        self.model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
        self.model.to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.rows = torch.randn(16, 32).to(device)
        self.labels = torch.randint(0, 10, (16,)).to(device)

    def loss(self):
        return F.cross_entropy(self.model(self.rows), self.labels)

    def step(self):
        loss = self.loss()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


class Bar:
    """As tqdm has it."""

    def __init__(self, steps):
        self.steps = steps
        self.text = {}

    def __iter__(self):
        return iter(self.steps)

    def set_postfix(self, **values):
        self.text = {name: f"{value:.3f}" for name, value in values.items()}


class Writer:
    """As TensorBoard has it."""

    def __init__(self):
        self.rows = []

    def add_scalar(self, name, value, step):
        self.rows.append((name, float(value), step))


class Average:
    """A meter, as in many repositories."""

    def __init__(self):
        self.sum = self.count = 0

    def update(self, value, count=1):
        self.sum += value * count
        self.count += count

    @property
    def mean(self):
        return self.sum / self.count


# ---- only printed ----


@case
def printed_loss(device):
    trained = Trained(device)
    for step in range(3):
        loss = trained.step()
        print(step, loss.item(), f"{loss.item():.4f}", "loss %.3f" % loss.item(), loss)
    logging.info("at the end %f", loss.item())


@case
def running_mean_that_is_printed(device):
    trained = Trained(device)
    total = 0.0
    for step in range(4):
        total += trained.step().item()
        if step % 2 == 1:
            print(f"{step}: {total / 2:.3f}")
            total = 0.0


@case
def history_that_is_printed(device):
    trained = Trained(device)
    history = []
    for _ in range(4):
        history.append(trained.step().item())
    print("mean", sum(history) / len(history), statistics.mean(history), "last", history[-1])


@case
def postfix_of_a_bar(device):
    trained = Trained(device)
    bar = Bar(range(4))
    for _ in bar:
        bar.set_postfix(loss=trained.step().item(), rate=trained.optimizer.param_groups[0]["lr"])


@case
def scalars_of_a_writer(device):
    trained = Trained(device)
    writer = Writer()
    for step in range(4):
        loss = trained.step()
        writer.add_scalar("loss", loss.item(), step)
        writer.add_scalar("perplexity", math.exp(min(loss.item(), 20)), step)


@case
def meters(device):
    trained = Trained(device)
    losses, norms = Average(), Average()
    for _ in range(4):
        losses.update(trained.step().item(), 16)
        norms.update(trained.model[0].weight.norm().item())
    print(f"loss {losses.mean:.3f} norm {norms.mean:.3f}")


@case
def accuracy_that_is_printed(device):
    trained = Trained(device)
    correct = total = 0
    with torch.no_grad():
        for _ in range(2):
            predicted = trained.model(trained.rows).argmax(1)
            correct += (predicted == trained.labels).sum().item()
            total += len(predicted)
    print(f"{correct} of {total}: {100 * correct / total:.1f} %")


@case
def metrics_of_a_function(device):
    trained = Trained(device)

    def evaluate():
        with torch.inference_mode():
            logits = trained.model(trained.rows)
            return {"loss": F.cross_entropy(logits, trained.labels).item(),
                    "accuracy": (logits.argmax(1) == trained.labels).float().mean().item()}

    metrics = evaluate()
    print({name: round(value, 3) for name, value in metrics.items()})
    for name, value in metrics.items():
        print(f"{name:10} {value:.4f}")


@case
def clipped_gradients(device):
    trained = Trained(device)
    for _ in range(2):
        trained.loss().backward()
        norm = torch.nn.utils.clip_grad_norm_(trained.model.parameters(), 1.0)
        trained.optimizer.step()
        trained.optimizer.zero_grad()
    print("norm", norm.item())


@case
def scaled_gradients(device):
    trained = Trained(device)
    scaler = torch.amp.GradScaler(device)
    for _ in range(3):
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = trained.loss()
        trained.optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(trained.optimizer)
        scaler.step(trained.optimizer)
        scaler.update()
    print(loss.item(), scaler.get_scale())


@case
def losses_kept_on_the_gpu(device):
    trained = Trained(device)
    losses = []
    for _ in range(3):
        losses.append(trained.step().detach())
    print("mean", torch.stack(losses).mean().item(), torch.stack(losses).cpu().numpy())


@case
def loss_that_must_be_finite(device):
    trained = Trained(device)
    for _ in range(2):
        loss = trained.step()
        if not math.isfinite(loss.item()):
            raise RuntimeError(f"loss is {loss.item()}")
        if torch.isnan(loss):
            print("skipped")
    return True


@case
def confusion_that_is_printed(device):
    trained = Trained(device)
    predicted = trained.model(trained.rows).argmax(1).cpu().numpy()
    labels = trained.labels.cpu().numpy()
    print("accuracy", (predicted == labels).mean())


# ---- decided ----


@case
def best_checkpoint(device):
    trained = Trained(device)
    best = float("inf")
    for _ in range(3):
        loss = trained.step()
        if loss.item() < best:  # branch
            best = loss.item()  # branch
            kept = copy.deepcopy(trained.model.state_dict())
    return len(kept)


@case
def early_stopping(device):
    trained = Trained(device)
    best, bad = 1e9, 0
    history = []
    for step in range(20):
        value = trained.step().item()  # branch
        history.append(value)
        if value < best - 1e-4:
            best, bad = value, 0
        else:
            bad += 1
        if bad > 3:
            break
    print(history, step)


@case
def loop_until_it_converges(device):
    trained = Trained(device)
    steps, loss = 0, torch.ones(())
    while loss > 0.01 and steps < 5:  # branch
        loss = trained.step()
        steps += 1
    return steps > 0


@case
def plateau_of_the_rate(device):
    trained = Trained(device)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(trained.optimizer, patience=0)
    for _ in range(3):
        loss = trained.step()
        scheduler.step(loss.item())
    return len(trained.optimizer.param_groups)


@case
def accumulation_by_value(device):
    trained = Trained(device)
    for _ in range(4):
        loss = trained.loss()
        loss.backward()
        if trained.model[0].weight.grad.norm() > 0.5:  # branch
            trained.optimizer.step()
            trained.optimizer.zero_grad()


@case
def accumulation_by_tokens(device, decide):
    model = torch.nn.Linear(64, 64).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    tokens = updates = 0
    kept = []
    for lengths in torch.randint(1, 20, (12, 4)):
        lengths = decide(lengths)
        tokens += int(lengths.sum())
        loss = model(torch.randn(int(lengths.sum()), 64).to(device)).square().mean()
        (loss / len(lengths)).backward()
        kept.append(loss)
        if tokens >= 100:
            optimizer.step()
            optimizer.zero_grad()
            tokens, updates, kept = 0, updates + 1, []
    return updates, tokens, len(kept)


@case
def length_of_a_mean(device):
    trained = Trained(device)
    average = Average()
    for _ in range(2):
        average.update(trained.step().item())
    extra = torch.zeros(1 + int(average.mean) % 4, device=device)  # shape
    return extra.dim()


@case
def metric_of_a_function_decides(device):
    trained = Trained(device)
    best = 0.0

    def accuracy():
        return (trained.model(trained.rows).argmax(1) == trained.labels).float().mean().item()  # branch

    for _ in range(2):
        score = accuracy()
        if score > best:
            best = score
            torch.zeros(1 << 20, device=device)
    return True


@case
def skipped_by_a_threshold(device):
    trained = Trained(device)
    losses = F.cross_entropy(trained.model(trained.rows), trained.labels, reduction="none")
    keep = losses > 0.1
    if keep.all():  # branch
        return 0
    losses[keep].sum().backward()  # shape
    return 1


@case(result=False)
def check_that_stops_the_program(device):
    loss = torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).pow(2).mean()
    if not torch.isfinite(loss):
        raise ValueError("the loss is not finite")
