"""Objects with several names: a branch changes one by a variable, and another name tells the size."""
import collections
import contextlib
import functools

import numpy
import torch

from cases import case

SETTINGS = {"rows": 8}


def loss_of(device):
    return torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).square().mean()


def made_of(rows, device):
    return torch.zeros(rows, 64, device=device).dim()


@case
def elements_of_a_list(device):
    def grow(loss):
        for group in own_groups:
            if loss > 0.5:  # shape
                group["rows"] = 64

    own_groups = [{"rows": 8}, {"rows": 8}]
    grow(loss_of(device).item())
    return made_of(own_groups[1]["rows"], device)


@case
def dict_that_a_function_gives(device):
    def settings():
        return SETTINGS

    def grow(loss):
        current = settings()
        if loss > 0.5:  # shape
            current["rows"] = 64

    grow(loss_of(device).item())
    return made_of(SETTINGS["rows"], device)


@case
def item_that_get_gives(device):
    def grow(loss):
        layout = hub_of_layouts.get("layout")
        if loss > 0.5:  # shape
            layout["rows"] = 64

    hub_of_layouts = {"layout": {"rows": 8}}
    grow(loss_of(device).item())
    return made_of(hub_of_layouts["layout"]["rows"], device)


@case
def one_of_two_dicts(device):
    def grow(loss):
        first, _ = left_layout, right_layout
        if loss > 0.5:  # shape
            first["rows"] = 64

    left_layout, right_layout = {"rows": 8}, {"rows": 8}
    grow(loss_of(device).item())
    return made_of(left_layout["rows"], device)


@case
def object_of_a_context(device):
    @contextlib.contextmanager
    def opened():
        yield kept_layout

    def grow(loss):
        with opened() as layout:
            if loss > 0.5:  # shape
                layout["rows"] = 64

    kept_layout = {"rows": 8}
    grow(loss_of(device).item())
    return made_of(kept_layout["rows"], device)


@case
def default_that_is_kept(device):
    def rows_after(loss=None, kept={"rows": 8}):
        if loss is not None and loss > 0.5:  # shape
            kept["rows"] = 64
        return kept["rows"]

    rows_after(loss_of(device).item())
    return made_of(rows_after(), device)


@case
def attributes_as_a_dict(device):
    class Layout:
        pass

    def grow(loss):
        if loss > 0.5:  # branch
            layout.__dict__.update(layout_rows=64)

    layout = Layout()
    layout.layout_rows = 8
    grow(loss_of(device).item())
    return made_of(layout.layout_rows, device)


@case
def dict_that_is_updated(device):
    def judge(state, loss):
        is_high = loss > 0.5  # shape
        state.update({"rows": 64 if is_high else 8})

    class State(dict):
        pass

    own_state = State(rows=8)
    judge(own_state, loss_of(device).item())
    return made_of(own_state["rows"], device)


@case
def array_by_another_name(device):
    def put(place, loss):
        row = own_buffer
        row[place] = loss

    own_buffer = numpy.zeros(4)
    for place in range(4):
        put(place, loss_of(device).item())  # shape
    return made_of(int((own_buffer > 0.5).sum()) + 1, device)


@case
def queue_by_another_name(device):
    def put(loss):
        last = last_losses_of_all
        last.append(loss)

    last_losses_of_all = collections.deque(maxlen=3)
    for _ in range(4):
        put(loss_of(device).item())  # shape
        if len(last_losses_of_all) == 3 and all(loss < 0.5 for loss in last_losses_of_all):
            made_of(64, device)


class Worker:
    def __init__(self, jobs):
        self.jobs_of_the_worker = jobs

    def run(self, device):
        return [torch.zeros(8, device=device).dim() for _ in self.jobs_of_the_worker]


@case
def worker_made_before_its_list_is_filled(device):
    queued = []
    worker = Worker(queued)
    for place in range(4):
        if loss_of(device).item() > 0.2:  # branch
            queued.append(place)
    return worker.run(device)


class Selection(torch.utils.data.Dataset):
    def __init__(self, places):
        self.selected_places = places

    def __len__(self):
        return len(self.selected_places)

    def __getitem__(self, place):
        return self.selected_places[place]


@case
def dataset_made_before_its_list_is_filled(device):
    selected = []
    selection = Selection(selected)
    for place in range(4):
        if loss_of(device).item() > 0.2:  # branch
            selected.append(place)
    return [torch.zeros(8, device=device).dim() for _ in range(len(selection))]


@case
def list_in_a_dict(device):
    waiting = []
    all_lists = {"waiting": waiting}
    for place in range(4):
        if loss_of(device).item() > 0.2:  # branch
            waiting.append(place)
    return [torch.zeros(8, device=device).dim() for _ in all_lists["waiting"]]


@case
def list_that_a_dict_is_given(device):
    losses = [loss_of(device).item() for _ in range(4)]
    pools_by_name = {"easy": [0, 1], "hard": []}
    pools_by_name["hard"] = [place for place, loss in enumerate(losses) if loss > 0.2]  # shape
    return torch.zeros(len(pools_by_name["hard"]) + 1, 8, device=device).dim()


@case
def list_that_is_bound_to_a_function(device):
    def run(places):
        return [torch.zeros(8, device=device).dim() for _ in places]

    bound_places = []
    job = functools.partial(run, bound_places)
    for place in range(4):
        if loss_of(device).item() > 0.2:  # branch
            bound_places.append(place)
    return job()


@case
def list_in_a_dict_in_a_dict(device):
    lists_of_runs = {"train": {"hard": []}}
    for place in range(4):
        if loss_of(device).item() > 0.2:  # shape
            lists_of_runs["train"]["hard"].append(place)
    return torch.zeros(len(lists_of_runs["train"]["hard"]) + 1, 8, device=device).dim()


@case
def other_item_of_a_dict(device):
    low_ones = []
    for place in range(4):
        if loss_of(device).item() < 0.2:
            low_ones.append(place)
    state_of_epoch = {"low": low_ones, "rows": 8}
    print(state_of_epoch["low"])
    return torch.zeros(state_of_epoch["rows"], 8, device=device).dim()


class Filling:
    def __init__(self, rows):
        self.rows_to_fill = rows

    def fill(self, place, loss):
        if loss > 0.2:
            self.rows_to_fill.append(place)


@case
def list_that_an_object_fills(device):
    filled_rows = []
    filling = Filling(filled_rows)
    for place in range(4):
        filling.fill(place, float(loss_of(device).detach().cpu().numpy()))  # branch
    return torch.zeros(len(filled_rows) + 1, 8, device=device).dim()


@case
def list_of_a_lambda(device):
    counted_rows = []
    size = lambda: len(counted_rows)  # noqa: E731
    for place in range(4):
        if loss_of(device).item() > 0.2:  # shape
            counted_rows.append(place)
    return torch.zeros(size() + 1, 8, device=device).dim()


@case
def item_that_moves_in_a_list(device):
    moved_rows = []
    lists_that_move = [moved_rows]
    lists_that_move.insert(0, [1, 2])
    for place in range(4):
        if loss_of(device).item() > 0.2:  # branch
            moved_rows.append(place)
    for _ in lists_that_move[1]:
        torch.zeros(8, device=device)


@case
def other_item_of_a_tuple(device):
    low_places = []
    for place in range(4):
        if loss_of(device).item() < 0.2:
            low_places.append(place)
    pair = low_places, 8
    print(pair[0])
    return torch.zeros(pair[1], 8, device=device).dim()
