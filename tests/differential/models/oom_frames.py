import torch
def inner(n):
    a = torch.randn(1000, device="cuda")
    b = torch.randn(2000, device="cuda")
    c = torch.empty(n, device="cuda")
    return a, b, c
def middle(n):
    f = torch.randn(4000, device="cuda")
    try:
        return inner(n)
    except RuntimeError:
        mark("inner caught")
        del f
        g = torch.randn(100, device="cuda")
    mark("behind")
    torch.cuda.empty_cache()
    return inner(n // 2)
def outer(n):
    d = torch.randn(3000, device="cuda")
    e = middle(n)
    return d
mark("start")
oom = False
try:
    z = outer(1 << 45)
except torch.cuda.OutOfMemoryError as err:
    mark("caught")
    oom = True
mark("after")
if oom:
    torch.cuda.empty_cache()
    mark("retry")
    z = outer(100)
mark("end")
