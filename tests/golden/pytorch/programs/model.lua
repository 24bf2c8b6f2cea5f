-- Written by tests/differential/models.py from tests/differential/models: do not edit.

--== model_bert
local hidden, heads, vocab, length, Embeddings, SelfAttention, Layer, Bert, model, plain, other, opt, warmup, accumulation, ids, kinds, attention, labels, following, prediction, relation, lm, loss
hidden, heads, vocab, length = 64, 4, 300, 24
Embeddings = nn.Module:extend("Embeddings")
function Embeddings:__init()
  self.word = nn.Embedding(vocab, hidden, {padding_idx = 0})
  self.position = nn.Embedding(64, hidden)
  self.kind = nn.Embedding(2, hidden)
  self.norm = nn.LayerNorm(hidden, {eps = 1e-12})
  self.dropout = nn.Dropout(0.1)
end
function Embeddings:forward(ids, kinds)
  local positions, x
  positions = ohm.arange(ids:size(1), {dtype = ohm.int64, device = ids.device}):unsqueeze(0)
  x = (self.word(ids) + self.kind(kinds)) + self.position(positions)
  return self.dropout(self.norm(x))
end
SelfAttention = nn.Module:extend("SelfAttention")
function SelfAttention:__init()
  self.query = nn.Linear(hidden, hidden)
  self.key = nn.Linear(hidden, hidden)
  self.value = nn.Linear(hidden, hidden)
  self.dropout = nn.Dropout(0.1)
end
function SelfAttention:split(x)
  return x:view(x:size(0), x:size(1), heads, hidden // heads):permute(0, 2, 1, 3)
end
function SelfAttention:forward(x, mask)
  local q, k, v, scores, probs, context
  q = self:split(self.query(x))
  k = self:split(self.key(x))
  v = self:split(self.value(x))
  scores = ohm.matmul(q, k:transpose(-1, -2))
  scores = scores / math.sqrt(hidden // heads)
  scores = scores + mask
  probs = nn.Softmax({dim = -1})(scores)
  probs = self.dropout(probs)
  context = ohm.matmul(probs, v)
  return context:permute(0, 2, 1, 3):contiguous():view(x:size(0), x:size(1), hidden)
end
Layer = nn.Module:extend("Layer")
function Layer:__init()
  self.attention = SelfAttention()
  self.output = nn.Linear(hidden, hidden)
  self.norm1 = nn.LayerNorm(hidden, {eps = 1e-12})
  self.up = nn.Linear(hidden, 4 * hidden)
  self.down = nn.Linear(4 * hidden, hidden)
  self.norm2 = nn.LayerNorm(hidden, {eps = 1e-12})
  self.dropout = nn.Dropout(0.1)
end
function Layer:forward(x, mask)
  local h
  h = self.dropout(self.output(self.attention(x, mask)))
  x = self.norm1(h + x)
  h = self.dropout(self.down(F.gelu(self.up(x))))
  return self.norm2(h + x)
end
Bert = nn.Module:extend("Bert")
function Bert:__init()
  self.embeddings = Embeddings()
  self.layers = nn.ModuleList(collect(2, function(_) return Layer() end))
  self.pooler = nn.Linear(hidden, hidden)
  self.transform = nn.Linear(hidden, hidden)
  self.norm = nn.LayerNorm(hidden)
  self.bias = nn.Parameter(ohm.zeros(vocab))
  self.seq = nn.Linear(hidden, 2)
end
function Bert:forward(ids, kinds, attention)
  local mask, x, layer, pooled, h, logits
  mask = attention:unsqueeze(1):unsqueeze(2):to({dtype = ohm.float32})
  mask = (1.0 - mask) * (-10000.0)
  x = self.embeddings(ids, kinds)
  for _, item1 in ipairs(self.layers:children()) do
    layer = item1
    x = layer(x, mask)
  end
  pooled = ohm.tanh(self.pooler(slice(x, 0, 0):select(1, 0)))
  h = self.norm(F.gelu(self.transform(x)))
  logits = F.linear(h, self.embeddings.word.weight, self.bias)
  return logits, self.seq(pooled)
end
model = Bert():cuda()
plain = filter_named(model:named_parameters(), function(n, p) return not any({"bias", "norm"}, function(k) return n:find(k, 1, true) end) end)
other = filter_named(model:named_parameters(), function(n, p) return any({"bias", "norm"}, function(k) return n:find(k, 1, true) end) end)
opt = ohm.optim.AdamW({{params = plain, weight_decay = 0.01}, {params = other, weight_decay = 0.0}}, {lr = 5e-05})
warmup = ohm.optim.lr_scheduler.LambdaLR(opt, function(step) return math.min(1.0, (step + 1) / 10) end)
accumulation = 2
mark("model")
for step = 0, 4 - 1 do
  ids = ohm.randint(1, vocab, {4, length}, {device = "cuda"})
  kinds = ohm.zeros_like(ids)
  attention = ohm.ones(4, length, {dtype = ohm.int64, device = "cuda"})
  slice(slice(attention, 0, 0), 1, -4):fill_(0)
  labels = ohm.where(ohm.rand(4, length, {device = "cuda"}):lt(0.15), ids, ohm.full_like(ids, -100))
  following = ohm.randint(0, 2, {4}, {device = "cuda"})
  do
    local new1, new2 = model(ids, kinds, attention)
    prediction = new1; sweep()
    relation = new2; sweep()
  end
  lm = F.cross_entropy(prediction:view(-1, vocab), labels:view(-1), {ignore_index = -100})
  loss = (lm + F.cross_entropy(relation, following)) / accumulation
  loss:backward()
  mark("backward " .. step)
  if ((step + 1) % accumulation) == 0 then
    nn.utils.clip_grad_norm_(model:parameters(), 1.0)
    opt:step()
    warmup:step()
    opt:zero_grad()
    mark("step " .. step)
  end
end
mark("end of program (globals alive)")
model = nil; sweep()
plain = clear(plain)
other = clear(other)
opt = nil; sweep()
warmup = nil; sweep()
ids = nil; sweep()
kinds = nil; sweep()
attention = nil; sweep()
labels = nil; sweep()
following = nil; sweep()
prediction = nil; sweep()
relation = nil; sweep()
lm = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_clip
local TextEncoder, ImageEncoder, CLIP, model, opt, images, ids, per_image, per_text, truth, loss
TextEncoder = nn.Module:extend("TextEncoder")
function TextEncoder:__init(vocab, width, length)
  local layer
  if length == nil then length = 12 end
  if width == nil then width = 32 end
  if vocab == nil then vocab = 100 end
  self.token = nn.Embedding(vocab, width)
  self.pos = nn.Parameter(ohm.empty(length, width):normal_({std = 0.01}))
  layer = nn.TransformerEncoderLayer(width, 4, {dim_feedforward = 64, dropout = 0.0, activation = "gelu", batch_first = true, norm_first = true})
  self.transformer = nn.TransformerEncoder(layer, 2, {enable_nested_tensor = false})
  self.ln = nn.LayerNorm(width)
  self:register_buffer("mask", ohm.full({length, length}, -math.huge):triu(1))
end
function TextEncoder:forward(ids)
  local x
  x = self.token(ids) + self.pos
  x = self.transformer(x, {mask = self.mask})
  x = self.ln(x)
  return x:index({ohm.arange(x:size(0), {device = x.device}), ids:argmax({dim = -1})})
end
ImageEncoder = nn.Module:extend("ImageEncoder")
function ImageEncoder:__init(width)
  if width == nil then width = 32 end
  self.stem = nn.Sequential(nn.Conv2d(3, 16, 4, {stride = 4}), nn.GELU(), nn.Conv2d(16, width, 2, {stride = 2}), nn.GELU())
  self.norm = nn.LayerNorm(width)
end
function ImageEncoder:forward(x)
  x = self.stem(x)
  x = x:mean({dim = {-2, -1}})
  return self.norm(x)
end
CLIP = nn.Module:extend("CLIP")
function CLIP:__init()
  self.visual = ImageEncoder()
  self.text = TextEncoder()
  self.image_proj = nn.Linear(32, 24, {bias = false})
  self.text_proj = nn.Parameter(ohm.randn(32, 24) * 0.1)
  self.logit_scale = nn.Parameter(ohm.ones({}) * math.log(1 / 0.07))
end
function CLIP:forward(images, ids)
  local i, t, scale, per_image
  i = self.image_proj(self.visual(images))
  t = ohm.matmul(self.text(ids), self.text_proj)
  i = i / i:norm({dim = 1, keepdim = true})
  t = t / t:norm({dim = 1, keepdim = true})
  scale = self.logit_scale:exp()
  per_image = ohm.matmul(scale * i, t:t())
  return per_image, per_image:t()
end
model = CLIP():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.0005, betas = {0.9, 0.98}, eps = 1e-06, weight_decay = 0.2})
mark("model")
for step = 0, 2 - 1 do
  images = ohm.randn(8, 3, 32, 32, {device = "cuda"})
  ids = ohm.randint(0, 100, {8, 12}, {device = "cuda"})
  do
    local new1, new2 = model(images, ids)
    per_image = new1; sweep()
    per_text = new2; sweep()
  end
  truth = ohm.arange(8, {device = "cuda"})
  loss = (F.cross_entropy(per_image, truth) + F.cross_entropy(per_text, truth)) / 2
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  do
    local mode1 <close> = ohm.no_grad()
    model.logit_scale:clamp_(0, math.log(100))
  end
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
images = nil; sweep()
ids = nil; sweep()
per_image = nil; sweep()
per_text = nil; sweep()
truth = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_ctc_speech
local SpeechModel, model, opt, criterion, x, targets, logp, loss
SpeechModel = nn.Module:extend("SpeechModel")
function SpeechModel:__init(features, hidden, classes)
  if classes == nil then classes = 12 end
  if hidden == nil then hidden = 24 end
  if features == nil then features = 20 end
  self.conv = nn.Sequential(nn.Conv1d(features, hidden, 5, {stride = 2, padding = 2}), nn.BatchNorm1d(hidden), nn.Hardtanh(0, 20))
  self.rnn = nn.GRU(hidden, hidden, {bidirectional = true, batch_first = true})
  self.fc = nn.Linear(2 * hidden, classes)
end
function SpeechModel:forward(x)
  local out, _
  x = self.conv(x):transpose(1, 2)
  out, _ = several(self.rnn(x))
  return F.log_softmax(self.fc(out), {dim = -1})
end
model = SpeechModel():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
criterion = nn.CTCLoss({blank = 0, zero_infinity = true})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(4, 20, 24, {device = "cuda"})
  targets = ohm.randint(1, 12, {4, 4}, {device = "cuda"})
  logp = model(x):transpose(0, 1)
  loss = criterion(logp, targets, ohm.full({4}, 12, {dtype = ohm.int64}), ohm.full({4}, 4, {dtype = ohm.int64}))
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 400)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
criterion = nil; sweep()
x = nil; sweep()
targets = nil; sweep()
logp = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_dcgan
local Generator, Discriminator, weights_init, netG, netD, criterion, optimizerD, optimizerG, fixed_noise, real, label, output, errD_real, noise, fake, errD_fake, errD, errG
Generator = nn.Module:extend("Generator")
function Generator:__init(nz, ngf)
  if ngf == nil then ngf = 16 end
  if nz == nil then nz = 32 end
  self.main = nn.Sequential(nn.ConvTranspose2d(nz, ngf * 4, 4, 1, 0, {bias = false}), nn.BatchNorm2d(ngf * 4), nn.ReLU(true), nn.ConvTranspose2d(ngf * 4, ngf * 2, 4, 2, 1, {bias = false}), nn.BatchNorm2d(ngf * 2), nn.ReLU(true), nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, {bias = false}), nn.BatchNorm2d(ngf), nn.ReLU(true), nn.ConvTranspose2d(ngf, 3, 4, 2, 1, {bias = false}), nn.Tanh())
end
function Generator:forward(z)
  return self.main(z)
end
Discriminator = nn.Module:extend("Discriminator")
function Discriminator:__init(ndf)
  if ndf == nil then ndf = 16 end
  self.main = nn.Sequential(nn.Conv2d(3, ndf, 4, 2, 1, {bias = false}), nn.LeakyReLU(0.2, {inplace = true}), nn.Conv2d(ndf, ndf * 2, 4, 2, 1, {bias = false}), nn.BatchNorm2d(ndf * 2), nn.LeakyReLU(0.2, {inplace = true}), nn.Conv2d(ndf * 2, ndf * 4, 4, 2, 1, {bias = false}), nn.BatchNorm2d(ndf * 4), nn.LeakyReLU(0.2, {inplace = true}), nn.Conv2d(ndf * 4, 1, 4, 1, 0, {bias = false}), nn.Sigmoid())
end
function Discriminator:forward(x)
  return self.main(x):view(-1, 1):squeeze(1)
end
function weights_init(m)
  if is_a(m, "Conv2d") or is_a(m, "ConvTranspose2d") then
    nn.init.normal_(m.weight, 0.0, 0.02)
  elseif is_a(m, "BatchNorm2d") then
    nn.init.normal_(m.weight, 1.0, 0.02)
    nn.init.zeros_(m.bias)
  end
end
netG = Generator():cuda()
netG:apply(weights_init)
netD = Discriminator():cuda()
netD:apply(weights_init)
criterion = nn.BCELoss()
optimizerD = ohm.optim.Adam(netD:parameters(), {lr = 0.0002, betas = {0.5, 0.999}})
optimizerG = ohm.optim.Adam(netG:parameters(), {lr = 0.0002, betas = {0.5, 0.999}})
fixed_noise = ohm.randn(4, 32, 1, 1, {device = "cuda"})
mark("models")
for step = 0, 2 - 1 do
  netD:zero_grad()
  real = ohm.randn(8, 3, 32, 32):cuda()
  label = ohm.full({8}, 1.0, {device = "cuda"})
  output = netD(real)
  errD_real = criterion(output, label)
  errD_real:backward()
  noise = ohm.randn(8, 32, 1, 1, {device = "cuda"})
  fake = netG(noise)
  label:fill_(0.0)
  output = netD(fake:detach())
  errD_fake = criterion(output, label)
  errD_fake:backward()
  errD = errD_real + errD_fake
  optimizerD:step()
  mark("discriminator " .. step)
  netG:zero_grad()
  label:fill_(1.0)
  output = netD(fake)
  errG = criterion(output, label)
  errG:backward()
  optimizerG:step()
  mark("generator " .. step)
end
netG:eval()
do
  local mode1 <close> = ohm.no_grad()
  fake = netG(fixed_noise):detach():cpu()
end
mark("sample")
mark("end of program (globals alive)")
netG = nil; sweep()
netD = nil; sweep()
criterion = nil; sweep()
optimizerD = nil; sweep()
optimizerG = nil; sweep()
fixed_noise = nil; sweep()
real = nil; sweep()
label = nil; sweep()
output = nil; sweep()
errD_real = nil; sweep()
noise = nil; sweep()
fake = nil; sweep()
errD_fake = nil; sweep()
errD = nil; sweep()
errG = nil; sweep()
mark("globals deleted")

--== model_ddpm
local timestep_embedding, ResBlock, AttentionBlock, Denoiser, T, betas, alphas, alpha_bar, sqrt_ab, sqrt_omab, model, ema, opt, x0, t, noise, xt, loss, e, p, x, eps
function timestep_embedding(t, dim)
  local half, freqs, args
  half = dim // 2
  freqs = ohm.exp(((-math.log(10000)) * ohm.arange(half, {dtype = ohm.float32, device = t.device})) / half)
  args = slice(t, 0, 0):unsqueeze(1):float() * slice(freqs:unsqueeze(0), 1, 0)
  return ohm.cat({ohm.cos(args), ohm.sin(args)}, {dim = -1})
end
ResBlock = nn.Module:extend("ResBlock")
function ResBlock:__init(inputs, outputs, emb)
  self.norm1 = nn.GroupNorm(8, inputs)
  self.conv1 = nn.Conv2d(inputs, outputs, 3, {padding = 1})
  self.emb = nn.Linear(emb, outputs)
  self.norm2 = nn.GroupNorm(8, outputs)
  self.drop = nn.Dropout(0.1)
  self.conv2 = nn.Conv2d(outputs, outputs, 3, {padding = 1})
  self.skip = (inputs ~= outputs and nn.Conv2d(inputs, outputs, 1) or nn.Identity())
end
function ResBlock:forward(x, emb)
  local h
  h = self.conv1(F.silu(self.norm1(x)))
  h = h + slice(slice(self.emb(F.silu(emb)), 0, 0), 1, 0):unsqueeze(2):unsqueeze(3)
  h = self.conv2(self.drop(F.silu(self.norm2(h))))
  return h + self.skip(x)
end
AttentionBlock = nn.Module:extend("AttentionBlock")
function AttentionBlock:__init(channels)
  self.norm = nn.GroupNorm(8, channels)
  self.qkv = nn.Conv1d(channels, 3 * channels, 1)
  self.proj = nn.Conv1d(channels, channels, 1)
end
function AttentionBlock:forward(x)
  local B, C, H, W, h, q, k, v, w
  B, C, H, W = table.unpack(x.shape)
  h = self.norm(x):view(B, C, H * W)
  q, k, v = self.qkv(h):chunk(3, {dim = 1})
  w = ohm.einsum("bct,bcs->bts", {q * (C ^ (-0.25)), k * (C ^ (-0.25))}):softmax({dim = -1})
  h = ohm.einsum("bts,bcs->bct", {w, v})
  return x + self.proj(h):view(B, C, H, W)
end
Denoiser = nn.Module:extend("Denoiser")
function Denoiser:__init(ch)
  if ch == nil then ch = 16 end
  self.ch = ch
  self.time = nn.Sequential(nn.Linear(ch, 4 * ch), nn.SiLU(), nn.Linear(4 * ch, 4 * ch))
  self.conv_in = nn.Conv2d(3, ch, 3, {padding = 1})
  self.res1 = ResBlock(ch, ch, 4 * ch)
  self.down = nn.Conv2d(ch, ch, 3, {stride = 2, padding = 1})
  self.res2 = ResBlock(ch, 2 * ch, 4 * ch)
  self.attn = AttentionBlock(2 * ch)
  self.res3 = ResBlock(2 * ch, 2 * ch, 4 * ch)
  self.up = nn.Conv2d(2 * ch, 2 * ch, 3, {padding = 1})
  self.res4 = ResBlock(3 * ch, ch, 4 * ch)
  self.norm = nn.GroupNorm(8, ch)
  self.conv_out = nn.Conv2d(ch, 3, 3, {padding = 1})
end
function Denoiser:forward(x, t)
  local emb, h, skip
  emb = self.time(timestep_embedding(t, self.ch))
  h = self.conv_in(x)
  skip = self.res1(h, emb)
  h = self.res2(self.down(skip), emb)
  h = self.attn(h)
  h = self.res3(h, emb)
  h = self.up(F.interpolate(h, {scale_factor = 2, mode = "nearest"}))
  h = self.res4(ohm.cat({h, skip}, {dim = 1}), emb)
  return self.conv_out(F.silu(self.norm(h)))
end
T = 100
betas = ohm.linspace(0.0001, 0.02, T, {device = "cuda"})
alphas = 1.0 - betas
alpha_bar = ohm.cumprod(alphas, {dim = 0})
sqrt_ab = alpha_bar:sqrt()
sqrt_omab = (1.0 - alpha_bar):sqrt()
model = Denoiser():cuda()
ema = Denoiser():cuda()
ema:load_state_dict(model:state_dict())
ema:requires_grad_(false)
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.0002})
mark("models")
for step = 0, 2 - 1 do
  x0 = ohm.randn(4, 3, 16, 16, {device = "cuda"})
  t = ohm.randint(0, T, {4}, {device = "cuda"})
  noise = ohm.randn_like(x0)
  xt = (sqrt_ab:index({t}):view(-1, 1, 1, 1) * x0) + (sqrt_omab:index({t}):view(-1, 1, 1, 1) * noise)
  loss = F.mse_loss(model(xt, t), noise)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  opt:step()
  do
    local mode1 <close> = ohm.no_grad()
    do
      local list2_2 = model:parameters()
      for number2, item2 in ipairs(ema:parameters()) do
        e = item2
        p = list2_2[number2]
        e:lerp_(p, 0.001)
      end
    end
  end
  mark("step " .. step)
end
do
  local mode3 <close> = ohm.no_grad()
  x = ohm.randn(2, 3, 16, 16, {device = "cuda"})
  for i = 2 - 1, 0, -1 do
    t = ohm.full({2}, i, {dtype = ohm.int64, device = "cuda"})
    eps = ema(x, t)
    x = (x - ((betas:select(0, i) / sqrt_omab:select(0, i)) * eps)) / alphas:select(0, i):sqrt()
    if i > 0 then
      x = x + (betas:select(0, i):sqrt() * ohm.randn_like(x))
    end
  end
  x = x:clamp(-1, 1)
end
mark("sampled")
mark("end of program (globals alive)")
betas = nil; sweep()
alphas = nil; sweep()
alpha_bar = nil; sweep()
sqrt_ab = nil; sweep()
sqrt_omab = nil; sweep()
model = nil; sweep()
ema = nil; sweep()
opt = nil; sweep()
x0 = nil; sweep()
t = nil; sweep()
noise = nil; sweep()
xt = nil; sweep()
loss = nil; sweep()
e = nil; sweep()
p = nil; sweep()
x = nil; sweep()
eps = nil; sweep()
mark("globals deleted")

--== model_densenet
local DenseLayer, DenseBlock, DenseNet, model, opt, x, y, loss, out
DenseLayer = nn.Module:extend("DenseLayer")
function DenseLayer:__init(inputs, growth, bn_size)
  if bn_size == nil then bn_size = 4 end
  self.norm1 = nn.BatchNorm2d(inputs)
  self.conv1 = nn.Conv2d(inputs, bn_size * growth, 1, {bias = false})
  self.norm2 = nn.BatchNorm2d(bn_size * growth)
  self.conv2 = nn.Conv2d(bn_size * growth, growth, 3, {padding = 1, bias = false})
end
function DenseLayer:bottleneck(x)
  return self.conv1(F.relu(self.norm1(x)))
end
function DenseLayer:forward(features)
  local x, h
  x = ohm.cat(features, 1)
  if self.training then
    h = ohm.utils.checkpoint.checkpoint(function(...) return self:bottleneck(...) end, x, {use_reentrant = false})
  else
    h = self:bottleneck(x)
  end
  h = self.conv2(F.relu(self.norm2(h)))
  return F.dropout(h, {p = 0.2, training = self.training})
end
DenseBlock = nn.Module:extend("DenseBlock")
function DenseBlock:__init(count, inputs, growth)
  self.layers = nn.ModuleList(collect(count, function(i) return DenseLayer(inputs + (i * growth), growth) end))
end
function DenseBlock:forward(x)
  local features, layer
  features = {x}
  for _, item1 in ipairs(self.layers:children()) do
    layer = item1
    features[#features + 1] = layer(features)
  end
  return ohm.cat(features, 1)
end
DenseNet = nn.Module:extend("DenseNet")
function DenseNet:__init()
  self.conv0 = nn.Conv2d(3, 16, 3, {padding = 1, bias = false})
  self.block1 = DenseBlock(3, 16, 8)
  self.transition = nn.Sequential(nn.BatchNorm2d(40), nn.ReLU(), nn.Conv2d(40, 20, 1, {bias = false}), nn.AvgPool2d(2, 2))
  self.block2 = DenseBlock(2, 20, 8)
  self.norm5 = nn.BatchNorm2d(36)
  self.classifier = nn.Linear(36, 10)
end
function DenseNet:forward(x)
  x = self.block1(self.conv0(x))
  x = self.block2(self.transition(x))
  x = F.relu(self.norm5(x), {inplace = true})
  x = F.adaptive_avg_pool2d(x, {1, 1}):flatten(1)
  return self.classifier(x)
end
model = DenseNet():cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(4, 3, 24, 24, {device = "cuda"})
  y = ohm.randint(0, 10, {4}, {device = "cuda"})
  opt:zero_grad()
  loss = F.cross_entropy(model(x), y)
  mark("forward " .. step)
  loss:backward()
  opt:step()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.inference_mode()
  out = model(x):softmax({dim = 1})
end
mark("eval")
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
x = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
out = nil; sweep()
mark("globals deleted")

--== model_distillation
local convnet, teacher, student, opt, T, soft, hard, inputs, labels, teacher_logits, student_logits, targets, prob, kd, loss, correct, total, _, predicted
function convnet(width)
  return nn.Sequential(nn.Conv2d(3, width, 3, {padding = 1}), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(width, 2 * width, 3, {padding = 1}), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(((2 * width) * 8) * 8, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))
end
teacher = convnet(16):cuda()
student = convnet(4):cuda()
teacher:eval()
student:train()
opt = ohm.optim.Adam(student:parameters(), {lr = 0.001})
T, soft, hard = 2.0, 0.25, 0.75
mark("models")
for step = 0, 3 - 1 do
  inputs = ohm.randn(8, 3, 32, 32):to("cuda")
  labels = ohm.randint(0, 10, {8}):to("cuda")
  opt:zero_grad()
  do
    local mode1 <close> = ohm.no_grad()
    teacher_logits = teacher(inputs)
  end
  student_logits = student(inputs)
  targets = F.softmax(teacher_logits / T, {dim = -1})
  prob = F.log_softmax(student_logits / T, {dim = -1})
  kd = F.kl_div(prob, targets, {reduction = "batchmean"}) * (T ^ 2)
  loss = (soft * kd) + (hard * F.cross_entropy(student_logits, labels))
  mark("forward " .. step)
  loss:backward()
  opt:step()
  mark("step " .. step)
end
student:eval()
correct, total = 0, 0
do
  local mode2 <close> = ohm.no_grad()
  inputs = ohm.randn(8, 3, 32, 32, {device = "cuda"})
  labels = ohm.randint(0, 10, {8}, {device = "cuda"})
  _, predicted = ohm.max(student(inputs).data, 1)
  total = total + labels:size(0)
  correct = correct + (predicted:eq(labels)):sum():item()
end
mark("eval")
mark("end of program (globals alive)")
teacher = nil; sweep()
student = nil; sweep()
opt = nil; sweep()
inputs = nil; sweep()
labels = nil; sweep()
teacher_logits = nil; sweep()
student_logits = nil; sweep()
targets = nil; sweep()
prob = nil; sweep()
kd = nil; sweep()
loss = nil; sweep()
_ = nil; sweep()
predicted = nil; sweep()
mark("globals deleted")

--== model_dlrm
local DLRM, model, opt, loss_fn, dense, sparse, label, out, loss
DLRM = nn.Module:extend("DLRM")
function DLRM:__init(dim, sizes)
  if sizes == nil then sizes = {100, 200, 50} end
  if dim == nil then dim = 16 end
  self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, dim), nn.ReLU())
  self.tables = nn.ModuleList(map(function(n) return nn.EmbeddingBag(n, dim, {mode = "sum"}) end, sizes))
  self.top = nn.Sequential(nn.Linear(dim + 6, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
end
function DLRM:interact(x, ly)
  local batch, d, T, Z, li, lj, flat
  batch, d = table.unpack(x.shape)
  T = ohm.cat(joined({x}, ly), {dim = 1}):view(batch, -1, d)
  Z = ohm.bmm(T, ohm.transpose(T, 1, 2))
  li = ohm.tensor({1, 2, 2, 3, 3, 3}, {device = x.device})
  lj = ohm.tensor({0, 0, 1, 0, 1, 2}, {device = x.device})
  flat = slice(Z, 0, 0):index({li, lj}, {1, 2})
  return ohm.cat({x, flat}, {dim = 1})
end
function DLRM:forward(dense, sparse)
  local x, ly, table
  x = self.bottom(dense)
  ly = {}
  for number1, item1 in ipairs(self.tables:children()) do
    local i = number1 - 1
    table = item1
    ly[#ly + 1] = table(sparse[i + 1])
  end
  return self.top(self:interact(x, ly)):squeeze(1)
end
model = DLRM():cuda()
opt = ohm.optim.Adagrad(model:parameters(), {lr = 0.01})
loss_fn = nn.BCELoss({reduction = "mean"})
mark("model")
for step = 0, 2 - 1 do
  dense = ohm.rand(16, 13, {device = "cuda"})
  do
    local old2 = sparse
    sparse = map(function(n) return ohm.randint(0, n, {16, 3}, {device = "cuda"}) end, {100, 200, 50})
    clear(old2)
  end
  label = ohm.randint(0, 2, {16}, {device = "cuda"}):float()
  out = model(dense, sparse)
  loss = loss_fn(out, label)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
loss_fn = nil; sweep()
dense = nil; sweep()
sparse = clear(sparse)
label = nil; sweep()
out = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_dqn
local QNetwork, policy, target, opt, frames, actions, rewards, dones, gamma, action, index, state, following, a, r, d, q, best, next_q, expected, loss, p, tp
QNetwork = nn.Module:extend("QNetwork")
function QNetwork:__init(actions)
  if actions == nil then actions = 6 end
  self.conv1 = nn.Conv2d(4, 16, 8, {stride = 4})
  self.conv2 = nn.Conv2d(16, 32, 4, {stride = 2})
  self.fc1 = nn.Linear((32 * 4) * 4, 128)
  self.fc2 = nn.Linear(128, actions)
end
function QNetwork:forward(x)
  x = F.relu(self.conv1(x / 255.0))
  x = F.relu(self.conv2(x))
  x = x:view(x:size(0), -1)
  return self.fc2(F.relu(self.fc1(x)))
end
policy = QNetwork():cuda()
target = QNetwork():cuda()
target:load_state_dict(policy:state_dict())
target:eval()
opt = ohm.optim.RMSprop(policy:parameters(), {lr = 0.00025, alpha = 0.95, eps = 0.01})
frames = ohm.randint(0, 256, {32, 4, 44, 44}, {dtype = ohm.uint8, device = "cuda"})
actions = ohm.randint(0, 6, {32}, {device = "cuda"})
rewards = ohm.randn(32, {device = "cuda"})
dones = ohm.zeros(32, {device = "cuda"})
gamma = 0.99
mark("replay")
for step = 0, 3 - 1 do
  do
    local mode1 <close> = ohm.no_grad()
    action = second(policy(slice(frames, 0, 0, 1):float()):max(1)):item()
  end
  index = ohm.randint(0, 31, {8}, {device = "cuda"})
  state = frames:index({index}):float()
  following = frames:index({index + 1}):float()
  do
    local new1, new2, new3 = actions:index({index}), rewards:index({index}), dones:index({index})
    a = new1; sweep()
    r = new2; sweep()
    d = new3; sweep()
  end
  q = policy(state):gather(1, a:unsqueeze(1)):squeeze(1)
  do
    local mode2 <close> = ohm.no_grad()
    best = policy(following):argmax({dim = 1, keepdim = true})
    next_q = target(following):gather(1, best):squeeze(1)
    expected = r + ((gamma * (1 - d)) * next_q)
  end
  loss = F.smooth_l1_loss(q, expected)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  for _, item3 in ipairs(policy:parameters()) do
    p = item3
    p.grad.data:clamp_(-1, 1)
  end
  opt:step()
  mark("step " .. step)
  do
    local mode4 <close> = ohm.no_grad()
    do
      local list5_2 = policy:parameters()
      for number5, item5 in ipairs(target:parameters()) do
        tp = item5
        p = list5_2[number5]
        tp:mul_(0.995):add_(p, {alpha = 0.005})
      end
    end
  end
  mark("soft update " .. step)
end
target:load_state_dict(policy:state_dict())
mark("hard update")
mark("end of program (globals alive)")
policy = nil; sweep()
target = nil; sweep()
opt = nil; sweep()
frames = nil; sweep()
actions = nil; sweep()
rewards = nil; sweep()
dones = nil; sweep()
action = nil; sweep()
index = nil; sweep()
state = nil; sweep()
following = nil; sweep()
a = nil; sweep()
r = nil; sweep()
d = nil; sweep()
q = nil; sweep()
best = nil; sweep()
next_q = nil; sweep()
expected = nil; sweep()
loss = nil; sweep()
p = nil; sweep()
tp = nil; sweep()
mark("globals deleted")

--== model_gnn
local GraphConv, GraphAttention, GNN, model, opt, x, edges, y, train, out, loss, pred, acc
GraphConv = nn.Module:extend("GraphConv")
function GraphConv:__init(inputs, outputs)
  self.lin = nn.Linear(inputs, outputs, {bias = false})
  self.bias = nn.Parameter(ohm.zeros(outputs))
end
function GraphConv:forward(x, edges, nodes)
  local row, col, deg, dis, norm, messages, out
  row, col = edges:select(0, 0), edges:select(0, 1)
  deg = ohm.zeros(nodes, {device = x.device}):scatter_add_(0, col, ohm.ones(col:size(0), {device = x.device}))
  dis = deg:pow(-0.5)
  dis = dis:masked_fill(dis:eq(math.huge), 0)
  norm = dis:index({row}) * dis:index({col})
  x = self.lin(x)
  messages = x:index_select(0, row) * norm:view(-1, 1)
  out = ohm.zeros(nodes, x:size(1), {device = x.device})
  out:index_add_(0, col, messages)
  return out + self.bias
end
GraphAttention = nn.Module:extend("GraphAttention")
function GraphAttention:__init(inputs, outputs, heads)
  self.heads = heads
  self.outputs = outputs
  self.lin = nn.Linear(inputs, heads * outputs)
  self.att_src = nn.Parameter(ohm.randn(1, heads, outputs))
  self.att_dst = nn.Parameter(ohm.randn(1, heads, outputs))
end
function GraphAttention:forward(x, edges, nodes)
  local row, col, h, a_src, a_dst, alpha, total, out
  row, col = edges:select(0, 0), edges:select(0, 1)
  h = self.lin(x):view(-1, self.heads, self.outputs)
  a_src = (h * self.att_src):sum({dim = -1})
  a_dst = (h * self.att_dst):sum({dim = -1})
  alpha = F.leaky_relu(a_src:index({row}) + a_dst:index({col}), 0.2)
  alpha = (alpha - alpha:max()):exp()
  total = ohm.zeros(nodes, self.heads, {device = x.device}):index_add(0, col, alpha)
  alpha = alpha / (total:index({col}) + 1e-16)
  out = ohm.zeros(nodes, self.heads, self.outputs, {device = x.device})
  out = out:index_add(0, col, h:index({row}) * alpha:unsqueeze(-1))
  return out:flatten(1)
end
GNN = nn.Module:extend("GNN")
function GNN:__init()
  self.conv1 = GraphConv(32, 64)
  self.conv2 = GraphAttention(64, 16, 4)
  self.out = nn.Linear(64, 7)
end
function GNN:forward(x, edges)
  local nodes
  nodes = x:size(0)
  x = F.relu(self.conv1(x, edges, nodes))
  x = F.dropout(x, {p = 0.5, training = self.training})
  x = F.elu(self.conv2(x, edges, nodes))
  return F.log_softmax(self.out(x), {dim = 1})
end
model = GNN():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.01, weight_decay = 0.0005})
x = ohm.randn(200, 32, {device = "cuda"})
edges = ohm.randint(0, 200, {2, 800}, {device = "cuda"})
y = ohm.randint(0, 7, {200}, {device = "cuda"})
train = ohm.arange(140, {device = "cuda"})
mark("graph")
for step = 0, 3 - 1 do
  model:train()
  opt:zero_grad()
  out = model(x, edges)
  loss = F.nll_loss(out:index({train}), y:index({train}))
  mark("forward " .. step)
  loss:backward()
  opt:step()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  pred = model(x, edges):argmax({dim = 1})
  acc = (slice(pred, 0, 140):eq(slice(y, 0, 140))):sum():item() / 60
end
mark("eval")
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
x = nil; sweep()
edges = nil; sweep()
y = nil; sweep()
train = nil; sweep()
out = nil; sweep()
loss = nil; sweep()
pred = nil; sweep()
acc = nil; sweep()
mark("globals deleted")

--== model_gpt
local vocab, context, width, heads, Attention, Block, GPT, model, decay, rest, opt, data, x, y, logits, loss, tokens, caches, values, _, scores, token
vocab, context, width, heads = 256, 32, 64, 4
Attention = nn.Module:extend("Attention")
function Attention:__init()
  self.c_attn = nn.Linear(width, 3 * width)
  self.c_proj = nn.Linear(width, width)
end
function Attention:forward(x, cache)
  local B, T, C, q, k, v, y
  B, T, C = table.unpack(x.shape)
  q, k, v = self.c_attn(x):split(width, {dim = 2})
  q = q:view(B, T, heads, C // heads):transpose(1, 2)
  k = k:view(B, T, heads, C // heads):transpose(1, 2)
  v = v:view(B, T, heads, C // heads):transpose(1, 2)
  if cache ~= nil then
    k = ohm.cat({cache[1], k}, {dim = 2})
    v = ohm.cat({cache[2], v}, {dim = 2})
  end
  y = F.scaled_dot_product_attention(q, k, v, {dropout_p = 0.0, is_causal = cache == nil})
  y = y:transpose(1, 2):contiguous():view(B, T, C)
  return self.c_proj(y), {k, v}
end
Block = nn.Module:extend("Block")
function Block:__init()
  self.ln_1 = nn.LayerNorm(width, {bias = false})
  self.attn = Attention()
  self.ln_2 = nn.LayerNorm(width, {bias = false})
  self.c_fc = nn.Linear(width, 4 * width)
  self.c_proj = nn.Linear(4 * width, width)
end
function Block:forward(x, cache)
  local h
  do
    local new1, new2 = self.attn(self.ln_1(x), cache)
    h = new1; sweep()
    cache = new2; sweep()
  end
  x = x + h
  x = x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x)), {approximate = "tanh"}))
  return x, cache
end
GPT = nn.Module:extend("GPT")
function GPT:__init()
  local name, p
  self.wte = nn.Embedding(vocab, width)
  self.wpe = nn.Embedding(context, width)
  self.h = nn.ModuleList(collect(2, function(_) return Block() end))
  self.ln_f = nn.LayerNorm(width, {bias = false})
  self.lm_head = nn.Linear(width, vocab, {bias = false})
  self.wte.weight = self.lm_head.weight
  for item_name, item in self:named_parameters() do
    name, p = item_name, item
    if (name:sub(-13) == "c_proj.weight") then
      nn.init.normal_(p, {mean = 0.0, std = 0.01})
    end
  end
end
function GPT:forward(idx, targets)
  local pos, x, block, _, logits
  pos = ohm.arange(0, idx:size(1), {dtype = ohm.int64, device = idx.device})
  x = self.wte(idx) + self.wpe(pos)
  for _, item1 in ipairs(self.h:children()) do
    block = item1
    do
      local new1, new2 = block(x)
      x = new1; sweep()
      _ = new2; sweep()
    end
  end
  logits = self.lm_head(self.ln_f(x))
  return logits, F.cross_entropy(logits:view(-1, vocab), targets:view(-1), {ignore_index = -1})
end
function GPT:step(idx, start, caches)
  local pos, x, new, block, cache
  pos = ohm.arange(start, start + idx:size(1), {device = idx.device})
  x = self.wte(idx) + self.wpe(pos)
  new = {}
  for number2, item2 in ipairs(self.h:children()) do
    local i = number2 - 1
    block = item2
    do
      local new1, new2 = block(x, caches[i + 1])
      x = new1; sweep()
      cache = new2; sweep()
    end
    new[#new + 1] = cache
  end
  return self.lm_head(self.ln_f(slice(slice(x, 0, 0), 1, -1))), new
end
model = GPT():cuda()
decay = filter(model:parameters(), function(p) return p:dim() >= 2 end)
rest = filter(model:parameters(), function(p) return p:dim() < 2 end)
opt = ohm.optim.AdamW({{params = decay, weight_decay = 0.1}, {params = rest, weight_decay = 0.0}}, {lr = 0.0006, betas = {0.9, 0.95}, fused = true})
mark("model")
for step = 0, 2 - 1 do
  data = ohm.randint(0, vocab, {4, context + 1}, {device = "cuda"})
  do
    local new1, new2 = slice(slice(data, 0, 0), 1, 0, -1), slice(slice(data, 0, 0), 1, 1):contiguous()
    x = new1; sweep()
    y = new2; sweep()
  end
  do
    local mode3 <close> = ohm.amp.autocast("cuda", {dtype = ohm.bfloat16})
    do
      local new1, new2 = model(x, y)
      logits = new1; sweep()
      loss = new2; sweep()
    end
  end
  mark("forward " .. step)
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  opt:step()
  opt:zero_grad({set_to_none = true})
  mark("step " .. step)
end
model:eval()
do
  local mode4 <close> = ohm.no_grad()
  tokens = ohm.zeros(1, 4, {dtype = ohm.int64, device = "cuda"})
  caches = {nil, nil}
  do
    local new1, new2 = model:step(tokens, 0, caches)
    logits = new1; sweep()
    local old = caches
    caches = new2
    clear(old)
  end
  for i = 0, 3 - 1 do
    do
      local new1, new2 = ohm.topk(slice(slice(logits, 0, 0):select(1, -1), 1, 0) / 0.8, 20)
      values = new1; sweep()
      _ = new2; sweep()
    end
    scores = slice(slice(logits, 0, 0):select(1, -1), 1, 0):masked_fill(slice(slice(logits, 0, 0):select(1, -1), 1, 0):lt(slice(slice(values, 0, 0), 1, -1)), -math.huge)
    token = ohm.multinomial(F.softmax(scores, {dim = -1}), {num_samples = 1})
    tokens = ohm.cat({tokens, token}, {dim = 1})
    do
      local new1, new2 = model:step(token, 4 + i, caches)
      logits = new1; sweep()
      local old = caches
      caches = new2
      clear(old)
    end
    mark("token " .. i)
  end
end
mark("end of program (globals alive)")
model = nil; sweep()
decay = clear(decay)
rest = clear(rest)
opt = nil; sweep()
data = nil; sweep()
x = nil; sweep()
y = nil; sweep()
logits = nil; sweep()
loss = nil; sweep()
tokens = nil; sweep()
caches = clear(caches)
values = nil; sweep()
_ = nil; sweep()
scores = nil; sweep()
token = nil; sweep()
mark("globals deleted")

--== model_graphed_batches
local Decoder, model, graphs, inputs, outputs, pool, graph, best, sampled
Decoder = nn.Module:extend("Decoder")
function Decoder:__init(width)
  self.embed = nn.Embedding(1000, width)
  self.qkv = nn.Linear(width, 3 * width)
  self.out = nn.Linear(width, width)
  self.head = nn.Linear(width, 1000, {bias = false})
end
function Decoder:forward(ids)
  local h, q, k, v, scores
  h = self.embed(ids)
  q, k, v = self.qkv(h):chunk(3, -1)
  scores = q:matmul(k:transpose(1, 2)) / 8
  h = h + self.out(scores:softmax(-1):matmul(v))
  return self.head(h)
end

model = Decoder(128):to("cuda"):eval()
mark("model")
graphs, inputs, outputs = {}, {}, {}
ohm.no_grad(function()
  local warm
  for _, batch in ipairs({8, 4, 1}) do
    inputs[batch] = ohm.zeros(batch, 64, {dtype = ohm.int64, device = "cuda"})
    warm = model(inputs[batch])
    ohm.cuda.synchronize()
    warm = nil
    graph = ohm.cuda.CUDAGraph()
    ohm.cuda.graph(graph, {pool = pool}, function()
      outputs[batch] = model(inputs[batch])
    end)
    if pool == nil then pool = graph:pool() end
    graphs[batch] = graph
    mark("graph of " .. batch)
  end
  for _, batch in ipairs({1, 4, 8}) do
    inputs[batch]:copy_(ohm.randint(0, 1000, {batch, 64}, {device = "cuda"}))
    graphs[batch]:replay()
    best = outputs[batch]:argmax(-1)
    mark("run of " .. batch)
  end
  sampled = ohm.multinomial(outputs[1]:select(0, 0):softmax(-1), 1)
end)
mark("sampled")
graphs = {}
graph = nil
mark("graphs gone")
ohm.cuda.empty_cache()
mark("emptied with outputs")
outputs = {}
ohm.cuda.empty_cache()
mark("emptied")
mark("end of program (globals alive)")
model = nil; sweep()
graphs = clear(graphs)
inputs[8] = nil; sweep()
inputs[4] = nil; sweep()
inputs[1] = nil; sweep()
outputs = clear(outputs)
best = nil; sweep()
sampled = nil; sweep()
mark("globals deleted")

--== model_graphed_training
local model, optimizer, x, y, side, graph, loss, static_loss, accuracy
model = nn.Sequential(
  nn.Linear(64, 256), nn.LayerNorm(256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, 10)
):to("cuda")
optimizer = ohm.optim.Adam(model:parameters(), {lr = 1e-3, capturable = true})
x = ohm.randn(128, 64, {device = "cuda"})
y = ohm.randint(0, 10, {128}, {device = "cuda"})
mark("model")

side = ohm.cuda.Stream()
side:wait_stream(ohm.cuda.current_stream())
ohm.cuda.stream(side, function()
  for _ = 1, 3 do
    optimizer:zero_grad({set_to_none = true})
    loss = F.cross_entropy(model(x), y)
    loss:backward()
    optimizer:step()
  end
end)
ohm.cuda.current_stream():wait_stream(side)
loss = nil
mark("warm")

graph = ohm.cuda.CUDAGraph()
optimizer:zero_grad({set_to_none = true})
ohm.cuda.graph(graph, function()
  static_loss = F.cross_entropy(model(x), y)
  static_loss:backward()
  optimizer:step()
end)
mark("captured")

for step = 0, 2 do
  local batch = ohm.randn(128, 64)
  x:copy_(batch)
  y:copy_(ohm.randint(0, 10, {128}))
  graph:replay()
  mark("step " .. step)
end

ohm.no_grad(function()
  accuracy = model(x):argmax(1):eq(y):float():mean()
end)
mark("evaluated")
static_loss = nil
graph:reset()
mark("reset")
optimizer:zero_grad({set_to_none = true})
ohm.cuda.empty_cache()
mark("emptied")
mark("end of program (globals alive)")
model = nil; sweep()
optimizer = nil; sweep()
x = nil; sweep()
y = nil; sweep()
side = nil; sweep()
graph = nil; sweep()
accuracy = nil; sweep()
mark("globals deleted")

--== model_hessian_attention
local Block, model, head, params, x, y, loss, grads, dot, g, hv
Block = nn.Module:extend("Block")
function Block:__init()
  self.norm = nn.LayerNorm(32)
  self.qkv = nn.Linear(32, 96)
  self.out = nn.Linear(32, 32)
end
function Block:forward(x)
  local b, t, c, q, k, v, att, y
  b, t, c = table.unpack(x.shape)
  q, k, v = self.qkv(self.norm(x)):split(32, {dim = 2})
  q = q:view(b, t, 4, 8):transpose(1, 2)
  k = k:view(b, t, 4, 8):transpose(1, 2)
  v = v:view(b, t, 4, 8):transpose(1, 2)
  att = F.softmax((ohm.matmul(q, k:transpose(2, 3))) * 0.35, {dim = 3})
  y = (ohm.matmul(att, v)):transpose(1, 2):reshape(b, t, c)
  return x + self.out(y)
end
model = Block():cuda()
head = nn.Linear(32, 10):cuda()
mark("model")
params = map(function(p) return p end, model:parameters())
for step = 0, 1 - 1 do
  x = ohm.randn(4, 6, 32, {device = "cuda"})
  y = ohm.randint(0, 10, {24}, {device = "cuda"})
  loss = F.cross_entropy(head(model(x)):view(24, 10), y)
  do
    local old1 = grads
    grads = ohm.autograd.grad(loss, params, {create_graph = true})
    clear(old1)
  end
  dot = 0.0
  for _, item2 in ipairs(grads) do
    g = item2
    dot = dot + (g * ohm.ones_like(g)):sum()
  end
  do
    local old3 = hv
    hv = ohm.autograd.grad(dot, params)
    clear(old3)
  end
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
head = nil; sweep()
params = clear(params)
x = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
grads = clear(grads)
dot = nil; sweep()
g = nil; sweep()
hv = clear(hv)
mark("globals deleted")

--== model_hessian_cnn
local net, params, x, y, loss, grads, norm, g
net = nn.Sequential(nn.Conv2d(3, 8, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, {stride = 2}), nn.SiLU(), nn.AdaptiveAvgPool2d({2, 2}), nn.Flatten(), nn.Linear(64, 5)):cuda()
mark("model")
params = map(function(p) return p end, net:parameters())
for step = 0, 1 - 1 do
  x = ohm.randn(4, 3, 12, 12, {device = "cuda"})
  y = ohm.randint(0, 5, {4}, {device = "cuda"})
  loss = F.cross_entropy(net(x), y, {label_smoothing = 0.1})
  do
    local old1 = grads
    grads = ohm.autograd.grad(loss, params, {create_graph = true})
    clear(old1)
  end
  norm = 0.0
  for _, item2 in ipairs(grads) do
    g = item2
    norm = norm + g:pow(2):sum()
  end
  (loss + (0.1 * norm)):backward()
  net:zero_grad()
  mark("step " .. step)
end
mark("end of program (globals alive)")
net = nil; sweep()
params = clear(params)
x = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
grads = clear(grads)
norm = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== model_hessian_mlp
local net, params, x, y, loss, grads, dot, g
net = nn.Sequential(nn.Linear(12, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 16), nn.LayerNorm(16), nn.Linear(16, 4)):cuda()
mark("model")
params = map(function(p) return p end, net:parameters())
for step = 0, 1 - 1 do
  x = ohm.randn(6, 12, {device = "cuda"})
  y = ohm.randint(0, 4, {6}, {device = "cuda"})
  loss = F.cross_entropy(net(x), y)
  do
    local old1 = grads
    grads = ohm.autograd.grad(loss, params, {create_graph = true})
    clear(old1)
  end
  dot = 0.0
  for _, item2 in ipairs(grads) do
    g = item2
    dot = dot + (g * g):sum()
  end
  dot:backward()
  mark("step " .. step)
end
mark("end of program (globals alive)")
net = nil; sweep()
params = clear(params)
x = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
grads = clear(grads)
dot = nil; sweep()
g = nil; sweep()
mark("globals deleted")

--== model_hooks
local Swish, ClippedGradient, Net, model, optimizer, norms, handle, leaf_handle, x, y, logits, hidden, loss, size
Swish = ohm.autograd.Function {
  forward = function(ctx, x)
    local gate = ohm.sigmoid(x)
    ctx:save_for_backward(x, gate)
    return x * gate
  end,
  backward = function(ctx, grad)
    local x, gate = table.unpack(ctx.saved_tensors)
    local slope = x * gate * (1 - gate)
    return grad * (gate + slope)
  end,
}
ClippedGradient = ohm.autograd.Function {
  forward = function(ctx, x, limit)
    ctx.limit = limit
    return x
  end,
  backward = function(ctx, grad)
    return grad:clamp(-ctx.limit, ctx.limit), nil
  end,
}
Net = nn.Module:extend("Net")
function Net:__init()
  self.fc1 = nn.Linear(32, 256)
  self.fc2 = nn.Linear(256, 256)
  self.fc3 = nn.Linear(256, 8)
end
function Net:forward(x)
  local h
  h = Swish.apply(self.fc1(x))
  h = Swish.apply(self.fc2(h))
  h = ClippedGradient.apply(h, 0.5)
  h:retain_grad()
  return self.fc3(h), h
end
model = Net():to("cuda")
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.05, momentum = 0.9})
norms = {}
handle = model.fc2:register_full_backward_hook(function(_, _, grad_output)
  norms[#norms + 1] = grad_output[1]:norm()
end)
leaf_handle = model.fc1.weight:register_hook(function(grad) return grad * 0.5 end)
mark("model")
for step = 0, 2 do
  x = ohm.randn(64, 32, {device = "cuda"})
  y = ohm.randint(0, 8, {64}, {device = "cuda"})
  do
    local new1, new2 = model(x)
    logits = new1; sweep()
    hidden = new2; sweep()
  end
  logits:register_hook(function(grad) return grad * 2 end)
  mark("forward " .. step)
  loss = F.cross_entropy(logits, y)
  optimizer:zero_grad()
  loss:backward()
  mark("backward " .. step)
  size = hidden.grad:norm()
  optimizer:step()
  mark("step " .. step)
end
handle:remove()
leaf_handle:remove()
do
  local new1, new2 = model(x)
  logits = new1; sweep()
  hidden = new2; sweep()
end
loss = F.cross_entropy(logits, y)
loss:backward()
mark("without hooks")
mark("end of program (globals alive)")
model = nil; sweep()
optimizer = nil; sweep()
norms = clear(norms)
handle = nil; sweep()
leaf_handle = nil; sweep()
x = nil; sweep()
y = nil; sweep()
logits = nil; sweep()
hidden = nil; sweep()
loss = nil; sweep()
size = nil; sweep()
mark("globals deleted")

--== model_llama
local dim, heads, kv_heads, head_dim, vocab, RMSNorm, rotate_half, rope, repeat_kv, Attention, Layer, Llama, model, opt, ids, logits, loss, norm
dim, heads, kv_heads, head_dim, vocab = 64, 4, 2, 16, 200
RMSNorm = nn.Module:extend("RMSNorm")
function RMSNorm:__init(size, eps)
  if eps == nil then eps = 1e-05 end
  self.eps = eps
  self.weight = nn.Parameter(ohm.ones(size))
end
function RMSNorm:forward(x)
  local h
  h = x:float()
  h = h * ohm.rsqrt(h:pow(2):mean(-1, {keepdim = true}) + self.eps)
  return h:type_as(x) * self.weight
end
function rotate_half(x)
  local x1, x2
  x1 = slice(x, -1, 0, x:size(-1) // 2)
  x2 = slice(x, -1, x:size(-1) // 2)
  return ohm.cat({-x2, x1}, {dim = -1})
end
function rope(q, k, cos, sin)
  cos = cos:unsqueeze(1)
  sin = sin:unsqueeze(1)
  return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)
end
function repeat_kv(x, n)
  local B, H, T, D
  B, H, T, D = table.unpack(x.shape)
  return slice(slice(slice(slice(x, 0, 0), 1, 0):unsqueeze(2), 3, 0), 4, 0):expand(B, H, n, T, D):reshape(B, H * n, T, D)
end
Attention = nn.Module:extend("Attention")
function Attention:__init()
  self.wq = nn.Linear(dim, heads * head_dim, {bias = false})
  self.wk = nn.Linear(dim, kv_heads * head_dim, {bias = false})
  self.wv = nn.Linear(dim, kv_heads * head_dim, {bias = false})
  self.wo = nn.Linear(heads * head_dim, dim, {bias = false})
end
function Attention:forward(x, cos, sin)
  local B, T, _, q, k, v, y
  B, T, _ = table.unpack(x.shape)
  q = self.wq(x):view(B, T, heads, head_dim):transpose(1, 2)
  k = self.wk(x):view(B, T, kv_heads, head_dim):transpose(1, 2)
  v = self.wv(x):view(B, T, kv_heads, head_dim):transpose(1, 2)
  do
    local new1, new2 = rope(q, k, cos, sin)
    q = new1; sweep()
    k = new2; sweep()
  end
  k = repeat_kv(k, heads // kv_heads)
  v = repeat_kv(v, heads // kv_heads)
  y = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
  return self.wo(y:transpose(1, 2):reshape(B, T, -1))
end
Layer = nn.Module:extend("Layer")
function Layer:__init()
  self.attention_norm = RMSNorm(dim)
  self.attention = Attention()
  self.ffn_norm = RMSNorm(dim)
  self.gate = nn.Linear(dim, 160, {bias = false})
  self.up = nn.Linear(dim, 160, {bias = false})
  self.down = nn.Linear(160, dim, {bias = false})
end
function Layer:forward(x, cos, sin)
  local h
  x = x + self.attention(self.attention_norm(x), cos, sin)
  h = self.ffn_norm(x)
  return x + self.down(F.silu(self.gate(h)) * self.up(h))
end
Llama = nn.Module:extend("Llama")
function Llama:__init()
  local inv
  self.embed = nn.Embedding(vocab, dim)
  self.layers = nn.ModuleList(collect(3, function(_) return Layer() end))
  self.norm = RMSNorm(dim)
  self.head = nn.Linear(dim, vocab, {bias = false})
  inv = 1.0 / (10000.0 ^ (ohm.arange(0, head_dim, 2):float() / head_dim))
  self:register_buffer("inv_freq", inv, {persistent = false})
end
function Llama:forward(ids)
  local B, T, x, positions, freqs, emb, cos, sin, layer
  B, T = table.unpack(ids.shape)
  x = self.embed(ids)
  positions = slice(ohm.arange(T, {device = ids.device}):unsqueeze(0), 1, 0)
  freqs = slice(slice(positions, 0, 0), 1, 0):unsqueeze(2):float() * slice(self.inv_freq:unsqueeze(0):unsqueeze(1), 2, 0)
  emb = ohm.cat({freqs, freqs}, {dim = -1})
  cos, sin = emb:cos():to(x.dtype), emb:sin():to(x.dtype)
  for _, item1 in ipairs(self.layers:children()) do
    layer = item1
    x = ohm.utils.checkpoint.checkpoint(layer, x, cos, sin, {use_reentrant = false})
  end
  return self.head(self.norm(x))
end
model = Llama():to("cuda", ohm.bfloat16)
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.0003, betas = {0.9, 0.95}, weight_decay = 0.1})
mark("model")
for step = 0, 2 - 1 do
  ids = ohm.randint(0, vocab, {2, 33}, {device = "cuda"})
  logits = model(slice(slice(ids, 0, 0), 1, 0, -1)):float()
  loss = F.cross_entropy(logits:reshape(-1, vocab), slice(slice(ids, 0, 0), 1, 1):reshape(-1))
  mark("forward " .. step)
  loss:backward()
  norm = nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  opt:step()
  opt:zero_grad()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
ids = nil; sweep()
logits = nil; sweep()
loss = nil; sweep()
norm = nil; sweep()
mark("globals deleted")

--== model_lora
local LoRALinear, Block, Model, model, p, block, trainable, opt, ids, logits, loss
LoRALinear = nn.Module:extend("LoRALinear")
function LoRALinear:__init(base, r, alpha, dropout)
  if dropout == nil then dropout = 0.05 end
  if alpha == nil then alpha = 8 end
  if r == nil then r = 4 end
  self.base = base
  self.scaling = alpha / r
  self.dropout = nn.Dropout(dropout)
  self.A = nn.Parameter(ohm.empty(r, base.in_features))
  self.B = nn.Parameter(ohm.zeros(base.out_features, r))
  nn.init.kaiming_uniform_(self.A, {a = 5 ^ 0.5})
end
function LoRALinear:forward(x)
  local result
  result = self.base(x)
  return result + ((ohm.matmul(ohm.matmul(self.dropout(x), self.A:t()), self.B:t())) * self.scaling)
end
Block = nn.Module:extend("Block")
function Block:__init(dim, heads)
  self.heads = heads
  self.norm1 = nn.LayerNorm(dim)
  self.q = nn.Linear(dim, dim)
  self.k = nn.Linear(dim, dim)
  self.v = nn.Linear(dim, dim)
  self.o = nn.Linear(dim, dim)
  self.norm2 = nn.LayerNorm(dim)
  self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
end
function Block:forward(x)
  local B, T, C, h, q, k, v
  B, T, C = table.unpack(x.shape)
  h = self.norm1(x)
  q = self.q(h):view(B, T, self.heads, -1):transpose(1, 2)
  k = self.k(h):view(B, T, self.heads, -1):transpose(1, 2)
  v = self.v(h):view(B, T, self.heads, -1):transpose(1, 2)
  h = F.scaled_dot_product_attention(q, k, v):transpose(1, 2):reshape(B, T, C)
  x = x + self.o(h)
  return x + self.mlp(self.norm2(x))
end
Model = nn.Module:extend("Model")
function Model:__init()
  self.emb = nn.Embedding(100, 48)
  self.blocks = nn.ModuleList(collect(2, function(_) return Block(48, 4) end))
  self.norm = nn.LayerNorm(48)
  self.head = nn.Linear(48, 100, {bias = false})
end
function Model:forward(ids)
  local x, block
  x = self.emb(ids)
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    x = block(x)
  end
  return self.head(self.norm(x))
end
model = Model()
for _, item2 in ipairs(model:parameters()) do
  p = item2
  p.requires_grad = false
end
for _, item3 in ipairs(model.blocks:children()) do
  block = item3
  block.q = LoRALinear(block.q)
  block.v = LoRALinear(block.v)
end
model:cuda()
trainable = filter(model:parameters(), function(p) return p.requires_grad end)
opt = ohm.optim.AdamW(trainable, {lr = 0.0002})
mark("model")
for step = 0, 2 - 1 do
  ids = ohm.randint(0, 100, {4, 16}, {device = "cuda"})
  do
    local mode4 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    logits = model(ids)
    loss = F.cross_entropy(slice(slice(logits, 0, 0), 1, 0, -1):reshape(-1, 100), slice(slice(ids, 0, 0), 1, 1):reshape(-1))
  end
  mark("forward " .. step)
  loss:backward()
  nn.utils.clip_grad_norm_(trainable, 0.3)
  opt:step()
  opt:zero_grad()
  mark("step " .. step)
end
do
  local mode5 <close> = ohm.no_grad()
  for _, item6 in ipairs(model.blocks:children()) do
    block = item6
    block.q.base.weight:add_((ohm.matmul(block.q.B, block.q.A)) * block.q.scaling)
    block.v.base.weight:add_((ohm.matmul(block.v.B, block.v.A)) * block.v.scaling)
  end
end
mark("merged")
mark("end of program (globals alive)")
model = nil; sweep()
p = nil; sweep()
block = nil; sweep()
trainable = clear(trainable)
opt = nil; sweep()
ids = nil; sweep()
logits = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_lstm_lm
local vocab, hidden, layers, batch, bptt, LanguageModel, model, opt, corpus, h, c, total, data, targets, output, loss, token
vocab, hidden, layers, batch, bptt = 500, 64, 2, 8, 12
LanguageModel = nn.Module:extend("LanguageModel")
function LanguageModel:__init()
  self.drop = nn.Dropout(0.2)
  self.encoder = nn.Embedding(vocab, hidden)
  self.rnn = nn.LSTM(hidden, hidden, layers, {dropout = 0.2})
  self.decoder = nn.Linear(hidden, vocab)
  self.decoder.weight = self.encoder.weight
end
function LanguageModel:forward(x, h, c)
  local emb, out
  emb = self.drop(self.encoder(x))
  do
    local new1, new2, new3 = several(self.rnn(emb, {h, c}))
    out = new1; sweep()
    h = new2; sweep()
    c = new3; sweep()
  end
  out = self.drop(out)
  return self.decoder(out:view(-1, hidden)), h, c
end
model = LanguageModel():cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 20.0})
corpus = ohm.randint(0, vocab, {(4 * bptt) + 1, batch}, {device = "cuda"})
h = ohm.zeros(layers, batch, hidden, {device = "cuda"})
c = ohm.zeros(layers, batch, hidden, {device = "cuda"})
mark("corpus")
total = 0.0
for step = 0, 3 - 1 do
  data = slice(corpus, 0, step * bptt, (step + 1) * bptt)
  targets = slice(corpus, 0, (step * bptt) + 1, ((step + 1) * bptt) + 1):reshape(-1)
  model:zero_grad()
  h = h:detach()
  c = c:detach()
  do
    local new1, new2, new3 = model(data, h, c)
    output = new1; sweep()
    h = new2; sweep()
    c = new3; sweep()
  end
  loss = F.cross_entropy(output, targets)
  mark("forward " .. step)
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 0.25)
  opt:step()
  total = total + loss:item()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  token = ohm.randint(0, vocab, {1, 1}, {device = "cuda"})
  h = ohm.zeros(layers, 1, hidden, {device = "cuda"})
  c = ohm.zeros(layers, 1, hidden, {device = "cuda"})
  for i = 0, 4 - 1 do
    do
      local new1, new2, new3 = model(token, h, c)
      output = new1; sweep()
      h = new2; sweep()
      c = new3; sweep()
    end
    token = output:argmax({dim = -1, keepdim = true})
  end
end
mark("generated")
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
corpus = nil; sweep()
h = nil; sweep()
c = nil; sweep()
data = nil; sweep()
targets = nil; sweep()
output = nil; sweep()
loss = nil; sweep()
token = nil; sweep()
mark("globals deleted")

--== model_mae
local MAE, model, opt, images, loss
MAE = nn.Module:extend("MAE")
function MAE:__init(patches, patch_dim, dim, decoder_dim)
  if decoder_dim == nil then decoder_dim = 32 end
  if dim == nil then dim = 48 end
  if patch_dim == nil then patch_dim = 48 end
  if patches == nil then patches = 16 end
  self.embed = nn.Linear(patch_dim, dim)
  self.pos = nn.Parameter(ohm.zeros(1, patches, dim), {requires_grad = false})
  self.encoder = nn.TransformerEncoderLayer(dim, 4, 96, {dropout = 0.0, batch_first = true, norm_first = true})
  self.to_decoder = nn.Linear(dim, decoder_dim)
  self.mask_token = nn.Parameter(ohm.zeros(1, 1, decoder_dim))
  self.decoder_pos = nn.Parameter(ohm.zeros(1, patches, decoder_dim), {requires_grad = false})
  self.decoder = nn.TransformerEncoderLayer(decoder_dim, 4, 64, {dropout = 0.0, batch_first = true, norm_first = true})
  self.pred = nn.Linear(decoder_dim, patch_dim)
  nn.init.trunc_normal_(self.mask_token, {std = 0.02})
end
function MAE:patchify(images)
  local N, x
  N = images:size(0)
  x = images:reshape(N, 3, 4, 4, 4, 4)
  x = ohm.einsum("nchpwq->nhwpqc", {x})
  return x:reshape(N, 16, 48)
end
function MAE:forward(images, ratio)
  local target, x, N, L, D, keep, noise, shuffle, restore, kept, mask, tokens, loss
  if ratio == nil then ratio = 0.75 end
  target = self:patchify(images)
  x = self.embed(target) + self.pos
  N, L, D = table.unpack(x.shape)
  keep = math.floor(L * (1 - ratio))
  noise = ohm.rand(N, L, {device = x.device})
  shuffle = ohm.argsort(noise, {dim = 1})
  restore = ohm.argsort(shuffle, {dim = 1})
  kept = slice(slice(shuffle, 0, 0), 1, 0, keep)
  x = ohm.gather(x, {dim = 1, index = repeated(kept:unsqueeze(-1), 1, 1, D)})
  mask = ohm.ones({N, L}, {device = x.device})
  slice(slice(mask, 0, 0), 1, 0, keep):fill_(0)
  mask = ohm.gather(mask, {dim = 1, index = restore})
  x = self.to_decoder(self.encoder(x))
  tokens = repeated(self.mask_token, N, L - keep, 1)
  x = ohm.cat({x, tokens}, {dim = 1})
  x = ohm.gather(x, {dim = 1, index = repeated(restore:unsqueeze(-1), 1, 1, x:size(2))})
  x = self.pred(self.decoder(x + self.decoder_pos))
  loss = (x - target) ^ 2
  loss = loss:mean({dim = -1})
  return (loss * mask):sum() / mask:sum()
end
model = MAE():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.00015, betas = {0.9, 0.95}, weight_decay = 0.05})
mark("model")
for step = 0, 2 - 1 do
  images = ohm.randn(8, 3, 16, 16, {device = "cuda"})
  loss = model(images)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
images = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_maml
local Net, model, meta, meta_loss, amplitude, support, query, weights, loss, grads
Net = nn.Module:extend("Net")
function Net:__init()
  self.w1 = nn.Parameter(ohm.randn(40, 1) * 0.1)
  self.b1 = nn.Parameter(ohm.zeros(40))
  self.w2 = nn.Parameter(ohm.randn(40, 40) * 0.1)
  self.b2 = nn.Parameter(ohm.zeros(40))
  self.w3 = nn.Parameter(ohm.randn(1, 40) * 0.1)
  self.b3 = nn.Parameter(ohm.zeros(1))
end
function Net:forward(x, params)
  x = F.relu(F.linear(x, params[1], params[2]))
  x = F.relu(F.linear(x, params[3], params[4]))
  return F.linear(x, params[5], params[6])
end
model = Net():cuda()
meta = ohm.optim.Adam(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 2 - 1 do
  meta:zero_grad()
  meta_loss = 0.0
  for task = 0, 2 - 1 do
    amplitude = (ohm.rand(1, {device = "cuda"}) * 4.9) + 0.1
    support = (ohm.rand(10, 1, {device = "cuda"}) * 10) - 5
    query = (ohm.rand(10, 1, {device = "cuda"}) * 10) - 5
    do
      local old1 = weights
      weights = map(function(p) return p end, model:parameters())
      clear(old1)
    end
    for inner = 0, 2 - 1 do
      loss = F.mse_loss(model(support, weights), amplitude * ohm.sin(support))
      do
        local old2 = grads
        grads = ohm.autograd.grad(loss, weights, {create_graph = true})
        clear(old2)
      end
      do
        local old3 = weights
        weights = map(function(w, g) return w - (0.01 * g) end, weights, grads)
        clear(old3)
      end
    end
    meta_loss = meta_loss + F.mse_loss(model(query, weights), amplitude * ohm.sin(query))
  end
  mark("inner " .. step)
  meta_loss = meta_loss / 2
  meta_loss:backward()
  meta:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
meta = nil; sweep()
meta_loss = nil; sweep()
amplitude = nil; sweep()
support = nil; sweep()
query = nil; sweep()
weights = clear(weights)
loss = nil; sweep()
grads = clear(grads)
mark("globals deleted")

--== model_maml_conv
local Net, model, meta, meta_loss, xs, ys, weights, loss, grads
Net = nn.Module:extend("Net")
function Net:__init()
  self.w1 = nn.Parameter(ohm.randn(8, 3, 3, 3) * 0.1)
  self.b1 = nn.Parameter(ohm.zeros(8))
  self.w2 = nn.Parameter(ohm.randn(16, 8, 3, 3) * 0.1)
  self.b2 = nn.Parameter(ohm.zeros(16))
  self.w3 = nn.Parameter(ohm.randn(5, 256) * 0.1)
  self.b3 = nn.Parameter(ohm.zeros(5))
end
function Net:forward(x, params)
  x = F.relu(F.conv2d(x, params[1], params[2], {padding = 1}))
  x = F.avg_pool2d(x, 2)
  x = F.relu(F.conv2d(x, params[3], params[4], {padding = 1}))
  x = F.avg_pool2d(x, 2)
  return F.linear(x:flatten(1), params[5], params[6])
end
model = Net():cuda()
meta = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 2 - 1 do
  meta:zero_grad()
  meta_loss = 0.0
  for task = 0, 2 - 1 do
    xs = ohm.randn(5, 3, 16, 16, {device = "cuda"})
    ys = ohm.arange(5, {device = "cuda"})
    do
      local old1 = weights
      weights = map(function(p) return p end, model:parameters())
      clear(old1)
    end
    loss = F.cross_entropy(model(xs, weights), ys)
    do
      local old2 = grads
      grads = ohm.autograd.grad(loss, weights, {create_graph = true})
      clear(old2)
    end
    do
      local old3 = weights
      weights = map(function(w, g) return w - (0.01 * g) end, weights, grads)
      clear(old3)
    end
    meta_loss = meta_loss + F.cross_entropy(model(xs, weights), ys)
  end
  meta_loss:backward()
  meta:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
meta = nil; sweep()
meta_loss = nil; sweep()
xs = nil; sweep()
ys = nil; sweep()
weights = clear(weights)
loss = nil; sweep()
grads = clear(grads)
mark("globals deleted")

--== model_mdn
local MDN, mdn_loss, model, opt, scheduler, x, y, pi, sigma, mu, loss, k, sample
MDN = nn.Module:extend("MDN")
function MDN:__init(inputs, outputs, mixtures, hidden)
  if hidden == nil then hidden = 32 end
  self.outputs = outputs
  self.mixtures = mixtures
  self.hidden = nn.Sequential(nn.Linear(inputs, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.Softplus())
  self.pi = nn.Linear(hidden, mixtures)
  self.sigma = nn.Linear(hidden, outputs * mixtures)
  self.mu = nn.Linear(hidden, outputs * mixtures)
end
function MDN:forward(x)
  local h, pi, sigma, mu
  h = self.hidden(x)
  pi = F.softmax(self.pi(h), {dim = 1})
  sigma = ohm.exp(self.sigma(h)):view(-1, self.mixtures, self.outputs)
  mu = self.mu(h):view(-1, self.mixtures, self.outputs)
  return pi, sigma, mu
end
function mdn_loss(pi, sigma, mu, target)
  local log_prob
  target = target:unsqueeze(1):expand_as(sigma)
  log_prob = (((-0.5) * (((target - mu) / sigma) ^ 2)) - ohm.log(sigma)) - (0.5 * math.log(2 * math.pi))
  log_prob = log_prob:sum(2)
  return -ohm.logsumexp(ohm.log(pi + 1e-08) + log_prob, {dim = 1}):mean()
end
model = MDN(2, 3, 5):cuda()
opt = ohm.optim.NAdam(model:parameters(), {lr = 0.001})
scheduler = ohm.optim.lr_scheduler.ExponentialLR(opt, {gamma = 0.95})
x = ohm.randn(64, 2, {device = "cuda"})
y = ohm.randn(64, 3, {device = "cuda"})
mark("data")
for step = 0, 3 - 1 do
  opt:zero_grad()
  do
    local new1, new2, new3 = model(x)
    pi = new1; sweep()
    sigma = new2; sweep()
    mu = new3; sweep()
  end
  loss = mdn_loss(pi, sigma, mu, y)
  mark("forward " .. step)
  loss:backward()
  opt:step()
  scheduler:step()
  mark("step " .. step)
end
do
  local mode1 <close> = ohm.no_grad()
  do
    local new1, new2, new3 = model(x)
    pi = new1; sweep()
    sigma = new2; sweep()
    mu = new3; sweep()
  end
  k = ohm.multinomial(pi, 1):view(-1, 1, 1):expand(-1, 1, 3)
  sample = mu:gather(1, k):squeeze(1) + (sigma:gather(1, k):squeeze(1) * ohm.randn(64, 3, {device = "cuda"}))
end
mark("sampled")
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
scheduler = nil; sweep()
x = nil; sweep()
y = nil; sweep()
pi = nil; sweep()
sigma = nil; sweep()
mu = nil; sweep()
loss = nil; sweep()
k = nil; sweep()
sample = nil; sweep()
mark("globals deleted")

--== model_memory_pool
local model, x, pool, y, cache, scratch, large, again, small
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)):to("cuda")
x = ohm.randn(64, 256, {device = "cuda"})
mark("model")

pool = ohm.cuda.MemPool()
ohm.cuda.use_mem_pool(pool, function()
  y = model(x)
  cache = ohm.zeros(8, 64, 1024, {device = "cuda"})
  scratch = ohm.empty(3 << 20, {device = "cuda"})
  scratch = nil
  mark("in the pool")
end)
large = ohm.empty(3 << 20, {device = "cuda"})
mark("outside")
large = nil
ohm.cuda.empty_cache()
mark("emptied")
y:sum():backward()
mark("backward")
y = nil
ohm.cuda.use_mem_pool(pool, function()
  again = ohm.empty(2 << 20, {device = "cuda"})
  small = ohm.ones(100, {device = "cuda"})
end)
mark("again")
cache, again = nil, nil
ohm.cuda.empty_cache()
mark("cached in the pool")
pool = nil
mark("pool gone")
small = nil
ohm.cuda.empty_cache()
mark("nothing left")
mark("end of program (globals alive)")
model = nil; sweep()
x = nil; sweep()
mark("globals deleted")

--== model_mobilenet
local SqueezeExcite, InvertedResidual, model, decay, no_decay, name, p, opt, scaler, x, y, loss
SqueezeExcite = nn.Module:extend("SqueezeExcite")
function SqueezeExcite:__init(channels)
  self.fc1 = nn.Conv2d(channels, channels // 4, 1)
  self.fc2 = nn.Conv2d(channels // 4, channels, 1)
end
function SqueezeExcite:forward(x)
  local s
  s = x:mean({2, 3}, {keepdim = true})
  s = F.relu(self.fc1(s))
  s = F.hardsigmoid(self.fc2(s))
  return x * s
end
InvertedResidual = nn.Module:extend("InvertedResidual")
function InvertedResidual:__init(inputs, outputs, stride, expand)
  local hidden
  hidden = inputs * expand
  self.use_res = (stride == 1 and inputs == outputs)
  self.expand = nn.Sequential(nn.Conv2d(inputs, hidden, 1, {bias = false}), nn.BatchNorm2d(hidden), nn.ReLU6({inplace = true}))
  self.depthwise = nn.Sequential(nn.Conv2d(hidden, hidden, 3, {stride = stride, padding = 1, groups = hidden, bias = false}), nn.BatchNorm2d(hidden), nn.Hardswish())
  self.se = SqueezeExcite(hidden)
  self.project = nn.Sequential(nn.Conv2d(hidden, outputs, 1, {bias = false}), nn.BatchNorm2d(outputs))
end
function InvertedResidual:forward(x)
  local h
  h = self.project(self.se(self.depthwise(self.expand(x))))
  if self.use_res then
    return x + h
  end
  return h
end
model = nn.Sequential(nn.Conv2d(3, 16, 3, {stride = 2, padding = 1, bias = false}), nn.BatchNorm2d(16), nn.ReLU6({inplace = true}), InvertedResidual(16, 16, 1, 2), InvertedResidual(16, 24, 2, 4), InvertedResidual(24, 24, 1, 4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(24, 10)):cuda()
decay, no_decay = {}, {}
for item_name, item in model:named_parameters() do
  name, p = item_name, item
  if (p.ndim == 1 or (name:sub(-4) == "bias")) then
    no_decay[#no_decay + 1] = p
  else
    decay[#decay + 1] = p
  end
end
opt = ohm.optim.SGD({{params = no_decay, weight_decay = 0.0}, {params = decay, weight_decay = 4e-05}}, {lr = 0.05, momentum = 0.9})
scaler = ohm.cuda.amp.GradScaler()
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(4, 3, 48, 48, {device = "cuda"})
  y = ohm.randint(0, 10, {4}, {device = "cuda"})
  do
    local mode1 <close> = ohm.cuda.amp.autocast()
    loss = F.cross_entropy(model(x), y)
  end
  mark("forward " .. step)
  opt:zero_grad()
  scaler:scale(loss):backward()
  scaler:step(opt)
  scaler:update()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
decay = clear(decay)
no_decay = clear(no_decay)
p = nil; sweep()
opt = nil; sweep()
scaler = nil; sweep()
x = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_moe
local Expert, SparseMoE, Model, model, opt, ids, labels, logits, aux, loss
Expert = nn.Module:extend("Expert")
function Expert:__init(dim, hidden)
  self.w1 = nn.Linear(dim, hidden, {bias = false})
  self.w2 = nn.Linear(hidden, dim, {bias = false})
  self.w3 = nn.Linear(dim, hidden, {bias = false})
end
function Expert:forward(x)
  return self.w2(F.silu(self.w1(x)) * self.w3(x))
end
SparseMoE = nn.Module:extend("SparseMoE")
function SparseMoE:__init(dim, experts, k)
  self.count = experts
  self.k = k
  self.gate = nn.Linear(dim, experts, {bias = false})
  self.experts = nn.ModuleList(collect(experts, function(_) return Expert(dim, 2 * dim) end))
end
function SparseMoE:forward(x)
  local B, T, C, flat, logits, probs, weights, chosen, mask, density, aux, out, per_expert, order, tokens, flat_weights, expert, mine, ids, h
  B, T, C = table.unpack(x.shape)
  flat = x:view(-1, C)
  logits = self.gate(flat)
  probs = F.softmax(logits, {dim = 1, dtype = ohm.float32})
  weights, chosen = ohm.topk(probs, self.k, {dim = -1})
  weights = weights / weights:sum({dim = -1, keepdim = true})
  mask = F.one_hot(chosen, {num_classes = self.count})
  density = mask:float():sum({dim = 1}):mean({dim = 0})
  aux = self.count * (density * probs:mean({dim = 0})):sum()
  out = ohm.zeros_like(flat)
  per_expert = (flat:size(0) * self.k) // self.count
  order = chosen:view(-1):argsort({stable = true})
  tokens = order // self.k
  flat_weights = weights:view(-1)
  for number1, item1 in ipairs(self.experts:children()) do
    local i = number1 - 1
    expert = item1
    mine = slice(order, 0, i * per_expert, (i + 1) * per_expert)
    ids = slice(tokens, 0, i * per_expert, (i + 1) * per_expert)
    h = expert(flat:index_select(0, ids)) * flat_weights:index({mine}):unsqueeze(1)
    out:index_add_(0, ids, h:to(out.dtype))
  end
  return out:view(B, T, C), aux
end
Model = nn.Module:extend("Model")
function Model:__init()
  self.emb = nn.Embedding(100, 32)
  self.norm = nn.LayerNorm(32)
  self.moe = SparseMoE(32, 4, 2)
  self.head = nn.Linear(32, 100)
end
function Model:forward(ids)
  local x, h, aux
  x = self.emb(ids)
  h, aux = self.moe(self.norm(x))
  return self.head(x + h), aux
end
model = Model():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.001, eps = 1e-06})
mark("model")
for step = 0, 2 - 1 do
  ids = ohm.randint(0, 100, {4, 16}, {device = "cuda"})
  labels = ohm.randint(0, 100, {4, 16}, {device = "cuda"})
  do
    local new1, new2 = model(ids)
    logits = new1; sweep()
    aux = new2; sweep()
  end
  loss = F.cross_entropy(logits:view(-1, 100), labels:view(-1)) + (0.01 * aux)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
ids = nil; sweep()
labels = nil; sweep()
logits = nil; sweep()
aux = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_pinn
local net, opt, x, t, u, u_t, u_x, u_xx, residual, loss
net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)):cuda()
opt = ohm.optim.Adam(net:parameters(), {lr = 0.001})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.rand(64, 1, {device = "cuda", requires_grad = true})
  t = ohm.rand(64, 1, {device = "cuda", requires_grad = true})
  u = net(ohm.cat({x, t}, {dim = 1}))
  u_t = (ohm.autograd.grad(u:sum(), t, {create_graph = true}))
  u_x = (ohm.autograd.grad(u:sum(), x, {create_graph = true}))
  u_xx = (ohm.autograd.grad(u_x:sum(), x, {create_graph = true}))
  residual = (u_t + (u * u_x)) - (0.01 * u_xx)
  loss = (residual ^ 2):mean()
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
net = nil; sweep()
opt = nil; sweep()
x = nil; sweep()
t = nil; sweep()
u = nil; sweep()
u_t = nil; sweep()
u_x = nil; sweep()
u_xx = nil; sweep()
residual = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_pointnet
local TNet, PointNet, regularizer, model, opt, points, target, pred, feat, loss, choice, correct
TNet = nn.Module:extend("TNet")
function TNet:__init(k)
  self.k = k
  self.conv1 = nn.Conv1d(k, 32, 1)
  self.conv2 = nn.Conv1d(32, 64, 1)
  self.fc1 = nn.Linear(64, 32)
  self.fc2 = nn.Linear(32, k * k)
  self.bn1 = nn.BatchNorm1d(32)
  self.bn2 = nn.BatchNorm1d(64)
  self.bn3 = nn.BatchNorm1d(32)
end
function TNet:forward(x)
  local batch, identity
  batch = x:size(0)
  x = F.relu(self.bn1(self.conv1(x)))
  x = F.relu(self.bn2(self.conv2(x)))
  x = (ohm.max(x, 2, {keepdim = true}))
  x = x:view(-1, 64)
  x = self.fc2(F.relu(self.bn3(self.fc1(x))))
  identity = repeated(ohm.eye(self.k, {device = x.device}):view(1, self.k * self.k), batch, 1)
  x = x + identity
  return x:view(-1, self.k, self.k)
end
PointNet = nn.Module:extend("PointNet")
function PointNet:__init(classes)
  if classes == nil then classes = 8 end
  self.stn = TNet(3)
  self.fstn = TNet(32)
  self.conv1 = nn.Conv1d(3, 32, 1)
  self.conv2 = nn.Conv1d(32, 64, 1)
  self.bn1 = nn.BatchNorm1d(32)
  self.bn2 = nn.BatchNorm1d(64)
  self.fc1 = nn.Linear(64, 32)
  self.bn3 = nn.BatchNorm1d(32)
  self.dropout = nn.Dropout({p = 0.3})
  self.fc2 = nn.Linear(32, classes)
end
function PointNet:forward(x)
  local trans, feat
  trans = self.stn(x)
  x = ohm.bmm(x:transpose(2, 1), trans):transpose(2, 1)
  x = F.relu(self.bn1(self.conv1(x)))
  feat = self.fstn(x)
  x = ohm.bmm(x:transpose(2, 1), feat):transpose(2, 1)
  x = self.bn2(self.conv2(x))
  x = (ohm.max(x, 2, {keepdim = true})):view(-1, 64)
  x = F.relu(self.bn3(self.dropout(self.fc1(x))))
  return F.log_softmax(self.fc2(x), {dim = 1}), feat
end
function regularizer(trans)
  local d, eye
  d = trans:size(1)
  eye = slice(slice(ohm.eye(d, {device = trans.device}):unsqueeze(0), 1, 0), 2, 0)
  return ohm.mean(ohm.norm(ohm.bmm(trans, trans:transpose(2, 1)) - eye, {dim = {1, 2}}))
end
model = PointNet():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.001, weight_decay = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  points = ohm.randn(6, 100, 3, {device = "cuda"}):transpose(2, 1)
  target = ohm.randint(0, 8, {6}, {device = "cuda"})
  opt:zero_grad()
  do
    local new1, new2 = model(points)
    pred = new1; sweep()
    feat = new2; sweep()
  end
  loss = F.nll_loss(pred, target) + (regularizer(feat) * 0.001)
  mark("forward " .. step)
  loss:backward()
  opt:step()
  choice = second(pred:max(1))
  correct = choice:eq(target):sum():item()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
points = nil; sweep()
target = nil; sweep()
pred = nil; sweep()
feat = nil; sweep()
loss = nil; sweep()
choice = nil; sweep()
correct = nil; sweep()
mark("globals deleted")

--== model_ppo
local ActorCritic, steps, envs, model, opt, obs, actions, logprobs, rewards, dones, values, state, done, logp, value, action, _, following, advantages, last, nonterminal, nextvalue, delta, returns, b_obs, b_actions, b_logprobs, b_adv, b_returns, permutation, mb, new, entropy, ratio, adv, pg1, pg2, pg_loss, v_loss, loss
ActorCritic = nn.Module:extend("ActorCritic")
function ActorCritic:__init(observations, actions, hidden)
  local m
  if hidden == nil then hidden = 64 end
  if actions == nil then actions = 4 end
  if observations == nil then observations = 8 end
  self.body = nn.Sequential(nn.Linear(observations, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
  self.actor = nn.Linear(hidden, actions)
  self.critic = nn.Linear(hidden, 1)
  for _, item1 in ipairs(self:modules()) do
    m = item1
    if is_a(m, "Linear") then
      nn.init.orthogonal_(m.weight, {gain = 1.41})
      nn.init.constant_(m.bias, 0.0)
    end
  end
end
function ActorCritic:forward(x)
  local h
  h = self.body(x)
  return F.log_softmax(self.actor(h), {dim = -1}), self.critic(h):squeeze(-1)
end
steps, envs = 8, 4
model = ActorCritic():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.00025, eps = 1e-05})
obs = ohm.zeros(steps, envs, 8, {device = "cuda"})
actions = ohm.zeros(steps, envs, {dtype = ohm.int64, device = "cuda"})
logprobs = ohm.zeros(steps, envs, {device = "cuda"})
rewards = ohm.zeros(steps, envs, {device = "cuda"})
dones = ohm.zeros(steps, envs, {device = "cuda"})
values = ohm.zeros(steps, envs, {device = "cuda"})
mark("storage")
for update = 0, 2 - 1 do
  state = ohm.randn(envs, 8, {device = "cuda"})
  done = ohm.zeros(envs, {device = "cuda"})
  for t = 0, steps - 1 do
    obs:select(0, t):copy_(state)
    dones:select(0, t):copy_(done)
    do
      local mode2 <close> = ohm.no_grad()
      do
        local new1, new2 = model(state)
        logp = new1; sweep()
        value = new2; sweep()
      end
      action = ohm.multinomial(logp:exp(), 1):squeeze(-1)
      values:select(0, t):copy_(value)
    end
    actions:select(0, t):copy_(action)
    logprobs:select(0, t):copy_(logp:gather(-1, action:unsqueeze(-1)):squeeze(-1))
    state = ohm.randn(envs, 8):cuda()
    rewards:select(0, t):copy_(ohm.randn(envs):cuda())
  end
  mark("rollout " .. update)
  do
    local mode3 <close> = ohm.no_grad()
    do
      local new1, new2 = model(state)
      _ = new1; sweep()
      following = new2; sweep()
    end
    advantages = ohm.zeros_like(rewards)
    last = 0
    for t = steps - 1, 0, -1 do
      if t == (steps - 1) then
        nonterminal = 1.0 - done
        nextvalue = following
      else
        nonterminal = 1.0 - dones:select(0, t + 1)
        nextvalue = values:select(0, t + 1)
      end
      delta = (rewards:select(0, t) + ((0.99 * nextvalue) * nonterminal)) - values:select(0, t)
      last = delta + (((0.99 * 0.95) * nonterminal) * last)
      advantages:select(0, t):copy_(last)
    end
    returns = advantages + values
  end
  mark("advantages " .. update)
  b_obs = obs:reshape(-1, 8)
  b_actions = actions:reshape(-1)
  b_logprobs = logprobs:reshape(-1)
  b_adv = advantages:reshape(-1)
  b_returns = returns:reshape(-1)
  permutation = ohm.randperm(steps * envs, {device = "cuda"})
  for start = 0, (steps * envs) - 1, 16 do
    mb = slice(permutation, 0, start, start + 16)
    do
      local new1, new2 = model(b_obs:index({mb}))
      logp = new1; sweep()
      value = new2; sweep()
    end
    new = logp:gather(1, b_actions:index({mb}):unsqueeze(1)):squeeze(1)
    entropy = -(logp:exp() * logp):sum(-1):mean()
    ratio = (new - b_logprobs:index({mb})):exp()
    adv = b_adv:index({mb})
    adv = (adv - adv:mean()) / (adv:std() + 1e-08)
    pg1 = (-adv) * ratio
    pg2 = (-adv) * ohm.clamp(ratio, 0.8, 1.2)
    pg_loss = ohm.max(pg1, pg2):mean()
    v_loss = 0.5 * ((value - b_returns:index({mb})) ^ 2):mean()
    loss = (pg_loss - (0.01 * entropy)) + (0.5 * v_loss)
    opt:zero_grad()
    loss:backward()
    nn.utils.clip_grad_norm_(model:parameters(), 0.5)
    opt:step()
  end
  mark("update " .. update)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
obs = nil; sweep()
actions = nil; sweep()
logprobs = nil; sweep()
rewards = nil; sweep()
dones = nil; sweep()
values = nil; sweep()
state = nil; sweep()
done = nil; sweep()
logp = nil; sweep()
value = nil; sweep()
action = nil; sweep()
_ = nil; sweep()
following = nil; sweep()
advantages = nil; sweep()
last = nil; sweep()
nonterminal = nil; sweep()
nextvalue = nil; sweep()
delta = nil; sweep()
returns = nil; sweep()
b_obs = nil; sweep()
b_actions = nil; sweep()
b_logprobs = nil; sweep()
b_adv = nil; sweep()
b_returns = nil; sweep()
permutation = nil; sweep()
mb = nil; sweep()
new = nil; sweep()
entropy = nil; sweep()
ratio = nil; sweep()
adv = nil; sweep()
pg1 = nil; sweep()
pg2 = nil; sweep()
pg_loss = nil; sweep()
v_loss = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_resnet
local BasicBlock, ResNet, model, criterion, opt, scheduler, running, images, target, output, loss, correct, _, predicted
BasicBlock = nn.Module:extend("BasicBlock")
function BasicBlock:__init(inputs, planes, stride)
  if stride == nil then stride = 1 end
  self.conv1 = nn.Conv2d(inputs, planes, 3, {stride = stride, padding = 1, bias = false})
  self.bn1 = nn.BatchNorm2d(planes)
  self.relu = nn.ReLU({inplace = true})
  self.conv2 = nn.Conv2d(planes, planes, 3, {padding = 1, bias = false})
  self.bn2 = nn.BatchNorm2d(planes)
  self.downsample = false
  if (stride ~= 1 or inputs ~= planes) then
    self.downsample = nn.Sequential(nn.Conv2d(inputs, planes, 1, {stride = stride, bias = false}), nn.BatchNorm2d(planes))
  end
end
function BasicBlock:forward(x)
  local identity, out
  identity = x
  out = self.conv1(x)
  out = self.bn1(out)
  out = self.relu(out)
  out = self.conv2(out)
  out = self.bn2(out)
  if self.downsample then
    identity = self.downsample(x)
  end
  out = iadd(out, identity)
  return self.relu(out)
end
ResNet = nn.Module:extend("ResNet")
function ResNet:__init(classes)
  if classes == nil then classes = 10 end
  self.conv1 = nn.Conv2d(3, 16, 7, {stride = 2, padding = 3, bias = false})
  self.bn1 = nn.BatchNorm2d(16)
  self.maxpool = nn.MaxPool2d(3, {stride = 2, padding = 1})
  self.layer1 = nn.Sequential(BasicBlock(16, 16), BasicBlock(16, 16))
  self.layer2 = nn.Sequential(BasicBlock(16, 32, 2), BasicBlock(32, 32))
  self.avgpool = nn.AdaptiveAvgPool2d({1, 1})
  self.fc = nn.Linear(32, classes)
end
function ResNet:forward(x)
  x = F.relu(self.bn1(self.conv1(x)), {inplace = true})
  x = self.maxpool(x)
  x = self.layer2(self.layer1(x))
  x = ohm.flatten(self.avgpool(x), 1)
  return self.fc(x)
end
model = ResNet():to("cuda")
criterion = nn.CrossEntropyLoss()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9, weight_decay = 0.0001, nesterov = true})
scheduler = ohm.optim.lr_scheduler.MultiStepLR(opt, {milestones = {1, 2}, gamma = 0.1})
running = 0.0
mark("model")
for step = 0, 3 - 1 do
  images = ohm.randn(4, 3, 64, 64):to("cuda")
  target = ohm.randint(0, 10, {4}):to("cuda")
  output = model(images)
  loss = criterion(output, target)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  scheduler:step()
  running = running + loss:item() * images:size(0)
  mark("step " .. step)
end
model:eval()
correct = 0
do
  local mode1 <close> = ohm.no_grad()
  for i = 0, 2 - 1 do
    images = ohm.randn(4, 3, 64, 64, {device = "cuda"})
    target = ohm.randint(0, 10, {4}, {device = "cuda"})
    do
      local new1, new2 = ohm.max(model(images), 1)
      _ = new1; sweep()
      predicted = new2; sweep()
    end
    correct = correct + (predicted:eq(target)):sum():item()
  end
end
mark("eval")
mark("end of program (globals alive)")
model = nil; sweep()
criterion = nil; sweep()
opt = nil; sweep()
scheduler = nil; sweep()
images = nil; sweep()
target = nil; sweep()
output = nil; sweep()
loss = nil; sweep()
_ = nil; sweep()
predicted = nil; sweep()
mark("globals deleted")

--== model_resnet_channels_last
local BasicBlock, ResNet, model, criterion, opt, scheduler, running, images, target, output, loss, correct, _, predicted
BasicBlock = nn.Module:extend("BasicBlock")
function BasicBlock:__init(inputs, planes, stride)
  if stride == nil then stride = 1 end
  self.conv1 = nn.Conv2d(inputs, planes, 3, {stride = stride, padding = 1, bias = false})
  self.bn1 = nn.BatchNorm2d(planes)
  self.relu = nn.ReLU({inplace = true})
  self.conv2 = nn.Conv2d(planes, planes, 3, {padding = 1, bias = false})
  self.bn2 = nn.BatchNorm2d(planes)
  self.downsample = false
  if (stride ~= 1 or inputs ~= planes) then
    self.downsample = nn.Sequential(nn.Conv2d(inputs, planes, 1, {stride = stride, bias = false}), nn.BatchNorm2d(planes))
  end
end
function BasicBlock:forward(x)
  local identity, out
  identity = x
  out = self.conv1(x)
  out = self.bn1(out)
  out = self.relu(out)
  out = self.conv2(out)
  out = self.bn2(out)
  if self.downsample then
    identity = self.downsample(x)
  end
  out = iadd(out, identity)
  return self.relu(out)
end
ResNet = nn.Module:extend("ResNet")
function ResNet:__init(classes)
  if classes == nil then classes = 10 end
  self.conv1 = nn.Conv2d(3, 16, 7, {stride = 2, padding = 3, bias = false})
  self.bn1 = nn.BatchNorm2d(16)
  self.maxpool = nn.MaxPool2d(3, {stride = 2, padding = 1})
  self.layer1 = nn.Sequential(BasicBlock(16, 16), BasicBlock(16, 16))
  self.layer2 = nn.Sequential(BasicBlock(16, 32, 2), BasicBlock(32, 32))
  self.avgpool = nn.AdaptiveAvgPool2d({1, 1})
  self.fc = nn.Linear(32, classes)
end
function ResNet:forward(x)
  x = F.relu(self.bn1(self.conv1(x)), {inplace = true})
  x = self.maxpool(x)
  x = self.layer2(self.layer1(x))
  x = ohm.flatten(self.avgpool(x), 1)
  return self.fc(x)
end
model = ResNet():to("cuda", {memory_format = ohm.channels_last})
criterion = nn.CrossEntropyLoss()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9, weight_decay = 0.0001, nesterov = true})
scheduler = ohm.optim.lr_scheduler.MultiStepLR(opt, {milestones = {1, 2}, gamma = 0.1})
running = 0.0
mark("model")
for step = 0, 3 - 1 do
  images = ohm.randn(4, 3, 64, 64):to("cuda", {memory_format = ohm.channels_last})
  target = ohm.randint(0, 10, {4}):to("cuda")
  output = model(images)
  loss = criterion(output, target)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  scheduler:step()
  running = running + loss:item() * images:size(0)
  mark("step " .. step)
end
model:eval()
correct = 0
do
  local mode1 <close> = ohm.no_grad()
  for i = 0, 2 - 1 do
    images = ohm.randn(4, 3, 64, 64, {device = "cuda"})
    target = ohm.randint(0, 10, {4}, {device = "cuda"})
    do
      local new1, new2 = ohm.max(model(images), 1)
      _ = new1; sweep()
      predicted = new2; sweep()
    end
    correct = correct + (predicted:eq(target)):sum():item()
  end
end
mark("eval")
mark("end of program (globals alive)")
model = nil; sweep()
criterion = nil; sweep()
opt = nil; sweep()
scheduler = nil; sweep()
images = nil; sweep()
target = nil; sweep()
output = nil; sweep()
loss = nil; sweep()
_ = nil; sweep()
predicted = nil; sweep()
mark("globals deleted")

--== model_resume
local new_model, train, model, optimizer, whole, state, rows, weight
function new_model()
  return nn.Sequential(
    nn.Linear(32, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 600, {bias = false})
  ):to("cuda")
end
function train(net, updates)
  local x = ohm.randn(64, 32, {device = "cuda"})
  local y = ohm.randint(0, 600, {64}, {device = "cuda"})
  updates:zero_grad()
  F.cross_entropy(net(x), y):backward()
  updates:step()
end
model = new_model()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 1 do
  train(model, optimizer)
  mark("step " .. step)
end
whole = ohm.randn(40, 300, {device = "cuda"})
ohm.save({
  model = model:state_dict(),
  optimizer = optimizer:state_dict(),
  step = 2,
  rows = whole:narrow(0, 3, 2),
  same_rows = whole:narrow(0, 4, 36),
}, "file")
mark("saved")
model, optimizer, whole = nil, nil, nil
mark("gone")
ohm.gc.collect()
mark("collected")
state = ohm.load("file")
mark("loaded")
model = new_model()
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.001})
model:load_state_dict(state.model)
mark("model taken")
optimizer:load_state_dict(state.optimizer)
mark("optimizer taken")
rows = state.rows * 2
state = nil
mark("state gone")
train(model, optimizer)
mark("step 2")
state = ohm.load("file", {map_location = "cpu"})
mark("loaded on the host")
model:load_state_dict(state.model)
optimizer:load_state_dict(state.optimizer)
mark("taken from the host")
state = nil
train(model, optimizer)
mark("step 3")
ohm.save(nn.Parameter(ohm.ones(700, {device = "cuda"})), "weight")
weight = ohm.load("weight", {map_location = "cuda:0"})
weight:sum():backward()
mark("parameter")
mark("end of program (globals alive)")
model = nil; sweep()
optimizer = nil; sweep()
rows = nil; sweep()
weight = nil; sweep()
mark("globals deleted")

--== model_sac
local Actor, Critic, actor, q1, q2, t1, t2, log_alpha, actor_opt, q_opt, alpha_opt, s, a, r, s2, alpha, a2, logp2, target, y, q_loss, pi, logp, actor_loss, alpha_loss, p, tp
Actor = nn.Module:extend("Actor")
function Actor:__init(obs, act, hidden)
  if hidden == nil then hidden = 64 end
  self.net = nn.Sequential(nn.Linear(obs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
  self.mean = nn.Linear(hidden, act)
  self.log_std = nn.Linear(hidden, act)
end
function Actor:forward(x)
  local h, mean, log_std, std, u, action, logp
  h = self.net(x)
  mean = self.mean(h)
  log_std = ohm.clamp(self.log_std(h), -5, 2)
  std = log_std:exp()
  u = mean + (std * ohm.randn_like(std))
  action = ohm.tanh(u)
  logp = (((-((u - mean) ^ 2)) / (2 * (std ^ 2))) - log_std) - math.log(math.sqrt(2 * math.pi))
  logp = logp - ohm.log((1 - action:pow(2)) + 1e-06)
  return action, logp:sum(1, {keepdim = true})
end
Critic = nn.Module:extend("Critic")
function Critic:__init(obs, act, hidden)
  if hidden == nil then hidden = 64 end
  self.net = nn.Sequential(nn.Linear(obs + act, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
end
function Critic:forward(s, a)
  return self.net(ohm.cat({s, a}, {dim = 1}))
end
actor = Actor(6, 2):cuda()
q1, q2 = Critic(6, 2):cuda(), Critic(6, 2):cuda()
t1, t2 = ohm.copy.deepcopy(q1), ohm.copy.deepcopy(q2)
log_alpha = ohm.zeros(1, {requires_grad = true, device = "cuda"})
actor_opt = ohm.optim.Adam(actor:parameters(), {lr = 0.0003})
q_opt = ohm.optim.Adam(joined(q1:parameters(), q2:parameters()), {lr = 0.0003})
alpha_opt = ohm.optim.Adam({log_alpha}, {lr = 0.0003})
mark("models")
for step = 0, 2 - 1 do
  s = ohm.randn(32, 6, {device = "cuda"})
  a = (ohm.rand(32, 2, {device = "cuda"}) * 2) - 1
  r = ohm.randn(32, 1, {device = "cuda"})
  s2 = ohm.randn(32, 6, {device = "cuda"})
  alpha = log_alpha:exp():item()
  do
    local mode1 <close> = ohm.no_grad()
    do
      local new1, new2 = actor(s2)
      a2 = new1; sweep()
      logp2 = new2; sweep()
    end
    target = ohm.min(t1(s2, a2), t2(s2, a2)) - (alpha * logp2)
    y = r + (0.99 * target)
  end
  q_loss = F.mse_loss(q1(s, a), y) + F.mse_loss(q2(s, a), y)
  q_opt:zero_grad()
  q_loss:backward()
  q_opt:step()
  mark("critics " .. step)
  do
    local new1, new2 = actor(s)
    pi = new1; sweep()
    logp = new2; sweep()
  end
  actor_loss = ((alpha * logp) - ohm.min(q1(s, pi), q2(s, pi))):mean()
  actor_opt:zero_grad()
  actor_loss:backward()
  actor_opt:step()
  mark("actor " .. step)
  alpha_loss = -(log_alpha * (logp:detach() - 2)):mean()
  alpha_opt:zero_grad()
  alpha_loss:backward()
  alpha_opt:step()
  do
    local list2_2 = t1:parameters()
    for number2, item2 in ipairs(q1:parameters()) do
      p = item2
      tp = list2_2[number2]
      tp.data:copy_((0.005 * p.data) + (0.995 * tp.data))
    end
  end
  do
    local list3_2 = t2:parameters()
    for number3, item3 in ipairs(q2:parameters()) do
      p = item3
      tp = list3_2[number3]
      tp.data:copy_((0.005 * p.data) + (0.995 * tp.data))
    end
  end
  mark("targets " .. step)
end
mark("end of program (globals alive)")
actor = nil; sweep()
q1 = nil; sweep()
q2 = nil; sweep()
t1 = nil; sweep()
t2 = nil; sweep()
log_alpha = nil; sweep()
actor_opt = nil; sweep()
q_opt = nil; sweep()
alpha_opt = nil; sweep()
s = nil; sweep()
a = nil; sweep()
r = nil; sweep()
s2 = nil; sweep()
alpha = nil; sweep()
a2 = nil; sweep()
logp2 = nil; sweep()
target = nil; sweep()
y = nil; sweep()
q_loss = nil; sweep()
pi = nil; sweep()
logp = nil; sweep()
actor_loss = nil; sweep()
alpha_loss = nil; sweep()
p = nil; sweep()
tp = nil; sweep()
mark("globals deleted")

--== model_sam
local model, base, rho, grad_norm, x, y, loss, old, scale, p, e_w, o
model = nn.Sequential(nn.Conv2d(3, 8, 3, {padding = 1}), nn.GroupNorm(2, 8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, {padding = 1}), nn.GroupNorm(4, 16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)):cuda()
base = ohm.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9, weight_decay = 0.0005})
rho = 0.05
function grad_norm()
  return ohm.norm(ohm.stack(map(function(p) return p.grad:norm({p = 2}) end, model:parameters())), {p = 2})
end
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(8, 3, 16, 16, {device = "cuda"})
  y = ohm.randint(0, 10, {8}, {device = "cuda"})
  loss = F.cross_entropy(model(x), y, {label_smoothing = 0.1})
  loss:backward()
  mark("first " .. step)
  do
    local old1 = old
    old = {}
    clear(old1)
  end
  do
    local mode2 <close> = ohm.no_grad()
    scale = rho / (grad_norm() + 1e-12)
    for _, item3 in ipairs(model:parameters()) do
      p = item3
      old[#old + 1] = p.data:clone()
      e_w = p.grad * scale
      p:add_(e_w)
    end
  end
  base:zero_grad()
  mark("perturbed " .. step)
  F.cross_entropy(model(x), y, {label_smoothing = 0.1}):backward()
  do
    local mode4 <close> = ohm.no_grad()
    do
      local list5_2 = old
      for number5, item5 in ipairs(model:parameters()) do
        p = item5
        o = list5_2[number5]
        p.data:copy_(o)
      end
    end
  end
  base:step()
  base:zero_grad()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
base = nil; sweep()
x = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
old = clear(old)
scale = nil; sweep()
p = nil; sweep()
e_w = nil; sweep()
o = nil; sweep()
mark("globals deleted")

--== model_seq2seq
local vocab, hidden, length, batch, Encoder, Attention, Decoder, encoder, decoder, enc_opt, dec_opt, criterion, source, target, keys, h, logp, _, loss
vocab, hidden, length, batch = 200, 64, 7, 8
Encoder = nn.Module:extend("Encoder")
function Encoder:__init()
  self.embedding = nn.Embedding(vocab, hidden)
  self.gru = nn.GRU(hidden, hidden, {batch_first = true})
  self.dropout = nn.Dropout(0.1)
end
function Encoder:forward(x)
  local output, h
  output, h = several(self.gru(self.dropout(self.embedding(x))))
  return output, h
end
Attention = nn.Module:extend("Attention")
function Attention:__init()
  self.Wa = nn.Linear(hidden, hidden)
  self.Ua = nn.Linear(hidden, hidden)
  self.Va = nn.Linear(hidden, 1)
end
function Attention:forward(query, keys)
  local scores, weights, context
  scores = self.Va(ohm.tanh(self.Wa(query) + self.Ua(keys)))
  scores = scores:squeeze(2):unsqueeze(1)
  weights = F.softmax(scores, {dim = -1})
  context = ohm.bmm(weights, keys)
  return context, weights
end
Decoder = nn.Module:extend("Decoder")
function Decoder:__init()
  self.embedding = nn.Embedding(vocab, hidden)
  self.attention = Attention()
  self.gru = nn.GRU(2 * hidden, hidden, {batch_first = true})
  self.out = nn.Linear(hidden, vocab)
  self.dropout = nn.Dropout(0.1)
end
function Decoder:forward(keys, h, target)
  local x, outputs, attentions, embedded, query, context, weights, output
  x = ohm.zeros(batch, 1, {dtype = ohm.int64, device = "cuda"})
  outputs = {}
  attentions = {}
  for t = 0, length - 1 do
    embedded = self.dropout(self.embedding(x))
    query = h:permute(1, 0, 2)
    do
      local new1, new2 = self.attention(query, keys)
      context = new1; sweep()
      weights = new2; sweep()
    end
    do
      local new1, new2 = several(self.gru(ohm.cat({embedded, context}, {dim = 2}), h))
      output = new1; sweep()
      h = new2; sweep()
    end
    output = self.out(output)
    outputs[#outputs + 1] = output
    attentions[#attentions + 1] = weights
    if target ~= nil then
      x = slice(target, 0, 0):select(1, t):unsqueeze(1)
    else
      x = second(output:topk(1)):squeeze(-1):detach()
    end
  end
  do
    local old1 = outputs
    outputs = ohm.cat(outputs, {dim = 1})
    clear(old1)
  end
  do
    local old2 = attentions
    attentions = ohm.cat(attentions, {dim = 1})
    clear(old2)
  end
  return F.log_softmax(outputs, {dim = -1}), h, attentions
end
encoder = Encoder():cuda()
decoder = Decoder():cuda()
enc_opt = ohm.optim.Adam(encoder:parameters(), {lr = 0.001})
dec_opt = ohm.optim.Adam(decoder:parameters(), {lr = 0.001})
criterion = nn.NLLLoss()
mark("models")
for step = 0, 2 - 1 do
  source = ohm.randint(0, vocab, {batch, length}, {device = "cuda"})
  target = ohm.randint(0, vocab, {batch, length}, {device = "cuda"})
  enc_opt:zero_grad()
  dec_opt:zero_grad()
  do
    local new1, new2 = encoder(source)
    keys = new1; sweep()
    h = new2; sweep()
  end
  do
    local new1, new2, new3 = decoder(keys, h, (step == 0 and target or nil))
    logp = new1; sweep()
    h = new2; sweep()
    _ = new3; sweep()
  end
  loss = criterion(logp:view(-1, vocab), target:view(-1))
  mark("forward " .. step)
  loss:backward()
  enc_opt:step()
  dec_opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
encoder = nil; sweep()
decoder = nil; sweep()
enc_opt = nil; sweep()
dec_opt = nil; sweep()
criterion = nil; sweep()
source = nil; sweep()
target = nil; sweep()
keys = nil; sweep()
h = nil; sweep()
logp = nil; sweep()
_ = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_simclr
local Encoder, info_nce, model, opt, scheduler, criterion, images, x, features, logits, labels, loss
Encoder = nn.Module:extend("Encoder")
function Encoder:__init()
  self.features = nn.Sequential(nn.Conv2d(3, 16, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
  self.projection = nn.Sequential(nn.Linear(32, 64, {bias = false}), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32))
end
function Encoder:forward(x)
  return F.normalize(self.projection(self.features(x)), {dim = 1})
end
function info_nce(features, batch, temperature)
  local labels, similarity, mask, positives
  if temperature == nil then temperature = 0.1 end
  labels = ohm.cat(collect(2, function(i) return ohm.arange(batch) end), {dim = 0})
  labels = (labels:unsqueeze(0):eq(labels:unsqueeze(1))):float():cuda()
  similarity = ohm.matmul(features, features.T)
  mask = ohm.eye(labels:size(0), {dtype = ohm.bool}):cuda()
  similarity = similarity:masked_fill(mask, -1000000000.0)
  positives = labels:masked_fill(mask, 0.0):argmax({dim = 1})
  return similarity / temperature, positives
end
model = Encoder():cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.03, momentum = 0.9, weight_decay = 0.0001})
scheduler = ohm.optim.lr_scheduler.CosineAnnealingLR(opt, {T_max = 2, eta_min = 0})
criterion = nn.CrossEntropyLoss():cuda()
mark("model")
for step = 0, 3 - 1 do
  do
    local old1 = images
    images = collect(2, function(_) return ohm.randn(8, 3, 24, 24) end)
    clear(old1)
  end
  x = ohm.cat(images, {dim = 0}):cuda()
  features = model(x)
  do
    local new1, new2 = info_nce(features, 8)
    logits = new1; sweep()
    labels = new2; sweep()
  end
  loss = criterion(logits, labels)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  scheduler:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
scheduler = nil; sweep()
criterion = nil; sweep()
images = clear(images)
x = nil; sweep()
features = nil; sweep()
logits = nil; sweep()
labels = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_superres
local ResBlock, EDSR, model, opt, scheduler, hr, lr, sr, loss, mse, psnr
ResBlock = nn.Module:extend("ResBlock")
function ResBlock:__init(features, scale)
  if scale == nil then scale = 0.1 end
  self.scale = scale
  self.body = nn.Sequential(nn.Conv2d(features, features, 3, {padding = 1}), nn.ReLU(true), nn.Conv2d(features, features, 3, {padding = 1}))
end
function ResBlock:forward(x)
  local res
  res = self.body(x):mul(self.scale)
  res = iadd(res, x)
  return res
end
EDSR = nn.Module:extend("EDSR")
function EDSR:__init(features, blocks)
  if blocks == nil then blocks = 3 end
  if features == nil then features = 16 end
  self:register_buffer("mean", ohm.tensor({0.45, 0.44, 0.4}):view(1, 3, 1, 1))
  self.head = nn.Conv2d(3, features, 3, {padding = 1})
  self.body = nn.Sequential(collect(blocks, function(_) return ResBlock(features) end))
  self.tail = nn.Sequential(nn.Conv2d(features, 4 * features, 3, {padding = 1}), nn.PixelShuffle(2), nn.Conv2d(features, 3, 3, {padding = 1}))
end
function EDSR:forward(x)
  local res
  x = self.head(x - self.mean)
  res = self.body(x)
  res = iadd(res, x)
  return self.tail(res) + self.mean
end
model = EDSR():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.0001, betas = {0.9, 0.999}})
scheduler = ohm.optim.lr_scheduler.StepLR(opt, {step_size = 1, gamma = 0.5})
mark("model")
for step = 0, 2 - 1 do
  hr = ohm.rand(4, 3, 32, 32, {device = "cuda"})
  lr = F.interpolate(hr, {scale_factor = 0.5, mode = "bilinear", align_corners = false})
  sr = model(lr)
  loss = F.l1_loss(sr, hr)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_value_(model:parameters(), 0.5)
  opt:step()
  scheduler:step()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  sr = model(lr):clamp(0, 1):mul(255):round()
  mse = ((sr - (hr * 255)) ^ 2):mean()
  psnr = (20 * ohm.log10(255.0 / ohm.sqrt(mse))):item()
end
mark("eval")
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
scheduler = nil; sweep()
hr = nil; sweep()
lr = nil; sweep()
sr = nil; sweep()
loss = nil; sweep()
mse = nil; sweep()
psnr = nil; sweep()
mark("globals deleted")

--== model_swin
local window_partition, window_reverse, WindowAttention, SwinBlock, PatchMerging, Swin, model, decay, others, opt, scheduler, x, y, out, loss
function window_partition(x, window)
  local B, H, W, C
  B, H, W, C = table.unpack(x.shape)
  x = x:view(B, H // window, window, W // window, window, C)
  return x:permute(0, 1, 3, 2, 4, 5):contiguous():view(-1, window * window, C)
end
function window_reverse(windows, window, H, W)
  local B, x
  B = windows:size(0) // (((H * W) // window) // window)
  x = windows:view(B, H // window, W // window, window, window, -1)
  return x:permute(0, 1, 3, 2, 4, 5):contiguous():view(B, H, W, -1)
end
WindowAttention = nn.Module:extend("WindowAttention")
function WindowAttention:__init(dim, window, heads)
  local coords, rows, cols, index
  self.window = window
  self.heads = heads
  self.scale = (dim // heads) ^ (-0.5)
  self.table = nn.Parameter(ohm.zeros(((2 * window) - 1) * ((2 * window) - 1), heads))
  coords = ohm.arange(window)
  rows = slice(coords, 0, 0):unsqueeze(1):expand(window, window):flatten()
  cols = slice(coords:unsqueeze(0), 1, 0):expand(window, window):flatten()
  index = (((((((slice(rows, 0, 0):unsqueeze(1) - slice(rows:unsqueeze(0), 1, 0)) + window) - 1) * ((2 * window) - 1)) + slice(cols, 0, 0):unsqueeze(1)) - slice(cols:unsqueeze(0), 1, 0)) + window) - 1
  self:register_buffer("index", index)
  self.qkv = nn.Linear(dim, 3 * dim)
  self.proj = nn.Linear(dim, dim)
end
function WindowAttention:forward(x, mask)
  local B, N, C, qkv, q, k, v, attn, bias, windows
  B, N, C = table.unpack(x.shape)
  qkv = self.qkv(x):reshape(B, N, 3, self.heads, C // self.heads):permute(2, 0, 3, 1, 4)
  q, k, v = qkv:select(0, 0), qkv:select(0, 1), qkv:select(0, 2)
  attn = ohm.matmul(q * self.scale, k:transpose(-2, -1))
  bias = self.table:index({self.index:view(-1)}):view(N, N, -1):permute(2, 0, 1):contiguous()
  attn = attn + bias:unsqueeze(0)
  if mask ~= nil then
    windows = mask:size(0)
    attn = attn:view(B // windows, windows, self.heads, N, N) + mask:unsqueeze(1):unsqueeze(0)
    attn = attn:view(-1, self.heads, N, N)
  end
  attn = attn:softmax({dim = -1})
  return self.proj((ohm.matmul(attn, v)):transpose(1, 2):reshape(B, N, C))
end
SwinBlock = nn.Module:extend("SwinBlock")
function SwinBlock:__init(dim, resolution, heads, window, shift)
  local regions, masks, mask
  self.resolution = resolution
  self.window = window
  self.shift = shift
  self.norm1 = nn.LayerNorm(dim)
  self.attn = WindowAttention(dim, window, heads)
  self.norm2 = nn.LayerNorm(dim)
  self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(4 * dim, dim))
  if shift > 0 then
    regions = ohm.zeros(1, resolution, resolution, 1)
    slice(slice(slice(slice(regions, 0, 0), 1, -window), 2, 0), 3, 0):fill_(1)
    slice(slice(slice(slice(regions, 0, 0), 1, 0), 2, -window), 3, 0):add_(2)
    masks = window_partition(regions, window):view(-1, window * window)
    mask = masks:unsqueeze(1) - masks:unsqueeze(2)
    mask = mask:masked_fill(mask:ne(0), -100.0):masked_fill(mask:eq(0), 0.0)
    self:register_buffer("mask", mask)
  end
end
function SwinBlock:forward(x)
  local B, L, C, H, shortcut, windows
  B, L, C = table.unpack(x.shape)
  H = self.resolution
  shortcut = x
  x = self.norm1(x):view(B, H, H, C)
  if self.shift > 0 then
    x = ohm.roll(x, {shifts = {-self.shift, -self.shift}, dims = {1, 2}})
  end
  windows = window_partition(x, self.window)
  windows = self.attn(windows, (self.shift > 0 and self.mask or nil))
  x = window_reverse(windows, self.window, H, H)
  if self.shift > 0 then
    x = ohm.roll(x, {shifts = {self.shift, self.shift}, dims = {1, 2}})
  end
  x = shortcut + x:view(B, L, C)
  return x + self.mlp(self.norm2(x))
end
PatchMerging = nn.Module:extend("PatchMerging")
function PatchMerging:__init(resolution, dim)
  self.resolution = resolution
  self.reduction = nn.Linear(4 * dim, 2 * dim, {bias = false})
  self.norm = nn.LayerNorm(4 * dim)
end
function PatchMerging:forward(x)
  local B, L, C, x0, x1, x2, x3
  B, L, C = table.unpack(x.shape)
  x = x:view(B, self.resolution, self.resolution, C)
  x0 = slice(slice(slice(slice(x, 0, 0), 1, 0, nil, 2), 2, 0, nil, 2), 3, 0)
  x1 = slice(slice(slice(slice(x, 0, 0), 1, 1, nil, 2), 2, 0, nil, 2), 3, 0)
  x2 = slice(slice(slice(slice(x, 0, 0), 1, 0, nil, 2), 2, 1, nil, 2), 3, 0)
  x3 = slice(slice(slice(slice(x, 0, 0), 1, 1, nil, 2), 2, 1, nil, 2), 3, 0)
  x = ohm.cat({x0, x1, x2, x3}, -1):view(B, -1, 4 * C)
  return self.reduction(self.norm(x))
end
Swin = nn.Module:extend("Swin")
function Swin:__init()
  self.patch = nn.Conv2d(3, 32, 4, {stride = 4})
  self.norm0 = nn.LayerNorm(32)
  self.stage1 = nn.ModuleList(collect(2, function(i) return SwinBlock(32, 8, 2, 4, ((i % 2) == 0 and 0 or 2)) end))
  self.merge = PatchMerging(8, 32)
  self.stage2 = nn.ModuleList(collect(1, function(i) return SwinBlock(64, 4, 4, 4, 0) end))
  self.norm = nn.LayerNorm(64)
  self.head = nn.Linear(64, 10)
end
function Swin:forward(x)
  local block
  x = self.patch(x):flatten(2):transpose(1, 2)
  x = self.norm0(x)
  for _, item1 in ipairs(self.stage1:children()) do
    block = item1
    x = block(x)
  end
  x = self.merge(x)
  for _, item2 in ipairs(self.stage2:children()) do
    block = item2
    x = block(x)
  end
  x = self.norm(x)
  x = F.adaptive_avg_pool1d(x:transpose(1, 2), 1)
  return self.head(ohm.flatten(x, 1))
end
model = Swin():cuda()
decay = filter(model:parameters(), function(p) return p.ndim > 1 end)
others = filter(model:parameters(), function(p) return p.ndim <= 1 end)
opt = ohm.optim.AdamW({{params = decay, weight_decay = 0.05}, {params = others, weight_decay = 0.0}}, {lr = 0.001})
scheduler = ohm.optim.lr_scheduler.CosineAnnealingLR(opt, {T_max = 10})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(4, 3, 32, 32, {device = "cuda"})
  y = ohm.randint(0, 10, {4}, {device = "cuda"})
  out = model(x)
  loss = F.cross_entropy(out, y, {label_smoothing = 0.1})
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 5.0)
  opt:step()
  scheduler:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
decay = clear(decay)
others = clear(others)
opt = nil; sweep()
scheduler = nil; sweep()
x = nil; sweep()
y = nil; sweep()
out = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_t5
local width, heads, vocab, T5LayerNorm, bucket, Attention, FeedForward, EncoderLayer, DecoderLayer, T5, model, opt, source, target, shifted, logits, loss
width, heads, vocab = 64, 4, 120
T5LayerNorm = nn.Module:extend("T5LayerNorm")
function T5LayerNorm:__init(size, eps)
  if eps == nil then eps = 1e-06 end
  self.weight = nn.Parameter(ohm.ones(size))
  self.eps = eps
end
function T5LayerNorm:forward(x)
  local variance
  variance = x:to(ohm.float32):pow(2):mean(-1, {keepdim = true})
  x = x * ohm.rsqrt(variance + self.eps)
  return self.weight * x
end
function bucket(relative, bidirectional, buckets, furthest)
  local result, exact, small, large
  if furthest == nil then furthest = 128 end
  if buckets == nil then buckets = 32 end
  result = ohm.zeros_like(relative)
  if bidirectional then
    buckets = buckets // 2
    result = result + ((relative:gt(0)):to(ohm.int64) * buckets)
    relative = ohm.abs(relative)
  else
    relative = -ohm.min(relative, ohm.zeros_like(relative))
  end
  exact = buckets // 2
  small = relative:lt(exact)
  large = exact + ((ohm.log(relative:float() / exact) / math.log(furthest / exact)) * (buckets - exact)):to(ohm.int64)
  large = ohm.min(large, ohm.full_like(large, buckets - 1))
  return result + ohm.where(small, relative, large)
end
Attention = nn.Module:extend("Attention")
function Attention:__init(bias, bidirectional)
  self.bidirectional = bidirectional
  self.q = nn.Linear(width, width, {bias = false})
  self.k = nn.Linear(width, width, {bias = false})
  self.v = nn.Linear(width, width, {bias = false})
  self.o = nn.Linear(width, width, {bias = false})
  self.relative = (bias and nn.Embedding(32, heads) or false)
end
function Attention:compute_bias(queries, keys)
  local positions, memory, values
  positions = slice(ohm.arange(queries, {dtype = ohm.int64, device = "cuda"}), 0, 0):unsqueeze(1)
  memory = slice(ohm.arange(keys, {dtype = ohm.int64, device = "cuda"}):unsqueeze(0), 1, 0)
  values = self.relative(bucket(memory - positions, self.bidirectional))
  return values:permute({2, 0, 1}):unsqueeze(0)
end
function Attention:forward(x, memory, bias, mask)
  local B, T, _, S, q, k, v, scores, weights, out
  B, T, _ = table.unpack(x.shape)
  S = memory:size(1)
  q = self.q(x):view(B, T, heads, -1):transpose(1, 2)
  k = self.k(memory):view(B, S, heads, -1):transpose(1, 2)
  v = self.v(memory):view(B, S, heads, -1):transpose(1, 2)
  scores = ohm.matmul(q, k:transpose(3, 2))
  if bias == nil then
    if self.relative then
      bias = self:compute_bias(T, S)
    else
      bias = ohm.zeros(1, heads, T, S, {device = "cuda"})
    end
    if mask ~= nil then
      bias = bias + mask
    end
  end
  scores = iadd(scores, bias)
  weights = F.softmax(scores:float(), {dim = -1}):type_as(scores)
  weights = F.dropout(weights, {p = 0.1, training = self.training})
  out = ohm.matmul(weights, v):transpose(1, 2):contiguous():view(B, T, width)
  return self.o(out), bias
end
FeedForward = nn.Module:extend("FeedForward")
function FeedForward:__init()
  self.wi = nn.Linear(width, 2 * width, {bias = false})
  self.wo = nn.Linear(2 * width, width, {bias = false})
  self.norm = T5LayerNorm(width)
  self.dropout = nn.Dropout(0.1)
end
function FeedForward:forward(x)
  local h
  h = F.relu(self.wi(self.norm(x)))
  return x + self.dropout(self.wo(self.dropout(h)))
end
EncoderLayer = nn.Module:extend("EncoderLayer")
function EncoderLayer:__init(bias)
  self.norm = T5LayerNorm(width)
  self.attention = Attention(bias, true)
  self.ff = FeedForward()
end
function EncoderLayer:forward(x, bias)
  local h
  h = self.norm(x)
  do
    local new1, new2 = self.attention(h, h, bias, nil)
    h = new1; sweep()
    bias = new2; sweep()
  end
  return self.ff(x + h), bias
end
DecoderLayer = nn.Module:extend("DecoderLayer")
function DecoderLayer:__init(bias)
  self.norm1 = T5LayerNorm(width)
  self.attention = Attention(bias, false)
  self.norm2 = T5LayerNorm(width)
  self.cross = Attention(false, true)
  self.ff = FeedForward()
end
function DecoderLayer:forward(x, memory, bias, cross_bias, mask)
  local h
  h = self.norm1(x)
  do
    local new1, new2 = self.attention(h, h, bias, mask)
    h = new1; sweep()
    bias = new2; sweep()
  end
  x = x + h
  do
    local new1, new2 = self.cross(self.norm2(x), memory, cross_bias, nil)
    h = new1; sweep()
    cross_bias = new2; sweep()
  end
  x = x + h
  return self.ff(x), bias, cross_bias
end
T5 = nn.Module:extend("T5")
function T5:__init()
  self.shared = nn.Embedding(vocab, width)
  self.encoder = nn.ModuleList(collect(2, function(i) return EncoderLayer(i == 0) end))
  self.encoder_norm = T5LayerNorm(width)
  self.decoder = nn.ModuleList(collect(2, function(i) return DecoderLayer(i == 0) end))
  self.decoder_norm = T5LayerNorm(width)
  self.lm_head = nn.Linear(width, vocab, {bias = false})
end
function T5:forward(source, target)
  local memory, bias, layer, T, mask, x, cross_bias
  memory = self.shared(source)
  bias = nil
  for _, item1 in ipairs(self.encoder:children()) do
    layer = item1
    do
      local new1, new2 = layer(memory, bias)
      memory = new1; sweep()
      bias = new2; sweep()
    end
  end
  memory = self.encoder_norm(memory)
  T = target:size(1)
  mask = ohm.triu(ohm.full({T, T}, -1000000000.0, {device = "cuda"}), {diagonal = 1})
  x = self.shared(target)
  bias = nil
  cross_bias = nil
  for _, item2 in ipairs(self.decoder:children()) do
    layer = item2
    do
      local new1, new2, new3 = layer(x, memory, bias, cross_bias, mask)
      x = new1; sweep()
      bias = new2; sweep()
      cross_bias = new3; sweep()
    end
  end
  return self.lm_head(self.decoder_norm(x) * (width ^ (-0.5)))
end
model = T5():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 2 - 1 do
  source = ohm.randint(0, vocab, {3, 14}, {device = "cuda"})
  target = ohm.randint(0, vocab, {3, 9}, {device = "cuda"})
  shifted = target:new_zeros(target.shape)
  slice(slice(shifted, 0, 0), 1, 1):copy_(slice(slice(target, 0, 0), 1, 0, -1):clone())
  logits = model(source, shifted)
  loss = F.cross_entropy(logits:view(-1, logits:size(-1)), target:view(-1))
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
source = nil; sweep()
target = nil; sweep()
shifted = nil; sweep()
logits = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_transformer_xl
local width, heads, head_dim, vocab, mem_len, length, PositionalEmbedding, RelAttention, Layer, TransformerXL, model, opt, mems, data, target, logits, loss
width, heads, head_dim, vocab, mem_len, length = 48, 4, 12, 150, 10, 8
PositionalEmbedding = nn.Module:extend("PositionalEmbedding")
function PositionalEmbedding:__init()
  local inv
  inv = 1 / (10000 ^ (ohm.arange(0.0, width, 2.0) / width))
  self:register_buffer("inv_freq", inv)
end
function PositionalEmbedding:forward(positions)
  local angles
  angles = ohm.outer(positions, self.inv_freq)
  return slice(slice(ohm.cat({angles:sin(), angles:cos()}, {dim = -1}), 0, 0):unsqueeze(1), 2, 0)
end
RelAttention = nn.Module:extend("RelAttention")
function RelAttention:__init()
  self.qkv = nn.Linear(width, (3 * heads) * head_dim, {bias = false})
  self.r = nn.Linear(width, heads * head_dim, {bias = false})
  self.o = nn.Linear(heads * head_dim, width, {bias = false})
  self.norm = nn.LayerNorm(width)
  self.drop = nn.Dropout(0.1)
end
function RelAttention:shift(x)
  local zero, padded
  zero = ohm.zeros({x:size(0), 1, x:size(2), x:size(3)}, {device = x.device, dtype = x.dtype})
  padded = ohm.cat({zero, x}, {dim = 1})
  padded = padded:view(x:size(1) + 1, x:size(0), x:size(2), x:size(3))
  return slice(padded, 0, 1):view_as(x)
end
function RelAttention:forward(w, r, u, v, mask, mems)
  local qlen, rlen, bsz, h, q, k, val, klen, rk, ac, bd, score, prob, vec
  qlen, rlen, bsz = w:size(0), r:size(0), w:size(1)
  h = ohm.cat({mems, w}, 0)
  q, k, val = ohm.chunk(self.qkv(h), 3, {dim = -1})
  q = slice(q, 0, -qlen)
  klen = k:size(0)
  q = q:view(qlen, bsz, heads, head_dim)
  k = k:view(klen, bsz, heads, head_dim)
  val = val:view(klen, bsz, heads, head_dim)
  rk = self.r(r):view(rlen, heads, head_dim)
  ac = ohm.einsum("ibnd,jbnd->ijbn", {q + u, k})
  bd = ohm.einsum("ibnd,jnd->ijbn", {q + v, rk})
  bd = self:shift(bd)
  score = (ac + bd) * (1 / (head_dim ^ 0.5))
  score = score:masked_fill(slice(slice(mask, 0, 0), 1, 0):unsqueeze(2):unsqueeze(3), -math.huge)
  prob = self.drop(F.softmax(score, {dim = 1}))
  vec = ohm.einsum("ijbn,jbnd->ibnd", {prob, val})
  vec = vec:contiguous():view(qlen, bsz, heads * head_dim)
  return self.norm(w + self.drop(self.o(vec)))
end
Layer = nn.Module:extend("Layer")
function Layer:__init()
  self.attn = RelAttention()
  self.ff = nn.Sequential(nn.Linear(width, 96), nn.ReLU({inplace = true}), nn.Dropout(0.1), nn.Linear(96, width))
  self.norm = nn.LayerNorm(width)
end
function Layer:forward(x, r, u, v, mask, mems)
  x = self.attn(x, r, u, v, mask, mems)
  return self.norm(x + self.ff(x))
end
TransformerXL = nn.Module:extend("TransformerXL")
function TransformerXL:__init()
  self.emb = nn.Embedding(vocab, width)
  self.pos = PositionalEmbedding()
  self.u = nn.Parameter(ohm.randn(heads, head_dim))
  self.v = nn.Parameter(ohm.randn(heads, head_dim))
  self.layers = nn.ModuleList(collect(2, function(_) return Layer() end))
  self.out = nn.Linear(width, vocab)
end
function TransformerXL:forward(data, mems)
  local qlen, mlen, klen, x, mask, r, hids, layer, new, joined
  qlen = data:size(0)
  mlen = mems[1]:size(0)
  klen = mlen + qlen
  x = self.emb(data) * (width ^ 0.5)
  mask = ohm.triu(ohm.ones(qlen, klen, {dtype = ohm.bool, device = x.device}), {diagonal = 1 + mlen})
  r = self.pos(ohm.arange(klen - 1, -1, -1.0, {device = x.device}))
  hids = {x}
  for number1, item1 in ipairs(self.layers:children()) do
    local i = number1 - 1
    layer = item1
    x = layer(x, r, self.u, self.v, mask, mems[i + 1])
    hids[#hids + 1] = x
  end
  do
    local mode2 <close> = ohm.no_grad()
    new = {}
    for i = 0, 2 - 1 do
      joined = ohm.cat({mems[i + 1], hids[i + 1]}, {dim = 0})
      new[#new + 1] = slice(joined, 0, -mem_len):detach()
    end
  end
  return self.out(x), new
end
model = TransformerXL():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.00025})
mems = collect(2, function(_) return ohm.zeros(mem_len, 4, width, {device = "cuda"}) end)
mark("model")
for step = 0, 3 - 1 do
  data = ohm.randint(0, vocab, {length, 4}, {device = "cuda"})
  target = ohm.randint(0, vocab, {length, 4}, {device = "cuda"})
  do
    local new1, new2 = model(data, mems)
    logits = new1; sweep()
    local old = mems
    mems = new2
    clear(old)
  end
  loss = F.cross_entropy(logits:view(-1, vocab), target:view(-1), {reduction = "none"}):view(length, 4):mean()
  mark("forward " .. step)
  model:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 0.25)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
mems = clear(mems)
data = nil; sweep()
target = nil; sweep()
logits = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_triplet
local EmbeddingNet, Siamese, model, criterion, opt, anchor, positive, negative, a, p, n, loss, same, other, gallery, query, distances, nearest
EmbeddingNet = nn.Module:extend("EmbeddingNet")
function EmbeddingNet:__init()
  self.convnet = nn.Sequential(nn.Conv2d(1, 16, 5), nn.PReLU(), nn.MaxPool2d(2, {stride = 2}), nn.Conv2d(16, 32, 5), nn.PReLU(), nn.MaxPool2d(2, {stride = 2}))
  self.fc = nn.Sequential(nn.Linear((32 * 4) * 4, 64), nn.PReLU(), nn.Linear(64, 16))
end
function EmbeddingNet:forward(x)
  local output
  output = self.convnet(x)
  output = output:view(output:size(0), -1)
  return F.normalize(self.fc(output), {p = 2, dim = 1})
end
Siamese = nn.Module:extend("Siamese")
function Siamese:__init(embedding)
  self.embedding = embedding
end
function Siamese:forward(a, p, n)
  return self.embedding(a), self.embedding(p), self.embedding(n)
end
model = Siamese(EmbeddingNet()):cuda()
criterion = nn.TripletMarginLoss({margin = 0.2, p = 2})
opt = ohm.optim.Adagrad(model:parameters(), {lr = 0.01})
mark("model")
for step = 0, 2 - 1 do
  anchor = ohm.randn(8, 1, 28, 28, {device = "cuda"})
  positive = anchor + (0.1 * ohm.randn_like(anchor))
  negative = ohm.randn(8, 1, 28, 28, {device = "cuda"})
  do
    local new1, new2, new3 = model(anchor, positive, negative)
    a = new1; sweep()
    p = new2; sweep()
    n = new3; sweep()
  end
  loss = criterion(a, p, n)
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("triplet " .. step)
  do
    local new1, new2, new3 = model(anchor, positive, negative)
    a = new1; sweep()
    p = new2; sweep()
    n = new3; sweep()
  end
  same = (a - p):pow(2):sum(1)
  other = (a - n):pow(2):sum(1)
  loss = (same + F.relu(1.0 - (other + 1e-09):sqrt()):pow(2)):mean() * 0.5
  opt:zero_grad()
  loss:backward()
  opt:step()
  mark("contrastive " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  gallery = model.embedding(ohm.randn(12, 1, 28, 28, {device = "cuda"}))
  query = model.embedding(anchor)
  distances = ohm.cdist(query, gallery)
  nearest = second(distances:topk(3, {dim = 1, largest = false}))
end
mark("retrieval")
mark("end of program (globals alive)")
model = nil; sweep()
criterion = nil; sweep()
opt = nil; sweep()
anchor = nil; sweep()
positive = nil; sweep()
negative = nil; sweep()
a = nil; sweep()
p = nil; sweep()
n = nil; sweep()
loss = nil; sweep()
same = nil; sweep()
other = nil; sweep()
gallery = nil; sweep()
query = nil; sweep()
distances = nil; sweep()
nearest = nil; sweep()
mark("globals deleted")

--== model_unet
local DoubleConv, UNet, dice_loss, model, opt, scaler, images, masks, pred, loss, accuracy
DoubleConv = nn.Module:extend("DoubleConv")
function DoubleConv:__init(inputs, outputs)
  self.net = nn.Sequential(nn.Conv2d(inputs, outputs, 3, {padding = 1, bias = false}), nn.BatchNorm2d(outputs), nn.ReLU({inplace = true}), nn.Conv2d(outputs, outputs, 3, {padding = 1, bias = false}), nn.BatchNorm2d(outputs), nn.ReLU({inplace = true}))
end
function DoubleConv:forward(x)
  return self.net(x)
end
UNet = nn.Module:extend("UNet")
function UNet:__init(channels, classes, width)
  if width == nil then width = 16 end
  if classes == nil then classes = 2 end
  if channels == nil then channels = 3 end
  self.inc = DoubleConv(channels, width)
  self.down1 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(width, 2 * width))
  self.down2 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(2 * width, 4 * width))
  self.up1 = nn.ConvTranspose2d(4 * width, 2 * width, 2, {stride = 2})
  self.conv1 = DoubleConv(4 * width, 2 * width)
  self.up2 = nn.Upsample({scale_factor = 2, mode = "bilinear", align_corners = true})
  self.conv2 = DoubleConv(3 * width, width)
  self.outc = nn.Conv2d(width, classes, 1)
end
function UNet:forward(x)
  local x1, x2, x3, dy, dx
  x1 = self.inc(x)
  x2 = self.down1(x1)
  x3 = self.down2(x2)
  x = self.up1(x3)
  dy = x2:size(2) - x:size(2)
  dx = x2:size(3) - x:size(3)
  x = F.pad(x, {dx // 2, dx - (dx // 2), dy // 2, dy - (dy // 2)})
  x = self.conv1(ohm.cat({x2, x}, {dim = 1}))
  x = self.up2(x)
  x = F.pad(x, {0, x1:size(3) - x:size(3), 0, x1:size(2) - x:size(2)})
  x = self.conv2(ohm.cat({x1, x}, {dim = 1}))
  return self.outc(x)
end
function dice_loss(logits, target, eps)
  local probs, onehot, inter, sets
  if eps == nil then eps = 1e-06 end
  probs = F.softmax(logits, {dim = 1})
  onehot = F.one_hot(target, 2):permute(0, 3, 1, 2):float()
  inter = 2 * (probs * onehot):sum({dim = {2, 3}})
  sets = probs:sum({dim = {2, 3}}) + onehot:sum({dim = {2, 3}})
  return 1 - ((inter + eps) / (sets + eps)):mean()
end
model = UNet():cuda()
opt = ohm.optim.RMSprop(model:parameters(), {lr = 0.001, weight_decay = 1e-08, momentum = 0.9, foreach = true})
scaler = ohm.amp.GradScaler("cuda")
mark("model")
for step = 0, 2 - 1 do
  images = ohm.randn(2, 3, 70, 66, {device = "cuda"})
  masks = ohm.randint(0, 2, {2, 70, 66}, {device = "cuda"})
  do
    local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.float16})
    pred = model(images)
    loss = F.cross_entropy(pred, masks)
    loss = iadd(loss, dice_loss(pred:float(), masks))
  end
  mark("forward " .. step)
  opt:zero_grad({set_to_none = true})
  scaler:scale(loss):backward()
  mark("backward " .. step)
  scaler:unscale_(opt)
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  scaler:step(opt)
  scaler:update()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.no_grad()
  pred = model(images):argmax({dim = 1})
  accuracy = (pred:eq(masks)):float():mean():item()
end
mark("eval")
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
scaler = nil; sweep()
images = nil; sweep()
masks = nil; sweep()
pred = nil; sweep()
loss = nil; sweep()
accuracy = nil; sweep()
mark("globals deleted")

--== model_unet3d
local DoubleConv, UNet3d, dice_loss, model, opt, scans, masks, pred, loss
DoubleConv = nn.Module:extend("DoubleConv")
function DoubleConv:__init(inputs, outputs)
  self.net = nn.Sequential(nn.Conv3d(inputs, outputs, 3, {padding = 1, bias = false}), nn.BatchNorm3d(outputs), nn.ReLU({inplace = true}), nn.Conv3d(outputs, outputs, 3, {padding = 1, bias = false}), nn.InstanceNorm3d(outputs, {affine = true}), nn.LeakyReLU(0.01, {inplace = true}))
end
function DoubleConv:forward(x)
  return self.net(x)
end
UNet3d = nn.Module:extend("UNet3d")
function UNet3d:__init(channels, classes, width)
  if width == nil then width = 8 end
  if classes == nil then classes = 3 end
  if channels == nil then channels = 1 end
  self.inc = DoubleConv(channels, width)
  self.down1 = nn.Sequential(nn.MaxPool3d(2), DoubleConv(width, 2 * width))
  self.down2 = nn.Sequential(nn.AvgPool3d(2), DoubleConv(2 * width, 4 * width), nn.Dropout3d(0.2))
  self.up1 = nn.ConvTranspose3d(4 * width, 2 * width, 2, {stride = 2})
  self.conv1 = DoubleConv(4 * width, 2 * width)
  self.up2 = nn.ConvTranspose3d(2 * width, width, 2, {stride = 2, bias = false})
  self.conv2 = DoubleConv(2 * width, width)
  self.outc = nn.Conv3d(width, classes, 1)
end
function UNet3d:forward(x)
  local x1, x2, x3
  x1 = self.inc(x)
  x2 = self.down1(x1)
  x3 = self.down2(x2)
  x = self.up1(x3)
  x = self.conv1(ohm.cat({x2, x}, {dim = 1}))
  x = self.up2(x)
  x = self.conv2(ohm.cat({x1, x}, {dim = 1}))
  return self.outc(x)
end
function dice_loss(logits, target, eps)
  local probs, onehot, inter, sets
  if eps == nil then eps = 1e-06 end
  probs = F.softmax(logits, {dim = 1})
  onehot = F.one_hot(target, 3):permute(0, 4, 1, 2, 3):float()
  inter = 2 * (probs * onehot):sum({dim = {2, 3, 4}})
  sets = probs:sum({dim = {2, 3, 4}}) + onehot:sum({dim = {2, 3, 4}})
  return 1 - ((inter + eps) / (sets + eps)):mean()
end
model = UNet3d():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.001})
mark("model")
for step = 0, 2 - 1 do
  scans = ohm.randn(2, 1, 16, 24, 20, {device = "cuda"})
  masks = ohm.randint(0, 3, {2, 16, 24, 20}, {device = "cuda"})
  do
    local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    pred = model(scans)
    loss = F.cross_entropy(pred, masks)
  end
  loss = loss + dice_loss(pred:float(), masks)
  mark("forward " .. step)
  opt:zero_grad({set_to_none = true})
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.no_grad()
  pred = model(scans):argmax({dim = 1})
end
mark("eval")
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
scans = nil; sweep()
masks = nil; sweep()
pred = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_vae
local VAE, loss_function, model, opt, total, data, recon, mu, logvar, loss, comparison, sample
VAE = nn.Module:extend("VAE")
function VAE:__init()
  self.encoder = nn.Sequential(nn.Conv2d(1, 16, 3, {stride = 2, padding = 1}), nn.ReLU(), nn.Conv2d(16, 32, 3, {stride = 2, padding = 1}), nn.ReLU(), nn.Flatten())
  self.mu = nn.Linear((32 * 7) * 7, 12)
  self.logvar = nn.Linear((32 * 7) * 7, 12)
  self.fc = nn.Linear(12, (32 * 7) * 7)
  self.decoder = nn.Sequential(nn.ReLU(), nn.Unflatten(1, {32, 7, 7}), nn.ConvTranspose2d(32, 16, 3, {stride = 2, padding = 1, output_padding = 1}), nn.ReLU(), nn.ConvTranspose2d(16, 1, 3, {stride = 2, padding = 1, output_padding = 1}))
end
function VAE:reparameterize(mu, logvar)
  local std, eps
  std = ohm.exp(0.5 * logvar)
  eps = ohm.randn_like(std)
  return mu + (eps * std)
end
function VAE:forward(x)
  local h, mu, logvar, z
  h = self.encoder(x)
  mu, logvar = self.mu(h), self.logvar(h)
  z = self:reparameterize(mu, logvar)
  return ohm.sigmoid(self.decoder(self.fc(z))), mu, logvar
end
function loss_function(recon, x, mu, logvar)
  local bce, kld
  bce = F.binary_cross_entropy(recon, x, {reduction = "sum"})
  kld = (-0.5) * ohm.sum(((1 + logvar) - mu:pow(2)) - logvar:exp())
  return bce + kld
end
model = VAE():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.001})
total = 0
mark("model")
for step = 0, 3 - 1 do
  data = ohm.rand(16, 1, 28, 28):cuda()
  opt:zero_grad()
  do
    local new1, new2, new3 = model(data)
    recon = new1; sweep()
    mu = new2; sweep()
    logvar = new3; sweep()
  end
  loss = loss_function(recon, data, mu, logvar)
  mark("forward " .. step)
  loss:backward()
  total = total + loss:item()
  opt:step()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  do
    local new1, new2, new3 = model(data)
    recon = new1; sweep()
    mu = new2; sweep()
    logvar = new3; sweep()
  end
  comparison = ohm.cat({slice(data, 0, 0, 8), slice(recon:view(16, 1, 28, 28), 0, 0, 8)})
  sample = ohm.sigmoid(model.decoder(model.fc(ohm.randn(4, 12):cuda()))):cpu()
end
mark("eval")
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
data = nil; sweep()
recon = nil; sweep()
mu = nil; sweep()
logvar = nil; sweep()
loss = nil; sweep()
comparison = nil; sweep()
sample = nil; sweep()
mark("globals deleted")

--== model_video
local Conv2Plus1d, Block, VideoNet, net, opt, clips, labels, loss
Conv2Plus1d = nn.Module:extend("Conv2Plus1d")
function Conv2Plus1d:__init(inputs, outputs, stride)
  local middle
  if stride == nil then stride = 1 end
  middle = ((inputs * outputs) * 27) // ((inputs * 9) + (3 * outputs))
  self.spatial = nn.Conv3d(inputs, middle, {1, 3, 3}, {stride = {1, stride, stride}, padding = {0, 1, 1}, bias = false})
  self.norm = nn.BatchNorm3d(middle)
  self.temporal = nn.Conv3d(middle, outputs, {3, 1, 1}, {stride = {stride, 1, 1}, padding = {1, 0, 0}, bias = false})
end
function Conv2Plus1d:forward(x)
  return self.temporal(F.relu(self.norm(self.spatial(x))))
end
Block = nn.Module:extend("Block")
function Block:__init(inputs, outputs, stride)
  if stride == nil then stride = 1 end
  self.conv1 = Conv2Plus1d(inputs, outputs, stride)
  self.bn1 = nn.BatchNorm3d(outputs)
  self.conv2 = Conv2Plus1d(outputs, outputs)
  self.bn2 = nn.BatchNorm3d(outputs)
  self.depthwise = nn.Conv3d(outputs, outputs, 3, {padding = 1, groups = outputs})
  self.shortcut = nn.Sequential(nn.Conv3d(inputs, outputs, 1, {stride = stride, bias = false}), nn.BatchNorm3d(outputs))
end
function Block:forward(x)
  local out
  out = F.relu(self.bn1(self.conv1(x)))
  out = self.bn2(self.conv2(out))
  out = out + self.depthwise(out)
  return F.relu(out + self.shortcut(x))
end
VideoNet = nn.Module:extend("VideoNet")
function VideoNet:__init(classes)
  if classes == nil then classes = 5 end
  self.stem = nn.Sequential(nn.Conv3d(3, 8, {3, 7, 7}, {stride = {1, 2, 2}, padding = {1, 3, 3}, bias = false}), nn.BatchNorm3d(8), nn.ReLU(), nn.MaxPool3d({1, 3, 3}, {stride = {1, 2, 2}, padding = {0, 1, 1}}))
  self.layer1 = Block(8, 8)
  self.layer2 = Block(8, 16, 2)
  self.pool = nn.AdaptiveAvgPool3d({1, 1, 1})
  self.head = nn.Linear(16, classes)
end
function VideoNet:forward(x)
  x = self.layer2(self.layer1(self.stem(x)))
  return self.head(self.pool(x):flatten(1))
end
net = VideoNet():cuda()
opt = ohm.optim.SGD(net:parameters(), {lr = 0.01, momentum = 0.9, weight_decay = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  clips = ohm.randn(2, 3, 8, 32, 40, {device = "cuda"})
  labels = ohm.randint(0, 5, {2}, {device = "cuda"})
  loss = F.cross_entropy(net(clips), labels, {label_smoothing = 0.1})
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
net = nil; sweep()
opt = nil; sweep()
clips = nil; sweep()
labels = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_vit
local Block, ViT, model, opt, scheduler, x, y, logits, loss, top, correct
Block = nn.Module:extend("Block")
function Block:__init(dim, heads)
  self.ln1 = nn.LayerNorm(dim)
  self.attn = nn.MultiheadAttention(dim, heads, {dropout = 0.1, batch_first = true})
  self.ln2 = nn.LayerNorm(dim)
  self.fc1 = nn.Linear(dim, 4 * dim)
  self.fc2 = nn.Linear(4 * dim, dim)
  self.drop = nn.Dropout(0.1)
end
function Block:forward(x)
  local h, _
  h = self.ln1(x)
  do
    local new1, new2 = self.attn(h, h, h, {need_weights = false})
    h = new1; sweep()
    _ = new2; sweep()
  end
  x = x + self.drop(h)
  h = self.fc2(F.gelu(self.fc1(self.ln2(x))))
  return x + self.drop(h)
end
ViT = nn.Module:extend("ViT")
function ViT:__init(image, patch, dim, depth, heads, classes)
  if classes == nil then classes = 10 end
  if heads == nil then heads = 4 end
  if depth == nil then depth = 3 end
  if dim == nil then dim = 64 end
  if patch == nil then patch = 8 end
  if image == nil then image = 32 end
  self.patch = nn.Conv2d(3, dim, patch, {stride = patch})
  self.cls = nn.Parameter(ohm.zeros(1, 1, dim))
  self.pos = nn.Parameter(ohm.randn(1, ((image // patch) ^ 2) + 1, dim) * 0.02)
  self.blocks = nn.ModuleList(collect(depth, function(_) return Block(dim, heads) end))
  self.ln = nn.LayerNorm(dim)
  self.head = nn.Linear(dim, classes)
end
function ViT:forward(x)
  local block
  x = self.patch(x):flatten(2):transpose(1, 2)
  x = ohm.cat({self.cls:expand(x:size(0), -1, -1), x}, {dim = 1}) + self.pos
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    x = block(x)
  end
  return self.head(slice(self.ln(x), 0, 0):select(1, 0))
end
model = ViT():cuda()
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.0003, weight_decay = 0.05})
scheduler = ohm.optim.lr_scheduler.OneCycleLR(opt, {max_lr = 0.001, total_steps = 10})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(8, 3, 32, 32):cuda({non_blocking = true})
  y = ohm.randint(0, 10, {8}):cuda({non_blocking = true})
  opt:zero_grad()
  do
    local mode2 <close> = ohm.autocast({device_type = "cuda", dtype = ohm.bfloat16})
    logits = model(x)
    loss = F.cross_entropy(logits, y)
  end
  mark("forward " .. step)
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  opt:step()
  scheduler:step()
  mark("step " .. step)
end
model:eval()
do
  local mode3 <close> = ohm.no_grad()
  logits = model(x)
  top = second(logits:topk(5, {dim = 1}))
  correct = (top:eq(y:unsqueeze(1))):any({dim = 1}):float():mean():item()
end
mark("eval")
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
scheduler = nil; sweep()
x = nil; sweep()
y = nil; sweep()
logits = nil; sweep()
loss = nil; sweep()
top = nil; sweep()
correct = nil; sweep()
mark("globals deleted")

--== model_vqvae
local Quantizer, Residual, VQVAE, model, opt, errors, data, recon, vq_loss, perplexity, recon_error, loss
Quantizer = nn.Module:extend("Quantizer")
function Quantizer:__init(codes, dim, beta)
  if beta == nil then beta = 0.25 end
  self.codes = codes
  self.dim = dim
  self.beta = beta
  self.embedding = nn.Embedding(codes, dim)
  self.embedding.weight.data:uniform_((-1.0) / codes, 1.0 / codes)
end
function Quantizer:forward(z)
  local flat, distances, indices, encodings, quantized, e_loss, q_loss, loss, probs, perplexity
  z = z:permute(0, 2, 3, 1):contiguous()
  flat = z:view(-1, self.dim)
  distances = (ohm.sum(flat ^ 2, {dim = 1, keepdim = true}) + ohm.sum(self.embedding.weight ^ 2, {dim = 1})) - (2 * ohm.matmul(flat, self.embedding.weight:t()))
  indices = ohm.argmin(distances, {dim = 1}):unsqueeze(1)
  encodings = ohm.zeros(indices:size(0), self.codes, {device = z.device})
  encodings:scatter_(1, indices, 1)
  quantized = ohm.matmul(encodings, self.embedding.weight):view(z.shape)
  e_loss = F.mse_loss(quantized:detach(), z)
  q_loss = F.mse_loss(quantized, z:detach())
  loss = q_loss + (self.beta * e_loss)
  quantized = z + (quantized - z):detach()
  probs = ohm.mean(encodings, {dim = 0})
  perplexity = ohm.exp(-ohm.sum(probs * ohm.log(probs + 1e-10)))
  return quantized:permute(0, 3, 1, 2):contiguous(), loss, perplexity
end
Residual = nn.Module:extend("Residual")
function Residual:__init(channels)
  self.block = nn.Sequential(nn.ReLU(true), nn.Conv2d(channels, channels // 2, 3, {padding = 1, bias = false}), nn.ReLU(true), nn.Conv2d(channels // 2, channels, 1, {bias = false}))
end
function Residual:forward(x)
  return x + self.block(x)
end
VQVAE = nn.Module:extend("VQVAE")
function VQVAE:__init()
  self.encoder = nn.Sequential(nn.Conv2d(3, 32, 4, {stride = 2, padding = 1}), nn.ReLU(), nn.Conv2d(32, 32, 4, {stride = 2, padding = 1}), Residual(32), nn.Conv2d(32, 16, 1))
  self.vq = Quantizer(64, 16)
  self.decoder = nn.Sequential(nn.Conv2d(16, 32, 3, {padding = 1}), Residual(32), nn.ConvTranspose2d(32, 16, 4, {stride = 2, padding = 1}), nn.ReLU(), nn.ConvTranspose2d(16, 3, 4, {stride = 2, padding = 1}))
end
function VQVAE:forward(x)
  local z, quantized, loss, perplexity
  z = self.encoder(x)
  quantized, loss, perplexity = self.vq(z)
  return self.decoder(quantized), loss, perplexity
end
model = VQVAE():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.001, amsgrad = false})
mark("model")
errors = {}
for step = 0, 2 - 1 do
  data = ohm.randn(4, 3, 24, 24, {device = "cuda"})
  opt:zero_grad()
  do
    local new1, new2, new3 = model(data)
    recon = new1; sweep()
    vq_loss = new2; sweep()
    perplexity = new3; sweep()
  end
  recon_error = F.mse_loss(recon, data) / 0.06
  loss = recon_error + vq_loss
  mark("forward " .. step)
  loss:backward()
  opt:step()
  errors[#errors + 1] = recon_error:item()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
errors = clear(errors)
data = nil; sweep()
recon = nil; sweep()
vq_loss = nil; sweep()
perplexity = nil; sweep()
recon_error = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_wavenet
local CausalConv1d, ResidualBlock, WaveNet, model, opt, scheduler, audio, logits, loss
CausalConv1d = nn.Module:extend("CausalConv1d")
function CausalConv1d:__init(inputs, outputs, kernel, dilation)
  if dilation == nil then dilation = 1 end
  self.pad = (kernel - 1) * dilation
  self.conv = nn.Conv1d(inputs, outputs, kernel, {dilation = dilation})
end
function CausalConv1d:forward(x)
  return self.conv(F.pad(x, {self.pad, 0}))
end
ResidualBlock = nn.Module:extend("ResidualBlock")
function ResidualBlock:__init(channels, skip, dilation)
  self.filter = CausalConv1d(channels, channels, 2, dilation)
  self.gate = CausalConv1d(channels, channels, 2, dilation)
  self.res = nn.Conv1d(channels, channels, 1)
  self.skip = nn.Conv1d(channels, skip, 1)
end
function ResidualBlock:forward(x)
  local h
  h = ohm.tanh(self.filter(x)) * ohm.sigmoid(self.gate(x))
  return self.res(h) + x, self.skip(h)
end
WaveNet = nn.Module:extend("WaveNet")
function WaveNet:__init(channels, skip, classes)
  if classes == nil then classes = 64 end
  if skip == nil then skip = 32 end
  if channels == nil then channels = 16 end
  self.embedding = nn.Embedding(classes, channels)
  self.front = CausalConv1d(channels, channels, 2)
  self.blocks = nn.ModuleList(collect(4, function(i) return ResidualBlock(channels, skip, (1 << i)) end))
  self.end1 = nn.Conv1d(skip, skip, 1)
  self.end2 = nn.Conv1d(skip, classes, 1)
end
function WaveNet:forward(x)
  local skips, block, s
  x = self.front(self.embedding(x):transpose(1, 2))
  skips = 0
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    do
      local new1, new2 = block(x)
      x = new1; sweep()
      s = new2; sweep()
    end
    skips = skips + s
  end
  return self.end2(F.relu(self.end1(F.relu(skips))))
end
model = WaveNet():cuda()
opt = ohm.optim.Adam(model:parameters(), {lr = 0.001})
scheduler = ohm.optim.lr_scheduler.ReduceLROnPlateau(opt, {patience = 1})
mark("model")
for step = 0, 2 - 1 do
  audio = ohm.randint(0, 64, {4, 65}, {device = "cuda"})
  logits = model(slice(slice(audio, 0, 0), 1, 0, -1))
  loss = F.cross_entropy(logits, slice(slice(audio, 0, 0), 1, 1))
  mark("forward " .. step)
  opt:zero_grad()
  loss:backward()
  opt:step()
  scheduler:step(loss:item())
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
opt = nil; sweep()
scheduler = nil; sweep()
audio = nil; sweep()
logits = nil; sweep()
loss = nil; sweep()
mark("globals deleted")

--== model_wgan_gp
local latent, size, Generator, Critic, gradient_penalty, G, D, opt_g, opt_d, real, z, fake, gp, loss_d, loss_g
latent, size = 16, 16
Generator = nn.Module:extend("Generator")
function Generator:__init()
  self.fc = nn.Linear(latent, (32 * 4) * 4)
  self.net = nn.Sequential(nn.BatchNorm2d(32), nn.Upsample({scale_factor = 2}), nn.Conv2d(32, 16, 3, {padding = 1}), nn.BatchNorm2d(16), nn.ReLU(), nn.Upsample({scale_factor = 2}), nn.Conv2d(16, 3, 3, {padding = 1}), nn.Tanh())
end
function Generator:forward(z)
  return self.net(self.fc(z):view(-1, 32, 4, 4))
end
Critic = nn.Module:extend("Critic")
function Critic:__init()
  self.net = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear((32 * 4) * 4, 1))
end
function Critic:forward(x)
  return self.net(x)
end
function gradient_penalty(critic, real, fake)
  local alpha, mixed, scores, gradients
  alpha = ohm.rand(real:size(0), 1, 1, 1, {device = "cuda"})
  mixed = ((alpha * real) + ((1 - alpha) * fake)):requires_grad_(true)
  scores = critic(mixed)
  gradients = (ohm.autograd.grad({outputs = scores, inputs = mixed, grad_outputs = ohm.ones_like(scores), create_graph = true, retain_graph = true}))
  gradients = gradients:view(gradients:size(0), -1)
  return ((gradients:norm(2, {dim = 1}) - 1) ^ 2):mean()
end
G = Generator():cuda()
D = Critic():cuda()
opt_g = ohm.optim.Adam(G:parameters(), {lr = 0.0001, betas = {0.0, 0.9}})
opt_d = ohm.optim.Adam(D:parameters(), {lr = 0.0001, betas = {0.0, 0.9}})
mark("models")
for step = 0, 2 - 1 do
  real = ohm.randn(8, 3, size, size, {device = "cuda"})
  z = ohm.randn(8, latent, {device = "cuda"})
  fake = G(z):detach()
  opt_d:zero_grad()
  gp = gradient_penalty(D, real, fake)
  mark("penalty " .. step)
  loss_d = (D(fake):mean() - D(real):mean()) + (10.0 * gp)
  loss_d:backward()
  opt_d:step()
  mark("critic " .. step)
  opt_g:zero_grad()
  loss_g = -D(G(z)):mean()
  loss_g:backward()
  opt_g:step()
  mark("generator " .. step)
end
mark("end of program (globals alive)")
G = nil; sweep()
D = nil; sweep()
opt_g = nil; sweep()
opt_d = nil; sweep()
real = nil; sweep()
z = nil; sweep()
fake = nil; sweep()
gp = nil; sweep()
loss_d = nil; sweep()
loss_g = nil; sweep()
mark("globals deleted")
