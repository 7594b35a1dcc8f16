#!/bin/bash
# The documentation's site opened from the disk in a headless Chromium: search, keys, narrow and dark, and without JavaScript. No
# complaint, no request elsewhere; pictures in PICTURES (default: build/proof/docs).
source "$(dirname "$0")/../common.inc"
need chromium cmark-gfm
python3 "$tests/../scripts/docs.py" "$t/site" --program "$wheelsmith"
python3 "$tests/proof/docs_browser.py" "${PICTURES:-$tests/../build/proof/docs}" "$t/site"
