-- Written by tests/comparisons/translate_programs.py: do not edit.

--== simple_adadelta
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.Adadelta(model:parameters())
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_adam
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.Adam(model:parameters())
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_adam_foreach_false
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.Adam(model:parameters(), {foreach = false})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_adam_fused
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.Adam(model:parameters(), {fused = true})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_adamax
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.Adamax(model:parameters())
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_adamw_foreach_false
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.AdamW(model:parameters(), {weight_decay = 0.01, foreach = false})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_adamw_fused
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.AdamW(model:parameters(), {weight_decay = 0.01, fused = true})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_clip_grad_norm
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.Adam(model:parameters())
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  mark("clip " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_del_out_loss
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
  out = nil
  loss = nil
  mark("del " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
mark("globals deleted")

--== simple_frozen_first
local device, model, p, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
for _, item1 in ipairs(model[1]:parameters()) do
  p = item1
  p:requires_grad_(false)
end
mark("model.to")
optimizer = ohm.optim.Adam(filter(model:parameters(), function(p) return p.requires_grad end))
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
p = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_frozen_last
local device, model, p, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
for _, item1 in ipairs(model[3]:parameters()) do
  p = item1
  p:requires_grad_(false)
end
mark("model.to")
optimizer = ohm.optim.Adam(filter(model:parameters(), function(p) return p.requires_grad end))
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
p = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_no_zero_grad
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_opt_state
local device, model, optimizer, loss_fn, x, y, out, loss, sd
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.Adam(model:parameters())
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 1 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
optimizer:zero_grad()
mark("zero_grad end")
out = nil
loss = nil
mark("del out, loss")
sd = optimizer:state_dict()
mark("state_dict")
sd = nil
optimizer = nil
mark("del optimizer")
model = nil
x = nil
y = nil
mark("del model, x, y")
ohm.cuda.empty_cache()
mark("empty_cache")
ohm.cuda.clear_cublas_workspaces()
mark("clearCublasWorkspaces")
ohm.cuda.empty_cache()
mark("empty_cache 2")
mark("end of program (globals alive)")
loss_fn = nil
mark("globals deleted")

--== simple_rmsprop
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.RMSprop(model:parameters())
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_rmsprop_momentum
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.RMSprop(model:parameters(), {momentum = 0.9})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_sgd
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_sgd_expandable PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_sgd_foreach_false
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01, momentum = 0.9, foreach = false})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_sgd_fused
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01, momentum = 0.9, fused = true})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_sgd_momentum
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01, momentum = 0.9})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_sgd_momentum_wd_nesterov
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01, momentum = 0.9, weight_decay = 0.0001, nesterov = true})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_sgd_wd
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01, weight_decay = 0.0001})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_ten_steps
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 9 do
  optimizer:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_zero_grad_false
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  optimizer:zero_grad({set_to_none = false})
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")

--== simple_zero_grad_model
local device, model, optimizer, loss_fn, x, y, out, loss
device = "cuda"
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10))
model:to(device)
mark("model.to")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01})
loss_fn = nn.CrossEntropyLoss()
x = ohm.randn(32, 1000):to(device)
y = ohm.randint(0, 10, {32}):to(device)
mark("batch")
for step = 0, 2 do
  model:zero_grad()
  mark("zero_grad " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = loss_fn(out, y)
  mark("loss " .. step)
  loss:backward()
  mark("backward " .. step)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
loss_fn = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")
