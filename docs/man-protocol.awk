# man-protocol.awk: a document in Markdown, docs/protocol.md, as the body of a manual page, for docs/make-man. Headings are sections,
# a row of a table is an item whose first cell is its label, a block of code is literal.

# Text without the marks of Markdown.
function plain(text) {
    gsub(/\[[^]]*\]\([^)]*\)/, "<&>", text)
    while (match(text, /<\[[^]]*\]\([^)]*\)>/))
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + 2, index(substr(text, RSTART), "]") - 3) substr(text, RSTART + RLENGTH)
    gsub(/\\\|/, "|", text)
    gsub(/`|\*\*/, "", text)
    gsub(/\\/, "\\e", text)
    return text
}

function end_paragraph() {
    if (text != "") {
        if (!fresh)
            print ".Pp"
        say(text)
        fresh = 0
    }
    text = ""
}
function end_list() {
    if (list)
        print ".El"
    list = 0
}
function item(label,    n, k, word, line) {
    n = split(plain(label), word, " ")
    for (k = 1; k <= n; k++)
        line = line " \\&" word[k]
    print ".It" line
}

/^```/ {
    end_paragraph()
    end_list()
    literal = !literal
    print literal ? ".Bd -literal" : ".Ed"
    next
}
literal { gsub(/\\/, "\\e"); put($0); next }
/^# / { print ".Sh DESCRIPTION"; fresh = 1; next }
/^## / { end_paragraph(); end_list(); print ".Sh " toupper(substr($0, 4)); fresh = 1; next }
/^### / { end_paragraph(); end_list(); print ".Ss " substr($0, 5); fresh = 1; next }
/^$/ { end_paragraph(); end_list(); contents = 0; next }
/^\[[^]]*\]\(#/ { contents = 1 } # a paragraph of links to the sections of the page
contents { next }
/^\|---/ { next }
/^\|/ {
    end_paragraph()
    if (!list++) { # the row of titles
        print ".Bl -tag -width Ds"
        next
    }
    gsub(/\\\|/, "\001")
    n = split($0, cell, / *\| */)
    gsub("\001", "|", cell[2])
    item(cell[2])
    for (k = 3; k < n; k++)
        if (cell[k] != "") {
            gsub("\001", "|", cell[k])
            say(cell[k])
        }
    fresh = 0
    next
}
{ text = text (text == "" ? "" : " ") $0 }
END { end_paragraph(); end_list() }
