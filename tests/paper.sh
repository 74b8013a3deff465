#!/bin/sh
# Every published figure is measured, in runs of a twentieth of the length. What differs is known: the rows are listed in
# tests/golden/papers.txt, as NAME | ROW.
cd "$(dirname "$0")/.." || exit 2

number=0
for name in $("$DIBS" paper list | cut -d ' ' -f 1); do
    number=$((number + 1))
    said=$("$DIBS" paper "$name" --quick 2>&1)
    status=$?
    differs=$(echo "$said" | sed -n 's/^  \(.\{52\}\) .*differs$/\1/p' | sed 's/ *$//')
    known=$(sed -n "s/^$name | //p" tests/golden/papers.txt)
    if [ "$status" -le 1 ] && [ "$differs" = "$known" ]; then
        echo "ok $number - $name"
    else
        echo "$said"
        echo "not ok $number - $name"
    fi
done
echo "1..$number"
