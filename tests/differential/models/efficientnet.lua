local drop_connect, SwishFunction, MBConv, EfficientNet, model, ema, optimizer, x, y, lam, order, mixed, out, loss, e, p
function drop_connect(x, p, training)
  local keep, noise
  if not training then
    return x
  end
  keep = 1 - p
  noise = keep + ohm.rand({x:size(0), 1, 1, 1}, {dtype = x.dtype, device = x.device})
  return (x / keep) * ohm.floor(noise)
end
SwishFunction = ohm.autograd.Function {
  forward = function(ctx, i)
    local result = i * ohm.sigmoid(i)
    ctx:save_for_backward(i)
    return result
  end,
  backward = function(ctx, grad_output)
    local i, s
    i = ctx.saved_tensors[1]
    s = ohm.sigmoid(i)
    return grad_output * (s * (1 + (i * (1 - s))))
  end,
}
MBConv = nn.Module:extend("MBConv")
function MBConv:__init(inputs, outputs, stride, expand, kernel)
  local mid
  mid = inputs * expand
  self.expand = (expand > 1 and nn.Conv2d(inputs, mid, 1, {bias = false}) or false)
  self.bn0 = nn.BatchNorm2d(mid, {momentum = 0.01, eps = 0.001})
  self.depth = nn.Conv2d(mid, mid, kernel, stride, kernel // 2, {groups = mid, bias = false})
  self.bn1 = nn.BatchNorm2d(mid, {momentum = 0.01, eps = 0.001})
  self.reduce = nn.Conv2d(mid, math.max(1, inputs // 4), 1)
  self.restore = nn.Conv2d(math.max(1, inputs // 4), mid, 1)
  self.project = nn.Conv2d(mid, outputs, 1, {bias = false})
  self.bn2 = nn.BatchNorm2d(outputs, {momentum = 0.01, eps = 0.001})
  self.same = (stride == 1 and inputs == outputs)
end
function MBConv:forward(inputs)
  local x, s
  x = inputs
  if self.expand then
    x = SwishFunction.apply(self.bn0(self.expand(x)))
  end
  x = SwishFunction.apply(self.bn1(self.depth(x)))
  s = F.adaptive_avg_pool2d(x, 1)
  s = self.restore(SwishFunction.apply(self.reduce(s)))
  x = ohm.sigmoid(s) * x
  x = self.bn2(self.project(x))
  if self.same then
    x = drop_connect(x, 0.2, self.training) + inputs
  end
  return x
end
EfficientNet = nn.Module:extend("EfficientNet")
function EfficientNet:__init()
  self.stem = nn.Conv2d(3, 16, 3, 2, 1, {bias = false})
  self.bn = nn.BatchNorm2d(16)
  self.blocks = nn.ModuleList({MBConv(16, 16, 1, 1, 3), MBConv(16, 24, 2, 4, 3), MBConv(24, 24, 1, 4, 5), MBConv(24, 40, 2, 4, 5)})
  self.head = nn.Conv2d(40, 80, 1, {bias = false})
  self.fc = nn.Linear(80, 10)
end
function EfficientNet:forward(x)
  local b
  x = F.silu(self.bn(self.stem(x)))
  for _, item1 in ipairs(self.blocks:children()) do
    b = item1
    x = b(x)
  end
  x = F.silu(self.head(x)):mean({2, 3})
  return self.fc(F.dropout(x, 0.2, self.training))
end
model = EfficientNet():cuda():to({memory_format = ohm.channels_last})
ema = map(function(p) return p:clone():detach() end, model:parameters())
optimizer = ohm.optim.RMSprop(model:parameters(), {lr = 0.01, alpha = 0.9, momentum = 0.9, eps = 0.001, weight_decay = 1e-05})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(8, 3, 48, 48, {device = "cuda"}):contiguous({memory_format = ohm.channels_last})
  y = ohm.randint(0, 10, {8}, {device = "cuda"})
  lam = 0.3
  order = ohm.randperm(8, {device = "cuda"})
  mixed = (lam * x) + ((1 - lam) * x:index({order}))
  out = model(mixed)
  loss = (lam * F.cross_entropy(out, y, {label_smoothing = 0.1})) + ((1 - lam) * F.cross_entropy(out, y:index({order}), {label_smoothing = 0.1}))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  do
    local mode2 <close> = ohm.no_grad()
    do
      local list3_2 = model:parameters()
      for number3, item3 in ipairs(ema) do
        e = item3
        p = list3_2[number3]
        e:mul_(0.99):add_(p, {alpha = 0.01})
      end
    end
  end
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
ema = nil
optimizer = nil
x = nil
y = nil
order = nil
mixed = nil
out = nil
loss = nil
e = nil
p = nil
mark("globals deleted")
