x = torch.randn(1000, 1000, device="cuda")
first = torch.empty(1000, 1000, device="cuda")
second = torch.empty(1000, 1000, device="cuda")
work = dist.all_gather([first, second], x, async_op=True)
mark("all_gather")
del x, first, second
mark("all are gone")
work.wait()
mark("waited")
del work
x = torch.randn(1000, 1000, device="cuda")
first = torch.randn(1000, 1000, device="cuda")
second = torch.randn(1000, 1000, device="cuda")
work = dist.reduce_scatter(x, [first, second], async_op=True)
mark("reduce_scatter")
del x, first, second
mark("all are gone")
work.wait()
mark("waited")
del work
x = torch.randn(1000, 1000, device="cuda")
y = torch.randn(1000, 1000, device="cuda")
first = torch.randn(1000, 1000, device="cuda")
second = torch.randn(1000, 1000, device="cuda")
work = dist.all_to_all([x, y], [first, second], async_op=True)
mark("all_to_all")
del x, y, first, second
mark("all are gone")
work.wait()
mark("waited")
del work
x = torch.randn(1000, 1000, device="cuda")
first = torch.randn(1000, 1000, device="cuda")
second = torch.randn(500, 1000, device="cuda")
work = dist.all_gather([first, second], x, async_op=True)
mark("all_gather of other sizes")
del x, first, second
mark("all are gone")
work.wait()
mark("waited")
del work
x = torch.randn(1000, 1000, device="cuda")
first = torch.randn(1000, 1000, device="cuda")
second = torch.randn(500, 1000, device="cuda")
work = dist.reduce_scatter(x, [first, second], async_op=True)
mark("reduce_scatter of other sizes")
del x, first, second
mark("all are gone")
work.wait()
mark("waited")
del work
x = torch.randn(1000, 1000, device="cuda")
mark("all is over")
