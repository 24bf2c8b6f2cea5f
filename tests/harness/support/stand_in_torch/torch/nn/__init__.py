import types

functional = types.SimpleNamespace()


class Module:
    def __init__(self, size):
        import torch

        parameter = torch.empty(size)
        parameter.size = size
        self._parameters = {"weight": parameter}

    def backward(self):
        import torch

        for parameter in self._parameters.values():
            parameter.grad = torch.empty(parameter.size)
