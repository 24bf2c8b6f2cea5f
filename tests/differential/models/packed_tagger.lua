local Tagger, model, optimizer, batches, lengths, sequences, targets, x, y, z, logits, cls, loss, pred
local vocab, tags, dim, hidden = 120, 9, 48, 56
local rnn = nn.utils.rnn
Tagger = nn.Module:extend("Tagger")
function Tagger:__init()
  self.embedding = nn.Embedding(vocab, dim, {padding_idx = 0})
  self.dropout = nn.Dropout(0.2)
  self.lstm = nn.LSTM(dim, hidden, {num_layers = 2, batch_first = true, bidirectional = true, dropout = 0.2})
  self.fc = nn.Linear(2 * hidden, tags)
  self.cls = nn.Linear(2 * hidden, 2)
end
function Tagger:forward(x, lengths)
  local emb, packed, out, h, c, out_lengths, last
  emb = self.dropout(self.embedding(x))
  packed = rnn.pack_padded_sequence(emb, lengths, {batch_first = true, enforce_sorted = false})
  out, h, c = several(self.lstm(packed))
  do
    local new1, new2 = rnn.pad_packed_sequence(out, {batch_first = true})
    out = new1
    out_lengths = new2
  end
  last = ohm.cat({h:select(0, -2), h:select(0, -1)}, {dim = 1})
  return self.fc(self.dropout(out)), self.cls(last)
end
model = Tagger():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 1e-3})
batches = {{9, 4, 12, 7}, {6, 6, 3, 11}, {5, 8, 8, 2}}
mark("model")
for step = 0, 2 do
  lengths = batches[step + 1]
  sequences = map(function(n) return ohm.randint(1, vocab, {n}) end, lengths)
  targets = map(function(n) return ohm.randint(0, tags, {n}) end, lengths)
  x = rnn.pad_sequence(sequences, {batch_first = true}):cuda()
  y = rnn.pad_sequence(targets, {batch_first = true, padding_value = -100}):cuda()
  z = ohm.randint(0, 2, {4}, {device = "cuda"})
  do
    local new1, new2 = model(x, lengths)
    logits = new1
    cls = new2
  end
  mark("forward " .. step)
  loss = F.cross_entropy(logits:view(-1, tags), y:view(-1), {ignore_index = -100}) + F.cross_entropy(cls, z)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
model:eval()
do
  local mode <close> = ohm.no_grad()
  do
    local new1, new2 = model(x, lengths)
    logits = new1
    cls = new2
  end
  pred = logits:argmax(-1)
end
mark("evaluated")
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
y = nil
z = nil
logits = nil
cls = nil
loss = nil
pred = nil
mark("globals deleted")
