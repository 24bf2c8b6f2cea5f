-- x[i], of a tensor or a list
local function at(x, i)
  if not ohm.is_tensor(x) then
    if type(i) ~= "number" then return x[i] end
      return x[i < 0 and #x + 1 + i or i + 1]
  end
  if ohm.is_tensor(i) then return x:index({i}) end
  return x:select(0, i)
end

-- what a module gives, several values or a list
local function spread(first, ...)
  if type(first) == "table" and select("#", ...) == 0 then return table.unpack(first) end
  return first, ...
end

local RNNT, transducer_loss, model, optimizer, scheduler, x, y, loss
RNNT = nn.Module:extend("RNNT")
function RNNT:__init(features, hidden, vocabulary)
  if vocabulary == nil then vocabulary = 15 end
  if hidden == nil then hidden = 48 end
  if features == nil then features = 20 end
  self.encoder = nn.LSTM(features, hidden, {num_layers = 2, bidirectional = true, batch_first = true})
  self.project = nn.Linear(2 * hidden, hidden)
  self.embed = nn.Embedding(vocabulary, hidden, {padding_idx = 0})
  self.predictor = nn.GRU(hidden, hidden, {batch_first = true})
  self.joint = nn.Linear(hidden, vocabulary)
end
function RNNT:forward(x, y)
  local e, _, d
  do local results1 = self.encoder(x)
    local old = _
    e = results1[1]
    _ = {results1[2], results1[3]}
    if type(old) == 'table' then clear(old) end end
  e = self.project(e)
  do
    local new1, new2 = spread(self.predictor(self.embed(F.pad(y, {1, 0}))))
    d = new1
    local old = _
    _ = new2
    clear(old)
  end
  return self.joint(ohm.tanh(e:unsqueeze(2) + d:unsqueeze(1)))
end
function transducer_loss(logits, y)
  local logs, b, t, u, _, blank, labels, emit, alpha, rows, first, before, cells
  logs = F.log_softmax(logits, {dim = -1})
  b, t, u, _ = table.unpack(logs.shape)
  blank = logs:select(-1, 0)
  labels = slice(slice(y, 0, 0):unsqueeze(1), 2, 0):unsqueeze(3):expand(-1, t, -1, -1)
  emit = slice(slice(slice(logs, 0, 0), 1, 0), 2, 0, -1):gather(3, labels):squeeze(3)
  alpha = ohm.full({b, u}, -math.huge, {device = logs.device})
  rows = {}
  first = ohm.cat({ohm.zeros(b, 1, {device = logs.device}), slice(emit, 0, 0):select(1, 0):cumsum(1)}, {dim = 1})
  rows[#rows + 1] = first
  for i = 1, t - 1 do
    before = at(rows, -1) + slice(blank, 0, 0):select(1, i - 1)
    cells = {slice(before, 0, 0):select(1, 0)}
    for j = 1, u - 1 do
      cells[#cells + 1] = ohm.logaddexp(slice(before, 0, 0):select(1, j), at(cells, -1) + slice(emit, 0, 0):select(1, i):select(1, j - 1))
    end
    rows[#rows + 1] = ohm.stack(cells, 1)
  end
  return -(slice(at(rows, -1), 0, 0):select(1, -1) + slice(blank, 0, 0):select(1, -1):select(1, -1)):mean()
end
model = RNNT():cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
scheduler = ohm.optim.lr_scheduler.OneCycleLR(optimizer, {max_lr = 0.01, total_steps = 10})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(3, 7, 20, {device = "cuda"})
  y = ohm.randint(1, 15, {3, 4}, {device = "cuda"})
  loss = transducer_loss(model(x, y), y)
  loss:backward()
  optimizer:step()
  scheduler:step()
  optimizer:zero_grad({set_to_none = false})
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
scheduler = nil
x = nil
y = nil
loss = nil
mark("globals deleted")
