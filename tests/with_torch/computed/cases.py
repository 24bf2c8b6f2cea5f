"""What the cases share: numbers that depend on nothing but a seed, and a loop of training."""
import torch

STEPS = range(50)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def numbers(*shape, seed=0):
    """Normal, made on the CPU."""
    return torch.randn(*shape, generator=generator(seed))


def integers(most, *shape, seed=0):
    return torch.randint(0, most, shape, generator=generator(seed))


def losses(model, batches, loss_of, device, make_optimizer=None):
    """Of one step for each batch (a tuple of tensors)."""
    model = model.to(device)
    make_optimizer = make_optimizer or (lambda parameters: torch.optim.Adam(parameters, 1e-3))
    optimizer = make_optimizer(model.parameters())
    found = []
    for batch in batches:
        optimizer.zero_grad()
        loss = loss_of(model, *(tensor.to(device) for tensor in batch))
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def sums(*tensors):
    """Of absolute values."""
    return [tensor.detach().abs().double().sum().item() if not tensor.is_complex()
            else tensor.detach().abs().sum().item() for tensor in tensors]
