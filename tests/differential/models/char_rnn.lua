local vocab, hidden, layers, batch, bptt, CharRNN, model, optimizer, scheduler, data, h, c, total, start, x, y, logits, loss, text, token, probs
vocab, hidden, layers, batch, bptt = 60, 96, 2, 16, 12
CharRNN = nn.Module:extend("CharRNN")
function CharRNN:__init()
  self.embedding = nn.Embedding(vocab, hidden)
  self.rnn = nn.LSTM(hidden, hidden, layers, {dropout = 0.3})
  self.dropout = nn.Dropout(0.3)
  self.head = nn.Linear(hidden, vocab)
end
function CharRNN:forward(x, state)
  local emb, out, logits
  emb = self.dropout(self.embedding(x))
  do
    local new1, new2 = self:run(emb, state)
    out = new1
    state = new2
  end
  logits = self.head(self.dropout(out))
  return logits, state
end
function CharRNN:run(emb, state)
  local results = self.rnn(emb, state)
  return results[1], {results[2], results[3]}
end
function CharRNN:init_hidden(batch_size)
  local h, c
  h = ohm.zeros(layers, batch_size, hidden, {device = "cuda"})
  c = ohm.zeros(layers, batch_size, hidden, {device = "cuda"})
  return h, c
end
model = CharRNN():cuda()
optimizer = ohm.optim.RMSprop(model:parameters(), {lr = 0.002, alpha = 0.95})
scheduler = ohm.optim.lr_scheduler.ExponentialLR(optimizer, {gamma = 0.97})
data = ohm.randint(0, vocab, {(bptt * 4) + 1, batch}, {device = "cuda"})
mark("model")
model:train()
h, c = model:init_hidden(batch)
total = 0.0
for step = 0, 4 - 1 do
  start = step * bptt
  x = slice(data, 0, start, start + bptt)
  y = slice(data, 0, start + 1, (start + bptt) + 1)
  h = h:detach()
  c = c:detach()
  optimizer:zero_grad()
  do
    local new1, state = model(x, {h, c})
    logits = new1
    h = state[1]
    c = state[2]
  end
  loss = F.cross_entropy(logits:view(-1, vocab), y:reshape(-1))
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 0.5)
  optimizer:step()
  total = total + loss:item()
  mark("step " .. step)
end
scheduler:step()
model:eval()
text = {}
do
  local mode1 <close> = ohm.no_grad()
  do
    local new1, new2 = model:init_hidden(1)
    h = new1
    c = new2
  end
  token = ohm.zeros(1, 1, {dtype = ohm.int64, device = "cuda"})
  for i = 0, 8 - 1 do
    do
      local new1, state = model(token, {h, c})
      logits = new1
      h = state[1]
      c = state[2]
    end
    probs = F.softmax(logits:select(0, -1) / 0.8, {dim = -1})
    token = ohm.multinomial(probs, 1)
    text[#text + 1] = token:item()
  end
end
mark("sampled")
mark("end of program (globals alive)")
model = nil
optimizer = nil
scheduler = nil
data = nil
h = nil
c = nil
start = nil
x = nil
y = nil
logits = nil
loss = nil
text = nil
token = nil
probs = nil
mark("globals deleted")
