local LayerNorm2d, DropPath, Block, ConvNeXt, model, ema, optimizer, x, y, perm, onehot, target, out, loss, correct
ohm.backends.cudnn.enabled = true
LayerNorm2d = nn.Module:extend("LayerNorm2d")
function LayerNorm2d:__init(dim)
  self.weight = nn.Parameter(ohm.ones(dim))
  self.bias = nn.Parameter(ohm.zeros(dim))
end
function LayerNorm2d:forward(x)
  local u, s
  u = x:mean(1, {keepdim = true})
  s = (x - u):pow(2):mean(1, {keepdim = true})
  x = (x - u) / ohm.sqrt(s + 1e-06)
  return (slice(self.weight, 0, 0):unsqueeze(1):unsqueeze(2) * x) + slice(self.bias, 0, 0):unsqueeze(1):unsqueeze(2)
end
DropPath = nn.Module:extend("DropPath")
function DropPath:__init(p)
  self.p = p
end
function DropPath:forward(x)
  local keep, mask
  if (self.p == 0.0 or not self.training) then
    return x
  end
  keep = 1 - self.p
  mask = x:new_empty(x:size(0), 1, 1, 1):bernoulli_(keep)
  mask:div_(keep)
  return x * mask
end
Block = nn.Module:extend("Block")
function Block:__init(dim, drop)
  self.dwconv = nn.Conv2d(dim, dim, 7, {padding = 3, groups = dim})
  self.norm = nn.LayerNorm(dim, {eps = 1e-06})
  self.pwconv1 = nn.Linear(dim, 4 * dim)
  self.act = nn.GELU()
  self.pwconv2 = nn.Linear(4 * dim, dim)
  self.gamma = nn.Parameter(1e-06 * ohm.ones(dim))
  self.drop_path = DropPath(drop)
end
function Block:forward(x)
  local shortcut
  shortcut = x
  x = self.dwconv(x)
  x = x:permute(0, 2, 3, 1)
  x = self.norm(x)
  x = self.pwconv2(self.act(self.pwconv1(x)))
  x = self.gamma * x
  x = x:permute(0, 3, 1, 2)
  return shortcut + self.drop_path(x)
end
ConvNeXt = nn.Module:extend("ConvNeXt")
function ConvNeXt:__init()
  self.stem = nn.Sequential(nn.Conv2d(3, 32, 4, {stride = 4}), LayerNorm2d(32))
  self.stage1 = nn.Sequential(Block(32, 0.0), Block(32, 0.1))
  self.down = nn.Sequential(LayerNorm2d(32), nn.Conv2d(32, 64, 2, {stride = 2}))
  self.stage2 = nn.Sequential(Block(64, 0.1), Block(64, 0.2))
  self.norm = nn.LayerNorm(64, {eps = 1e-06})
  self.head = nn.Linear(64, 20)
end
function ConvNeXt:forward(x)
  x = self.stage1(self.stem(x))
  x = self.stage2(self.down(x))
  x = self.norm(x:mean({-2, -1}))
  return self.head(x)
end
model = ConvNeXt():cuda()
ema = {}
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.004, weight_decay = 0.05})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(8, 3, 32, 32, {device = "cuda"})
  y = ohm.randint(0, 20, {8}, {device = "cuda"})
  perm = ohm.randperm(8, {device = "cuda"})
  onehot = F.one_hot(y, 20):float()
  if (step % 2) == 0 then
    x = (0.7 * x) + (0.3 * x:index({perm}))
    target = (0.7 * onehot) + (0.3 * onehot:index({perm}))
  else
    slice(slice(slice(slice(x, 0, 0), 1, 0), 2, 4, 20), 3, 8, 24):copy_(slice(slice(slice(x, 1, 0), 2, 4, 20), 3, 8, 24):index({perm}))
    target = (onehot * 0.75) + (onehot:index({perm}) * 0.25)
  end
  do
    local mode1 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    out = model(x)
    loss = ohm.sum((-target) * F.log_softmax(out, {dim = -1}), {dim = -1}):mean()
  end
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
model:eval()
correct = 0
do
  local mode2 <close> = ohm.inference_mode()
  for i = 0, 2 - 1 do
    x = ohm.randn(8, 3, 32, 32, {device = "cuda"})
    y = ohm.randint(0, 20, {8}, {device = "cuda"})
    out = model(x)
    correct = correct + (out:argmax(1):eq(y)):sum():item()
  end
end
mark("evaluated")
mark("end of program (globals alive)")
model = nil
ema = nil
optimizer = nil
x = nil
y = nil
perm = nil
onehot = nil
target = nil
out = nil
loss = nil
mark("globals deleted")
