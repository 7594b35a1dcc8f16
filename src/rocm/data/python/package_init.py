
def __getattr__(name):
    # Imported on demand: every command imports this package, and a build starts a compiler thousands of times.
    if name == "__version__":
        from ._dist_info import __version__

        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
