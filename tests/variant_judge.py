"""variant_judge.py FOLDER INDEX VERSION…: variantlib (the reference of PEP 850) on the variant wheels of a folder.

Each wheel's variant.json must be one that it reads, with the label of the file name, and the files of all wheels must merge to
INDEX, our variants.json. Then prints for each VERSION of compute capability (8.6) the label that it prefers among those that run
there, or none; the properties are those that NVIDIA's provider reports for such a GPU with a driver for CUDA 13.0.
"""
import glob
import json
import os
import sys
import zipfile

from variantlib.constants import VALIDATION_WHEEL_NAME_REGEX
from variantlib.models.variant import VariantProperty
from variantlib.resolver.lib import sort_and_filter_supported_variants
from variantlib.variant_dist_info import VariantDistInfo
from variantlib.variants_json import VariantsJson


def read(path):
    label = VALIDATION_WHEEL_NAME_REGEX.fullmatch(os.path.basename(path)).group("variant_label")
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/variant.json"))
        return VariantDistInfo(archive.read(name), label)


def supported(version):
    """As nvidia-variant-provider lists them, best first: the GPU's own code, older code of its generation, then PTX."""
    major, minor = map(int, version.split("."))
    values = [f"{major}{number}_real" for number in range(minor, -1, -1)]
    values += [f"{number}0_virtual" for number in range(major, 4, -1)]
    driver = [f"{number}.{part}" for number in (13, 12) for part in range(9, -1, -1) if (number, part) <= (13, 0)]
    return [VariantProperty("nvidia", "cuda_version_lower_bound", value) for value in driver] + [
        VariantProperty("nvidia", "sm_arch", value) for value in values]


def main(folder, index, *versions):
    wheels = [path for path in sorted(glob.glob(os.path.join(folder, "*.whl")))
              if VALIDATION_WHEEL_NAME_REGEX.fullmatch(os.path.basename(path)).group("variant_label")]
    merged = read(wheels[0])
    for path in wheels[1:]:
        merged.merge(read(path))
    with open(index, encoding="utf-8") as file:
        ours = VariantsJson(json.load(file))
    assert ours.variants == merged.variants, (ours.variants, merged.variants)
    assert ours.namespace_priorities == merged.namespace_priorities
    assert ours.providers == merged.providers, (ours.providers, merged.providers)
    for version in versions:
        found = sort_and_filter_supported_variants(list(ours.variants.values()), supported(version),
                                                   namespace_priorities=ours.namespace_priorities, filter_values=True)
        # variantlib adds the null variant itself.
        print(version, found[0].label if found and found[0].label in ours.variants else "none")


main(*sys.argv[1:])
