-- Cross entropy over a large vocabulary without the logits of all positions at once: a piece of the
-- rows at a time, its logits computed again in the backward pass. Same loss, same gradients.
local F = ohm.nn.functional

-- hidden: [rows, width]; weight: [vocabulary, width]; targets: [rows], int64. options: rows (1024).
return function(hidden, weight, targets, options)
  local size = (options or {}).rows or 1024
  local function piece_loss(rows, matrix, labels)
    return F.cross_entropy(F.linear(rows, matrix), labels, {reduction = "sum"})
  end
  local pieces, labels = {hidden:split(size, 0)}, {targets:split(size, 0)}
  local total
  for i, rows in ipairs(pieces) do
    local loss = ohm.utils.checkpoint.checkpoint(piece_loss, rows, weight, labels[i],
                                                 {use_reentrant = false})
    total = total == nil and loss or total + loss
  end
  return total / hidden:size(0)
end
