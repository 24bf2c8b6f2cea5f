"""Gradients, which threads of autograd compute.

A backward pass returns while its thread still lets go of what it has computed, a little later where
Python knows of it. Memory is to be free where it is free on a card, and in each run: the pass ends with
another one, which is empty, which that thread does when it is done with all else, and which allocates
nothing."""
import contextlib


class Backward:
    """Of KnownValues."""

    def __init__(self, torch, known):
        self.torch = torch
        self.known = known
        self.empty = {}  # device -> (input, output, gradient) without an element
        self.kept = None  # result of the last empty pass: its thread must not release it while Python ends

    def follow(self, replace):
        """replace(home, name, call): call(function, arguments, named) in place of home.name."""
        for home in (self.torch.autograd, self.torch.autograd.graph):
            replace(home, "_engine_run_backward", self._run)

    def _run(self, function, arguments, named):
        result = function(*arguments, **named)
        devices = {output.device for output in arguments[0] if getattr(output, "is_cuda", False)}
        if not self.known.is_capturing() and not self.torch._C._len_torch_dispatch_stack():
            for device in devices:
                with contextlib.suppress(RuntimeError):  # of transforms, which take no tensor of ours
                    self._wait(device)
        return result

    def _wait(self, device):
        if device not in self.empty:
            with self.torch.enable_grad(), self.torch.inference_mode(False):
                leaf = self.torch.empty(0, device=device, requires_grad=True)
                self.empty[device] = leaf, leaf.view(0), self.torch.empty(0, device=device)
        leaf, output, gradient = self.empty[device]
        run = self.torch.autograd.Variable._execution_engine.run_backward
        self.kept = run((output,), (gradient,), True, False, (leaf,), True, accumulate_grad=False)
