-- a < b and others, of tensors or numbers
local function compare(how, a, b)
  if ohm.is_tensor(a) then return a[how](a, b) end
  if ohm.is_tensor(b) then return b[({lt = "gt", gt = "lt", le = "ge", ge = "le", eq = "eq", ne = "ne"})[how]](b, a) end
  if how == "eq" then return a == b elseif how == "ne" then return a ~= b end
  if how == "lt" then return a < b elseif how == "le" then return a <= b end
  if how == "gt" then return a > b else return a >= b end
end

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

local GRN, VariableSelection, TFT, quantile_loss, model, optimizer, quantiles, static, x, out, weights, attention, loss
GRN = nn.Module:extend("GRN")
function GRN:__init(inputs, hidden, outputs, context)
  outputs = (outputs or inputs)
  self.fc1 = nn.Linear(inputs, hidden)
  self.context = (context and nn.Linear(context, hidden, {bias = false}) or false)
  self.fc2 = nn.Linear(hidden, outputs)
  self.gate = nn.Linear(outputs, 2 * outputs)
  self.norm = nn.LayerNorm(outputs)
  self.skip = (compare("ne", inputs, outputs) and nn.Linear(inputs, outputs) or nn.Identity())
  self.dropout = nn.Dropout(0.1)
end
function GRN:forward(x, c)
  local h
  h = self.fc1(x)
  if c ~= nil then
    h = h + self.context(c):unsqueeze(1)
  end
  h = self.dropout(self.fc2(F.elu(h)))
  return self.norm(self.skip(x) + F.glu(self.gate(h), {dim = -1}))
end
VariableSelection = nn.Module:extend("VariableSelection")
function VariableSelection:__init(count, width)
  self.weights = GRN(count * width, width, count, width)
  self.each = nn.ModuleList(collect(count, function(_) return GRN(width, width) end))
end
function VariableSelection:forward(x, c)
  local weights, parts
  weights = F.softmax(self.weights(x:flatten(2), c), {dim = -1})
  parts = ohm.stack((function() local r = {} local l0 = items(self.each:children()) for i_ = 1, #l0 do local i = i_ - 1 local g = l0[i_] r[#r + 1] = g(slice(slice(x, 0, 0), 1, 0):select(2, i)) end return r end)(), {dim = -1})
  return ohm.sum(weights:unsqueeze(2) * parts, {dim = -1}), weights
end
TFT = nn.Module:extend("TFT")
function TFT:__init(width, variables, quantiles)
  if quantiles == nil then quantiles = 3 end
  if variables == nil then variables = 4 end
  if width == nil then width = 16 end
  self.static = nn.Embedding(10, width)
  self.inputs = nn.ModuleList(collect(variables, function(_) return nn.Linear(1, width) end))
  self.selection = VariableSelection(variables, width)
  self.h = GRN(width, width)
  self.c = GRN(width, width)
  self.encoder = nn.LSTM(width, width, {batch_first = true})
  self.gate = nn.Linear(width, 2 * width)
  self.norm = nn.LayerNorm(width)
  self.attention = nn.MultiheadAttention(width, 4, {batch_first = true})
  self.out = nn.Linear(width, quantiles)
end
function TFT:forward(static, x)
  local s, e, weights, state, h, _, t, mask, a, attention
  s = self.static(static)
  e = ohm.stack((function() local r = {} local l0 = items(self.inputs:children()) for i_ = 1, #l0 do local i = i_ - 1 local f = l0[i_] r[#r + 1] = f(slice(x, -1, i, i + 1)) end return r end)(), {dim = 2})
  do
    local new1, new2 = self.selection(e, s)
    e = new1
    weights = new2
  end
  state = {self.h(s):unsqueeze(0), self.c(s):unsqueeze(0)}
  do local results3 = self.encoder(e, state)
    local old = _
    h = results3[1]
    _ = {results3[2], results3[3]}
    if type(old) == 'table' then clear(old) end end
  h = self.norm(F.glu(self.gate(h)) + e)
  t = x:size(1)
  mask = ohm.triu(ohm.ones(t, t, {dtype = ohm.bool, device = x.device}), {diagonal = 1})
  a, attention = spread(self.attention(h, h, h, {attn_mask = mask}))
  return self.out(h + a), weights, attention
end
function quantile_loss(prediction, target, quantiles)
  local errors
  errors = target:unsqueeze(-1) - prediction
  return ohm.max((quantiles - 1) * errors, quantiles * errors):sum(-1):mean()
end
model = TFT():cuda()
optimizer = ohm.optim.NAdam(model:parameters(), {lr = 0.001})
quantiles = ohm.tensor({0.1, 0.5, 0.9}, {device = "cuda"})
mark("model")
for step = 0, 2 - 1 do
  static = ohm.randint(0, 10, {8}, {device = "cuda"})
  x = ohm.randn(8, 12, 4, {device = "cuda"})
  do
    local new1, new2, new3 = model(static, x)
    out = new1
    weights = new2
    attention = new3
  end
  loss = quantile_loss(out, ohm.randn(8, 12, {device = "cuda"}), quantiles)
  loss:backward()
  optimizer:step()
  optimizer:zero_grad()
  out = nil
  weights = nil
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
quantiles = nil
static = nil
x = nil
attention = nil
loss = nil
mark("globals deleted")
