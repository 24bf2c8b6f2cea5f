-- Written by tests/comparisons/translate_programs.py: do not edit.

--== amp_bf16_adam
local model, opt, loss_fn, scaler, x, y, out, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 2000), nn.GELU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
scaler = ohm.amp.GradScaler("cuda", {enabled = false})
mark("model")
for step = 0, 2 do
  x = ohm.randn(256, 1000, {device = "cuda"})
  y = ohm.randint(0, 10, {256}, {device = "cuda"})
  mark("batch " .. step)
  opt:zero_grad()
  do
    local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    out = model(x)
    mark("forward " .. step)
    loss = loss_fn(out, y)
    mark("loss " .. step)
  end
  mark("autocast exit " .. step)
  scaler:scale(loss):backward()
  mark("backward " .. step)
  scaler:step(opt)
  mark("step " .. step)
  scaler:update()
  mark("update " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
scaler = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== amp_fp16_sgd
local model, opt, loss_fn, scaler, x, y, out, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
scaler = ohm.amp.GradScaler("cuda", {enabled = true})
mark("model")
for step = 0, 2 do
  x = ohm.randn(256, 1000, {device = "cuda"})
  y = ohm.randint(0, 10, {256}, {device = "cuda"})
  mark("batch " .. step)
  opt:zero_grad()
  do
    local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
    out = model(x)
    mark("forward " .. step)
    loss = loss_fn(out, y)
    mark("loss " .. step)
  end
  mark("autocast exit " .. step)
  scaler:scale(loss):backward()
  mark("backward " .. step)
  scaler:step(opt)
  mark("step " .. step)
  scaler:update()
  mark("update " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
loss_fn = nil
scaler = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== amp_model_bfloat16
local model, opt, x, y, out, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
mark("model")
model:bfloat16()
mark("bfloat16")
opt = ohm.optim.Adam(model:parameters())
for step = 0, 2 do
  x = ohm.randn(256, 1000, {device = "cuda"}):bfloat16()
  y = ohm.randint(0, 10, {256}, {device = "cuda"})
  opt:zero_grad()
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

--== amp_model_half
local model, opt, x, y, out, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
mark("model")
model:half()
mark("half")
opt = ohm.optim.Adam(model:parameters())
for step = 0, 2 do
  x = ohm.randn(256, 1000, {device = "cuda"}):half()
  y = ohm.randint(0, 10, {256}, {device = "cuda"})
  opt:zero_grad()
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

--== amp_nograd
local model, out
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
mark("model")
do
  local mode1 <close> = ohm.no_grad()
  for i = 0, 2 do
    do
      local mode2 <close> = ohm.autocast("cuda")
      out = model(ohm.randn(256, 1000, {device = "cuda"}))
      mark("forward " .. i)
    end
    mark("exit " .. i)
  end
end
mark("end of program (globals alive)")
model = nil
out = nil
mark("globals deleted")

--== amp_op_batch_norm
local lin, bn, x, y, h, out
lin = nn.Linear(1000, 1000, {device = "cuda"})
bn = nn.BatchNorm1d(1000, {device = "cuda"})
x = ohm.randn(1024, 1000, {device = "cuda"})
y = ohm.randint(0, 1000, {1024}, {device = "cuda"})
mark("inputs")
do
  local mode1 <close> = ohm.autocast("cuda")
  h = lin(x)
  mark("linear")
  out = bn(h)
  mark("op")
end
mark("exit")
out:sum():backward()
mark("backward")
out = nil
h = nil
mark("del")
mark("end of program (globals alive)")
lin = nil
bn = nil
x = nil
y = nil
mark("globals deleted")

--== amp_op_cat
local lin, bn, x, y, h, out
lin = nn.Linear(1000, 1000, {device = "cuda"})
bn = nn.BatchNorm1d(1000, {device = "cuda"})
x = ohm.randn(1024, 1000, {device = "cuda"})
y = ohm.randint(0, 1000, {1024}, {device = "cuda"})
mark("inputs")
do
  local mode1 <close> = ohm.autocast("cuda")
  h = lin(x)
  mark("linear")
  out = ohm.cat({h, x})
  mark("op")
end
mark("exit")
out:sum():backward()
mark("backward")
out = nil
h = nil
mark("del")
mark("end of program (globals alive)")
lin = nil
bn = nil
x = nil
y = nil
mark("globals deleted")

--== amp_op_dropout
local lin, bn, x, y, h, out
lin = nn.Linear(1000, 1000, {device = "cuda"})
bn = nn.BatchNorm1d(1000, {device = "cuda"})
x = ohm.randn(1024, 1000, {device = "cuda"})
y = ohm.randint(0, 1000, {1024}, {device = "cuda"})
mark("inputs")
do
  local mode1 <close> = ohm.autocast("cuda")
  h = lin(x)
  mark("linear")
  out = F.dropout(h, 0.5)
  mark("op")
end
mark("exit")
out:sum():backward()
mark("backward")
out = nil
h = nil
mark("del")
mark("end of program (globals alive)")
lin = nil
bn = nil
x = nil
y = nil
mark("globals deleted")

--== amp_op_matmul
local lin, bn, x, y, h, out
lin = nn.Linear(1000, 1000, {device = "cuda"})
bn = nn.BatchNorm1d(1000, {device = "cuda"})
x = ohm.randn(1024, 1000, {device = "cuda"})
y = ohm.randint(0, 1000, {1024}, {device = "cuda"})
mark("inputs")
do
  local mode1 <close> = ohm.autocast("cuda")
  h = lin(x)
  mark("linear")
  out = ohm.matmul(h, h:t())
  mark("op")
end
mark("exit")
out:sum():backward()
mark("backward")
out = nil
h = nil
mark("del")
mark("end of program (globals alive)")
lin = nil
bn = nil
x = nil
y = nil
mark("globals deleted")

--== amp_op_mse
local lin, bn, x, y, h, out
lin = nn.Linear(1000, 1000, {device = "cuda"})
bn = nn.BatchNorm1d(1000, {device = "cuda"})
x = ohm.randn(1024, 1000, {device = "cuda"})
y = ohm.randint(0, 1000, {1024}, {device = "cuda"})
mark("inputs")
do
  local mode1 <close> = ohm.autocast("cuda")
  h = lin(x)
  mark("linear")
  out = F.mse_loss(h, x)
  mark("op")
end
mark("exit")
out:sum():backward()
mark("backward")
out = nil
h = nil
mark("del")
mark("end of program (globals alive)")
lin = nil
bn = nil
x = nil
y = nil
mark("globals deleted")

--== amp_op_pow
local lin, bn, x, y, h, out
lin = nn.Linear(1000, 1000, {device = "cuda"})
bn = nn.BatchNorm1d(1000, {device = "cuda"})
x = ohm.randn(1024, 1000, {device = "cuda"})
y = ohm.randint(0, 1000, {1024}, {device = "cuda"})
mark("inputs")
do
  local mode1 <close> = ohm.autocast("cuda")
  h = lin(x)
  mark("linear")
  out = h ^ 2
  mark("op")
end
mark("exit")
out:sum():backward()
mark("backward")
out = nil
h = nil
mark("del")
mark("end of program (globals alive)")
lin = nil
bn = nil
x = nil
y = nil
mark("globals deleted")

--== amp_op_sdpa
local lin, bn, x, y, h, out
lin = nn.Linear(1000, 1000, {device = "cuda"})
bn = nn.BatchNorm1d(1000, {device = "cuda"})
x = ohm.randn(1024, 1000, {device = "cuda"})
y = ohm.randint(0, 1000, {1024}, {device = "cuda"})
mark("inputs")
do
  local mode1 <close> = ohm.autocast("cuda")
  h = lin(x)
  mark("linear")
  out = F.scaled_dot_product_attention(h:view(1, 1024, 8, 125):transpose(1, 2), h:view(1, 1024, 8, 125):transpose(1, 2), h:view(1, 1024, 8, 125):transpose(1, 2))
  mark("op")
end
mark("exit")
out:sum():backward()
mark("backward")
out = nil
h = nil
mark("del")
mark("end of program (globals alive)")
lin = nil
bn = nil
x = nil
y = nil
mark("globals deleted")

--== amp_op_sum
local lin, bn, x, y, h, out
lin = nn.Linear(1000, 1000, {device = "cuda"})
bn = nn.BatchNorm1d(1000, {device = "cuda"})
x = ohm.randn(1024, 1000, {device = "cuda"})
y = ohm.randint(0, 1000, {1024}, {device = "cuda"})
mark("inputs")
do
  local mode1 <close> = ohm.autocast("cuda")
  h = lin(x)
  mark("linear")
  out = h:sum()
  mark("op")
end
mark("exit")
out:sum():backward()
mark("backward")
out = nil
h = nil
mark("del")
mark("end of program (globals alive)")
lin = nil
bn = nil
x = nil
y = nil
mark("globals deleted")
