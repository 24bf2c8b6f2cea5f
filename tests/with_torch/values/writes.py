"""Known memory that is written with what is unknown, by every way there is."""
import torch

from cases import case


def unknown(device, count=8):
    return torch.randn(count, 4).to(device) @ torch.randn(4, device="cpu").to(device)


@case
def view_made_before_the_fill(device):
    numbers = torch.empty(8, device=device)
    view = numbers[2:6]
    numbers.zero_()
    view.add_(unknown(device, 4))
    return bool(numbers[3] > 0)  # branch


@case
def other_view_of_unknown_memory(device):
    numbers = unknown(device)
    first, second = numbers[:4], numbers[2:]
    first.fill_(1.0)
    second.mul_(3)
    return bool(numbers[3] > 0)  # branch


@case
def data_of_a_parameter(device):
    layer = torch.nn.Linear(4, 4).to(device)
    layer.bias.data.zero_()
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    layer(torch.randn(8, 4).to(device)).square().sum().backward()
    optimizer.step()
    return bool(layer.bias[0] > 0)  # branch


@case
def parameter_that_was_zero(device):
    layer = torch.nn.Linear(4, 4).to(device)
    torch.nn.init.zeros_(layer.bias)
    optimizer = torch.optim.Adam(layer.parameters(), 0.1)
    layer(torch.randn(8, 4).to(device)).square().sum().backward()
    optimizer.step()
    return bool((layer.bias > 0).any())  # branch


@case
def detached_alias(device):
    numbers = torch.zeros(8, device=device)
    numbers.detach().copy_(unknown(device))
    return bool(numbers.sum() > 0)  # branch


@case
def set_to_a_storage(device):
    numbers = torch.zeros(8, device=device)
    other = torch.empty(0, device=device)
    other.set_(numbers.untyped_storage(), 0, (8,))
    other.add_(unknown(device))
    return bool(numbers[0] > 0)  # branch


@case
def shared_by_dlpack(device):
    numbers = torch.zeros(8, device=device)
    other = torch.from_dlpack(numbers)
    other.add_(unknown(device))
    return bool(numbers[0] > 0)  # branch


@case
def out_of_a_product(device):
    numbers = torch.zeros(8, device=device)
    torch.mv(torch.randn(8, 4).to(device), torch.randn(4).to(device), out=numbers)
    return bool(numbers[0] > 0)  # branch


@case
def out_at_a_view(device):
    numbers = torch.zeros(8, device=device)
    torch.mv(torch.randn(4, 4).to(device), torch.randn(4).to(device), out=numbers[2:6])
    known = numbers[:2].sum().item()
    return known, bool(numbers[3] > 0)  # branch


@case
def drawn_in_place(device):
    numbers = torch.zeros(8, device=device)
    numbers.uniform_()
    return bool(numbers[0] > 0.5)  # branch


@case
def swapped_data(device):
    numbers = torch.zeros(8, device=device)
    numbers.data = unknown(device)
    return bool(numbers[0] > 0)  # branch


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context, numbers, change):
        numbers.add_(change)
        context.mark_dirty(numbers)
        return numbers

    @staticmethod
    def backward(context, gradient):
        return gradient, gradient


@case
def custom_function_in_place(device):
    numbers = torch.zeros(8, device=device)
    Doubled.apply(numbers, unknown(device).requires_grad_())
    return bool(numbers[0] > 0)  # branch


@case
def indices_that_are_unknown(device):
    counts = torch.zeros(8, device=device)
    places = unknown(device).argsort()
    counts[places[:2]] = 1
    counts.index_add_(0, places, torch.ones(8, device=device))
    return bool(counts[0] > 1)  # branch


@case
def many_tensors_at_once(device):
    numbers = [torch.zeros(8, device=device) for _ in range(3)]
    torch._foreach_add_(numbers, [torch.ones(8, device=device), unknown(device), unknown(device)])
    return bool(numbers[1][0] > 0)  # branch


@case
def storage_is_written(device):
    numbers = torch.zeros(8, device=device)
    numbers.untyped_storage().copy_(unknown(device).untyped_storage())
    return bool(numbers[0] > 0)  # branch


@case(result=False)
def storage_is_resized(device):
    numbers = torch.ones(8, device=device)
    numbers.untyped_storage().resize_(0)
    numbers.untyped_storage().resize_(32)
    return bool(numbers[0] > 0)  # branch


@case(result=False)
def memory_that_is_used_again(device):
    numbers = torch.ones(1 << 20, dtype=torch.int8, device=device)
    del numbers
    other = torch.empty(1 << 20, dtype=torch.int8, device=device)
    return bool(other[0] > 0)  # branch


@case(result=False)
def graph_that_is_replayed(device):
    if device == "cpu":
        return
    weights = torch.randn(8, 8).to(device)
    given = torch.zeros(8, device=device)
    counter = torch.zeros((), dtype=torch.long, device=device)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = (weights @ given) * 2
        flags = given > 0
        counter += 1
    given.copy_(torch.ones(8))
    counter.zero_()
    graph.replay()
    print(bool(made[0] > 0))
    return (given > 0).sum().item(), bool(counter > 0), int(flags.sum())  # branch


@case
def gradient_that_accumulates(device):
    weight = torch.zeros(8, device=device, requires_grad=True)
    weight.grad = torch.zeros(8, device=device)
    (weight * unknown(device)).sum().backward()
    return bool(weight.grad[0] > 0)  # branch


@case
def buffers_of_batch_norm(device):
    layer = torch.nn.BatchNorm1d(4).to(device)
    layer(torch.randn(16, 4).to(device) @ torch.randn(4, 4).to(device))
    steps = layer.num_batches_tracked.item()
    return steps, bool(layer.running_mean[0] > 0)  # branch


@case
def average_of_weights(device):
    layer = torch.nn.Linear(4, 4).to(device)
    average = torch.optim.swa_utils.AveragedModel(layer)
    layer.weight.data.mul_(0.5)
    average.update_parameters(layer)
    average.update_parameters(layer)
    return int(average.n_averaged)


@case
def vectorized_and_differentiated(device):
    def power(x, known):
        return (x * known).sum()

    known = torch.arange(8.0, device=device)
    weights = unknown(device).expand(3, 8)
    mapped = torch.func.vmap(power, (0, None))(weights, known)
    made = torch.func.grad(power)(known, known)
    rows = torch.func.vmap(lambda row: row.cumsum(0))(torch.ones(4, 3, dtype=torch.long, device=device))
    return made, rows.max(), bool(mapped[0] > 0)  # branch
