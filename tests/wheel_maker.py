"""wheel_maker.py OUT.whl MEMBER=FILE…: writes a small valid wheel. METADATA and WHEEL follow from the file name."""
import base64
import hashlib
import os
import sys
import zipfile


def hash_of(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


class Wheel:
    """A wheel as a mapping of members, in order; RECORD is made when it is written."""

    def __init__(self, path):
        self.path = path
        parts = os.path.basename(path)[: -len(".whl")].split("-")
        self.name, self.version = parts[:2]
        self.dist_info = f"{self.name}-{self.version}.dist-info"
        self.tags = [f"{py}-{abi}-{platform}" for py in parts[-3].split(".") for abi in parts[-2].split(".")
                     for platform in parts[-1].split(".")]
        self.purelib = parts[-1] == "any"
        self.members = {}

    def metadata(self):
        return f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {self.version}\nSummary: made on the spot\n"

    def wheel(self):
        lines = ["Wheel-Version: 1.0", "Generator: tests", f"Root-Is-Purelib: {str(self.purelib).lower()}"]
        return "\n".join(lines + [f"Tag: {tag}" for tag in self.tags]) + "\n"

    def add_dist_info(self):
        self.members.setdefault(f"{self.dist_info}/METADATA", self.metadata().encode())
        self.members.setdefault(f"{self.dist_info}/WHEEL", self.wheel().encode())

    def record(self):
        lines = [f"{name},{hash_of(data)},{len(data)}" for name, data in self.members.items()]
        return "\n".join(lines + [f"{self.dist_info}/RECORD,,"]) + "\n"

    def write(self):
        self.add_dist_info()
        with zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in [*self.members.items(), (f"{self.dist_info}/RECORD", self.record().encode())]:
                info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
                info.external_attr = 0o100644 << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, data)


if __name__ == "__main__":
    wheel = Wheel(sys.argv[1])
    for argument in sys.argv[2:]:
        member, source = argument.split("=", 1)
        with open(source, "rb") as file:
            wheel.members[member] = file.read()
    wheel.write()
