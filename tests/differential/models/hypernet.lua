local HyperNet, Main, hyper, main, optimizer, plateau, total, task, x, y, w, b, gamma, beta, out, loss, reg, frozen
HyperNet = nn.Module:extend("HyperNet")
function HyperNet:__init(tasks, z, hidden, cin, cout, k)
  if k == nil then k = 3 end
  if cout == nil then cout = 12 end
  if cin == nil then cin = 8 end
  if hidden == nil then hidden = 48 end
  if z == nil then z = 16 end
  if tasks == nil then tasks = 5 end
  self.shape = {cout, cin, k, k}
  self.embed = nn.Embedding(tasks, z)
  self.trunk = nn.Sequential(nn.Linear(z, hidden), nn.LeakyReLU(0.1), nn.Linear(hidden, hidden), nn.LeakyReLU(0.1))
  self.to_conv = nn.Linear(hidden, ((cout * cin) * k) * k)
  self.to_bias = nn.Linear(hidden, cout)
  self.to_film = nn.Linear(hidden, 2 * cout)
end
function HyperNet:forward(task)
  local h, w, b, gamma, beta
  h = self.trunk(self.embed(task))
  w = self.to_conv(h):view(12, 8, 3, 3)
  b = self.to_bias(h):squeeze(0)
  gamma, beta = self.to_film(h):chunk(2, {dim = -1})
  return w, b, gamma, beta
end
Main = nn.Module:extend("Main")
function Main:__init()
  self.stem = nn.Conv2d(3, 8, 3, {padding = 1})
  self.norm = nn.BatchNorm2d(12, {affine = false})
  self.head = nn.Linear(12, 6)
end
function Main:forward(x, w, b, gamma, beta)
  x = F.relu(self.stem(x))
  x = F.conv2d(x, w, b, {stride = 2, padding = 1})
  x = self.norm(x)
  x = ((1 + gamma:unsqueeze(-1):unsqueeze(-1)) * x) + beta:unsqueeze(-1):unsqueeze(-1)
  x = F.relu(x)
  x = F.adaptive_max_pool2d(x, 1):flatten(1)
  return self.head(x)
end
hyper = HyperNet():cuda()
main = Main():cuda()
optimizer = ohm.optim.NAdam({{params = hyper:parameters()}, {params = main:parameters(), lr = 0.0001}}, {lr = 0.001})
plateau = ohm.optim.lr_scheduler.ReduceLROnPlateau(optimizer, {patience = 0})
mark("models")
for epoch = 0, 2 - 1 do
  total = 0.0
  for t = 0, 3 - 1 do
    task = ohm.tensor({t}, {device = "cuda"})
    x = ohm.randn(10, 3, 14, 14, {device = "cuda"})
    y = ohm.randint(0, 6, {10}, {device = "cuda"})
    do
      local new1, new2, new3, new4 = hyper(task)
      w = new1
      b = new2
      gamma = new3
      beta = new4
    end
    out = main(x, w, b, gamma, beta)
    loss = F.cross_entropy(out, y)
    reg = w:pow(2):sum():sqrt() * 0.001
    optimizer:zero_grad()
    ;(loss + reg):backward()
    optimizer:step()
    total = total + loss:item()
    mark("epoch " .. epoch .. " task " .. t)
  end
  plateau:step(total)
end
frozen = {}
do
  local mode1 <close> = ohm.no_grad()
  for t = 0, 3 - 1 do
    do
      local new1, new2, new3, new4 = hyper(ohm.tensor({t}, {device = "cuda"}))
      w = new1
      b = new2
      gamma = new3
      beta = new4
    end
    frozen[#frozen + 1] = {w:clone(), b:clone()}
  end
end
mark("frozen")
mark("end of program (globals alive)")
hyper = nil
main = nil
optimizer = nil
plateau = nil
task = nil
x = nil
y = nil
w = nil
b = nil
gamma = nil
beta = nil
out = nil
loss = nil
reg = nil
for i = #frozen, 1, -1 do frozen[i] = clear(frozen[i]) end
mark("globals deleted")
