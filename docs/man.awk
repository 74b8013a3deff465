# man.awk: text for a manual page; with man-library.awk or man-protocol.awk, which have plain(): text without the marks of its source.
function put(line) { print (line ~ /^[.\047]/ ? "\\&" : "") line }

# Sentences begin on a line of their own, and no line is longer than 78 characters.
function say(text,    n, k, word, line) {
    n = split(plain(text), word, " ")
    for (k = 1; k <= n; k++) {
        if (line != "" && length(line) + 1 + length(word[k]) > 78) {
            put(line)
            line = ""
        }
        line = line (line == "" ? "" : " ") word[k]
        if (word[k] ~ /[.?!]"?\)?$/ && k < n) { # dots may end no sentence
            put(line (word[k + 1] ~ /^[A-Z"]/ ? "" : "\\&"))
            line = ""
        }
    }
    if (line != "")
        put(line)
}
