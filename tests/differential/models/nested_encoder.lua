-- with values: they say how long each sequence is
local vocab, dim, classes, Classifier, model, optimizer, x, pad, y, loss, logits, narrow, z
vocab, dim, classes = 90, 32, 4
Classifier = nn.Module:extend("Classifier")
function Classifier:__init()
  local layer
  self.emb = nn.Embedding(vocab, dim, {padding_idx = 0})
  layer = nn.TransformerEncoderLayer(dim, 4, 64, {activation = "gelu", batch_first = true})
  self.encoder = nn.TransformerEncoder(layer, 2, {norm = nn.LayerNorm(dim)})
  self.fc = nn.Linear(dim, classes)
end
function Classifier:forward(x, pad)
  local h
  h = self.encoder(self.emb(x), {src_key_padding_mask = pad})
  return self.fc(h:select(1, 0))
end
model = Classifier():cuda()
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.1})
x = ohm.randint(1, vocab, {3, 12}, {device = "cuda"})
pad = ohm.arange(12, {device = "cuda"}):unsqueeze(0):ge(ohm.tensor({12, 5, 9}, {device = "cuda"}):unsqueeze(1))
sweep()
y = ohm.randint(0, classes, {3}, {device = "cuda"})
loss = F.cross_entropy(model(x, pad), y)
sweep()
optimizer:zero_grad()
loss:backward()
optimizer:step()
mark("trained")
model:eval()
do
  local mode <close> = ohm.no_grad()
  logits = model(x, pad)
end
mark("evaluated")
model:half()
do
  local mode <close> = ohm.no_grad()
  logits = model(x, pad)
end
mark("evaluated in half precision")
narrow = nn.TransformerEncoder(nn.TransformerEncoderLayer(20, 2, 24, {batch_first = true}), 1)
narrow = narrow:cuda():eval()
z = ohm.randn(3, 12, 20, {device = "cuda"})
do
  local mode <close> = ohm.inference_mode()
  z = narrow(z, {src_key_padding_mask = pad})
end
mark("evaluated step by step")
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
pad = nil
y = nil
loss = nil
logits = nil
narrow = nil
z = nil
mark("globals deleted")
