# man-library.awk: libdibs(3) from the comments of include/dibs.h, for docs/make-man. The first comment is the description: an
# example, then paragraphs, of which one that begins with a title ("Connections. ..") begins a section. A comment that stands
# alone tells of the declarations below it, up to an empty line or the next comment.
function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/\(\)/, "", text)
    return text
}

function literal(code) {
    gsub(/DIBS_API /, "", code)
    gsub(/\\/, "\\e", code)
    printf ".Bd -literal\n%s.Ed\n", code
}

function paragraph() {
    if (example != "")
        literal(example)
    if (text == "")
        return
    if (!described++)
        print ".Sh DESCRIPTION"
    if (match(text, /^[A-Z][A-Za-z ]*\. /) && RLENGTH < 32) {
        print ".Ss " substr(text, 1, RLENGTH - 2)
        text = substr(text, RLENGTH + 1)
    } else
        print ".Pp"
    say(text)
    text = example = ""
}

function declaration() {
    if (code != "") {
        if (!declared++)
            print ".Sh FUNCTIONS AND TYPES"
        literal(code)
        if (told != "") {
            print ".Pp"
            say(told)
        }
    }
    code = told = ""
}

BEGIN {
    print ".Sh NAME\n.Nm libdibs\n.Nd client library of the lock service dibs"
    print ".Sh SYNOPSIS\n.In dibs.h\n.Pp\n.Dl cc program.c $(pkg-config \\-\\-cflags \\-\\-libs dibs)"
}
NR == 1 { next }

# The first comment.
!headed {
    ended = sub(/ \*\/$/, "")
    sub(/^ \* ?/, "")
    if (/^    / || (example != "" && text == "" && /^$/))
        example = example substr($0, 5) "\n"
    else if (/^$/)
        paragraph()
    else
        text = text (text == "" ? "" : " ") $0
    if (ended) {
        paragraph()
        headed = 1
    }
    next
}

# Declarations, and their comments.
/^#define DIBS_NO_WAIT/ { code = $0 "\n"; declaration(); next }
/^#|^extern "C"|^}$|^struct dibs;$/ { next }
/^\/\*/ { declaration(); comment = !/^\/\* -----/; if (!comment) next }
comment {
    comment = !sub(/ *\*\/$/, "")
    sub(/^(\/\*| \*) ?/, "")
    told = told (told == "" ? "" : " ") $0
    next
}
/^$/ { declaration(); next }
{ code = code $0 "\n" }
END {
    declaration()
    print ".Sh SEE ALSO\n.Xr dibs 1 ,\n.Xr dibs-lock 1 ,\n.Xr dibs-protocol 7"
}
