local SqueezeExcite, MBConv, Net, model, p, optimizer, scheduler, best, x, y, loss, total, out
ohm.backends.cudnn.enabled = true
SqueezeExcite = nn.Module:extend("SqueezeExcite")
function SqueezeExcite:__init(channels, reduced)
  self.reduce = nn.Conv2d(channels, reduced, 1)
  self.expand = nn.Conv2d(reduced, channels, 1)
end
function SqueezeExcite:forward(x)
  local s
  s = F.adaptive_avg_pool2d(x, 1)
  s = self.expand(F.silu(self.reduce(s)))
  return ohm.sigmoid(s) * x
end
MBConv = nn.Module:extend("MBConv")
function MBConv:__init(cin, cout, expand, k, stride)
  local mid
  mid = cin * expand
  self.use_residual = (cin == cout and stride == 1)
  self.expand = nn.Sequential(nn.Conv2d(cin, mid, 1, {bias = false}), nn.BatchNorm2d(mid, {eps = 0.001, momentum = 0.01}), nn.SiLU({inplace = true}))
  self.depthwise = nn.Sequential(nn.Conv2d(mid, mid, k, {stride = stride, padding = k // 2, groups = mid, bias = false}), nn.BatchNorm2d(mid, {eps = 0.001, momentum = 0.01}), nn.SiLU({inplace = true}))
  self.se = SqueezeExcite(mid, math.max(1, cin // 4))
  self.project = nn.Sequential(nn.Conv2d(mid, cout, 1, {bias = false}), nn.BatchNorm2d(cout, {eps = 0.001, momentum = 0.01}))
end
function MBConv:forward(x)
  local h, keep
  h = self.project(self.se(self.depthwise(self.expand(x))))
  if self.use_residual then
    if self.training then
      keep = ohm.rand(x:size(0), 1, 1, 1, {device = x.device}):add_(0.8):floor_()
      h = (h / 0.8) * keep
    end
    h = h + x
  end
  return h
end
Net = nn.Module:extend("Net")
function Net:__init()
  self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, {stride = 2, padding = 1, bias = false}), nn.BatchNorm2d(16), nn.SiLU({inplace = true}))
  self.blocks = nn.Sequential(MBConv(16, 16, 2, 3, 1), MBConv(16, 24, 4, 5, 2), MBConv(24, 24, 4, 3, 1))
  self.head = nn.Sequential(nn.Conv2d(24, 64, 1, {bias = false}), nn.BatchNorm2d(64), nn.SiLU({inplace = true}), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(64, 7))
end
function Net:forward(x)
  return self.head(self.blocks(self.stem(x)))
end
model = Net():cuda()
for _, item1 in ipairs(model.stem:parameters()) do
  p = item1
  p:requires_grad_(false)
end
optimizer = ohm.optim.RMSprop(model:parameters(), {lr = 0.001, momentum = 0.9, weight_decay = 1e-05})
scheduler = ohm.optim.lr_scheduler.StepLR(optimizer, {step_size = 1, gamma = 0.97})
best = ohm.copy.deepcopy(model:state_dict())
mark("model")
for epoch = 0, 3 - 1 do
  model:train()
  for i = 0, 2 - 1 do
    x = ohm.randn(6, 3, 32, 32, {device = "cuda"})
    y = ohm.randint(0, 7, {6}, {device = "cuda"})
    loss = F.cross_entropy(model(x), y)
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
  end
  scheduler:step()
  mark("trained " .. epoch)
  model:eval()
  total = 0.0
  do
    local mode2 <close> = ohm.no_grad()
    for i = 0, 2 - 1 do
      x = ohm.randn(6, 3, 32, 32, {device = "cuda"})
      y = ohm.randint(0, 7, {6}, {device = "cuda"})
      total = total + F.cross_entropy(model(x), y, {reduction = "sum"}):item()
    end
  end
  mark("evaluated " .. epoch)
  if epoch < 2 then
    best = ohm.copy.deepcopy(model:state_dict())
    mark("best " .. epoch)
  end
end
model:load_state_dict(best)
mark("restored")
for _, item3 in ipairs(model.stem:parameters()) do
  p = item3
  p:requires_grad_(true)
end
out = model(x)
loss = F.cross_entropy(out, y)
optimizer:zero_grad()
loss:backward()
optimizer:step()
mark("unfrozen")
mark("end of program (globals alive)")
model = nil
p = nil
optimizer = nil
scheduler = nil
best = nil
x = nil
y = nil
loss = nil
out = nil
mark("globals deleted")
