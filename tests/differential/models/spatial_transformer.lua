local STN, model, optimizer, scheduler, data, target, output, grid, smooth, loss, test_loss, pred, correct
ohm.backends.cudnn.enabled = true
STN = nn.Module:extend("STN")
function STN:__init()
  self.localization = nn.Sequential(nn.Conv2d(1, 8, 7), nn.MaxPool2d(2, {stride = 2}), nn.ReLU(true), nn.Conv2d(8, 10, 5), nn.MaxPool2d(2, {stride = 2}), nn.ReLU(true))
  self.fc_loc = nn.Sequential(nn.Linear((10 * 3) * 3, 32), nn.ReLU(true), nn.Linear(32, 6))
  self.fc_loc[3].weight.data:zero_()
  self.fc_loc[3].bias.data:copy_(ohm.tensor({1, 0, 0, 0, 1, 0}, {dtype = ohm.float32}))
  self.conv = nn.Conv2d(1, 12, 5)
  self.drop = nn.Dropout2d()
  self.fc = nn.Linear((12 * 12) * 12, 10)
end
function STN:forward(x)
  local xs, theta, grid
  xs = self.localization(x)
  theta = self.fc_loc(xs:view(-1, 90)):view(-1, 2, 3)
  grid = F.affine_grid(theta, x:size(), {align_corners = false})
  x = F.grid_sample(x, grid, {align_corners = false})
  x = F.relu(F.max_pool2d(self.drop(self.conv(x)), 2))
  x = F.dropout(self.fc(x:flatten(1)), {training = self.training})
  return F.log_softmax(x, {dim = 1}), grid
end
model = STN():cuda()
optimizer = ohm.optim.Adadelta(model:parameters(), {lr = 1.0})
scheduler = ohm.optim.lr_scheduler.MultiStepLR(optimizer, {milestones = {1, 2}, gamma = 0.7})
mark("model")
for step = 0, 3 - 1 do
  data = ohm.randn(9, 1, 28, 28, {device = "cuda"})
  target = ohm.randint(0, 10, {9}, {device = "cuda"})
  optimizer:zero_grad()
  do
    local new1, new2 = model(data)
    output = new1
    grid = new2
  end
  smooth = (slice(slice(grid, 0, 0), 1, 1) - slice(slice(grid, 0, 0), 1, 0, -1)):abs():mean() + (slice(slice(slice(grid, 0, 0), 1, 0), 2, 1) - slice(slice(slice(grid, 0, 0), 1, 0), 2, 0, -1)):abs():mean()
  loss = F.nll_loss(output, target) + (0.1 * smooth)
  loss:backward()
  optimizer:step()
  scheduler:step()
  mark("step " .. step)
end
model:eval()
do
  local mode1 <close> = ohm.no_grad()
  do
    local new1, new2 = model(data)
    output = new1
    grid = new2
  end
  test_loss = F.nll_loss(output, target, {reduction = "sum"}):item()
  pred = second(output:max(1, {keepdim = true}))
  correct = pred:eq(target:view_as(pred)):sum():item()
end
mark("tested")
mark("end of program (globals alive)")
model = nil
optimizer = nil
scheduler = nil
data = nil
target = nil
output = nil
grid = nil
smooth = nil
loss = nil
test_loss = nil
pred = nil
correct = nil
mark("globals deleted")
