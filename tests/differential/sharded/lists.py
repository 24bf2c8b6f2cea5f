x = torch.randn(1000, 1000, device="cuda")
first = torch.empty(1000, 1000, device="cuda")
second = torch.empty(1000, 1000, device="cuda")
mark("tensors")
dist.all_gather([first, second], x)
mark("all_gather")
dist.reduce_scatter(x, [first, second])
mark("reduce_scatter")
dist.all_to_all([x, first], [second, first])
mark("all_to_all")
del x
del first
del second
y = torch.randn(2000, 1000, device="cuda")
x = torch.randn(1000, 1000, device="cuda")
dist.all_gather(list(y.chunk(2)), x)
mark("all_gather into parts")
del x
small = torch.randn(500, 1000, device="cuda")
x = torch.randn(1000, 1000, device="cuda")
dist.all_gather([y[:1000], small], x)
mark("all_gather of other sizes")
dist.reduce_scatter(x, [y[:1000], small], op=dist.ReduceOp.MAX)
mark("reduce_scatter of other sizes")
del x
del y
del small
x = torch.randn(1000, 1000, device="cuda")
mark("all is over")
