local net, opt, n, done, x, y, step, Net
ohm.cuda.set_per_process_memory_fraction(0.002)
Net = nn.Module:extend("Net")
function Net:__init()
  self.a = nn.Linear(256, 1024)
  self.b = nn.Linear(1024, 1024)
  self.c = nn.Linear(1024, 10)
end
function Net:forward(x)
  local h, r, k, outs
  h = F.relu(self.a(x))
  r = h
  for i = 1, 3 do
    k = self.b(h)
    h = F.gelu(k) + r
  end
  outs = {h, h * 2, h + 1}
  return self.c(outs[1] + outs[2] + outs[3])
end
function step(net, opt, x, y)
  local out, loss
  opt:zero_grad()
  out = net(x)
  loss = F.cross_entropy(out, y)
  loss:backward()
  opt:step()
  return loss:item()
end
net = Net():cuda()
opt = ohm.optim.Adam(net:parameters())
mark("start")
n = 8192
done = false
while not done do
  x = ohm.randn(n, 256, {device = "cuda"})
  y = ohm.randint(0, 10, {n}, {device = "cuda"})
  local ok, e = pcall(function() step(net, opt, x, y); sweep() end)
  if ok then
    done = true
  else
    mark("caught")
    opt:zero_grad()
    x = nil
    y = nil
    ohm.cuda.empty_cache()
    n = n // 2
    mark("in except")
    e = nil
  end
  mark("behind")
end
mark("end")
mark("end of program (globals alive)")
net = nil
opt = nil
x = nil
y = nil
mark("globals deleted")
