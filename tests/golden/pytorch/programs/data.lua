-- Written by tests/comparisons/translate_programs.py: do not edit.

--== data_parallel_1gpu gpus=1
local Net, model, opt, x, y, out, loss
Net = nn.Module:extend("Net")
function Net:__init()
  self.net = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 20000))
end
function Net:forward(x, y)
  local out
  out = self.net(x)
  if y == nil then
    return out
  end
  return F.cross_entropy(out, y):view(1)
end
model = nn.DataParallel(Net():cuda())
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(64, 512):cuda()
  y = ohm.randint(0, 20000, {64}):cuda()
  opt:zero_grad()
  mark("batch " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = F.cross_entropy(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== data_parallel_2gpu gpus=2
local Net, model, opt, x, y, out, loss
Net = nn.Module:extend("Net")
function Net:__init()
  self.net = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 20000))
end
function Net:forward(x, y)
  local out
  out = self.net(x)
  if y == nil then
    return out
  end
  return F.cross_entropy(out, y):view(1)
end
model = nn.DataParallel(Net():cuda())
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(64, 512):cuda()
  y = ohm.randint(0, 20000, {64}):cuda()
  opt:zero_grad()
  mark("batch " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = F.cross_entropy(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== data_parallel_loss_outside gpus=4
local Net, model, opt, x, y, out, loss
Net = nn.Module:extend("Net")
function Net:__init()
  self.net = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 20000))
end
function Net:forward(x, y)
  local out
  out = self.net(x)
  if y == nil then
    return out
  end
  return F.cross_entropy(out, y):view(1)
end
model = nn.DataParallel(Net():cuda())
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(64, 512):cuda()
  y = ohm.randint(0, 20000, {64}):cuda()
  opt:zero_grad()
  mark("batch " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = F.cross_entropy(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")
