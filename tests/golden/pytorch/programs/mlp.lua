-- Written by tests/comparisons/translate_programs.py: do not edit.

--== mlp_batch_128
local model, opt, x, y, out, loss
model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)):cuda()
opt = ohm.optim.Adam(model:parameters())
mark("model")
for step = 0, 1 do
  x = ohm.randn(128, 784):cuda()
  y = ohm.randint(0, 10, {128}):cuda()
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

--== mlp_batch_2048
local model, opt, x, y, out, loss
model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)):cuda()
opt = ohm.optim.Adam(model:parameters())
mark("model")
for step = 0, 1 do
  x = ohm.randn(2048, 784):cuda()
  y = ohm.randint(0, 10, {2048}):cuda()
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

--== mlp_batch_8192
local model, opt, x, y, out, loss
model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)):cuda()
opt = ohm.optim.Adam(model:parameters())
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 784):cuda()
  y = ohm.randint(0, 10, {8192}):cuda()
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
