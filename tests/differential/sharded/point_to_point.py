x = torch.randn(1000, 1000, device="cuda")
dist.send(x, 1)
mark("sent")
del x
mark("x is gone")
x = torch.empty(1000, 1000, device="cuda")
dist.recv(x, src=1)
mark("received")
del x
x = torch.randn(1000, 1000, device="cuda")
y = torch.empty(1000, 1000, device="cuda")
send = dist.isend(x, 1)
receive = dist.irecv(y, 1)
mark("begun")
del x, y
mark("both are gone")
send.wait()
receive.wait()
mark("waited")
del send
mark("send is over")
del receive
mark("receive is over")
x = torch.randn(1000, 1000, device="cuda")
y = torch.empty(1000, 1000, device="cuda")
works = dist.batch_isend_irecv([dist.P2POp(dist.isend, x, 1), dist.P2POp(dist.irecv, y, 1)])
mark("batch")
del x, y
mark("both are gone")
for work in works:
    work.wait()
mark("waited")
del works, work
x = torch.randn(1000, 1000, device="cuda")
mark("all is over")
