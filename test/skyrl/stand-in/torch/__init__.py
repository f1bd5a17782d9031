"""Stands in for PyTorch, which SkyRL's JAX backend imports for pictures alone: several GB of CUDA for nothing."""


class Tensor:
    """Nothing is one."""
