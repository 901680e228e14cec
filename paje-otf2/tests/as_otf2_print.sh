#!/bin/sh
# Compares this crate's reading of archives with otf2-print's, record for record.
#
# Usage: as_otf2_print.sh PRINTER ANCHOR...
# PRINTER is the example otf2_print. Without otf2-print (Debian: otf2-tools), does nothing.
command -v otf2-print >/dev/null || { echo "otf2-print is not installed: nothing compared"; exit 0; }
printer=$1
shift
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
# Columns are aligned with blanks; after the heads only records count. A record begins with its name.
newer='s/Role: INVALID <39>/Role: CANCEL/; s/Role: INVALID <40>/Role: KERNEL/' # Since 3.1.
plain() { sed -n '/^-----/,$p' | sed 1d | grep -v '^$' | tr -s ' '; }
status=0
for anchor; do
    for what in -G ''; do
        # shellcheck disable=SC2086
        TZ=UTC otf2-print $what "$anchor" 2>"$folder/complaints" |
            plain | sed "$newer; s/ *\$//" >"$folder/theirs"
        # shellcheck disable=SC2086
        "$printer" $what "$anchor" | tr -s ' ' | sed 's/ *$//' >"$folder/ours" || status=1
        if ! cmp -s "$folder/theirs" "$folder/ours"; then
            echo "$anchor $what: not as otf2-print says"
            diff "$folder/theirs" "$folder/ours" | head -${LINES_SHOWN:-6}
            status=1
        fi
    done
done
exit $status
