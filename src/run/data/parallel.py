"""Compile the sources of setuptools extensions in parallel.

distutils compiles one source after the other and one extension after the other. The work is made of commands that do not
depend on each other, but the code that assembles them is not safe in threads: it changes the compiler object (torch sets
another program for each CUDA source). So that code runs as always, on one thread, and its commands are recorded instead of
run. They run in threads. The compilers are Wheelsmith's, which wait until the machine has room.

    compile()   records a command for each object, returns the objects' names          recorded ── threads
    link        waits for its own objects, then runs as always                         in the order of the extensions

The output of each command appears in the order of the sources. The first failure in that order is raised, as if the
commands had run one by one. Where a package replaces a method that this relies on, its build is serial, and says so.
"""

import concurrent.futures
import functools
import os
import subprocess
import sys

# Modules whose own versions of the methods only assemble a command and run it.
_KNOWN = ("distutils.", "setuptools.", "torch.utils.cpp_extension", "Cython.", "pybind11.setup_helpers", "numpy.distutils.")
_COMPILER_METHODS = ("compile", "_compile", "spawn", "_setup_compile", "_get_cc_args", "object_filenames")
_LINK_METHODS = ("link", "link_shared_object", "link_executable")


def _say(text):
    print("wheelsmith: " + text, flush=True)


def _is_known(function):
    module = getattr(getattr(function, "__func__", function), "__module__", None) or ""
    return (module + ".").startswith(tuple(name if name.endswith(".") else name + "." for name in _KNOWN))


def _unknown(thing, names):
    """The method among `names` that comes from an unknown module, or None."""
    for name in names:
        method = getattr(thing, name, None)
        if method is not None and not _is_known(method):
            return "{}.{} of {}".format(type(thing).__name__, name, getattr(getattr(method, "__func__", method), "__module__", "?"))
    return None


class _Command:
    def __init__(self, words, environment, folder):
        self.words, self.environment, self.folder = words, environment, folder


def _run(commands):
    """Run the commands of one object in their order; (output, problem)."""
    output = b""
    for command in commands:
        output += (subprocess.list2cmdline(command.words) + "\n").encode(errors="replace")
        try:
            done = subprocess.run(command.words, env=command.environment, cwd=command.folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        except OSError as error:
            return output, "command {!r} failed: {}".format(command.words[0], error.strerror or error)
        output += done.stdout
        if done.returncode != 0:
            return output, "command {!r} failed with exit code {}".format(command.words[0], done.returncode)
    return output, None


class _Batch:
    """Objects that are being compiled, in the order in which they were asked for."""

    def __init__(self, pool, error):
        self.pool, self.error, self.jobs = pool, error, []
        self.objects, self.links = set(), []  # of earlier extensions: objects in use, and links that wait for them

    def add(self, commands):
        self.jobs.append(self.pool.submit(_run, commands))

    def link(self):
        """Link the extensions whose objects were asked for, in their order."""
        links, self.links = self.links, []
        self.objects.clear()
        for number, (jobs, run) in enumerate(links):
            self.jobs = jobs
            try:
                self.wait()
                run()
            except BaseException:
                self.cancel(links[number + 1:])
                raise

    @staticmethod
    def cancel(links):
        for jobs, _ in links:
            for job in jobs:
                job.cancel()

    def wait(self):
        """Show the output of all, up to the first failure, and raise that."""
        jobs, self.jobs = self.jobs, []
        for number, job in enumerate(jobs):
            output, problem = job.result()
            sys.stdout.flush()
            sys.stdout.buffer.write(output)
            sys.stdout.buffer.flush()
            if problem:
                for other in jobs[number + 1:]:
                    other.cancel()
                raise self.error(problem)


def _recorded(compiler, compile_one):
    """The commands that compile_one() would run."""
    commands = []

    def spawn(words, *_, **more):
        environment = dict(os.environ, **(more.get("env") or {})) if more.get("env") else dict(os.environ)
        commands.append(_Command([os.fspath(word) for word in words], environment, os.getcwd()))

    had = "spawn" in vars(compiler)
    before = vars(compiler).get("spawn")
    compiler.spawn = spawn
    try:
        compile_one()
    finally:
        if had:
            compiler.spawn = before
        else:
            del compiler.spawn
    return commands


def _dry(compiler):
    return bool(getattr(compiler, "dry_run", False))


def install(threads):
    """Make the distutils that setuptools uses compile in parallel."""
    from distutils import ccompiler  # noqa: the one that setuptools has put in its place
    from distutils.command import build_ext
    from distutils.errors import CompileError

    base, command = ccompiler.CCompiler, build_ext.build_ext
    stock_compile, stock_extensions = base.compile, command.build_extensions
    if getattr(stock_compile, "wheelsmith", False):
        return
    pool = concurrent.futures.ThreadPoolExecutor(threads)
    told = set()

    def tell_serial(what):
        if what not in told:
            told.add(what)
            _say("compiling one source after the other: the package has its own " + what)

    @functools.wraps(stock_compile)
    def compile(self, sources, output_dir=None, macros=None, include_dirs=None, debug=0, extra_preargs=None, extra_postargs=None, depends=None):
        batch = vars(self).get("_wheelsmith_batch")
        serial = _dry(self) or _unknown(self, _COMPILER_METHODS)
        if serial or not isinstance(sources, (list, tuple)) or (batch is None and len(sources) < 2):
            if isinstance(serial, str):
                tell_serial(serial)
            return stock_compile(self, sources, output_dir, macros, include_dirs, debug, extra_preargs, extra_postargs, depends)
        macros, objects, extra_postargs, pp_opts, build = self._setup_compile(output_dir, macros, include_dirs, sources, depends, extra_postargs)
        cc_args = self._get_cc_args(pp_opts, debug, extra_preargs)
        # Two extensions may compile one source, with other flags, to the same object: the first is linked before.
        if batch is not None and batch.objects.intersection(objects):
            batch.link()
        mine = batch or _Batch(pool, CompileError)
        for one in objects:
            if one in build:
                source, extension = build[one]
                mine.add(_recorded(self, lambda: self._compile(one, source, extension, cc_args, extra_postargs, pp_opts)))
        if batch is None:
            mine.wait()
        return objects

    compile.wheelsmith = True
    base.compile = compile

    @functools.wraps(stock_extensions)
    def build_extensions(self):
        compiler, extensions = self.compiler, list(self.extensions or [])
        why = _unknown(self, ("build_extension", "build_extensions", "get_ext_fullpath")) or _unknown(compiler, _COMPILER_METHODS + _LINK_METHODS)
        # Where an optional extension fails, the build goes on; that is decided as the commands run.
        optional = any(getattr(extension, "optional", False) for extension in extensions)
        if len(extensions) < 2 or why or optional or _dry(compiler) or getattr(self, "parallel", None):
            if why and len(extensions) > 1:
                _say("building one extension after the other: the package has its own " + why)
            return stock_extensions(self)
        batch = compiler._wheelsmith_batch = _Batch(pool, CompileError)
        stock_link = compiler.link_shared_object

        def link_later(objects, *words, **more):
            batch.links.append((batch.jobs, lambda: stock_link(objects, *words, **more)))
            batch.jobs = []
            batch.objects.update(objects)

        compiler.link_shared_object = link_later
        try:
            stock_extensions(self)
            batch.link()
        except BaseException:
            batch.cancel(batch.links + [(batch.jobs, None)])
            raise
        finally:
            del compiler._wheelsmith_batch, compiler.link_shared_object

    command.build_extensions = build_extensions
