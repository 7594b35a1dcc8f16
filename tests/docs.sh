#!/bin/bash
# The documentation: every command and option that a page shows exists in the program, every command has a page, and the site's
# links lead somewhere. The pages' text alone is checked by source.docs.
. "$(dirname "$0")/common.inc"
root=$tests/..
cd "$t"
run help --json
expect 0 $status
python3 "$tests/source_docs.py" "$root" --commands "$t/out" || fail "pages show what the program does not have"

need cmark-gfm
python3 "$root/scripts/docs.py" "$t/site" --program "$wheelsmith" >made
grep -q 'pages in' made
python3 "$tests/docs_site.py" "$t/site" "$t/out"
