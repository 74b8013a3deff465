/* cmd_completion.c - dibs completion: what a shell needs to complete the words of dibs. See complete.h. */
#include "cli.h"
#include "complete.h"

#include <string.h>

/* Each shell asks "dibs completion words -- WORD..." for what may stand here. */

/* bash takes a word apart at the characters of COMP_WORDBREAKS, such as ":" and "=". So the words are read from the line, and
 * what is before such a character is cut from each answer. */
static const char completion_bash[] =
    "# bash completion for dibs: eval \"$(dibs completion bash)\"\n"
    "_dibs() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} word broken files='' IFS=$' \\t\\n'\n"
    "    local -a words lines\n"
    "    read -ra words <<<\"$line\"\n"
    "    [[ $line == *[[:space:]] ]] && words+=('')\n"
    "    word=${words[${#words[@]} - 1]}\n"
    "    mapfile -t lines < <(\"${words[0]}\" completion words -- \"${words[@]:1}\" 2>/dev/null)\n"
    "    COMPREPLY=()\n"
    "    if [[ ${lines[0]} == command* ]]; then\n"
    "        if declare -F _command_offset >/dev/null; then\n"
    "            _command_offset \"${lines[0]#command }\"\n"
    "        elif ((${#words[@]} == ${lines[0]#command } + 1)); then\n"
    "            mapfile -t COMPREPLY < <(compgen -c -- \"$word\")\n"
    "        else\n"
    "            files=yes\n"
    "        fi\n"
    "    fi\n"
    "    broken=${word%\"${word##*[:=]}\"}\n"
    "    local line\n"
    "    for line in \"${lines[@]:1}\"; do\n"
    "        if [[ $line == files ]]; then\n"
    "            files=yes\n"
    "        else\n"
    "            line=${line%%$'\\t'*}\n"
    "            printf -v line '%q' \"${line#\"$broken\"}\"\n"
    "            COMPREPLY+=(\"$line\")\n"
    "        fi\n"
    "    done\n"
    "    if [[ $files ]]; then\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"${word#\"$broken\"}\")\n"
    "    elif [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[:=] ]]; then\n"
    "        compopt -o nospace 2>/dev/null\n"
    "    fi\n"
    "}\n"
    "complete -F _dibs dibs\n";

static const char completion_zsh[] =
    "#compdef dibs\n"
    "# zsh completion for dibs: a file _dibs in a directory of $fpath; or: eval \"$(dibs completion zsh)\"\n"
    "_dibs() {\n"
    "    local -a lines found\n"
    "    local line\n"
    "    lines=(\"${(@f)$(\"$words[1]\" completion words -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
    "    if [[ $lines[1] == command* ]]; then\n"
    "        local skip=${lines[1]#command }\n"
    "        shift $skip words\n"
    "        (( CURRENT -= skip ))\n"
    "        _normal\n"
    "        return\n"
    "    fi\n"
    "    for line in \"${(@)lines[2,-1]}\"; do\n"
    "        if [[ $line == files ]]; then\n"
    "            [[ $PREFIX == --*=* ]] && compset -P '--*='\n"
    "            _files\n"
    "        elif [[ -n $line ]]; then\n"
    "            found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "        fi\n"
    "    done\n"
    "    (( $#found )) && _describe -V dibs found\n"
    "}\n"
    "if [[ $funcstack[1] == _dibs ]]; then _dibs \"$@\"; else compdef _dibs dibs; fi\n";

static const char completion_fish[] =
    "# fish completion for dibs: dibs completion fish | source\n"
    "function __dibs_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l word (commandline -ct)\n"
    "    set -l program $words[1]\n"
    "    set -e words[1]\n"
    "    set -l lines ($program completion words -- $words \"$word\" 2>/dev/null)\n"
    "    switch \"$lines[1]\"\n"
    "        case 'command*'\n"
    "            set -l skip (string replace 'command ' '' -- $lines[1])\n"
    "            set -l rest $program $words \"$word\"\n"
    "            complete -C (string join ' ' -- $rest[(math $skip + 1)..-1])\n"
    "        case words\n"
    "            for line in $lines[2..-1]\n"
    "                if test \"$line\" = files\n"
    "                    set -l prefix (string match -r -- '^--[^=]*=' \"$word\"; or echo '')\n"
    "                    printf '%s\\n' $prefix(__fish_complete_path (string replace -- \"$prefix\" '' \"$word\"))\n"
    "                else\n"
    "                    printf '%s\\n' $line\n"
    "                end\n"
    "            end\n"
    "    end\n"
    "end\n"
    "complete -c dibs -f -a '(__dibs_complete)'\n";

int cmd_completion(int argc, char **argv)
{
    static const struct {
        const char *name, *text;
    } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
    const struct cli_option options[] = {{0}};
    const struct cli_usage usage = {
        "dibs completion bash|zsh|fish",
        "Prints what lets a shell complete the words of dibs: commands, options and their values, algorithms, files, "
        "and the locks and members of the daemon that the words so far name. An installed dibs has it where the "
        "shells look for it.\n\n"
        "The shells ask \"dibs completion words -- WORD...\" what the last word may be. The answer is \"words\" and a "
        "line for each, with a tab before its description, or \"files\" where it may be a file; or \"command N\" if "
        "the words from N on are another command.",
        options,
        {{"Complete in bash, from the next shell on:",
          "dibs completion bash >~/.local/share/bash-completion/completions/dibs"},
         {"Complete in fish, from now on:", "dibs completion fish >~/.config/fish/completions/dibs.fish"}},
    };
    const char *name = NULL;

    if (argc > 2 && !cli_instead && strcmp(argv[1], "words") == 0 && strcmp(argv[2], "--") == 0) {
        complete_words(argc - 3, argv + 3);
        return CLI_OK;
    }
    if (!cli_parse(argc, argv, &usage, &name, 1))
        cli_die("no shell is named (usage: %s)", usage.line);
    for (unsigned k = 0; k < sizeof shells / sizeof shells[0]; k++)
        if (strcmp(shells[k].name, name) == 0) {
            fputs(shells[k].text, stdout);
            return CLI_OK;
        }
    cli_die("there is no completion for \"%s\"; it is one of bash, zsh and fish", name);
}
