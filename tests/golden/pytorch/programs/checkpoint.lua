-- Written by tests/comparisons/translate_programs.py: do not edit.

--== checkpoint_big_gelu_each_nonreentrant
local model, opt, x, h, block, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  for _, item1 in ipairs(model:children()) do
    block = item1
    h = ohm.utils.checkpoint.checkpoint(block, h, {use_reentrant = false})
  end
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
block = nil
mark("globals deleted")

--== checkpoint_big_gelu_each_reentrant
local model, opt, x, h, block, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  for _, item1 in ipairs(model:children()) do
    block = item1
    h = ohm.utils.checkpoint.checkpoint(block, h, {use_reentrant = true})
  end
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
block = nil
mark("globals deleted")

--== checkpoint_big_gelu_sequential_1
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 1, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_gelu_sequential_1_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 1, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_gelu_sequential_2
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 2, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_gelu_sequential_2_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 2, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_gelu_sequential_4
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 4, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_gelu_sequential_4_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 4, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_gelu_sequential_8
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 8, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_gelu_sequential_8_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 8, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_relu_sequential_1
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 1, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_relu_sequential_1_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 1, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_relu_sequential_2_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 2, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_relu_sequential_4
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 4, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_relu_sequential_4_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 4, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_relu_sequential_8
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 8, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_big_relu_sequential_8_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(8192, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 8, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_frozen_gelu_each_nonreentrant
local model, x, h, block, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  for _, item1 in ipairs(model:children()) do
    block = item1
    h = ohm.utils.checkpoint.checkpoint(block, h, {use_reentrant = false})
  end
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
block = nil
mark("globals deleted")

--== checkpoint_frozen_gelu_each_reentrant
local model, x, h, block, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  for _, item1 in ipairs(model:children()) do
    block = item1
    h = ohm.utils.checkpoint.checkpoint(block, h, {use_reentrant = true})
  end
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
block = nil
mark("globals deleted")

--== checkpoint_frozen_gelu_none
local model, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  h = model(h)
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
mark("globals deleted")

--== checkpoint_frozen_gelu_sequential_1
local model, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 1, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
mark("globals deleted")

--== checkpoint_frozen_gelu_sequential_4
local model, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 4, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
mark("globals deleted")

--== checkpoint_frozen_gelu_sequential_4_reentrant
local model, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 4, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
mark("globals deleted")

--== checkpoint_frozen_relu_each_nonreentrant
local model, x, h, block, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  for _, item1 in ipairs(model:children()) do
    block = item1
    h = ohm.utils.checkpoint.checkpoint(block, h, {use_reentrant = false})
  end
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
block = nil
mark("globals deleted")

--== checkpoint_frozen_relu_each_reentrant
local model, x, h, block, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  for _, item1 in ipairs(model:children()) do
    block = item1
    h = ohm.utils.checkpoint.checkpoint(block, h, {use_reentrant = true})
  end
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
block = nil
mark("globals deleted")

--== checkpoint_frozen_relu_none
local model, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  h = model(h)
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
mark("globals deleted")

--== checkpoint_frozen_relu_sequential_1
local model, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 1, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
mark("globals deleted")

--== checkpoint_frozen_relu_sequential_2
local model, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 2, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
mark("globals deleted")

--== checkpoint_frozen_relu_sequential_4
local model, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 4, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
mark("globals deleted")

--== checkpoint_frozen_relu_sequential_4_reentrant
local model, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 4, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
mark("globals deleted")

--== checkpoint_frozen_relu_sequential_8_reentrant
local model, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda():requires_grad_(false)
mark("model")
for step = 0, 1 do
  x = ohm.randn(2560, 1000, {device = "cuda", requires_grad = true})
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 8, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:sum()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
mark("globals deleted")

--== checkpoint_gelu_none
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = model(h)
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_gelu_none_loop
local model, opt, x, h, block, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  for _, item1 in ipairs(model:children()) do
    block = item1
    h = block(h)
  end
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
block = nil
mark("globals deleted")

--== checkpoint_gelu_sequential_2
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 2, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_gelu_sequential_2_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 2, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_gelu_sequential_4
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 4, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_gelu_sequential_4_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 4, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_gelu_sequential_8
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 8, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_gelu_sequential_8_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 4000), nn.GELU(), nn.Linear(4000, 1000)) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 8, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_relu_each_nonreentrant
local model, opt, x, h, block, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  for _, item1 in ipairs(model:children()) do
    block = item1
    h = ohm.utils.checkpoint.checkpoint(block, h, {use_reentrant = false})
  end
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
block = nil
mark("globals deleted")

--== checkpoint_relu_each_reentrant
local model, opt, x, h, block, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  for _, item1 in ipairs(model:children()) do
    block = item1
    h = ohm.utils.checkpoint.checkpoint(block, h, {use_reentrant = true})
  end
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
block = nil
mark("globals deleted")

--== checkpoint_relu_none
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = model(h)
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_relu_none_loop
local model, opt, x, h, block, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  for _, item1 in ipairs(model:children()) do
    block = item1
    h = block(h)
  end
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
block = nil
mark("globals deleted")

--== checkpoint_relu_sequential_2
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 2, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_relu_sequential_2_reentrant
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = true})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 2, h, {use_reentrant = true})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")

--== checkpoint_relu_sequential_4
local model, opt, x, h, loss
model = nn.Sequential(collect(8, function() return nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()) end)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 1 do
  x = ohm.randn(256, 1000, {device = "cuda", requires_grad = false})
  opt:zero_grad()
  mark("batch " .. step)
  h = x
  h = ohm.utils.checkpoint.checkpoint_sequential(model, 4, h, {use_reentrant = false})
  mark("forward " .. step)
  loss = h:pow(2):mean()
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
  h = nil
  loss = nil
  x = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
mark("globals deleted")
