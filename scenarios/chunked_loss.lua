-- Symptom: "a language model of 50,000 words is out of memory in its last layer."
--
-- The logits of all tokens are tokens x vocabulary: more than all hidden states together. The loss
-- keeps log-probabilities as large, and backward makes two gradients of that size. What to do: take
-- the loss in chunks of tokens under a checkpoint, so that one chunk's logits exist at a time, in
-- forward and in backward. Half precision for the logits halves them; it is not enough.
--
-- Chapter: activations
-- PyTorch:
--     for h, t in zip(hidden.split(1024), targets.split(1024)):
--         loss = loss + checkpoint(chunk_loss, h, t, use_reentrant=False)

local bytes, nets = require("bytes"), require("nets")
local nn, F = ohm.nn, ohm.nn.functional

-- 256 tokens of width 32 and 8,192 words: logits of 8 MiB.
local TOKENS, WIDTH, WORDS, CHUNK = 256, 32, 8192, 32
local HIDDEN = bytes.float32(TOKENS, WIDTH)
local function logits(tokens) return bytes.float32(tokens, WORDS) end
-- The head and its gradient; the body; the batch, the hidden states and their gradient; labels; of
-- one chunk its log-probabilities and both of their gradients; the loss, its gradient and the root.
local HEAD = bytes.linear(WIDTH, WORDS)
local ROOM = 2 * HEAD + bytes.linear(WIDTH, WIDTH) + 3 * HIDDEN + bytes.int64(TOKENS)
  + 3 * logits(CHUNK) + 3 * bytes.scalar

local function train(device, loss_of)
  ohm.manual_seed(1)
  local body, head = nn.Linear(WIDTH, WIDTH):to(device), nn.Linear(WIDTH, WORDS):to(device)
  local x, y = nets.batch(TOKENS, WIDTH, device, WORDS)
  local loss
  for _ = 1, 2 do
    body:zero_grad()
    head:zero_grad()
    loss = loss_of(head, body(x), y)
    loss:backward()
    ohm.step()
  end
  return {loss = loss, gradient = body.weight.grad}
end

local function whole(head, hidden, y) return F.cross_entropy(head(hidden), y) end

-- The same sum, `size` tokens at a time.
local function chunked(size, run)
  return function(head, hidden, y)
    local total
    for first = 0, TOKENS - 1, size do
      local part = run(function(h)
        return F.cross_entropy(head(h), y:narrow(0, first, size), {reduction = "sum"})
      end, hidden:narrow(0, first, size))
      total = total and total + part or part
    end
    return total / TOKENS
  end
end
local function plainly(fn, h) return fn(h) end
local function checkpointed(fn, h)
  return ohm.utils.checkpoint.checkpoint(fn, h, {use_reentrant = false})
end

return ohm.scenario {
  name = "chunked_loss",
  summary = "The logits of a large vocabulary are larger than the rest of the step",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {all_logits = function(d) return train(d, whole) end},
  mitigations = {
    chunks_under_checkpoint = function(d) return train(d, chunked(CHUNK, checkpointed)) end,
    smaller_chunks = function(d) return train(d, chunked(CHUNK // 2, checkpointed)) end,
  },
  partials = {
    half_precision_logits = {
      compare_as = "bfloat16",
      run = function(d)
        return train(d, function(head, hidden, y)
          return F.cross_entropy(ohm.autocast("cuda", {dtype = ohm.bfloat16}, function()
            return head(hidden)
          end), y)
        end)
      end,
    },
  },
  non_fixes = {
    -- Each chunk's log-probabilities stay until backward: together they are as large.
    chunks_alone = function(d) return train(d, chunked(CHUNK, plainly)) end,
  },
}
