local Inception, GoogLeNet, model, optimizers, p, criterion, x, y, out, aux, loss, _, probs, conf, pred
Inception = nn.Module:extend("Inception")
function Inception:__init(cin, c1, c3, c5, cp)
  self.b1 = nn.Conv2d(cin, c1, 1)
  self.b3 = nn.Sequential(nn.Conv2d(cin, c3, 1), nn.ReLU({inplace = true}), nn.Conv2d(c3, c3, {1, 3}, {padding = {0, 1}}), nn.Conv2d(c3, c3, {3, 1}, {padding = {1, 0}}))
  self.b5 = nn.Sequential(nn.Conv2d(cin, c5, 1), nn.ReLU({inplace = true}), nn.Conv2d(c5, c5, 5, {padding = 2}))
  self.bp = nn.Sequential(nn.MaxPool2d(3, {stride = 1, padding = 1}), nn.Conv2d(cin, cp, 1))
end
function Inception:forward(x)
  return F.relu(ohm.cat({self.b1(x), self.b3(x), self.b5(x), self.bp(x)}, 1), {inplace = true})
end
GoogLeNet = nn.Module:extend("GoogLeNet")
function GoogLeNet:__init()
  self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, {padding = 1}), nn.ReLU({inplace = true}), nn.LocalResponseNorm(5), nn.MaxPool2d(2, {ceil_mode = true}))
  self.inc1 = Inception(16, 8, 8, 4, 4)
  self.inc2 = Inception(24, 8, 12, 4, 8)
  self.aux = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, 32), nn.ReLU(), nn.Dropout(0.7), nn.Linear(32, 6))
  self.fc = nn.Linear(32, 6)
end
function GoogLeNet:forward(x)
  local aux
  x = self.inc1(self.stem(x))
  aux = (self.training and self.aux(x) or nil)
  x = self.inc2(x)
  x = ohm.flatten(F.adaptive_avg_pool2d(x, {1, 1}), 1)
  x = F.dropout(x, 0.4, self.training)
  return self.fc(x), aux
end
model = GoogLeNet():cuda()
optimizers = {}
for i, parameter in ipairs(model:parameters()) do
  optimizers[i] = ohm.optim.SGD({parameter}, {lr = 0.01, momentum = 0.9, foreach = false})
end
for number, item1 in ipairs(model:parameters()) do
  p = item1
  p:register_post_accumulate_grad_hook(function()
    optimizers[number]:step()
    optimizers[number]:zero_grad()
  end)
end
criterion = nn.CrossEntropyLoss()
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(6, 3, 17, 17, {device = "cuda"})
  y = ohm.randint(0, 6, {6}, {device = "cuda"})
  do
    local new1, new2 = model(x)
    out = new1
    aux = new2
  end
  loss = criterion(out, y) + (0.3 * criterion(aux, y))
  mark("forward " .. step)
  loss:backward()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.no_grad()
  do
    local new1, new2 = model(x)
    out = new1
    _ = new2
  end
  probs = ohm.softmax(out, {dim = 1})
  conf, pred = probs:max({dim = 1})
end
mark("evaluated")
mark("end of program (globals alive)")
model = nil
for i = 1, #optimizers do optimizers[i] = nil; sweep() end
p = nil
criterion = nil
x = nil
y = nil
out = nil
aux = nil
loss = nil
_ = nil
probs = nil
conf = nil
pred = nil
mark("globals deleted")
