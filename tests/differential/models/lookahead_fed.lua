-- x[i], of a tensor or a list
local function at(x, i)
  if not ohm.is_tensor(x) then
    if type(i) ~= "number" then return x[i] end
      return x[i < 0 and #x + 1 + i or i + 1]
  end
  if ohm.is_tensor(i) then return x:index({i}) end
  return x:select(0, i)
end

-- list[a:b]
local function part(x, first, last)
  if ohm.is_tensor(x) then return slice(x, 0, first or 0, last) end
  local size, kept = #x, {}
  first, last = first or 0, last or size
  if first < 0 then first = first + size end
  if last < 0 then last = last + size end
  for i = first + 1, math.min(last, size) do kept[#kept + 1] = x[i] end
  return kept
end

-- what a loop goes through
local function items(x)
  if ohm.is_tensor(x) then return {x:unbind(0)} end
  return type(x) == "table" and x or x:children()
end

-- The names of a state_dict in Python's order.
local function keys_of()
  local names = {}
  for _, layer in ipairs({"conv1", "conv2", "fc1", "fc2"}) do
    names[#names + 1] = layer .. ".weight"
    names[#names + 1] = layer .. ".bias"
  end
  return names
end

local CNN, train, globals_, states, state, loss, average, key, other, correct, x, y, out, predicted
CNN = nn.Module:extend("CNN")
function CNN:__init()
  self.conv1 = nn.Conv2d(1, 8, 5)
  self.conv2 = nn.Conv2d(8, 16, 5)
  self.drop = nn.Dropout2d()
  self.fc1 = nn.Linear(256, 40)
  self.fc2 = nn.Linear(40, 10)
end
function CNN:forward(x)
  x = F.relu(F.max_pool2d(self.conv1(x), 2))
  x = F.relu(F.max_pool2d(self.drop(self.conv2(x)), 2))
  x = x:view(-1, (x:size(1) * x:size(2)) * x:size(3))
  x = F.dropout(F.relu(self.fc1(x)), {training = self.training})
  return self.fc2(x)
end
function train(model, rounds)
  local optimizer, total, x, y, loss, proximal, p, q
  model:train()
  optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01, momentum = 0.5})
  total = 0.0
  for _ = 0, rounds - 1 do
    x = ohm.randn(10, 1, 28, 28, {device = "cuda"})
    y = ohm.randint(0, 10, {10}, {device = "cuda"})
    model:zero_grad()
    loss = F.cross_entropy(model(x), y)
    proximal = 0.0
    do
      local list1_0 = items(model:parameters())
      local list1_1 = items(globals_:parameters())
      for number1 = 1, math.min(#list1_0, #list1_1) do
        p = list1_0[number1]
        q = list1_1[number1]
        proximal = iadd(proximal, (p - q:detach()):norm(2) ^ 2)
      end
    end
    ;(loss + (0.005 * proximal)):backward()
    optimizer:step()
    total = total + loss:item()
  end
  return model:state_dict(), total / rounds
end
globals_ = CNN():cuda()
mark("model")
for communication = 0, 2 - 1 do
  states = {}
  for client = 0, 2 - 1 do
    do
      local new1, new2 = train(ohm.copy.deepcopy(globals_), 2)
      state = new1
      loss = new2
    end
    states[#states + 1] = ohm.copy.deepcopy(state)
  end
  average = ohm.copy.deepcopy(at(states, 0))
  do
    local list3_0 = keys_of()
    for number3 = 1, #list3_0 do
      key = list3_0[number3]
      do
        local list4_0 = items(part(states, 1, nil))
        for number4 = 1, #list4_0 do
          other = list4_0[number4]
          average[key]:add_(other[key])
        end
      end
      average[key] = ohm.div(average[key], #states)
    end
  end
  globals_:load_state_dict(average)
  mark("round " .. communication)
end
globals_:eval()
correct = 0
do
  local mode5 <close> = ohm.no_grad()
  for _ = 0, 2 - 1 do
    x = ohm.randn(20, 1, 28, 28, {device = "cuda"})
    y = ohm.randint(0, 10, {20}, {device = "cuda"})
    out = globals_(x)
    predicted = second(out.data:max(1, {keepdim = true}))
    correct = iadd(correct, predicted:eq(y.data:view_as(predicted)):long():cpu():sum())
  end
end
mark("test")
mark("end of program (globals alive)")
globals_ = nil
states = nil
state = nil
loss = nil
average = nil
key = nil
other = nil
correct = nil
x = nil
y = nil
out = nil
predicted = nil
mark("globals deleted")
