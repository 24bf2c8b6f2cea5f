local net, x, z, n, step, Net
ohm.cuda.set_per_process_memory_fraction(0.002)
Net = nn.Module:extend("Net")
function Net:__init()
  self.seq = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4000))
end
function Net:forward(x)
  local h
  h = x * 2
  return self.seq(h) + 1
end
function step(net, x)
  local a, out
  a = ohm.randn(100, {device = "cuda"})
  out = net(x)
  return out
end
net = Net():cuda()
mark("start")
n = 6000
x = ohm.randn(n, 256, {device = "cuda"})
do
  local ok, e = pcall(function() z = step(net, x); sweep() end)
  if not ok then
    mark("caught")
    e = nil
  end
end
mark("behind")
mark("end of program (globals alive)")
net = nil
x = nil
mark("globals deleted")
