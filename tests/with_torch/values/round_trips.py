"""Values that leave the GPU, as arrays, lists, files, and come back."""
import io
import json
import pickle

import numpy
import torch

from cases import case


@case
def numpy_finds_places(device, decide):
    labels = decide(torch.randint(0, 10, (1000,)))
    places = torch.from_numpy(numpy.nonzero(labels.cpu().numpy() == 3)[0]).to(device)
    return tuple(torch.randn(1000, 256).to(device)[places].shape), places


@case
def array_and_back(device, decide):
    mask = decide(torch.rand(512) < 0.3)
    array = numpy.asarray(mask.cpu())
    again = decide(torch.from_numpy(~array))
    return tuple(torch.randn(512, 512).to(device)[again].shape), array.sum().item()


@case
def saved_and_loaded(device, decide):
    ids = decide(torch.randint(0, 5, (256,)))
    file = io.BytesIO()
    torch.save({"ids": ids}, file)
    file.seek(0)
    again = torch.load(file)["ids"]
    pickled = pickle.loads(pickle.dumps(ids))
    table = torch.randn(256, 512).to(device)
    return tuple(table[again == 2].shape), int((pickled == again).sum())


@case
def pinned_memory(device, decide):
    ids = torch.randint(0, 5, (256,)).pin_memory()
    ids = decide(ids)
    back = torch.empty(256, dtype=torch.long).pin_memory()
    back.copy_(ids, non_blocking=True)
    torch.cuda.synchronize()
    return int((back == 2).sum()), tuple(torch.randn(256, 512).to(device)[ids == 2].shape)


@case
def tensor_of_numbers(device, decide):
    counts = decide(torch.tensor([3, 9, 4]))
    again = decide(torch.tensor([int(counts[1]), *counts.tolist()]))
    return again, tuple(torch.zeros(int(again.sum()), 1024, device=device).shape)


@case
def views_and_conversions(device, decide):
    ids = decide(torch.randint(0, 4, (64, 8)))
    view = ids.view(-1)[3:].view(torch.int32)[::2]
    view[:4] = 9
    halves = ids.half()[:, ::2].t().contiguous()
    table = torch.randn(512, 256).to(device)
    return ids.sum(), halves.max(), tuple(table[ids.flatten() == 9].shape)


@case
def complex_and_double(device, decide):
    angles = decide(torch.linspace(0, 6, 200).double())
    turned = torch.polar(torch.ones_like(angles), angles)
    keep = turned.real > 0
    return tuple(torch.randn(200, 512).to(device)[keep].shape), turned.abs().sum()


@case
def array_of_a_model_output(device):
    scores = (torch.randn(64, 8).to(device) @ torch.randn(8, 1).to(device)).cpu().numpy()  # shape
    places = numpy.nonzero(scores[:, 0] > 0)[0]
    kept = torch.zeros(64, 8, device=device)[torch.from_numpy(places).to(device)]
    return kept.dim()


@case
def list_of_a_model_output(device):
    scores = (torch.randn(64, 8).to(device) @ torch.randn(8, 1).to(device)).flatten().tolist()
    return len([score for score in scores if score > 0]) >= 0  # branch


@case
def host_tensor_of_a_model_output(device):
    scores = (torch.randn(64, 8).to(device) @ torch.randn(8, 1).to(device)).flatten().cpu()
    keep = scores.sort().values > 0
    if keep.any():  # branch
        torch.zeros(64, device=device)
    back = keep.to(device)
    return torch.zeros(64, 8, device=device)[back].dim()  # shape


@case
def saved_model_output(device):
    scores = (torch.randn(64, 8).to(device) @ torch.randn(8, 1).to(device)).flatten()
    file = io.BytesIO()
    torch.save(scores, file)
    file.seek(0)
    again = torch.load(file)
    return torch.zeros(64, 8, device=device)[again > 0].dim()  # shape


@case
def pickled_model_output(device):
    scores = (torch.randn(64, 8).to(device) @ torch.randn(8, 1).to(device)).flatten().cpu()
    again = pickle.loads(pickle.dumps(scores))
    return torch.zeros(64, 8)[again > 0].dim()  # shape


@case
def tensor_of_read_numbers(device):
    scores = (torch.randn(8, 8).to(device) @ torch.randn(8, 1).to(device)).flatten()
    history = []
    for score in scores:
        history.append(score.item())  # shape
    again = torch.tensor(history).to(device)
    print(again.mean().item())
    return torch.zeros(8, 8, device=device)[again > 0].dim()


@case
def numbers_in_a_file(device):
    loss = (torch.randn(8, 8).to(device) @ torch.randn(8, 1).to(device)).mean()
    text = json.dumps({"loss": loss.item(), "step": 3})
    print(text)


@case
def compared_as_a_whole(device, decide):
    labels, again = decide(torch.arange(64)), decide(torch.arange(64))
    rows = 512 if torch.equal(labels, again) else 1
    return tuple(torch.randn(rows, 256).to(device).shape), torch.equal(labels, again + 1)


@case
def array_that_selects(device):
    scores = torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).flatten()
    array = scores.detach().cpu().numpy()  # shape
    keep = (array > 0) & (array < 5)
    return torch.zeros(len(array[keep]) + 1, device=device).dim()


@case
def different_classes(device):
    classes = torch.nn.Linear(8, 4).to(device)(torch.randn(64, 8).to(device)).argmax(1)
    kinds = set(classes.tolist())  # shape
    return torch.zeros(len(kinds), 8, device=device).dim()


@case(result=False)
def names_of_classes(device):
    classes = torch.nn.Linear(8, 4).to(device)(torch.randn(64, 8).to(device)).argmax(1).cpu().numpy()
    print(numpy.array(["a", "b", "c", "d"])[classes][:3], (classes == 1).mean())


def classes_of(device, count=64):
    return torch.nn.Linear(8, 4).to(device)(torch.randn(count, 8).to(device)).argmax(1)


@case
def groups_by_class(device):
    groups = {}
    for place, kind in enumerate(classes_of(device).tolist()):  # branch
        groups.setdefault(kind, []).append(place)
    return len([torch.zeros(len(group), 8, device=device) for group in groups.values()])


@case
def counts_of_classes(device):
    counts = {}
    by_place = [0] * 4
    for kind in classes_of(device):
        counts[kind.item()] = 1  # shape
        by_place[kind.item()] += 1
    print(by_place, len(by_place))
    return torch.zeros(len(counts), 8, device=device).dim()


@case
def loop_over_different_classes(device):
    kinds = set()
    for kind in classes_of(device):
        kinds.add(kind.item())  # branch
    for _ in kinds:
        torch.zeros(8, device=device)


@case
def rounded_by_an_object(device):
    class Rounded:
        def __call__(self, loss):
            return torch.zeros(round(loss) + 1)  # shape

    loss = (torch.randn(8, 8).to(device) @ torch.randn(8, 1).to(device)).abs().mean()
    print(round(loss.item(), 3))
    return [Rounded()][0](loss.item()).dim()


@case
def weights_of_an_actor_on_the_host(device):
    learner, actor = torch.nn.Linear(8, 2).to(device), torch.nn.Linear(8, 2)
    learner(torch.randn(4, 8).to(device)).square().sum().backward()
    torch.optim.SGD(learner.parameters(), 0.1).step()
    for mine, theirs in zip(actor.parameters(), learner.parameters()):
        mine.data.copy_(theirs.data)
    return int((actor(torch.randn(16, 8)).argmax(1) == 1).sum()) >= 0  # branch


@case
def view_made_before_the_copy(device):
    scores = torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).flatten().detach()
    buffer = torch.zeros(3, 64)
    first, second, whole = buffer[0], buffer[1], buffer.view(-1)
    second.copy_(scores)
    return bool(first.sum() > 0), bool(whole[100] > 0)  # branch


@case
def array_made_before_the_copy(device):
    scores = torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).flatten().detach()
    buffer = torch.zeros(64)
    array = buffer.numpy()
    buffer.copy_(scores)  # value
    return int((array > 0).sum())


@case
def array_that_is_filled(device):
    scores = torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).flatten().detach()
    arrays = numpy.zeros((2, 64), dtype=numpy.float32)
    torch.from_numpy(arrays[1]).copy_(scores)  # value
    unread = torch.from_numpy(numpy.zeros(64, dtype=numpy.float32))
    unread.copy_(scores)
    print(unread[0].item())
    return int((arrays > 0).sum())


@case
def array_by_dlpack(device):
    scores = torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).flatten().detach()
    return int((numpy.from_dlpack(scores.cpu()) > 0).sum())  # value
