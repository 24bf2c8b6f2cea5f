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
model = nil
graphs = nil
inputs[8] = nil
inputs[4] = nil
inputs[1] = nil
outputs = nil
best = nil
sampled = nil
mark("globals deleted")
