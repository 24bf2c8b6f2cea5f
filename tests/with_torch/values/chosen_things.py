"""What an unknown index, key or order chooses of lists, modules and mappings."""
import bisect
import collections
import contextlib
import heapq
import operator

import torch

from cases import case


def scores(device, count=4):
    return torch.randn(8).to(device) @ torch.randn(8, count).to(device)


class Arm:
    def __init__(self, size, device):
        self.size, self.device = size, device

    def pull(self):
        self.kept = torch.zeros(self.size, device=self.device)


def arms_of(device):
    return [Arm(size, device) for size in (8, 16, 32, 64)]


@case
def method_of_a_chosen_object(device):
    arms_of(device)[scores(device).argmax().item()].pull()  # branch


@case
def size_of_a_chosen_object(device):
    arm = arms_of(device)[scores(device).argmax().item()]  # shape
    return torch.zeros(arm.size, device=device).dim()


@case
def copy_of_a_chosen_batch(device):
    batches = [torch.randn(size, 8) for size in (4, 40, 400, 8)]
    return batches[scores(device).argmax().item()].to(device).dim()  # shape


@case
def length_of_a_chosen_text(device):
    texts = ["a", "bb", "ccc", "dddd"]
    best = texts[scores(device).argmax().item()]  # shape
    return torch.zeros(len(best), device=device).dim()


@case
def step_of_a_chosen_optimizer(device):
    weights = [torch.ones(size, device=device, requires_grad=True) for size in (4, 8, 16, 32)]
    optimizers = [torch.optim.Adam([weight]) for weight in weights]
    sum(weight.sum() for weight in weights).backward()
    optimizers[scores(device).argmax().item()].step()  # branch


@case
def largest_group(device):
    groups = collections.defaultdict(list)
    labels = (torch.randn(20, 8).to(device) @ torch.randn(8, 4).to(device)).argmax(1)
    for place, label in enumerate(labels.tolist()):  # shape
        groups[label].append(place)
    largest = max(groups.values(), key=len)
    return torch.randn(20, 8).to(device)[largest].dim()


@case
def deleted_element(device):
    kept = [torch.zeros(size, device=device) for size in (8, 16, 32, 64)]
    del kept[scores(device).argmax().item()]  # branch


@case
def popped_element(device):
    kept = {index: torch.zeros(8 * index, device=device) for index in range(4)}
    kept.pop(scores(device).argmax().item(), None)  # branch


@case
def slot_that_is_made_once(device):
    slots = [None] * 4
    index = scores(device).argmax().item()  # branch
    if slots[index] is None:
        slots[index] = torch.zeros(8, device=device)


@case
def table_of_a_parameter(device):
    def put(table, key):
        table[key] = torch.zeros(8, device=device)

    put(collections.OrderedDict(), scores(device).argmax().item())  # branch


@case
def sorted_by_losses(device):
    arms = arms_of(device)
    for arm in arms:
        arm.loss = scores(device).sum().item()  # shape
    arms.sort(key=lambda arm: arm.loss)
    return torch.zeros(arms[0].size, device=device).dim()


@case
def sorted_by_its_own_order(device):
    class Ordered(Arm):
        def __lt__(self, other):
            return self.loss < other.loss

    arms = [Ordered(size, device) for size in (8, 16, 32)]
    for arm in arms:
        arm.loss = -scores(device).sum().item()  # shape
    arms.sort()
    return torch.zeros(arms[0].size, device=device).dim()


@case
def heap_of_losses(device):
    best = []
    for size in (8, 16, 32):
        heapq.heappush(best, (scores(device).sum().item(), size))  # branch
    return torch.zeros(best[0][1], device=device).dim()


@case
def list_that_is_kept_sorted(device):
    best = []
    for size in (8, 16, 32):
        bisect.insort(best, (scores(device).sum().item(), size))  # branch
    return torch.zeros(best[0][1], device=device).dim()


@case
def median_of_sorted_losses(device):
    found = [scores(device).sum().item() for _ in range(3)]
    found.sort()
    print(f"median {found[1]:.3f}")


@case
def keys_that_are_counted(device):
    seen, counts = set(), collections.Counter()
    labels = (torch.randn(20, 8).to(device) @ torch.randn(8, 4).to(device)).argmax(1)
    seen.update(labels.tolist())  # shape
    counts.update(labels.tolist())  # branch
    for label in counts:
        torch.zeros(8, device=device)
    return torch.zeros(len(seen), device=device).dim()


@case
def best_weights(device):
    layer, best = torch.nn.Linear(8, 8).to(device), {}
    loss = layer(torch.randn(4, 8).to(device)).square().mean().item()  # branch
    if loss > 0.01:
        best.update({name: value.clone() for name, value in layer.state_dict().items()})


@case
def print_that_computes(device):
    layer, rows = torch.nn.Linear(8, 8).to(device), torch.randn(64, 8).to(device)
    if layer(rows[:4]).square().mean() > 0.01:  # branch
        print(layer(rows).std().item())


class Diverged(RuntimeError):
    pass


@case
def error_that_the_caller_handles(device):
    def checked(loss):
        if loss > 0.01:  # branch
            raise Diverged("the loss is too high")

    with contextlib.suppress(Diverged):
        checked(scores(device).square().sum().item())
        torch.zeros(8, device=device)


@case
def attributes_by_reflection(device):
    class Options:
        pass

    options = Options()
    options.kept_rows = (scores(device) > 0).sum().item()  # value
    return torch.zeros(vars(options)["kept_rows"], device=device).dim()


@case
def name_in_a_namespace(device):
    globals()["KEPT_ROWS"] = scores(device).argmax().item()  # value
    return torch.zeros(globals()["KEPT_ROWS"], 8, device=device).dim()


@case
def numbers_that_are_added_by_name(device):
    class Tracker:
        def __init__(self):
            self.rows = []

        def add(self, **values):
            self.rows.append(values)

    tracker = Tracker()
    for _ in range(3):
        tracker.add(loss=scores(device).mean().item())
    print(sum(row["loss"] for row in tracker.rows) / len(tracker.rows))


@case
def best_of_several(device):
    batches = [torch.randn(size, 8) for size in (4, 40, 400)]
    found = [(scores(device).mean().item(), batch) for batch in batches]
    return max(found, key=operator.itemgetter(0))[1].to(device).dim()  # branch


@case
def largest_of_a_heap(device):
    found = [(scores(device).mean().item(), size) for size in (4, 40, 400)]
    return torch.zeros(heapq.nlargest(1, found)[0][1], device=device).dim()  # shape


@case
def size_of_keywords(device):
    def make(**options):
        return torch.zeros(options["rows"], 8, device=device)

    return make(rows=scores(device).argmax().item()).dim()  # shape


@case
def flag_that_another_function_calls_a_list(device):
    def places():
        flagged = []
        flagged.append(1)
        return flagged

    flagged = bool(scores(device).square().mean() > 0.2)  # branch
    if flagged:
        torch.zeros(8, device=device)
    return len(places())


@case
def item_that_was_a_list(device):
    state_of_run = {"finished": [], "round": 1}
    state_of_run["finished"] = (scores(device).square().mean() > 0.2).item()  # branch
    if state_of_run["finished"]:
        torch.zeros(8, device=device)


@case
def places_that_are_taken(device):
    taken = [None] * 4
    for place in range(4):
        if scores(device).square().mean().item() > 0.2:  # branch
            taken[place] = place
    return [torch.zeros(8, device=device).dim() for place in taken if place is not None]


@case
def places_of_an_object_that_are_taken(device):
    class Places:
        def __init__(self):
            self.taken_places = [None] * 4

        def take(self, place, loss):
            if loss > 0.2:  # branch
                self.taken_places[place] = place

    places = Places()
    for place in range(4):
        places.take(place, scores(device).square().mean().item())
    for place in places.taken_places:
        if place is not None:
            torch.zeros(8, device=device)


@case
def places_whose_number_is_known(device):
    slots_of_four = [None] * 4
    for place in range(4):
        if scores(device).square().mean().item() > 0.2:
            slots_of_four[place] = place
    print(slots_of_four)
    return torch.zeros(len(slots_of_four), 8, device=device).dim()


@case
def place_that_is_given_up(device):
    holders = {"first": 1, "second": 2}
    if scores(device).square().mean().item() > 0.2:  # branch
        holders["first"] = None
    if holders["first"] is not None:
        torch.zeros(8, device=device)


@case
def list_of_as_many_ones(device):
    number_of_ones = 1
    if scores(device).square().mean().item() > 0.2:  # branch
        number_of_ones = 0
    ones = [1] * number_of_ones
    if ones:
        torch.zeros(8, device=device)


@case
def window_of_losses(device):
    recent_losses = []
    for _ in range(4):
        recent_losses.append(float(scores(device).square().mean().cpu().numpy()))
        recent_losses = recent_losses[-3:]
        if recent_losses:
            print(sum(recent_losses) / len(recent_losses))
            torch.zeros(8, device=device)
        if not recent_losses:
            torch.zeros(16, device=device)
