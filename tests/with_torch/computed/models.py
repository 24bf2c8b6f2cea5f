"""Small models, trained for STEPS."""
import torch
from torch import nn
from torch.nn import functional as F

from cases import STEPS, generator, integers, losses, numbers, sums


def float16_with_overflow(device):
    torch.manual_seed(0)
    model = nn.Linear(16, 16).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    scaler = torch.amp.GradScaler(device, init_scale=2.0**24, growth_interval=3)
    found = []
    for step in STEPS:
        optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.float16):
            loss = (model(numbers(8, 16, seed=step).to(device)) * 10).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        found += [loss.item(), scaler.get_scale()]
    assert min(found[1::2]) < 2.0**24, "the scale was lowered by an overflow"
    return found


float16_with_overflow.tolerance = 2e-3


def gan(device):
    torch.manual_seed(0)
    maker = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16))
    judge = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.2),
                          nn.utils.spectral_norm(nn.Linear(32, 1)))
    maker, judge = maker.to(device), judge.to(device)
    of_maker = torch.optim.Adam(maker.parameters(), 1e-3, betas=(0.5, 0.9))
    of_judge = torch.optim.RMSprop(judge.parameters(), 1e-3)
    ones, zeros = torch.ones(16, 1, device=device), torch.zeros(16, 1, device=device)
    loss_of, found = F.binary_cross_entropy_with_logits, []
    for step in STEPS:
        real = numbers(16, 16, seed=step).to(device)
        noise = numbers(16, 8, seed=100 + step).to(device)
        of_judge.zero_grad()
        loss = loss_of(judge(real), ones) + loss_of(judge(maker(noise).detach()), zeros)
        loss.backward()
        of_judge.step()
        of_maker.zero_grad()
        loss_of(judge(maker(noise)), ones).backward()
        of_maker.step()
        found.append(loss.item())
    return found


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.GroupNorm(4, 16)
        self.down = nn.Conv2d(16, 32, 3, 2, 1)
        self.time = nn.Linear(1, 32)
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.up = nn.ConvTranspose2d(32, 16, 4, 2, 1)
        self.last = nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, image, time):
        skipped = F.silu(self.norm(self.first(image)))
        low = self.down(skipped) + self.time(time[:, None])[:, :, None, None]
        rows = low.flatten(2).transpose(1, 2)
        low = low + self.attention(rows, rows, rows)[0].transpose(1, 2).view_as(low)
        return self.last(torch.cat([self.up(low), skipped], 1))


def diffusion(device):
    torch.manual_seed(0)

    def loss_of(model, image, time, noise):
        share = time[:, None, None, None]
        return F.mse_loss(model(image * (1 - share).sqrt() + noise * share.sqrt(), time), noise)

    batches = [(numbers(2, 3, 16, 16, seed=step), torch.rand(2, generator=generator(step)),
                numbers(2, 3, 16, 16, seed=100 + step)) for step in STEPS]
    return losses(Denoiser(), batches, loss_of, device)


class GraphNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, nodes, edges):
        made = self.first(nodes)
        received = torch.zeros_like(made).index_add_(0, edges[1], made[edges[0]])
        degree = torch.zeros(len(nodes), device=nodes.device)
        degree.scatter_add_(0, edges[1], torch.ones(edges.shape[1], device=nodes.device))
        received = (received / degree.clamp(min=1)[:, None]).relu()
        most = torch.full_like(made, -9.0).scatter_reduce_(
            0, edges[1][:, None].expand(-1, 8), received[edges[0]], "amax")
        return self.last(received + most)


def graph_network(device):
    torch.manual_seed(0)
    edges = integers(20, 2, 60)
    batches = [(numbers(20, 8, seed=step), edges, integers(3, 20, seed=step)) for step in STEPS]
    return losses(GraphNetwork(), batches,
                  lambda model, nodes, edges, kinds: F.cross_entropy(model(nodes, edges), kinds),
                  device)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm = nn.Embedding(40, 16), nn.LSTM(16, 16, num_layers=2)
        self.tags = nn.Linear(16, 5)

    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.words(tokens), lengths.cpu(), enforce_sorted=False)
        return self.tags(nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0])[0])


def tagged(device):
    torch.manual_seed(0)
    batches = [(integers(40, 12, 4, seed=step), integers(12, 4, seed=step) + 1,
                integers(5, 12, 4, seed=100 + step)) for step in STEPS]

    def loss_of(model, tokens, lengths, tags):
        found = model(tokens, lengths)
        return F.cross_entropy(found.flatten(0, 1), tags[:len(found)].flatten())

    return losses(Tagger(), batches, loss_of, device)


def recurrent(device):
    found = []
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        torch.manual_seed(0)
        model = kind(5, 6, num_layers=2, bidirectional=True).to(device)
        inputs = numbers(7, 3, 5).to(device).requires_grad_()
        loss = model(inputs)[0].pow(2).sum()
        loss.backward()
        packed = nn.utils.rnn.pack_sequence([numbers(4, 5).to(device), numbers(2, 5).to(device)])
        padded = nn.utils.rnn.pad_packed_sequence(model(packed)[0])[0]
        found += [loss.item(), *sums(inputs.grad, padded)]
    for kind in (nn.LSTMCell, nn.GRUCell):
        torch.manual_seed(0)
        cell = kind(5, 6).to(device)
        made = cell(numbers(3, 5).to(device))
        made = made[0] if isinstance(made, tuple) else made
        made.pow(2).sum().backward()
        found += sums(made, cell.weight_hh.grad, cell.weight_ih.grad)
    return found


def optimizers(device):
    found = []
    for name, settings in (("SGD", dict(lr=0.1, momentum=0.9, nesterov=True)),
                           ("Adam", dict(fused=True)), ("Adam", dict(foreach=True, amsgrad=True)),
                           ("AdamW", dict(capturable=True)), ("Adagrad", {}), ("Adadelta", {}),
                           ("NAdam", {}), ("RMSprop", dict(centered=True)), ("LBFGS", {})):
        if device == "cpu":
            settings = {k: v for k, v in settings.items() if k not in ("fused", "capturable")}
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(6, 7), nn.Tanh(), nn.Linear(7, 3)).to(device)
        optimizer = getattr(torch.optim, name)(model.parameters(), **settings)
        for step in range(4):
            inputs = numbers(4, 6, seed=step).to(device)

            def loss_of():
                optimizer.zero_grad()
                loss = model(inputs).pow(2).mean()
                loss.backward()
                return loss

            found.append(optimizer.step(loss_of).item())
    return found


CASES = [float16_with_overflow, gan, diffusion, graph_network, tagged, recurrent, optimizers]
