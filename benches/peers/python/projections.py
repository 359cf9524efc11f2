"""Random projections in Python, for the figures of `cargo bench -p tamis-benches --bench projection`.

CPU time of the process, candidates in turns, median over the rounds. One thread, as in the bench.
"""

import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[library + "_NUM_THREADS"] = "1"  # before numpy is imported

import statistics
import time
import warnings

import numpy as np
import scipy.sparse
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

ROUNDS = 9


def compare(title, unit, candidates):
    """`candidates`: name, how many units a call deals with, what to call."""
    timings = {name: [] for name, _, _ in candidates}
    for _ in range(ROUNDS):
        for name, items, run in candidates:
            start = time.process_time_ns()
            run()
            timings[name].append((time.process_time_ns() - start) / items)
    print(f"\n{title}\n\n| candidate | ns {unit} | at best |\n| --- | ---: | ---: |")
    for name, own in timings.items():
        print(f"| {name} | {statistics.median(own):.4f} | {min(own):.4f} |")


def dense(keys, width):
    """One histogram of `keys` ones to `width` numbers: scikit-learn draws the matrix, a row of it for each number."""
    ones, sparse_ones = np.ones((1, keys)), scipy.sparse.csr_matrix(np.ones((1, keys)))
    rng = np.random.default_rng(1)

    def signs():
        matrix = rng.integers(0, 2, size=(width, keys), dtype=np.int8).astype(np.float32)
        return 2 * (matrix @ np.ones(keys, dtype=np.float32)) - keys

    def fitted(projection, rows):
        return lambda: projection(width, random_state=1).fit_transform(rows)

    entries = keys * width
    compare(
        f"{keys} keys, T = {width}",
        "a matrix entry",
        [
            ("GaussianRandomProjection", entries, fitted(GaussianRandomProjection, ones)),
            ("SparseRandomProjection, density 1/sqrt(n)", entries, fitted(SparseRandomProjection, sparse_ones)),
            ("numpy: random signs, then a product", entries, signs),
        ],
    )


def sparse(keys, width, nonzeros):
    """Signs and positions by multiplication and shift: any *two* keys are independent, where ours have 17."""
    rng = np.random.default_rng(1)
    fingerprints = rng.integers(0, 2**63, keys, dtype=np.uint64)
    multipliers = rng.integers(0, 2**63, nonzeros, dtype=np.uint64) | np.uint64(1)
    rows = width // nonzeros
    bits = rows.bit_length() - 1

    def sketch():
        counters = np.zeros(width)
        for block, multiplier in enumerate(multipliers):
            hashes = fingerprints * multiplier
            position = (hashes >> np.uint64(64 - bits)).astype(np.int64)
            sign = 1.0 - 2.0 * ((hashes >> np.uint64(63 - bits)) & np.uint64(1)).astype(np.float64)
            counters[block * rows : (block + 1) * rows] += np.bincount(position, weights=sign, minlength=rows)
        return counters

    title = f"{keys} keys, T = {width}, s = {nonzeros}, pairwise independent"
    compare(title, "a key", [("numpy: multiply, shift, bincount", keys, sketch)])


if __name__ == "__main__":
    warnings.filterwarnings("ignore")  # scikit-learn warns that T is no less than n
    dense(4096, 4096)
    sparse(1 << 18, 1 << 12, 8)
    sparse(1 << 18, 1 << 20, 8)
