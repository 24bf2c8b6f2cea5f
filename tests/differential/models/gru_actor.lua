local envs, obs_dim, actions, hidden, horizon, ActorCritic, net, opt, hx, cx, obs, log_probs, values, rewards, entropies, masks, logits, value, log_p, probs, action, mask, _, last, policy_loss, value_loss, gae, R, advantage, delta
envs, obs_dim, actions, hidden, horizon = 8, 12, 4, 64, 6
ActorCritic = nn.Module:extend("ActorCritic")
function ActorCritic:__init()
  local name, p
  self.body = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
  self.rnn = nn.LSTMCell(hidden, hidden)
  self.pi = nn.Linear(hidden, actions)
  self.v = nn.Linear(hidden, 1)
  for item_name, item in self.rnn:named_parameters() do
    name, p = item_name, item
    if name:find("weight", 1, true) then
      nn.init.orthogonal_(p)
    else
      nn.init.constant_(p, 0.0)
    end
  end
end
function ActorCritic:forward(x, hx, cx)
  do
    local new1, new2 = several(self.rnn(self.body(x), {hx, cx}))
    hx = new1; sweep()
    cx = new2; sweep()
  end
  return self.pi(hx), self.v(hx):squeeze(-1), hx, cx
end
net = ActorCritic():cuda()
opt = ohm.optim.RMSprop(net:parameters(), {lr = 0.0007, eps = 1e-05, alpha = 0.99})
hx = ohm.zeros(envs, hidden, {device = "cuda"})
cx = ohm.zeros(envs, hidden, {device = "cuda"})
obs = ohm.randn(envs, obs_dim, {device = "cuda"})
mark("model")
for update = 0, 3 - 1 do
  do
    local old1 = log_probs
    log_probs = {}
    clear(old1)
  end
  do
    local old2 = values
    values = {}
    clear(old2)
  end
  do
    local old3 = rewards
    rewards = {}
    clear(old3)
  end
  do
    local old4 = entropies
    entropies = {}
    clear(old4)
  end
  do
    local old5 = masks
    masks = {}
    clear(old5)
  end
  hx = hx:detach()
  cx = cx:detach()
  for t = 0, horizon - 1 do
    do
      local new1, new2, new3, new4 = net(obs, hx, cx)
      logits = new1; sweep()
      value = new2; sweep()
      hx = new3; sweep()
      cx = new4; sweep()
    end
    log_p = F.log_softmax(logits, {dim = -1})
    probs = log_p:exp()
    action = ohm.multinomial(probs, 1):detach()
    log_probs[#log_probs + 1] = log_p:gather(1, action):squeeze(1)
    entropies[#entropies + 1] = -(log_p * probs):sum(1)
    values[#values + 1] = value
    obs = ohm.randn(envs, obs_dim, {device = "cuda"})
    rewards[#rewards + 1] = ohm.randn(envs, {device = "cuda"})
    mask = (ohm.rand(envs, {device = "cuda"}):gt(0.1)):float()
    masks[#masks + 1] = mask
    hx = hx * mask:unsqueeze(1)
    cx = cx * mask:unsqueeze(1)
  end
  mark("rollout " .. update)
  do
    local mode6 <close> = ohm.no_grad()
    do
      local new1, new2, new3, new4 = net(obs, hx, cx)
      _ = new1; sweep()
      last = new2; sweep()
      _, new1 = new3, nil; sweep()
      _, new3 = new4, nil; sweep()
    end
  end
  values[#values + 1] = last
  policy_loss = 0; sweep()
  value_loss = 0; sweep()
  gae = ohm.zeros(envs, {device = "cuda"})
  R = last
  for t = horizon - 1, 0, -1 do
    R = rewards[t + 1] + ((0.99 * R) * masks[t + 1])
    advantage = R - values[t + 1]
    value_loss = value_loss + (0.5 * advantage:pow(2):mean())
    delta = (rewards[t + 1] + ((0.99 * values[t + 1 + 1]:detach()) * masks[t + 1])) - values[t + 1]:detach()
    gae = (((gae * 0.99) * 0.95) * masks[t + 1]) + delta
    policy_loss = (policy_loss - (log_probs[t + 1] * gae):mean()) - (0.01 * entropies[t + 1]:mean())
  end
  opt:zero_grad()
  ;(policy_loss + (0.5 * value_loss)):backward()
  nn.utils.clip_grad_norm_(net:parameters(), 0.5)
  opt:step()
  mark("update " .. update)
end
mark("end of program (globals alive)")
net = nil; sweep()
opt = nil; sweep()
hx = nil; sweep()
cx = nil; sweep()
obs = nil; sweep()
log_probs = clear(log_probs)
values = clear(values)
rewards = clear(rewards)
entropies = clear(entropies)
masks = clear(masks)
logits = nil; sweep()
value = nil; sweep()
log_p = nil; sweep()
probs = nil; sweep()
action = nil; sweep()
mask = nil; sweep()
_ = nil; sweep()
last = nil; sweep()
policy_loss = nil; sweep()
value_loss = nil; sweep()
gae = nil; sweep()
R = nil; sweep()
advantage = nil; sweep()
delta = nil; sweep()
mark("globals deleted")
