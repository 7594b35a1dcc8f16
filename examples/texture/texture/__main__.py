"""python -m texture: edges of a picture, a demonstration, a self-test."""

import argparse

from texture import gpu_name, sobel
from texture.pictures import below, landscape, read_ppm, write_picture


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m texture", description="Find the edges in a picture.")
    parser.add_argument("input", nargs="?", metavar="IN.ppm", help="binary PPM (P6)")
    parser.add_argument("output", nargs="?", metavar="OUT.pgm|OUT.png", help="file for the edges")
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--demo", metavar="OUT.png", help="generate a picture and write it with its edges below")
    parser.add_argument("--self-test", action="store_true", help="compare with a reference in plain Python")
    parser.add_argument("--gpu", action="store_true", help="with --self-test: also compare the GPU with the CPU")
    options = parser.parse_args()

    if options.self_test:
        from texture.self_test import main as self_test

        self_test(options.gpu)
        return
    try:
        if options.demo:
            width, height = 800, 400
            picture = landscape(width, height)
            edges = sobel(picture, width, height, options.device)
            write_picture(options.demo, below(picture, edges), width, 2 * height)
        elif options.output:
            picture, width, height = read_ppm(options.input)
            write_picture(options.output, sobel(picture, width, height, options.device), width, height)
        else:
            parser.error("expected IN.ppm and OUT.pgm or OUT.png, --demo or --self-test")
    except (OSError, ValueError, RuntimeError) as error:
        parser.exit(1, f"texture: error: {error}\n")
    where = "the CPU" if options.device == "cpu" else gpu_name() or "the CPU"
    print(f"{options.demo or options.output}: {width} x {height} pixels on {where}")


if __name__ == "__main__":
    main()
