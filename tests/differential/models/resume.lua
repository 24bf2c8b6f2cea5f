local new_model, train, model, optimizer, whole, state, rows, weight
function new_model()
  return nn.Sequential(
    nn.Linear(32, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 600, {bias = false})
  ):to("cuda")
end
function train(net, updates)
  local x = ohm.randn(64, 32, {device = "cuda"})
  local y = ohm.randint(0, 600, {64}, {device = "cuda"})
  updates:zero_grad()
  F.cross_entropy(net(x), y):backward()
  updates:step()
end
model = new_model()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 1 do
  train(model, optimizer)
  mark("step " .. step)
end
whole = ohm.randn(40, 300, {device = "cuda"})
ohm.save({
  model = model:state_dict(),
  optimizer = optimizer:state_dict(),
  step = 2,
  rows = whole:narrow(0, 3, 2),
  same_rows = whole:narrow(0, 4, 36),
}, "file")
mark("saved")
model, optimizer, whole = nil, nil, nil
mark("gone")
ohm.gc.collect()
mark("collected")
state = ohm.load("file")
mark("loaded")
model = new_model()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001})
model:load_state_dict(state.model)
mark("model taken")
optimizer:load_state_dict(state.optimizer)
mark("optimizer taken")
rows = state.rows * 2
state = nil
mark("state gone")
train(model, optimizer)
mark("step 2")
state = ohm.load("file", {map_location = "cpu"})
mark("loaded on the host")
model:load_state_dict(state.model)
optimizer:load_state_dict(state.optimizer)
mark("taken from the host")
state = nil
train(model, optimizer)
mark("step 3")
ohm.save(nn.Parameter(ohm.ones(700, {device = "cuda"})), "weight")
weight = ohm.load("weight", {map_location = "cuda:0"})
weight:sum():backward()
mark("parameter")
mark("end of program (globals alive)")
model = nil
optimizer = nil
rows = nil
weight = nil
mark("globals deleted")
