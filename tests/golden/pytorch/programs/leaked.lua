-- Written by tests/comparisons/translate_programs.py: do not edit.

--== leaked_ce_list_after_backward
local model, opt, loss_fn, losses, x, y, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
mark("model")
losses = {}
for i = 0, 9 do
  x = ohm.randn(32, 1000, {device = "cuda"})
  y = ohm.randint(0, 10, {32}, {device = "cuda"})
  opt:zero_grad()
  loss = loss_fn(model(x), y)
  loss:backward()
  opt:step()
  losses[#losses + 1] = loss
  mark("iteration " .. i)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
losses = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== leaked_ce_list_no_backward
local model, opt, loss_fn, losses, x, y, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
mark("model")
losses = {}
for i = 0, 9 do
  x = ohm.randn(32, 1000, {device = "cuda"})
  y = ohm.randint(0, 10, {32}, {device = "cuda"})
  opt:zero_grad()
  loss = loss_fn(model(x), y)
  losses[#losses + 1] = loss
  mark("iteration " .. i)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
losses = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== leaked_ce_total_after_backward
local model, opt, loss_fn, total, x, y, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
mark("model")
total = 0
for i = 0, 9 do
  x = ohm.randn(32, 1000, {device = "cuda"})
  y = ohm.randint(0, 10, {32}, {device = "cuda"})
  opt:zero_grad()
  loss = loss_fn(model(x), y)
  loss:backward()
  opt:step()
  total = iadd(total, loss)
  mark("iteration " .. i)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
total = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== leaked_ce_total_detach
local model, opt, loss_fn, total, x, y, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
mark("model")
total = 0
for i = 0, 9 do
  x = ohm.randn(32, 1000, {device = "cuda"})
  y = ohm.randint(0, 10, {32}, {device = "cuda"})
  opt:zero_grad()
  loss = loss_fn(model(x), y)
  loss:backward()
  opt:step()
  total = iadd(total, loss:detach())
  mark("iteration " .. i)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
total = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== leaked_ce_total_item
local model, opt, loss_fn, total, x, y, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
mark("model")
total = 0.0
for i = 0, 9 do
  x = ohm.randn(32, 1000, {device = "cuda"})
  y = ohm.randint(0, 10, {32}, {device = "cuda"})
  opt:zero_grad()
  loss = loss_fn(model(x), y)
  loss:backward()
  opt:step()
  total = iadd(total, loss:item())
  mark("iteration " .. i)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
total = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== leaked_leaf
local total_loss, iter_loss
total_loss = 0
for i = 0, 9 do
  iter_loss = ohm.randn(3, 4, {device = "cuda"}):mean()
  iter_loss.requires_grad = true
  total_loss = iadd(total_loss, iter_loss)
  mark("iteration " .. i)
end
total_loss = nil
iter_loss = nil
mark("deleted")
mark("end of program (globals alive)")
mark("globals deleted")

--== leaked_leaf_item
local total_loss, iter_loss
total_loss = 0
for i = 0, 9 do
  iter_loss = ohm.randn(3, 4, {device = "cuda"}):mean()
  iter_loss.requires_grad = true
  total_loss = iadd(total_loss, iter_loss:item())
  mark("iteration " .. i)
end
mark("end of program (globals alive)")
total_loss = nil
iter_loss = nil
mark("globals deleted")

--== leaked_mse_list_no_backward
local model, opt, loss_fn, losses, x, y, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.MSELoss()
mark("model")
losses = {}
for i = 0, 9 do
  x = ohm.randn(32, 1000, {device = "cuda"})
  y = ohm.randn(32, 10, {device = "cuda"})
  opt:zero_grad()
  loss = loss_fn(model(x), y)
  losses[#losses + 1] = loss
  mark("iteration " .. i)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
losses = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== leaked_mse_no_backward
local model, opt, loss_fn, x, y, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.MSELoss()
mark("model")
for i = 0, 9 do
  x = ohm.randn(32, 1000, {device = "cuda"})
  y = ohm.randn(32, 10, {device = "cuda"})
  opt:zero_grad()
  loss = loss_fn(model(x), y)
  mark("iteration " .. i)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== leaked_mse_total_after_backward
local model, opt, loss_fn, total, x, y, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.MSELoss()
mark("model")
total = 0
for i = 0, 9 do
  x = ohm.randn(32, 1000, {device = "cuda"})
  y = ohm.randn(32, 10, {device = "cuda"})
  opt:zero_grad()
  loss = loss_fn(model(x), y)
  loss:backward()
  opt:step()
  total = iadd(total, loss)
  mark("iteration " .. i)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
total = nil
x = nil
y = nil
loss = nil
mark("globals deleted")

--== leaked_mse_total_no_backward
local model, opt, loss_fn, total, x, y, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.MSELoss()
mark("model")
total = 0
for i = 0, 9 do
  x = ohm.randn(32, 1000, {device = "cuda"})
  y = ohm.randn(32, 10, {device = "cuda"})
  opt:zero_grad()
  loss = loss_fn(model(x), y)
  total = iadd(total, loss)
  mark("iteration " .. i)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
total = nil
x = nil
y = nil
loss = nil
mark("globals deleted")
