local Net, predict, model, x, y, size, result, tries, optimizer, splits, done, part, target, loss
ohm.cuda.set_per_process_memory_fraction(0.004)
Net = nn.Module:extend("Net")
function Net:__init()
  self.inp = nn.Linear(300, 3000)
  self.hidden = nn.Linear(3000, 3000)
  self.out = nn.Linear(3000, 10)
end
function Net:forward(x)
  return self.out(ohm.tanh(self.hidden(F.relu(self.inp(x)))))
end
function predict(model, x, size)
  local outputs = {}
  do
    local mode <close> = ohm.no_grad()
    for start = 0, x:size(0) - 1, size do
      outputs[#outputs + 1] = model(slice(x, 0, start, start + size))
    end
  end
  local result = ohm.cat(outputs)
  clear(outputs)
  return result
end
model = Net():cuda()
x = ohm.randn(9000, 300, {device = "cuda"})
y = ohm.randint(0, 10, {9000}, {device = "cuda"})
mark("model")
size = 9000
tries = 0
while not result and size > 0 do
  local is_done, problem = pcall(function() result = predict(model, x, size) end)
  tries = tries + 1
  if not is_done then
    assert(tostring(problem):find("out of memory"), tostring(problem))
    problem = nil
    size = size // 2
    ohm.gc.collect()
    ohm.cuda.empty_cache()
  end
  mark("try " .. tries)
end
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9})
splits = 1
done = false
while not done do
  local is_done, problem = pcall(function()
    optimizer:zero_grad()
    local parts, targets = {x:chunk(splits)}, {y:chunk(splits)}
    for i = 1, #parts do
      part = parts[i]
      target = targets[i]
      loss = F.cross_entropy(model(part), target) / splits
      loss:backward()
    end
    optimizer:step()
  end)
  done = is_done
  if not is_done then
    assert(tostring(problem):find("out of memory"), tostring(problem))
    problem = nil
    part, target, loss = nil, nil, nil
    sweep()
    optimizer:zero_grad({set_to_none = true})
    ohm.cuda.empty_cache()
    splits = splits * 2
  end
  mark("splits " .. splits)
end
mark("end of program (globals alive)")
model = nil
x = nil
y = nil
result = nil
optimizer = nil
part = nil
target = nil
loss = nil
mark("globals deleted")
