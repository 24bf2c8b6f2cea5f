import torch

p = torch.ones(64, device="cuda")
a = torch.ones(64, device="cuda")
b = torch.ones(128, device="cuda")
c = torch.ones(256, device="cuda")
fields = {"x": torch.ones(512, device="cuda"), "y": torch.ones(1024, device="cuda")}
several = [torch.ones(64, device="cuda"), torch.ones(64, device="cuda"), torch.ones(64, device="cuda")]
mark("made")
c = None
a = None
p = p + 1
mark("one after the other")
fields["y"] = p
fields["x"] = p * 2
b = torch.ones(64, device="cuda")
mark("fields")
p, b = None, None
several = None
b = torch.ones(64, device="cuda")
mark("a list")


def twice(x):
    y = x + 1
    z = y * 2
    return z


a = torch.ones(8, device="cuda")
c = torch.ones(8, device="cuda")
c = twice(c)
a = None
b = twice(c)
mark("of functions")
fields["x"], fields["y"] = twice(c), twice(c)
a, b = b, a
mark("two fields")
fields = {"z": torch.ones(64, device="cuda"), "v": torch.ones(64, device="cuda"), "w": torch.ones(64, device="cuda")}
fields = None
c = torch.ones(8, device="cuda")
mark("a dictionary")
kept = {}
copies = {}
for task in range(2):
    made = {}
    for name in ("a", "b", "c"):
        made[name] = torch.zeros_like(c)
    for name in ("a", "b", "c"):
        kept[name] = made[name]
        copies[name] = c.detach().clone()
    mark(f"task {task}")


def nest():
    inner = torch.ones(64, device="cuda")

    def step():
        nonlocal inner
        outer = inner
        inner = torch.ones(64, device="cuda")
        outer = None
        inner = torch.ones(64, device="cuda")

    step()
    mark("a variable of the function outside")


nest()
mark("outside")
