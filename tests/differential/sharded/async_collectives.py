x = torch.randn(1000, 1000, device="cuda")
work = dist.all_reduce(x, async_op=True)
mark("all_reduce")
del x
mark("x is gone")
work.wait()
mark("waited")
del work
mark("all_reduce is over")
x = torch.randn(1000, 1000, device="cuda")
work = dist.broadcast(x, 0, async_op=True)
work.wait()
del work
work = dist.reduce(x, 0, async_op=True)
del x
work.wait()
del work
mark("broadcast and reduce")
x = torch.randn(1000, 1000, device="cuda")
y = torch.empty(2000, 1000, device="cuda")
work = dist.all_gather_into_tensor(y, x, async_op=True)
mark("all_gather_into_tensor")
del x
mark("x is gone")
work.wait()
mark("waited")
del y
mark("y is gone")
del work
x = torch.randn(1000, 1000, device="cuda")
y = torch.randn(2000, 1000, device="cuda")
work = dist.reduce_scatter_tensor(x, y, async_op=True)
mark("reduce_scatter_tensor")
del y
mark("y is gone")
work.wait()
mark("waited")
del x
mark("x is gone")
del work
x = torch.randn(1000, 1000, device="cuda")
y = torch.randn(1000, 1000, device="cuda")
work = dist.all_to_all_single(y, x, [400, 600], [400, 600], async_op=True)
mark("all_to_all_single")
del x
del y
mark("both are gone")
work.wait()
mark("waited")
del work
mark("all_to_all_single is over")
x = torch.randn(1000, 1000, device="cuda")
first = torch.empty(1000, 1000, device="cuda")
second = torch.empty(1000, 1000, device="cuda")
work = dist.gather(x, [first, second], async_op=True)
mark("gather")
del x, first, second
mark("all are gone")
work.wait()
mark("waited")
del work
mark("gather is over")
x = torch.randn(1000, 1000, device="cuda")
first = torch.empty(1000, 1000, device="cuda")
second = torch.empty(1000, 1000, device="cuda")
work = dist.scatter(x, [first, second], async_op=True)
mark("scatter")
del x, first, second
mark("all are gone")
work.wait()
mark("waited")
del work
mark("scatter is over")
x = torch.randn(1000, 1000, device="cuda")
work = dist.gather(x, dst=1, async_op=True)
del x
mark("to the other rank")
work.wait()
del work
x = torch.randn(1000, 1000, device="cuda")
work = dist.scatter(x, src=1, async_op=True)
del x
mark("from the other rank")
work.wait()
del work
x = torch.randn(1000, 1000, device="cuda")
mark("all is over")
