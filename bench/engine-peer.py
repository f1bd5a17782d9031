"""The same model, batch and loss in PyTorch on one thread. Arguments: V d layers heads kv_heads head_dim ff. Prints JSON."""
import json
import sys
import time

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
V, d, L, H, Hk, dh, ff = map(int, sys.argv[1:8])
B, T = 8, 256
param = lambda *shape: torch.nn.Parameter(torch.randn(*shape) * 0.05)
gain = lambda n: torch.nn.Parameter(torch.ones(n))
embed, last = param(V, d), gain(d)
layers = [
    dict(n1=gain(d), q=param(H * dh, d), k=param(Hk * dh, d), v=param(Hk * dh, d), qn=gain(dh), kn=gain(dh),
         o=param(d, H * dh), n2=gain(d), g=param(ff, d), u=param(ff, d), w=param(d, ff))
    for _ in range(L)
]
angle = torch.arange(512)[:, None] * 10000.0 ** (-torch.arange(0, dh, 2) / dh)
cos, sin = torch.cat([angle.cos()] * 2, 1), torch.cat([angle.sin()] * 2, 1)
mask = torch.full((T, T), float('-inf')).triu(1)


def rms(x, g):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * g


def rope(x, c, s):
    a, b = x.chunk(2, -1)
    return x * c + torch.cat([-b, a], -1) * s


def forward(tokens, at, cache=None):
    n = tokens.shape[1]
    x = embed[tokens]
    c, s = cos[at:at + n], sin[at:at + n]
    for i, w in enumerate(layers):
        h = rms(x, w['n1'])
        q = rope(rms((h @ w['q'].t()).view(len(x), n, H, dh), w['qn']).transpose(1, 2), c, s)
        k = rope(rms((h @ w['k'].t()).view(len(x), n, Hk, dh), w['kn']).transpose(1, 2), c, s)
        v = (h @ w['v'].t()).view(len(x), n, Hk, dh).transpose(1, 2)
        if cache is not None:
            cache[i][0][:, :, at:at + n], cache[i][1][:, :, at:at + n] = k, v
            k, v = cache[i][0][:, :, :at + n], cache[i][1][:, :, :at + n]
        # The query heads of a key-value head are rows of one product, as in the engine.
        q = q.reshape(len(x), Hk, -1, dh)
        scores = (q @ k.transpose(-1, -2)) * dh ** -0.5
        if cache is None:
            scores = scores + mask.repeat(H // Hk, 1)
        a = (torch.softmax(scores, -1) @ v).view(len(x), H, n, dh).transpose(1, 2).reshape(len(x), n, H * dh)
        x = x + a @ w['o'].t()
        h = rms(x, w['n2'])
        x = x + (F.silu(h @ w['g'].t()) * (h @ w['u'].t())) @ w['w'].t()
    return rms(x, last) @ embed.t()


def training():
    weights = [embed, last] + [p for w in layers for p in w.values()]
    optimizer = torch.optim.AdamW(weights, lr=1e-4)
    tokens = torch.randint(0, V, (B, T + 1))
    times = []
    for _ in range(10):
        start = time.process_time()
        logp = torch.log_softmax(forward(tokens[:, :-1], 0), -1).gather(-1, tokens[:, 1:, None])[..., 0]
        optimizer.zero_grad(set_to_none=True)
        (-logp.mean()).backward()
        optimizer.step()
        times.append(time.process_time() - start)
    return B * T / min(times)


def sampling(rows=64, first=32, steps=96):
    best = 0.0
    with torch.no_grad():
        for _ in range(3):
            cache = [(torch.zeros(rows, Hk, 512, dh), torch.zeros(rows, Hk, 512, dh)) for _ in layers]
            token = torch.randint(0, V, (rows, 1))
            start = time.process_time()
            for t in range(first, first + steps):
                p = torch.softmax(forward(token, t, cache)[:, -1], -1)
                token = torch.multinomial(p, 1)
                p.gather(1, token).log()
            best = max(best, rows * steps / (time.process_time() - start))
    return best


def gemm():
    a, b = torch.randn(2048, 512), torch.randn(512, 512)
    times = []
    for _ in range(20):
        start = time.process_time()
        a @ b
        times.append(time.process_time() - start)
    return 2 * 2048 * 512 * 512 / min(times)


print(json.dumps(dict(gemm=gemm(), version=torch.__version__, trained=training(), sampled=sampling())))
