local Features, gram_matrix, tv_loss, net, p, content, style, mean, std, content_feats, style_feats, content_target, grams, image, optimizer, closure, result
Features = nn.Module:extend("Features")
function Features:__init()
  self.conv1 = nn.Conv2d(3, 32, 3, {padding = 1})
  self.conv2 = nn.Conv2d(32, 32, 3, {padding = 1})
  self.conv3 = nn.Conv2d(32, 64, 3, {padding = 1})
  self.conv4 = nn.Conv2d(64, 64, 3, {padding = 1})
  self.pool = nn.AvgPool2d(2)
end
function Features:forward(x)
  local feats
  feats = {}
  x = F.relu(self.conv1(x))
  feats[#feats + 1] = x
  x = F.relu(self.conv2(x))
  feats[#feats + 1] = x
  x = self.pool(x)
  x = F.relu(self.conv3(x), {inplace = true})
  feats[#feats + 1] = x
  x = F.relu(self.conv4(x))
  feats[#feats + 1] = x
  return feats
end
function gram_matrix(x)
  local b, c, h, w, features, gram
  b, c, h, w = table.unpack(x.shape)
  features = x:view(b * c, h * w)
  gram = ohm.mm(features, features:t())
  return gram:div(((b * c) * h) * w)
end
function tv_loss(x)
  local dx, dy
  dx = slice(slice(slice(slice(x, 0, 0), 1, 0), 2, 0), 3, 1) - slice(slice(slice(slice(x, 0, 0), 1, 0), 2, 0), 3, 0, -1)
  dy = slice(slice(slice(slice(x, 0, 0), 1, 0), 2, 1), 3, 0) - slice(slice(slice(slice(x, 0, 0), 1, 0), 2, 0, -1), 3, 0)
  return dx:abs():mean() + dy:pow(2):mean()
end
net = Features():cuda():eval()
for _, item1 in ipairs(net:parameters()) do
  p = item1
  p:requires_grad_(false)
end
content = ohm.rand(1, 3, 48, 48, {device = "cuda"})
style = ohm.rand(1, 3, 48, 48, {device = "cuda"})
mean = ohm.tensor({0.485, 0.456, 0.406}, {device = "cuda"}):view(-1, 1, 1)
std = ohm.tensor({0.229, 0.224, 0.225}, {device = "cuda"}):view(-1, 1, 1)
mark("images")
do
  local mode2 <close> = ohm.no_grad()
  content_feats = net((content - mean) / std)
  style_feats = net((style - mean) / std)
  content_target = content_feats[4]:detach()
  grams = map(function(f) return gram_matrix(f) end, style_feats)
end
content_feats = nil
style_feats = nil
mark("targets")
image = content:clone():requires_grad_(true)
optimizer = ohm.optim.LBFGS({image}, {max_iter = 4, history_size = 3, tolerance_grad = 0, tolerance_change = 0})
function closure()
  local feats, content_loss, style_loss, f, g, loss
  do
    local mode3 <close> = ohm.no_grad()
    image:clamp_(0, 1)
  end
  optimizer:zero_grad()
  feats = net((image - mean) / std)
  content_loss = F.mse_loss(feats[4], content_target)
  style_loss = 0
  do
    local list4_2 = grams
    for number4, item4 in ipairs(feats) do
      f = item4
      g = list4_2[number4]
      style_loss = style_loss + F.mse_loss(gram_matrix(f), g)
    end
  end
  loss = (content_loss + (100000.0 * style_loss)) + (0.01 * tv_loss(image))
  loss:backward()
  feats = nil
  return loss
end
for step = 0, 2 do
  optimizer:step(closure)
  mark("step " .. step)
end
do
  local mode5 <close> = ohm.no_grad()
  image:clamp_(0, 1)
end
result = image:detach():cpu():squeeze(0)
mark("result")
mark("end of program (globals alive)")
net = nil
p = nil
content = nil
style = nil
mean = nil
std = nil
content_target = nil
grams = nil
image = nil
optimizer = nil
result = nil
mark("globals deleted")
