local dist = ohm.distributed
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 1000)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("stage")
for step = 0, 1 do
  local outs = {}
  for part = 1, 3 do
    if rank == 0 then
      x = ohm.randn(64, 1000, {device = "cuda"})
      out = model(x)
      dist.send(out:detach(), 1)
    else
      x = ohm.empty(64, 1000, {device = "cuda", requires_grad = true})
      dist.recv(x, 0)
      out = {x, model(x):sum()}
    end
    outs[part] = out
    mark("sent " .. step .. " " .. part - 1)
  end
  for part = 1, 3 do
    if rank == 0 then
      y = ohm.empty(64, 1000, {device = "cuda"})
      dist.recv(y, 1)
      outs[part]:backward(y)
    else
      outs[part][2]:backward()
      dist.send(outs[part][1].grad, 0)
    end
    outs[part] = nil
    mark("backward " .. step .. " " .. part - 1)
  end
  opt:step()
  opt:zero_grad()
  mark("step " .. step)
end
y = nil; sweep()
