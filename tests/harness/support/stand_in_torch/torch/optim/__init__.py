from . import optimizer


class Optimizer:
    """Keeps a state of a parameter's size for each, from the first step on."""

    def __init__(self, parameters):
        self.param_groups = [{"params": list(parameters)}]
        self.state = {}

    def step(self):
        import torch

        for hook in optimizer.before:
            hook(self, (), {})
        for parameter in self.param_groups[0]["params"]:
            if parameter not in self.state:
                self.state[parameter] = {"momentum": torch.empty(parameter.size)}
        for hook in optimizer.after:
            hook(self, (), {})
