"""Gradients that the CPU computes within kernels of the dispatcher, for operators of a GPU alone."""
import contextlib


class _Autograd:
    """The dispatcher's keys as they are outside of any operator, on this thread."""

    included = excluded = None


def remember_keys(torch):
    """To be called outside of any operator."""
    _Autograd.included = torch._C._dispatch_tls_local_include_set()
    _Autograd.excluded = torch._C._dispatch_tls_local_exclude_set()


@contextlib.contextmanager
def autograd(torch):
    """Gradients may be computed within a kernel of the dispatcher, where they are switched off."""
    keys = torch._C._ForceDispatchKeyGuard(_Autograd.included, _Autograd.excluded)
    with keys, torch.enable_grad():
        yield


def gradients(torch, function, inputs, results):
    """Of inputs (None: not asked for), given those of what the function returns."""
    with autograd(torch):
        leaves = [None if t is None else t.detach().clone().requires_grad_() for t in inputs]
        outputs = function(*leaves)
        pairs = [(o, g) for o, g in zip(outputs, results) if g is not None and o.requires_grad]
        asked = [leaf for leaf in leaves if leaf is not None]
        found = iter(torch.autograd.grad([o for o, _ in pairs], asked,
                                         [g.to(o.dtype) for o, g in pairs], allow_unused=True))
    return [None if leaf is None else next(found) for leaf in leaves]
