-- what a module gives, several values or a list
local function spread(first, ...)
  if type(first) == "table" and select("#", ...) == 0 then return table.unpack(first) end
  return first, ...
end

-- what a loop goes through
local function items(x)
  if ohm.is_tensor(x) then return {x:unbind(0)} end
  return type(x) == "table" and x or x:children()
end

local NTM, model, optimizer, x, y, loss
NTM = nn.Module:extend("NTM")
function NTM:__init(inputs, hidden, slots, width)
  if width == nil then width = 16 end
  if slots == nil then slots = 32 end
  if hidden == nil then hidden = 64 end
  if inputs == nil then inputs = 8 end
  self.cell = nn.LSTMCell(inputs + width, hidden)
  self.key = nn.Linear(hidden, width)
  self.beta = nn.Linear(hidden, 1)
  self.gate = nn.Linear(hidden, 1)
  self.shift = nn.Linear(hidden, 3)
  self.gamma = nn.Linear(hidden, 1)
  self.erase = nn.Linear(hidden, width)
  self.add = nn.Linear(hidden, width)
  self.out = nn.Linear(hidden + width, inputs)
  self.slots = slots
  self.width = width
  self.hidden = hidden
end
function NTM:address(memory, h, before)
  local key, similarity, weights, g, s, padded, moved, sharp
  key = ohm.tanh(self.key(h)):unsqueeze(1)
  similarity = F.cosine_similarity(memory + 1e-16, key + 1e-16, {dim = -1})
  weights = F.softmax(F.softplus(self.beta(h)) * similarity, {dim = 1})
  g = ohm.sigmoid(self.gate(h))
  weights = (g * weights) + ((1 - g) * before)
  s = F.softmax(self.shift(h), {dim = 1})
  padded = ohm.cat({slice(slice(weights, 0, 0), 1, -1), weights, slice(slice(weights, 0, 0), 1, 0, 1)}, {dim = 1})
  moved = ((slice(slice(padded, 0, 0), 1, 0, -2) * slice(slice(s, 0, 0), 1, 0, 1)) + (slice(slice(padded, 0, 0), 1, 1, -1) * slice(slice(s, 0, 0), 1, 1, 2))) + (slice(slice(padded, 0, 0), 1, 2) * slice(slice(s, 0, 0), 1, 2, 3))
  sharp = moved ^ (1 + F.softplus(self.gamma(h)))
  return sharp / (sharp:sum(1, {keepdim = true}) + 1e-16)
end
function NTM:forward(xs)
  local batch, h, c, memory, weights, read, outs, x, e, a
  batch = xs:size(1)
  h = ohm.zeros(batch, self.hidden, {device = xs.device})
  c = ohm.zeros_like(h)
  memory = ohm.full({batch, self.slots, self.width}, 1e-06, {device = xs.device})
  weights = F.one_hot(ohm.zeros(batch, {dtype = ohm.int64, device = xs.device}), self.slots):float()
  read = ohm.zeros(batch, self.width, {device = xs.device})
  outs = {}
  do
    local list1_0 = items(xs)
    for number1 = 1, #list1_0 do
      x = list1_0[number1]
      do
        local new1, new2 = spread(self.cell(ohm.cat({x, read}, 1), {h, c}))
        h = new1
        c = new2
      end
      weights = self:address(memory, h, weights)
      e = ohm.sigmoid(self.erase(h))
      a = ohm.tanh(self.add(h))
      memory = (memory * (1 - ohm.bmm(weights:unsqueeze(2), e:unsqueeze(1)))) + ohm.einsum("bn,bm->bnm", {weights, a})
      read = ohm.bmm(weights:unsqueeze(1), memory):squeeze(1)
      outs[#outs + 1] = ohm.sigmoid(self.out(ohm.cat({h, read}, 1)))
    end
  end
  return ohm.stack(outs)
end
model = NTM():cuda()
optimizer = ohm.optim.RMSprop(model:parameters(), {lr = 0.0001, alpha = 0.95, momentum = 0.9})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.bernoulli(ohm.full({6, 16, 8}, 0.5, {device = "cuda"}))
  y = model(x)
  loss = F.binary_cross_entropy(y, x:flip(0))
  optimizer:zero_grad()
  loss:backward()
  nn.utils.clip_grad_value_(model:parameters(), 10)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
loss = nil
mark("globals deleted")
