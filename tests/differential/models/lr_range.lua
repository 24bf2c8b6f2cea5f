local batch, lr_find, model, optimizer, x, y, best, group, scheduler, loss
local function argmin(list)
  local best = 1
  for i = 2, #list do
    if list[i] < list[best] then best = i end
  end
  return best
end
function batch(n)
  return ohm.randn(n, 1, 12, 12, {device = "cuda"}), ohm.randint(0, 3, {n}, {device = "cuda"})
end
function lr_find(model, optimizer, low, high, steps)
  local weights, state, factor, lr, rates, losses, average, group, x, y, loss
  weights = ohm.copy.deepcopy(model:state_dict())
  state = ohm.copy.deepcopy(optimizer:state_dict())
  factor = (high / low) ^ (1 / (steps - 1))
  lr = low
  rates, losses = {}, {}
  average = 0.0
  for i = 0, steps - 1 do
    for _, item1 in ipairs(optimizer.param_groups) do
      group = item1
      group.lr = lr
    end
    do
      local new1, new2 = batch(10)
      x = new1
      y = new2
    end
    optimizer:zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss:backward()
    optimizer:step()
    average = (0.9 * average) + (0.1 * loss:item())
    losses[#losses + 1] = average
    rates[#rates + 1] = lr
    lr = lr * factor
  end
  model:load_state_dict(weights)
  optimizer:load_state_dict(state)
  weights = nil
  state = nil
  return rates[argmin(losses)]
end
model = nn.Sequential(nn.Conv2d(1, 14, 3), nn.BatchNorm2d(14), nn.ELU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(14 * 25, 3)):cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
x, y = batch(10)
F.cross_entropy(model(x), y):backward()
optimizer:step()
mark("warm")
best = lr_find(model, optimizer, 1e-05, 0.1, 4)
mark("found")
for _, item2 in ipairs(optimizer.param_groups) do
  group = item2
  group.lr = best
end
scheduler = ohm.optim.lr_scheduler.OneCycleLR(optimizer, {max_lr = best, total_steps = 8})
for step = 0, 3 - 1 do
  do
    local new1, new2 = batch(21)
    x = new1
    y = new2
  end
  loss = F.cross_entropy(model(x), y)
  optimizer:zero_grad({set_to_none = true})
  loss:backward()
  optimizer:step()
  scheduler:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
best = nil
group = nil
scheduler = nil
loss = nil
mark("globals deleted")
