import types

functional = types.SimpleNamespace()
registration_hooks = []


class Registration:
    def __init__(self, hook):
        self.hook = hook
        registration_hooks.append(hook)

    def remove(self):
        registration_hooks.remove(self.hook)


modules = types.SimpleNamespace(module=types.SimpleNamespace(
    register_module_module_registration_hook=Registration))


class Module:
    """With a parameter of so many bytes."""

    def __init__(self, size):
        import torch

        self._modules = {}
        parameter = torch.empty(size)
        parameter.size = size
        self._parameters = {"weight": parameter}

    def add_module(self, name, module):
        self._modules[name] = module
        for hook in registration_hooks:
            hook(self, name, module)

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, module in self._modules.items():
            yield from module.named_modules(f"{prefix}.{name}")

    def _call(self, *arguments):
        return self.forward(*arguments)

    __call__ = _call

    def backward(self):
        import torch

        for parameter in self._parameters.values():
            parameter.grad = torch.empty(parameter.size)
