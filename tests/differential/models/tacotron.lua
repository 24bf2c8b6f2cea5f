local LocationAttention, Prenet, Tacotron, model, optimizer, text, lengths, mel, target, out, post, gate, loss
LocationAttention = nn.Module:extend("LocationAttention")
function LocationAttention:__init(query, memory, width)
  self.q = nn.Linear(query, width, {bias = false})
  self.m = nn.Linear(memory, width, {bias = false})
  self.v = nn.Linear(width, 1, {bias = false})
  self.conv = nn.Conv1d(2, 8, 31, {padding = 15, bias = false})
  self.dense = nn.Linear(8, width, {bias = false})
end
function LocationAttention:forward(query, memory, keys, weights, mask)
  local location, energy, alignment
  location = self.dense(self.conv(weights):transpose(1, 2))
  energy = self.v(ohm.tanh((self.q(query:unsqueeze(1)) + location) + keys)):squeeze(-1)
  energy.data:masked_fill_(mask, -1000000000.0)
  alignment = F.softmax(energy, {dim = 1})
  return ohm.bmm(alignment:unsqueeze(1), memory):squeeze(1), alignment
end
Prenet = nn.Module:extend("Prenet")
function Prenet:__init(sizes)
  self.layers = nn.ModuleList(map(function(a, b) return nn.Linear(a, b, {bias = false}) end, {20, 32}, {32, 32}))
end
function Prenet:forward(x)
  local layer
  for _, item1 in ipairs(self.layers:children()) do
    layer = item1
    x = F.dropout(F.relu(layer(x)), {p = 0.5, training = true})
  end
  return x
end
Tacotron = nn.Module:extend("Tacotron")
function Tacotron:__init(symbols, width, mels)
  if mels == nil then mels = 20 end
  if width == nil then width = 32 end
  if symbols == nil then symbols = 40 end
  self.embedding = nn.Embedding(symbols, width)
  self.convs = nn.ModuleList(collect(2, function(_) return nn.Sequential(nn.Conv1d(width, width, 5, {padding = 2}), nn.BatchNorm1d(width)) end))
  self.lstm = nn.LSTM(width, width // 2, 1, {batch_first = true, bidirectional = true})
  self.prenet = Prenet({mels, 32, 32})
  self.attention_cell = nn.LSTMCell(32 + width, 64)
  self.attention = LocationAttention(64, width, 32)
  self.decoder_cell = nn.LSTMCell(64 + width, 64)
  self.project = nn.Linear(64 + width, mels)
  self.gate = nn.Linear(64 + width, 1)
  self.postnet = nn.Sequential(nn.Conv1d(mels, 32, 5, {padding = 2}), nn.BatchNorm1d(32), nn.Tanh(), nn.Dropout(0.5), nn.Conv1d(32, mels, 5, {padding = 2}), nn.BatchNorm1d(mels))
  self.mels = mels
end
function Tacotron:forward(text, lengths, mel)
  local x, conv, memory, _, mask, keys, b, ah, ac, dh, dc, w, total, context, frames, outs, gates, frame, both, out
  x = self.embedding(text):transpose(1, 2)
  for _, item2 in ipairs(self.convs:children()) do
    conv = item2
    x = F.dropout(F.relu(conv(x)), 0.5, self.training)
  end
  do local r = self.lstm(x:transpose(1, 2)); memory = r[1]; _ = {r[2], r[3]}; r = nil; sweep() end
  mask = ohm.arange(text:size(1), {device = text.device}):unsqueeze(0):ge(slice(lengths, 0, 0):unsqueeze(1))
  keys = self.attention.m(memory)
  b = text:size(0)
  ah = memory:new_zeros(b, 64)
  ac = memory:new_zeros(b, 64)
  dh = memory:new_zeros(b, 64)
  dc = memory:new_zeros(b, 64)
  w = memory:new_zeros(b, text:size(1))
  total = ohm.zeros_like(w)
  context = memory:new_zeros(b, memory:size(2))
  frames = ohm.cat({mel:new_zeros(1, b, self.mels), slice(mel:permute(2, 0, 1), 0, 0, -1)})
  frames = self.prenet(frames)
  outs, gates = {}, {}
  for _, item3 in ipairs({frames:unbind(0)}) do
    frame = item3
    do
      local new1, new2 = several(self.attention_cell(ohm.cat({frame, context}, -1), {ah, ac}))
      ah = new1
      ac = new2
    end
    ah = F.dropout(ah, 0.1, self.training)
    do
      local new1, new2 = self.attention(ah, memory, keys, ohm.cat({w:unsqueeze(1), total:unsqueeze(1)}, {dim = 1}), mask)
      context = new1
      w = new2
    end
    total = iadd(total, w)
    do
      local new1, new2 = several(self.decoder_cell(ohm.cat({ah, context}, -1), {dh, dc}))
      dh = new1
      dc = new2
    end
    both = ohm.cat({dh, context}, {dim = 1})
    outs[#outs + 1] = self.project(both)
    gates[#gates + 1] = self.gate(both):squeeze(1)
  end
  out = ohm.stack(outs):permute(1, 2, 0):contiguous()
  return out, out + self.postnet(out), ohm.stack(gates, 1)
end
model = Tacotron():cuda()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001, weight_decay = 1e-06})
mark("model")
for step = 0, 2 - 1 do
  text = ohm.randint(0, 40, {4, 12}, {device = "cuda"})
  lengths = ohm.tensor({12, 10, 8, 5}, {device = "cuda"})
  mel = ohm.randn(4, 20, 6, {device = "cuda"})
  target = ohm.zeros(4, 6, {device = "cuda"})
  slice(target, 0, 0):select(1, -1):fill_(1)
  do
    local new1, new2, new3 = model(text, lengths, mel)
    out = new1
    post = new2
    gate = new3
  end
  loss = (F.mse_loss(out, mel) + F.mse_loss(post, mel)) + F.binary_cross_entropy_with_logits(gate, target)
  optimizer:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
text = nil
lengths = nil
mel = nil
target = nil
out = nil
post = nil
gate = nil
loss = nil
mark("globals deleted")
