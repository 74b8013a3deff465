/* man.c - see man.h. */
#include "man.h"

#include "lock.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAN_WIDTH = 78 };

/* ------------------------------------------------------------------------------------------------------------- text */

static void man_escape(FILE *to, const char *text, size_t len)
{
    for (size_t k = 0; k < len; k++)
        if (text[k] == '\\')
            fprintf(to, "\\e");
        else if (text[k] == '-' && (k + 1 < len ? text[k + 1] == '-' || isalnum((unsigned char)text[k + 1]) : k > 0) &&
                 (k == 0 || text[k - 1] == '-' || !isalnum((unsigned char)text[k - 1])))
            fprintf(to, "\\-"); /* the sign of an option, not a hyphen */
        else
            putc(text[k], to);
}

/* The words of a text, up to `len` bytes. A sentence begins on a line of its own, as the language asks for. */
static void man_words(FILE *to, const char *text, size_t len)
{
    size_t at = 0;

    for (const char *word = text, *end = text + len; word < end;) {
        size_t size = strcspn(word, " \n");
        bool sentence;

        if (word + size > end)
            size = (size_t)(end - word);
        if (at && at + 1 + size > MAN_WIDTH) {
            fprintf(to, "\n");
            at = 0;
        } else if (at) {
            fprintf(to, " ");
            at++;
        }
        if (at == 0 && (*word == '.' || *word == '\''))
            fprintf(to, "\\&");
        man_escape(to, word, size);
        at += size;
        sentence = size && strchr(".?!", word[size - 1 - (size > 1 && strchr("\")", word[size - 1]))]);
        word += size;
        word += strspn(word, " ");
        if (sentence && word < end) {
            if (!isupper((unsigned char)*word) && *word != '"')
                fprintf(to, "\\&"); /* dots that end no sentence */
            fprintf(to, "\n");
            at = 0;
        }
    }
    fprintf(to, "\n");
}

static void man_line(FILE *to, const char *text)
{
    man_words(to, text, strlen(text));
}

/* The words of a macro: none of them is the name of another macro, or punctuation. */
static void man_arguments(FILE *to, const char *text, size_t len)
{
    for (const char *word = text, *end = text + len; word < end;) {
        size_t size = strcspn(word, " ");

        if (word + size > end)
            size = (size_t)(end - word);
        fprintf(to, " \\&");
        man_escape(to, word, size);
        word += size;
        word += strspn(word, " ");
    }
    fprintf(to, "\n");
}

/* Paragraphs and lists, as for cli_help_text. Returns what is behind the text: that is, the text from a paragraph on that
 * begins with `stop`, unless stop is null. */
static const char *man_paragraphs(FILE *to, const char *text, const char *stop)
{
    bool list = false, first = true;

    while (*text && !(stop && strncmp(text, stop, strlen(stop)) == 0)) {
        size_t len = strcspn(text, "\n"), label = strcspn(text, "\t\n");

        if (label < len) {
            if (!list)
                fprintf(to, ".Bl -tag -width Ds\n");
            list = true;
            fprintf(to, ".It");
            man_arguments(to, text, label);
            man_words(to, text + label + 1, len - label - 1);
        } else if (len) {
            if (list)
                fprintf(to, ".El\n");
            if (!first)
                fprintf(to, ".Pp\n");
            list = false;
            man_words(to, text, len);
        }
        first = false;
        text += len + (text[len] == '\n');
    }
    if (list)
        fprintf(to, ".El\n");
    return text;
}

/* --------------------------------------------------------------------------------------------------------- sections */

static void man_begin(FILE *to, const char *name, const char *section, const char *summary)
{
    static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                         "July",    "August",   "September", "October", "November", "December"};
    unsigned year = 1970, month = 1, day = 1;

    sscanf(cli_date, "%u-%u-%u", &year, &month, &day);
    fprintf(to, ".Dd %s %u, %u\n.Dt ", months[(month - 1) % 12], day, year);
    for (const char *c = name; *c; c++)
        putc(toupper((unsigned char)*c), to);
    fprintf(to, " %s\n.Os dibs %s\n.Sh NAME\n.Nm %s\n.Nd %s\n", section, DIBS_VERSION, name, summary);
}

static void man_option_list(FILE *to, const struct cli_option *options, bool (*chosen)(const struct cli_option *),
                            const char *dashes)
{
    char text[CLI_HELP_MAX];

    fprintf(to, ".Bl -tag -width Ds\n");
    for (const struct cli_option *o = options; o->name; o++) {
        if (chosen && !chosen(o))
            continue;
        fprintf(to, *dashes ? ".It Fl %s" : ".It Cm %s", o->name + (*dashes ? 1 : 2));
        if (o->metavar)
            fprintf(to, " Ar \\&%s", o->metavar);
        fprintf(to, "\n");
        man_line(to, cli_help_option(o, text));
    }
    fprintf(to, ".El\n");
}

/* Variables of the environment, for each page that names them. */
static const struct {
    const char *name, *text;
} man_variables[] = {
    {"COLUMNS", "The width of the help if the output is no terminal."},
    {"DIBS_CA", "The file with the authorities of daemons' certificates, if --ca is not given."},
    {"DIBS_CERT", "The file with the certificate for connections over TCP, if --cert is not given."},
    {"DIBS_CERT_KEY", "The file with the private key of the certificate, if --cert-key is not given."},
    {"DIBS_CONNECT", "Where the daemon is, if neither --socket nor --connect is given."},
    {"DIBS_FENCE", "The fencing token of the lock, for the command that runs under it."},
    {"DIBS_KEY", "The file with the key for connections over TCP, if --key is not given."},
    {"DIBS_LOCK", "The name of the lock, for the command that runs under it."},
    {"DIBS_SOCKET", "The path of the daemon's Unix socket."},
    {"DIBS_TOKEN", "The token that holds the lock, as \"dibs hold\" prints it."},
    {"XDG_RUNTIME_DIR", "The directory of a user's own daemon socket."},
    {"XDG_STATE_HOME", "The directory of a user's own daemon data."},
};
enum { MAN_VARIABLES = sizeof man_variables / sizeof man_variables[0] };

static bool man_names(const struct cli_usage *usage, const char *variable)
{
    bool found = strstr(usage->about, variable);

    for (const struct cli_option *o = usage->options; o->name && !found; o++)
        found = strstr(o->help, variable);
    return found;
}

static void man_environment(FILE *to, const struct cli_usage *usage)
{
    bool begun = false;

    for (unsigned k = 0; k < MAN_VARIABLES; k++) {
        if (usage && !man_names(usage, man_variables[k].name))
            continue;
        fprintf(to, "%s.It Ev %s\n", begun ? "" : ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n", man_variables[k].name);
        man_line(to, man_variables[k].text);
        begun = true;
    }
    if (begun)
        fprintf(to, ".El\n");
}

static void man_see_also(FILE *to, const char *self)
{
#ifdef DIBS_LAB_ONLY
    static const char *const pages[] = {"dibs 1"};
#else
    static const char *const pages[] = {"dibs 1", "libdibs 3", "dibs.conf 5", "dibs-protocol 7"};
#endif
    unsigned last = sizeof pages / sizeof pages[0] - 1;

    if (strcmp(self, pages[last]) == 0 && last-- == 0)
        return;
    fprintf(to, ".Sh SEE ALSO\n");
    for (unsigned k = 0; k <= last; k++)
        if (strcmp(self, pages[k]) != 0)
            fprintf(to, ".Xr %s%s\n", pages[k], k < last ? " ," : "");
}

/* ------------------------------------------------------------------------------------------------------------ pages */

/* "make lab" builds the laboratory alone. */
#ifdef DIBS_LAB_ONLY
static const char man_title[] = "laboratory of algorithms for distributed mutual exclusion";
static const char man_about[] = "Published algorithms for distributed mutual exclusion as state machines. The "
                                "laboratory checks every interleaving of small systems, measures costs in simulated "
                                "time, and repeats what the papers claim. The lock service of dibs, which runs the "
                                "same code, is not in this program.";
static const char man_example[] = "Check every interleaving of three sites:\n.Pp\n.Dl dibs check ricart\\-agrawala\n";
#else
static const char man_title[] = "lock service without a central server, and laboratory of its algorithms";
static const char man_about[] = "Daemons on several machines grant named locks to commands, C programs and Redis "
                                "clients, and go on when some of the machines crash, stop or are cut off. Each lock "
                                "is run by a published algorithm for distributed mutual exclusion. The laboratory "
                                "runs the same code: it checks every interleaving of small systems, and measures "
                                "costs in simulated time.";
static const char man_example[] =
    "Run a backup that must not run twice at a time:\n.Pp\n.Dl dibs lock backup \\-\\- ./backup.sh\n";
#endif

void man_program(FILE *to)
{
    man_begin(to, "dibs", "1", man_title);
    fprintf(to, ".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar OPTION ...\n.Nm\n.Fl -help | Fl -version\n.Sh DESCRIPTION\n");
    man_line(to, man_about);
    for (const struct cli_command *c = cli_commands; c->name; c++) {
        if (c->section)
            fprintf(to, "%s.Ss %.*s\n.Bl -tag -width Ds\n", c == cli_commands ? "" : ".El\n",
                    (int)strlen(c->section) - 1, c->section);
        fprintf(to, ".It Xr dibs-%s 1\n", c->name);
        man_line(to, c->summary);
    }
    fprintf(to, ".El\n");
#ifndef DIBS_LAB_ONLY
    man_environment(to, NULL);
#endif
    fprintf(to, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
#define MAN_STATUS(name, number, text)                                                                                 \
    fprintf(to, ".It %d\n", number);                                                                                   \
    man_line(to, text);
    CLI_STATUSES(MAN_STATUS)
#ifndef DIBS_LAB_ONLY
    LOCK_STATUSES(MAN_STATUS)
#endif
#undef MAN_STATUS
    fprintf(to, ".El\n.Pp\n");
#ifndef DIBS_LAB_ONLY
    fprintf(to, "Those from 112 on are statuses of\n.Xr dibs-lock 1 ,\n.Xr dibs-try 1 ,\n.Xr dibs-hold 1 ,\n"
                ".Xr dibs-lead 1 ,\n.Xr dibs-leader 1 ,\n.Xr dibs-renew 1\nand\n.Xr dibs-release 1 .\n");
#endif
    fprintf(to, "The page of a command says what its statuses mean.\n.Sh EXAMPLES\n%s", man_example);
    man_see_also(to, "dibs 1");
}

void man_command(FILE *to, const struct cli_command *command, const struct cli_usage *usage)
{
    static const char exit_status[] = "Exit status: ";
    char name[64];
    const char *rest = usage->line + strlen("dibs ") + strlen(command->name);

    snprintf(name, sizeof name, "dibs-%s", command->name);
    man_begin(to, name, "1", command->summary);
    fprintf(to, ".Sh SYNOPSIS\n.Nm dibs %s\n", command->name);
    rest += strspn(rest, " ");
    if (*rest)
        man_line(to, rest);
    fprintf(to, ".Sh DESCRIPTION\n");
    rest = man_paragraphs(to, usage->about, exit_status);
    if (usage->options->name) {
        fprintf(to, ".Sh OPTIONS\n");
        man_option_list(to, usage->options, NULL, "--");
    }
    man_environment(to, usage);
    fprintf(to, ".Sh EXIT STATUS\n");
    rest = man_paragraphs(to, *rest ? rest + strlen(exit_status) : CLI_EXIT_STATUSES, NULL);
    fprintf(to, ".Sh EXAMPLES\n");
    for (const struct cli_example *e = usage->examples; e->command; e++) {
        if (e != usage->examples)
            fprintf(to, ".Pp\n");
        man_line(to, e->purpose);
        fprintf(to, ".Bd -literal -offset indent\n");
        man_escape(to, e->command, strlen(e->command));
        fprintf(to, "\n.Ed\n");
    }
    man_see_also(to, "");
}

/* Settings of the file have the names of options. These three are not settings. */
static bool man_is_setting(const struct cli_option *o)
{
    return strcmp(o->name, "--config") != 0 && strcmp(o->name, "--check-config") != 0 && strcmp(o->name, "--join") != 0;
}

void man_conf(FILE *to, const struct cli_usage *serve)
{
    man_begin(to, "dibs.conf", "5", "configuration of the daemon dibs serve");
    fprintf(to, ".Sh SYNOPSIS\n.Pa /etc/dibs/dibs.conf\n.Sh DESCRIPTION\n");
    man_line(to, "The daemon reads this file if --config names it. A setting is a line: its key, then its value. \"#\" "
                 "begins a comment. Options of the command line override the file. \"dibs serve --config FILE "
                 "--check-config\" names every mistake with its line, and prints what a daemon would do.");
    fprintf(to, ".Sh SETTINGS\nEach of these has the name of an option of\n.Xr dibs-serve 1\nand stands once.\n");
    man_option_list(to, serve->options, man_is_setting, "");
    fprintf(to, ".Sh LINES THAT MAY BE REPEATED\n");
    man_paragraphs(
        to,
        "member NAME=ADDRESS:PORT\tA member of the cluster. All lines together are the list that --members takes.\n"
        "policy PATTERN [algorithm=NAME] [slots-algorithm=NAME] [slots=K | slots=none]\tHow locks are run whose names "
        "match PATTERN. The first line that matches applies. slots=K makes it a lock with K slots, slots=none one "
        "that is exclusive, shared or for groups. The same lines belong into the file of each member.\n"
        "allow WHO RIGHTS PATTERN\tThe first line that is about the client and the name of the lock decides whether "
        "the client may do it. WHO is any, user:NAME, group:NAME, key:NAME, cert:NAME or auth:NAME. RIGHTS are lock, "
        "shared, watch, force-unlock and admin, with commas between them, or all, or none. Without any such line "
        "every client may lock and watch.\n"
        "limit WHO [locks=N] [waiters=N] [connections=N]\tHow many locks, waiting requests and connections each "
        "client of WHO may have at this member, over all its connections.\n"
        "login NAME HASH\tA name with a password, as \"dibs passwd\" prints the line. Redis clients log in with AUTH.",
        NULL);
    fprintf(to, ".Sh FILES\n.Bl -tag -width Ds\n.It Pa /etc/dibs/dibs.conf\nthe file that the service of the system "
                "reads\n.El\n.Sh EXAMPLES\nA cluster of three, the same file on each machine:\n.Bd -literal -offset "
                "indent\nmember ant=10.0.0.1:7400\nmember bee=10.0.0.2:7400\nmember cat=10.0.0.3:7400\nkey "
                "/etc/dibs/key\npolicy build\\-* slots=4\n.Ed\n");
    man_see_also(to, "dibs.conf 5");
}
