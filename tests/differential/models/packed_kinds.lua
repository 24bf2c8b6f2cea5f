local embedding, gru, back, rnn, lstm, modules, optimizer, x, packed, h0, out, h, out2, h2, padded, lengths
local again, out3, h3, wide, pieces, c0, out4, h4, c4, loss
local utils = nn.utils.rnn
embedding = nn.Linear(24, 32):cuda()
gru = nn.GRU(32, 40, {num_layers = 2}):cuda()
back = nn.GRU(40, 24, {bidirectional = true, bias = false}):cuda()
rnn = nn.RNN(48, 20, {nonlinearity = "relu", bidirectional = true, batch_first = true}):cuda()
lstm = nn.LSTM(40, 16):cuda()
modules = nn.ModuleList({embedding, gru, back, rnn, lstm})
optimizer = ohm.optim.SGD(modules:parameters(), {lr = 0.1, momentum = 0.9})
mark("modules")
for step = 0, 1 do
  x = ohm.randn(10, 5, 24, {device = "cuda", requires_grad = true})
  packed = utils.pack_padded_sequence(x, {10, 8, 8, 5, 1})
  packed = utils.PackedSequence(ohm.tanh(embedding(packed.data)), packed)
  h0 = ohm.zeros(2, 5, 40, {device = "cuda"})
  do
    local results = gru(packed, h0)
    out = results[1]
    h = results[2]
  end
  mark("gru " .. step)
  do
    local results = back(out)
    out2 = results[1]
    h2 = results[2]
  end
  do
    local new1, new2 = utils.pad_packed_sequence(out2, {batch_first = true, padding_value = -1.0, total_length = 12})
    padded = new1
    lengths = new2
  end
  mark("padded " .. step)
  again = utils.pack_padded_sequence(padded, {3, 12, 6, 6, 9}, {batch_first = true, enforce_sorted = false})
  do
    local results = rnn(again)
    out3 = results[1]
    h3 = results[2]
  end
  wide = utils.pad_packed_sequence(out3)
  mark("rnn " .. step)
  do
    local old = pieces
    pieces = map(function(n) return ohm.randn(n, 40, {device = "cuda"}) end, {4, 7, 2})
    clear(old)
  end
  c0 = ohm.randn(1, 3, 16, {device = "cuda"})
  do
    local results = lstm(utils.pack_sequence(pieces, {enforce_sorted = false}), {ohm.zeros_like(c0), c0})
    out4 = results[1]
    h4 = results[2]
    c4 = results[3]
  end
  loss = wide:pow(2):mean() + h:sum() + h2:mean() + h3:pow(2):sum() + out4.data:abs():mean() + h4:sum() + c4:mean()
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
do
  local mode <close> = ohm.no_grad()
  packed = utils.pack_padded_sequence(x, {10, 8, 8, 5, 1})
  packed = utils.PackedSequence(embedding(packed.data), packed)
  do
    local results = gru(packed)
    out = results[1]
    h = results[2]
  end
  mark("gru evaluated")
  do
    local results = back(out)
    out2 = results[1]
    h2 = results[2]
  end
  mark("back evaluated")
  do
    local results = lstm(utils.pack_sequence(pieces, {enforce_sorted = false}))
    out4 = results[1]
    h4 = results[2]
    c4 = results[3]
  end
  mark("lstm evaluated")
end
mark("end of program (globals alive)")
embedding = nil
gru = nil
back = nil
rnn = nil
lstm = nil
modules = nil
optimizer = nil
x = nil
packed = nil
h0 = nil
out = nil
h = nil
out2 = nil
h2 = nil
padded = nil
lengths = nil
again = nil
out3 = nil
h3 = nil
wide = nil
pieces = nil
c0 = nil
out4 = nil
h4 = nil
c4 = nil
loss = nil
mark("globals deleted")
