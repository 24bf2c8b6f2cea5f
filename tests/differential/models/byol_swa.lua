local MLP, BYOL, regression_loss, averaged, model, swa, optimizer, scheduler, x, x1, gray, x2, z1, z2, t1, t2, loss, module, features, bank
MLP = nn.Module:extend("MLP")
function MLP:__init(dim, hidden, out)
  self.net = nn.Sequential(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU({inplace = true}), nn.Linear(hidden, out))
end
function MLP:forward(x)
  return self.net(x)
end
BYOL = nn.Module:extend("BYOL")
function BYOL:__init()
  local p
  self.encoder = nn.Sequential(nn.Conv2d(3, 24, 3, {stride = 2}), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
  self.projector = MLP(96, 128, 32)
  self.predictor = MLP(32, 128, 32)
  self.target_encoder = ohm.copy.deepcopy(self.encoder)
  self.target_projector = ohm.copy.deepcopy(self.projector)
  for _, item1 in ipairs(self.target_encoder:parameters()) do
    p = item1
    p.requires_grad = false
  end
  for _, item2 in ipairs(self.target_projector:parameters()) do
    p = item2
    p.requires_grad = false
  end
end
function BYOL:update_target(tau)
  local o, t
  do
    local list3_2 = self.target_encoder:parameters()
    for number3, item3 in ipairs(self.encoder:parameters()) do
      o = item3
      t = list3_2[number3]
      t.data = (tau * t.data) + ((1 - tau) * o.data)
    end
  end
  do
    local list4_2 = self.target_projector:parameters()
    for number4, item4 in ipairs(self.projector:parameters()) do
      o = item4
      t = list4_2[number4]
      t.data = (tau * t.data) + ((1 - tau) * o.data)
    end
  end
end
function BYOL:forward(x1, x2)
  local z1, z2, t1, t2
  z1 = self.predictor(self.projector(self.encoder(x1)))
  z2 = self.predictor(self.projector(self.encoder(x2)))
  do
    local mode5 <close> = ohm.no_grad()
    t1 = self.target_projector(self.target_encoder(x1))
    t2 = self.target_projector(self.target_encoder(x2))
  end
  return z1, z2, t1:detach(), t2:detach()
end
function regression_loss(x, y)
  x = F.normalize(x, {dim = -1, p = 2})
  y = F.normalize(y, {dim = -1, p = 2})
  return 2 - (2 * (x * y):sum({dim = -1}))
end
function averaged(average, model, count)
  local pa, p, p_model
  do
    local list6_2 = model:parameters()
    for number6, item6 in ipairs(average:parameters()) do
      pa = item6
      p = list6_2[number6]
      p_model = p:detach()
      if count == 0 then
        pa:detach():copy_(p_model)
      else
        pa:detach():add_((p_model - pa:detach()) / (count + 1))
      end
    end
  end
end
model = BYOL():cuda()
swa = ohm.copy.deepcopy(model)
optimizer = ohm.optim.SGD(filter(model:parameters(), function(p) return p.requires_grad end), {lr = 0.1, momentum = 0.9, weight_decay = 1.5e-06})
scheduler = ohm.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, {T_0 = 2})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.rand(16, 3, 17, 17, {device = "cuda"})
  x1 = ohm.flip(x, {dims = {3}}):mul(1.2):clamp_(0, 1)
  gray = (((0.3 * slice(x, 0, 0):select(1, 0)) + (0.59 * slice(x, 0, 0):select(1, 1))) + (0.11 * slice(x, 0, 0):select(1, 2))):unsqueeze(1)
  x2 = gray:expand(-1, 3, -1, -1)
  do
    local new1, new2, new3, new4 = model(x1, x2)
    z1 = new1
    z2 = new2
    t1 = new3
    t2 = new4
  end
  loss = (regression_loss(z1, t2) + regression_loss(z2, t1)):mean()
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  scheduler:step()
  model:update_target(0.99)
  averaged(swa, model, step)
  mark("step " .. step)
end
for _, item7 in ipairs(swa:modules()) do
  module = item7
  if is_a(module, "BatchNorm2d") then
    module.running_mean:zero_()
    module.running_var:fill_(1)
  end
end
do
  local mode8 <close> = ohm.no_grad()
  for i = 0, 2 - 1 do
    swa.encoder(ohm.rand(8, 3, 17, 17, {device = "cuda"}))
  end
end
features = {}
swa:eval()
do
  local mode9 <close> = ohm.inference_mode()
  for i = 0, 3 - 1 do
    features[#features + 1] = swa.encoder(ohm.rand(8, 3, 17, 17, {device = "cuda"})):cpu()
  end
  bank = ohm.cat(features)
end
mark("evaluated")
mark("end of program (globals alive)")
model = nil
swa = nil
optimizer = nil
scheduler = nil
x = nil
x1 = nil
gray = nil
x2 = nil
z1 = nil
z2 = nil
t1 = nil
t2 = nil
loss = nil
module = nil
features = nil
bank = nil
mark("globals deleted")
