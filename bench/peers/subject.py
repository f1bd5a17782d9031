"""One peer in Python in a process of its own: `subject.py NAME FOLDER` prints the same JSON as subject.ts."""
import json
import resource
import sys
import time


def rss():
    with open("/proc/self/statm", encoding="utf8") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


empty = rss()
import numpy as np  # noqa: E402

TOP, LONGEST, TOGETHER = 10, 5.0, 64
name, folder = sys.argv[1:3]
with open(f"{folder}/queries.json", encoding="utf8") as file:
    meta = json.load(file)
queries, dimension = meta["queries"], meta["dimension"]


def words():
    with open(f"{folder}/passages.jsonl", encoding="utf8") as file:
        return [f"{row['title']}\n{row['text']}" for row in map(json.loads, file)]


def vectors(which):
    return np.fromfile(f"{folder}/{which}.f32", dtype="<f4").reshape(-1, dimension)


def bm25s():
    import bm25s

    texts = words()

    def build():
        tokens = lambda these: bm25s.tokenize(these, stopwords=None, show_progress=False)
        engine = bm25s.BM25(k1=0.9, b=0.4, method="lucene")
        engine.index(tokens(texts), show_progress=False)
        return lambda at: engine.retrieve(tokens([queries[q] for q in at]), k=TOP, show_progress=False)[0]

    return build


def faiss(make):
    import faiss as library

    rows, asked = vectors("rows"), vectors("queries")

    def build():
        index = make(library)
        index.add(rows)
        return lambda at: index.search(asked[at], TOP)[1]

    return build


def hnsw(library):
    index = library.IndexHNSWFlat(dimension, meta["hnsw"]["connectivity"], library.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = meta["hnsw"]["expansionAdd"], meta["hnsw"]["expansionSearch"]
    return index


SUBJECTS = {
    "bm25s": bm25s,
    "faiss flat": lambda: faiss(lambda library: library.IndexFlatIP(dimension)),
    "faiss hnsw": lambda: faiss(hnsw),
}


def times(search, size):
    groups = [list(range(i, i + size)) for i in range(0, len(queries) - size + 1, size)]
    out, start = [], time.perf_counter()
    for _ in range(5):
        for group in groups:
            begun = time.perf_counter()
            if begun - start > LONGEST and out:
                return out
            search(group)
            out.append(time.perf_counter() - begun)
    return out


build = SUBJECTS[name]()
begun = time.perf_counter()
search = build()
took, memory = time.perf_counter() - begun, rss() - empty
for q in range(16):
    search([q])
single, many = times(search, 1), times(search, TOGETHER)
top = [[int(at) for at in row] for row in search(list(range(len(queries))))] if "faiss" in name else []
print(
    json.dumps(
        {
            "build": took,
            "memory": memory,
            "p50": 1000 * float(np.quantile(single, 0.5)),
            "p95": 1000 * float(np.quantile(single, 0.95)),
            "qps1": len(single) / sum(single),
            "qps64": TOGETHER * len(many) / sum(many),
            "top": top,
        }
    )
)
