"""A language model of two LSTM layers, truncated backpropagation, packed sequences, projections."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

TOKENS, WIDTH = 10000, 650


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2, dropout=0.5, batch_first=True)
        self.decoder = nn.Linear(WIDTH, TOKENS)

    def forward(self, tokens, state):
        output, state = self.lstm(self.embedding(tokens), state)
        return self.decoder(output), state


model = Model().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
text = torch.randint(0, TOKENS, (20, 35 * 4 + 1), device="cuda")
state = None
for begin in range(0, 35 * 4, 35):
    logits, state = model(text[:, begin:begin + 35], state)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1),
                                       text[:, begin + 1:begin + 36].flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()
    state = tuple(part.detach() for part in state)
assert state[0].shape == (2, 20, WIDTH)
weights = sum(p.numel() * p.element_size() for p in model.parameters())
logits_bytes = 20 * 35 * TOKENS * 4
assert torch.cuda.max_memory_allocated() > 2 * weights + 2 * logits_bytes

packed = pack_padded_sequence(torch.randn(4, 30, WIDTH, device="cuda"), [30, 20, 20, 5],
                              batch_first=True)
output, lengths = pad_packed_sequence(model.lstm(packed)[0], batch_first=True)
assert output.shape == (4, 30, WIDTH) and lengths.tolist() == [30, 20, 20, 5]
gru = nn.GRU(64, 128, bidirectional=True).cuda()
assert gru(torch.randn(10, 4, 64, device="cuda"))[0].shape == (10, 4, 256)
projected = nn.LSTM(64, 128, num_layers=2, bidirectional=True, proj_size=32).cuda()
assert projected(torch.randn(10, 4, 64, device="cuda"))[0].shape == (10, 4, 64)
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
