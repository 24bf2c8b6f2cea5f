-- Written by tests/comparisons/translate_programs.py: do not edit.

--== grad_accumulation_adam
local device, model, optimizer, loss_fn, x, y, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):to(device)
optimizer = ohm.optim.Adam(model:parameters())
loss_fn = nn.CrossEntropyLoss()
mark("model")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  for micro = 0, 3 do
    x = ohm.randn(32, 1000):to(device)
    y = ohm.randint(0, 10, {32}):to(device)
    loss = loss_fn(model(x), y) / 4
    mark("loss " .. step .. "." .. micro)
    loss:backward()
    mark("backward " .. step .. "." .. micro)
  end
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== grad_accumulation_sgd
local device, model, optimizer, loss_fn, x, y, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):to(device)
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
mark("model")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  for micro = 0, 3 do
    x = ohm.randn(8, 1000):to(device)
    y = ohm.randint(0, 10, {8}):to(device)
    loss = loss_fn(model(x), y) / 4
    mark("loss " .. step .. "." .. micro)
    loss:backward()
    mark("backward " .. step .. "." .. micro)
  end
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
loss = nil
mark("globals deleted")
