local Net, model, optimizer, size, found, x, y, loss
ohm.cuda.set_per_process_memory_fraction(0.01)
Net = nn.Module:extend("Net")
function Net:__init()
  self.c1 = nn.Conv2d(3, 64, 3, {padding = 1})
  self.n1 = nn.BatchNorm2d(64)
  self.c2 = nn.Conv2d(64, 64, 3, {padding = 1})
  self.n2 = nn.BatchNorm2d(64)
  self.fc = nn.Linear(64, 10)
end
function Net:forward(x)
  x = F.relu(self.n1(self.c1(x)))
  x = F.relu(self.n2(self.c2(x)))
  return self.fc(x:mean({dim = {2, 3}}))
end
model = Net():cuda()
optimizer = ohm.optim.Adam(model:parameters())
size = 256
found = false
mark("model")
while not found do
  local is_done, problem = pcall(function()
    x = ohm.randn(size, 3, 64, 64, {device = "cuda"})
    y = ohm.randint(0, 10, {size}, {device = "cuda"})
    loss = F.cross_entropy(model(x), y)
    loss:backward()
    optimizer:step()
    optimizer:zero_grad()
  end)
  found = is_done
  if not is_done then
    assert(tostring(problem):find("out of memory"), tostring(problem))
    problem = nil; sweep()
    x = nil; sweep()
    y = nil; sweep()
    loss = nil; sweep()
    ohm.gc.collect()
    ohm.cuda.empty_cache()
    size = size // 2
  end
  mark("size " .. size)
end
for step = 0, 1 do
  x = ohm.randn(size, 3, 64, 64, {device = "cuda"})
  y = ohm.randint(0, 10, {size}, {device = "cuda"})
  loss = F.cross_entropy(model(x), y)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
optimizer = nil; sweep()
x = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
mark("globals deleted")
