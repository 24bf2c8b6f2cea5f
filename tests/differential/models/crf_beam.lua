local vocab, tags, dim, batch, length, CRF, model, optimizer, x, y, lengths, mask, emit, loss, path, acc, cell, head, beam, h, tokens, scores, offset, logp, total, idx, origin, token, rows
vocab, tags, dim, batch, length = 90, 7, 40, 5, 8
CRF = nn.Module:extend("CRF")
function CRF:__init()
  self.emb = nn.Embedding(vocab, dim)
  self.conv = nn.Conv1d(dim, dim, 3, {padding = 1})
  self.fc = nn.Linear(dim, tags)
  self.transitions = nn.Parameter(ohm.randn(tags, tags))
  self.start = nn.Parameter(ohm.zeros(tags))
  self.stop = nn.Parameter(ohm.zeros(tags))
end
function CRF:emissions(x)
  local h
  h = self.emb(x):transpose(1, 2)
  h = F.relu(self.conv(h)):transpose(1, 2)
  return self.fc(h)
end
function CRF:log_partition(emit, mask)
  local alpha, scores, new
  alpha = self.start + slice(emit, 0, 0):select(1, 0)
  for t = 1, emit:size(1) - 1 do
    scores = (alpha:unsqueeze(2) + self.transitions) + slice(emit, 0, 0):select(1, t):unsqueeze(1)
    new = ohm.logsumexp(scores, {dim = 1})
    alpha = ohm.where(slice(mask, 0, 0):select(1, t):unsqueeze(1), new, alpha)
  end
  return ohm.logsumexp(alpha + self.stop, {dim = 1})
end
function CRF:score(emit, y, mask)
  local total, m, step, last
  total = self.start:index({slice(y, 0, 0):select(1, 0)}) + slice(emit, 0, 0):select(1, 0):gather(1, slice(slice(y, 0, 0), 1, 0, 1)):squeeze(1)
  m = mask:float()
  for t = 1, emit:size(1) - 1 do
    step = self.transitions:index({slice(y, 0, 0):select(1, t - 1), slice(y, 0, 0):select(1, t)}) + slice(emit, 0, 0):select(1, t):gather(1, slice(y, 0, 0):select(1, t):unsqueeze(1)):squeeze(1)
    total = total + (step * slice(m, 0, 0):select(1, t))
  end
  last = mask:long():sum(1) - 1
  return total + self.stop:index({y:gather(1, last:unsqueeze(1)):squeeze(1)})
end
function CRF:decode(emit)
  local score, history, best, idx, tag, path
  score = self.start + slice(emit, 0, 0):select(1, 0)
  history = {}
  for t = 1, emit:size(1) - 1 do
    do
      local new1, new2 = (score:unsqueeze(2) + self.transitions):max({dim = 1})
      best = new1
      idx = new2
    end
    score = best + slice(emit, 0, 0):select(1, t)
    history[#history + 1] = idx
  end
  score = score + self.stop
  tag = score:argmax({dim = 1, keepdim = true})
  path = {tag}
  for t = #history - 1, 0, -1 do
    tag = history[t + 1]:gather(1, tag)
    path[#path + 1] = tag
  end
  return ohm.cat(path, {dim = 1}):flip(1)
end
model = CRF():cuda()
optimizer = ohm.optim.Adagrad(model:parameters(), {lr = 0.05})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randint(0, vocab, {batch, length}, {device = "cuda"})
  y = ohm.randint(0, tags, {batch, length}, {device = "cuda"})
  lengths = ohm.randint(3, length + 1, {batch}, {device = "cuda"})
  mask = ohm.arange(length, {device = "cuda"}):unsqueeze(0):lt(lengths:unsqueeze(1))
  emit = model:emissions(x)
  loss = (model:log_partition(emit, mask) - model:score(emit, y, mask)):mean()
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
do
  local mode1 <close> = ohm.no_grad()
  path = model:decode(model:emissions(x))
  acc = (path:eq(y)):float():mean():item()
end
mark("decoded")
cell = nn.GRUCell(dim, dim):cuda()
head = nn.Linear(dim, vocab):cuda()
beam = 3
do
  local mode2 <close> = ohm.no_grad()
  h = ohm.randn(batch * beam, dim, {device = "cuda"})
  tokens = ohm.zeros(batch * beam, 1, {dtype = ohm.int64, device = "cuda"})
  scores = ohm.zeros(batch, beam, {device = "cuda"})
  slice(slice(scores, 0, 0), 1, 1):fill_(-1000000000.0)
  offset = (ohm.arange(batch, {device = "cuda"}) * beam):unsqueeze(1)
  for t = 0, 4 - 1 do
    h = cell(model.emb(slice(tokens, 0, 0):select(1, -1)), h)
    logp = F.log_softmax(head(h), {dim = -1}):view(batch, beam, vocab)
    total = (scores:unsqueeze(2) + logp):view(batch, -1)
    do
      local new1, new2 = total:topk(beam, {dim = 1})
      scores = new1
      idx = new2
    end
    origin = ohm.div(idx, vocab, {rounding_mode = "floor"})
    token = idx % vocab
    rows = (origin + offset):view(-1)
    tokens = ohm.cat({tokens:index({rows}), token:view(-1, 1)}, {dim = 1})
    h = h:index_select(0, rows)
    mark("beam " .. t)
  end
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
lengths = nil
mask = nil
emit = nil
loss = nil
path = nil
acc = nil
cell = nil
head = nil
h = nil
tokens = nil
scores = nil
offset = nil
logp = nil
total = nil
idx = nil
origin = nil
token = nil
rows = nil
mark("globals deleted")
