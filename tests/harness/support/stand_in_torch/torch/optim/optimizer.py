before, after = [], []
register_optimizer_step_pre_hook = before.append
register_optimizer_step_post_hook = after.append


class Optimizer:
    """Keeps a state of a parameter's size for each, from the first step on."""

    def __init__(self, parameters):
        self.param_groups = [{"params": list(parameters)}]
        self.state = {}

    def step(self):
        import torch

        for hook in before:
            hook(self, (), {})
        for parameter in self.param_groups[0]["params"]:
            if parameter not in self.state:
                self.state[parameter] = {"momentum": torch.empty(parameter.size)}
        for hook in after:
            hook(self, (), {})
