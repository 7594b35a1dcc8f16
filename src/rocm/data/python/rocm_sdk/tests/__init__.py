"""Checks of an installed ROCm, run by `rocm-sdk test`."""
