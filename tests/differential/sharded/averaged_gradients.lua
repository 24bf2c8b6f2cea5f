local dist = ohm.distributed
local works, shown
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 1000)):cuda()
for _, parameter in ipairs(model:parameters()) do dist.broadcast(parameter.data, 0) end
opt = ohm.optim.AdamW(model:parameters())
mark("model")
for step = 0, 1 do
  x = ohm.randn(64, 1000, {device = "cuda"})
  y = ohm.randint(0, 1000, {64}, {device = "cuda"})
  out = model(x)
  loss = F.cross_entropy(out, y)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  mark("backward " .. step)
  works = {}
  for i, p in ipairs(model:parameters()) do
    works[i] = dist.all_reduce(p.grad, {op = dist.ReduceOp.AVG, async_op = true})
  end
  mark("begun " .. step)
  for i = 1, 4 do works[i]:wait() end
  works = nil; sweep()
  mark("averaged " .. step)
  opt:step()
  mark("step " .. step)
  shown = loss:detach():clone()
  dist.all_reduce(shown, {op = dist.ReduceOp.AVG})
  mark("loss " .. step)
end
shown = nil; sweep()
