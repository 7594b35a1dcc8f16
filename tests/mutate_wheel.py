"""mutate_wheel.py: breaks a good wheel in one way at a time.

    mutate_wheel.py list                    the names of the mutations, one a line
    mutate_wheel.py NAME GOOD.whl FOLDER    writes the broken wheel into the folder and prints its path

Each mutation is a function below; its docstring says what is wrong with the result. A mutation edits the list of members
(name, data, ZipInfo changes), or the bytes of the finished file.
"""
import os
import random
import re
import struct
import sys
import zipfile

from wheel_maker import Wheel, hash_of


class Draft:
    def __init__(self, good, folder):
        self.file_name = os.path.basename(good)
        self.folder = folder
        with zipfile.ZipFile(good) as archive:
            self.members = [[info.filename, archive.read(info), 0o100644] for info in archive.infolist()]
        wheel = Wheel(good)
        self.dist_info = wheel.dist_info
        self.record_name = f"{wheel.dist_info}/RECORD"
        self.raw = None  # a function over the bytes of the finished file

    def data(self, name):
        return next(data for member, data, _ in self.members if member == name)

    def edit(self, name, change):
        for member in self.members:
            if member[0] == name:
                member[1] = change(member[1])
                return
        raise KeyError(name)

    def add(self, name, data, mode=0o100644):
        """Before RECORD, which stays last."""
        self.members.insert(len(self.members) - 1, [name, data, mode])

    def remove(self, name):
        self.members = [member for member in self.members if member[0] != name]

    def list_again(self):
        """A RECORD that matches the content, so that only the mutation itself is wrong."""
        lines = [f"{name},{hash_of(data)},{len(data)}" for name, data, _ in self.members
                 if name != self.record_name and not name.endswith("/")]
        self.edit(self.record_name, lambda _: ("\n".join(lines + [f"{self.record_name},,"]) + "\n").encode())

    def write(self):
        path = os.path.join(self.folder, self.file_name)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data, mode in self.members:
                info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
                info.external_attr = mode << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, data)
        if self.raw:
            with open(path, "rb") as file:
                data = bytearray(file.read())
            with open(path, "wb") as file:
                file.write(self.raw(data))
        return path


def record_edit(draft, pattern, replacement):
    def change(data):
        edited, count = re.subn(pattern, replacement, data.decode(), count=1, flags=re.M)
        assert count == 1, pattern
        return edited.encode()
    draft.edit(draft.record_name, change)


def wrong_hash(draft):
    record_edit(draft, r"^(demo/__init__\.py,sha256=)[^,]*", r"\g<1>" + hash_of(b"something else")[7:])


def weak_hash(draft):
    record_edit(draft, r"^(demo/__init__\.py),sha256=[^,]*", r"\1,md5=1B2M2Y8AsgTpgAmY7PhCfg")


def wrong_size(draft):
    record_edit(draft, r"^(demo/__init__\.py,[^,]*,)\d+", r"\g<1>7")


def unlisted_file(draft):
    draft.add("demo/extra.py", b"x = 1\n")


def missing_file(draft):
    draft.remove("demo/__init__.py")


def missing_record(draft):
    draft.remove(draft.record_name)


def duplicate_name(draft):
    draft.add("demo/__init__.py", b"evil = True\n")


def case_collision(draft):
    draft.add("demo/__INIT__.py", b"y = 1\n")
    draft.list_again()


def parent_path(draft):
    draft.add("demo/../../outside.py", b"z = 1\n")
    draft.list_again()


def absolute_path(draft):
    draft.add("/etc/demo.conf", b"z = 1\n")
    draft.list_again()


def symlink(draft):
    draft.add("demo/link.py", b"/etc/passwd", 0o120777)
    draft.list_again()


def local_header_lies(draft):
    """The local header names another file than the directory."""
    def change(data):
        at = data.index(b"demo/__init__.py")
        data[at:at + 16] = b"demo/__evil__.py"
        return data
    draft.raw = change


def wrong_crc(draft):
    def change(data):
        at = data.rindex(b"PK\1\2", 0, data.rindex(b"demo/__init__.py"))
        struct.pack_into("<I", data, at + 16, 0x12345678)
        return data
    draft.raw = change


def broken_stream(draft):
    """The packed bytes of the extension are overwritten in the middle."""
    def change(data):
        at = data.index(b"demo/_demo")
        data[at + 400:at + 464] = b"\xff" * 64
        return data
    draft.raw = change


def overlapping_members(draft):
    """A second directory record for the bytes of the first member, under another name."""
    def change(data):
        first = data.index(b"PK\1\2")
        name_size, extra_size, comment_size = struct.unpack_from("<HHH", data, first + 28)
        record = bytes(data[first:first + 46 + name_size + extra_size + comment_size]).replace(
            b"demo/__init__.py", b"demo/__twin__.py")
        end = data.rindex(b"PK\5\6")
        count, total, size = struct.unpack_from("<HHI", data, end + 8)
        struct.pack_into("<HHI", data, end + 8, count + 1, total + 1, size + len(record))
        return data[:end] + record + data[end:]
    draft.raw = change


def wheel_tag_differs(draft):
    draft.edit(f"{draft.dist_info}/WHEEL", lambda data: re.sub(rb"Tag: \S+", b"Tag: py2-none-any", data))
    draft.list_again()


def version_differs(draft):
    draft.edit(f"{draft.dist_info}/METADATA", lambda data: re.sub(rb"Version: 1\.0\n", b"Version: 2.0\n", data))
    draft.list_again()


def name_differs(draft):
    draft.edit(f"{draft.dist_info}/METADATA", lambda data: data.replace(b"Name: demo\n", b"Name: other\n"))
    draft.list_again()


def other_dist_info(draft):
    """The file is named after another project than its dist-info folder."""
    draft.file_name = draft.file_name.replace("demo-", "other-")


def missing_metadata(draft):
    draft.remove(f"{draft.dist_info}/METADATA")
    draft.list_again()


def missing_wheel(draft):
    draft.remove(f"{draft.dist_info}/WHEEL")
    draft.list_again()


def no_metadata_name(draft):
    draft.edit(f"{draft.dist_info}/METADATA", lambda data: data.replace(b"Name: demo\n", b""))
    draft.list_again()


def bad_file_name(draft):
    draft.file_name = "demo.whl"


def elf_under_purelib(draft):
    draft.edit(f"{draft.dist_info}/WHEEL",
               lambda data: data.replace(b"Root-Is-Purelib: false", b"Root-Is-Purelib: true"))
    draft.list_again()


def elf_in_purelib_folder(draft):
    """The extension is in the platform-independent folder; auditwheel rejects it."""
    name = next(name for name, _, _ in draft.members if name.endswith(".so"))
    data = draft.data(name)
    draft.remove(name)
    draft.add(f"{draft.dist_info.removesuffix('.dist-info')}.data/purelib/{name}", data)
    draft.list_again()


def other_machine(draft):
    """The extension is ELF for aarch64 (183) in a wheel for x86_64."""
    name = next(name for name, _, _ in draft.members if name.endswith(".so"))
    draft.edit(name, lambda data: data[:18] + struct.pack("<H", 183) + data[20:])
    draft.list_again()


def truncated_elf(draft):
    name = next(name for name, _, _ in draft.members if name.endswith(".so"))
    draft.edit(name, lambda data: data[:200])
    draft.list_again()


def edit_extension(draft, change):
    name = next(name for name, _, _ in draft.members if name.endswith(".so"))
    draft.edit(name, lambda data: bytes(change(bytearray(data))))
    draft.list_again()


def lost_section_headers(draft):
    """The last bytes of the extension are missing; the mapped parts are complete."""
    edit_extension(draft, lambda data: data[:-40])


def program_headers(data):
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    return [(start + i * size, *struct.unpack_from("<II", data, start + i * size)) for i in range(count)]


def hint_tag(data):
    """The offset of DT_RELACOUNT, which can be overwritten because it is only a hint."""
    place = next(place for place, kind, _ in program_headers(data) if kind == 2)
    offset, = struct.unpack_from("<Q", data, place + 8)
    while struct.unpack_from("<Q", data, offset)[0] != 0x6ffffff9:
        offset += 16
    return offset


def executable_stack(draft):
    """PT_GNU_STACK with the flag for execution."""
    def change(data):
        place = next(place for place, kind, _ in program_headers(data) if kind == 0x6474e551)
        struct.pack_into("<I", data, place + 4, 7)
        return data
    edit_extension(draft, change)


def text_relocations(draft):
    """DT_TEXTREL."""
    def change(data):
        struct.pack_into("<Q", data, hint_tag(data), 22)
        return data
    edit_extension(draft, change)


def appended_bytes(draft):
    """Bytes after the end of the archive: indexes reject the upload."""
    draft.raw = lambda data: data + b"more"


def relative_run_path(draft):
    """A warning, not an error: DT_RUNPATH that names some string of the file, so a path relative to the current directory."""
    def change(data):
        struct.pack_into("<QQ", data, hint_tag(data), 29, 1)
        return data
    edit_extension(draft, change)


def run_path_outside_strings(draft):
    """As left by old patchelf: DT_RPATH with an offset beyond the dynamic strings. The file still loads."""
    def change(data):
        struct.pack_into("<QQ", data, hint_tag(data), 15, 0x7ffff)
        return data
    edit_extension(draft, change)


def bomb(draft):
    """70 MB of zeros: over 64 MB, unpacks far more than 200-fold."""
    draft.add("demo/zeros.bin", bytes(70 << 20))
    draft.list_again()


def truncated(draft):
    draft.raw = lambda data: data[:len(data) * 2 // 3]


def one_byte_short(draft):
    draft.raw = lambda data: data[:-1]


def random_bytes(draft):
    draft.raw = lambda data: random.Random(1).randbytes(4096)


def empty(draft):
    draft.raw = lambda data: b""


def folder_entry(draft):
    """Not wrong: tools write such entries, installers skip them, and RECORD never lists them."""
    draft.members.insert(0, ["demo/", b"", 0o40755])


def stored_comment(draft):
    """Not wrong: an archive comment."""
    def change(data):
        end = data.rindex(b"PK\5\6")
        struct.pack_into("<H", data, end + 20, 5)
        return data + b"hello"
    draft.raw = change


MUTATIONS = {name: value for name, value in list(globals().items())
             if callable(value) and value.__module__ == __name__ and name not in ("Draft", "record_edit", "edit_extension", "program_headers", "hint_tag")}

if __name__ == "__main__":
    if sys.argv[1] == "list":
        print("\n".join(MUTATIONS))
    else:
        draft = Draft(sys.argv[2], sys.argv[3])
        MUTATIONS[sys.argv[1]](draft)
        print(draft.write())
