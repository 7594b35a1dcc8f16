
def __getattr__(name):
    # Not imported before someone asks: commands come through here, and a build starts a compiler thousands of times.
    if name == "__version__":
        from ._dist_info import __version__

        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
