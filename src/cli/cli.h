/* cli.h - what the commands of dibs share: the table of commands, options, help, error messages, JSON.
 *
 * Every command is one file cmd_NAME.c with a function that takes the words after its name and returns the exit status.
 * Bad input ends the program with status 2 and one line on stderr that names the mistake and the remedy. */
#ifndef DIBS_CLI_CLI_H
#define DIBS_CLI_CLI_H

#include "core/dme.h"

#include <stdio.h>

/* The exit statuses of all commands; lock.h has those of "dibs lock" and its kin. dibs(1) lists both. */
#define CLI_STATUSES(X)                                                                                                \
    X(CLI_OK, 0, "success")                                                                                            \
    X(CLI_FAILED, 1,                                                                                                   \
      "the answer is no: a property is violated, a file differs, a right is missing, no daemon was reached")           \
    X(CLI_USAGE, 2, "the command line or an input file is wrong")                                                      \
    X(CLI_UNFINISHED, 3, "a search is unfinished")

enum {
#define CLI_STATUS(name, number, text) name = (number),
    CLI_STATUSES(CLI_STATUS)
#undef CLI_STATUS
};

struct cli_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
    const char *section;               /* the title above this command in the help; or null */
};
extern const struct cli_command cli_commands[]; /* ends with a null name */

/* "dibs: ..." on stderr, and exit(2): the command line or a file is wrong. */
void cli_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* The same, and exit(1): the command line is right, and the answer is no. */
void cli_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* As cli_die: unknown WHAT "word"; did you mean ...? (remedy) */
void cli_unknown(const char *what, const char *word, const char *const *names, const char *remedy)
    __attribute__((noreturn));

/* ---------------------------------------------------------------------------------------------------------- options */

enum cli_type {
    CLI_FLAG,   /* bool: the option's presence */
    CLI_COUNT,  /* uint64_t: a whole number, in min .. max; "10k", "2M" are understood */
    CLI_REAL,   /* double: in min .. max */
    CLI_SPAN,   /* double: seconds, in min .. max; "250ms", "10s", "5m" and "2h" are understood */
    CLI_TEXT,   /* const char * */
    CLI_CHOICE, /* unsigned: index into choices */
    CLI_SOME,   /* unsigned: a bit for each index into choices; may be given several times */
    CLI_LIST,   /* struct cli_list: may be given several times */
    CLI_FLAGS,  /* struct cli_marks: its presence, and behind which word; may be given several times */
    CLI_COUNTS, /* the same with a number */
    CLI_TEXTS   /* the same with a text */
};

/* An option that concerns the word before it. */
struct cli_marks {
    unsigned count;
    struct cli_mark {
        int words; /* that came before */
        const char *text;
        uint64_t number;
    } item[33];
};

struct cli_list {
    unsigned count;
    const char *item[32];
};

struct cli_option {
    const char *name; /* "--sites" */
    enum cli_type type;
    void *value;
    const char *metavar, *help; /* the help is a phrase with the default and the unit, without the choices */
    double min, max;
    const char *const *choices;
};

struct cli_example {
    const char *purpose; /* a sentence that ends with a colon */
    const char *command;
};

struct cli_usage {
    const char *line;                 /* "dibs check ALGORITHM [OPTION...]" */
    const char *about;                /* as for cli_help_text */
    const struct cli_option *options; /* ends with a null name */
    struct cli_example examples[4];   /* two at least; ends with a null command */
};

/* Reads options from argv[1..] and stores their values; other words go to words[], at most max of them. "--" ends the
 * options. --help prints the help and exits with 0. Returns the number of words. */
int cli_parse(int argc, char **argv, const struct cli_usage *usage, const char **words, int max);
/* The same. If there is a "--", *before becomes the number of words before it. */
int cli_parse_before(int argc, char **argv, const struct cli_usage *usage, const char **words, int max, int *before);
/* If it is set, cli_parse calls it instead, and the program ends: manual pages and completion read the table of a
 * command's options in this way. */
extern void (*cli_instead)(const struct cli_usage *usage, int argc, char **argv);

/* ------------------------------------------------------------------------------------------------------------- help */

/* All of these wrap at the width of the terminal, which is $COLUMNS, or 80, if the output is no terminal. */

/* A text of paragraphs. Each is one line, and may be empty. A line "LABEL<tab>TEXT" is an item of a list. */
void cli_help_text(FILE *to, const char *text);
/* A row of a table of two columns. */
void cli_help_item(FILE *to, const char *left, const char *right);
/* The help of a command. */
void cli_help(FILE *to, const struct cli_usage *usage);
/* The help of an option, with its choices. */
enum { CLI_HELP_MAX = 1024 };
const char *cli_help_option(const struct cli_option *o, char text[CLI_HELP_MAX]);
/* The list of all commands (cmd_help.c), and "dibs --version" (version.c). */
void cli_help_all(FILE *to);
void cli_version(FILE *to);
/* The version with the commit, and the date of the commit, as YYYY-MM-DD. */
extern const char cli_build[], cli_date[];
#define CLI_EXIT_STATUSES "0 success, 1 the answer is no, 2 the command line is wrong."

/* --------------------------------------------------------------------------- a configuration, as the user spells it */

extern const char *const cli_formats[]; /* text, json, csv */
extern const char *const cli_orders[];  /* of the messages of a channel: needed (by the algorithm), fifo, any */
enum cli_format { CLI_AS_TEXT, CLI_AS_JSON, CLI_AS_CSV };

const struct dme_alg *cli_algorithm(const char *name);
/* "exclusive", "shared", "slots:3", "group:2". A null text takes the first rule that the algorithm knows; slots:1 or
 * group:2 where it must have a number. */
void cli_rule(const struct dme_alg *alg, const char *text, enum dme_rule *rule, uint32_t *limit);
/* All of a configuration, checked. sets: KEY=VALUE words. */
struct dme_conf cli_conf(const char *algorithm, uint64_t sites, const char *rule, const struct cli_list *sets);
/* "slots:3" into a static buffer. */
const char *cli_rule_text(const struct dme_conf *conf);

/* ------------------------------------------------------------------------------------------------------------ files */

/* All of a text file ("-": standard input), to be freed. */
char *cli_read_file(const char *path);
/* "-" is standard output. Devices, pipes and links that lead to no file yet are written through. A regular file, also behind
 * links, is replaced whole or not at all, and keeps its mode; a new one has the mode that the umask leaves. */
void cli_write_file(const char *path, const char *text);
void cli_write_bytes(const char *path, const void *data, size_t len);
/* Before the work: cli_die if the path, unless it is null, cannot be written to. */
void cli_check_output(const char *option, const char *path);
/* A space-time diagram: SVG as it is made (null), or "pdf" or "png". The format that the end of a file's name says: */
const char *cli_picture_format(const char *path);
/* Before the work: cli_die if it cannot be written, or if a program that is needed to make it is missing. */
void cli_check_picture(const char *option, const char *path, const char *format);
void cli_write_picture(const char *path, const char *svg, const char *format);
enum { CLI_PATH_MAX = 4096 };
/* Can the path be replaced, being a regular file or none? Then `real` is it without links. */
bool cli_is_replaceable(const char *path, char real[CLI_PATH_MAX]);

/* ------------------------------------------------------------------------------------------------------------- JSON */

struct cli_json {
    FILE *to;
    unsigned depth;
    bool first; /* nothing has been written in this object or array yet */
    bool keyed; /* a key was written, its value comes next */
    bool line;  /* all of it on one line */
};

void json_object(struct cli_json *j);
void json_array(struct cli_json *j);
void json_end(struct cli_json *j, char bracket); /* '}' or ']' */
void json_key(struct cli_json *j, const char *key);
void json_text(struct cli_json *j, const char *value); /* null is written as null */
void json_count(struct cli_json *j, uint64_t value);
void json_number(struct cli_json *j, const char *digits); /* as written */
void json_real(struct cli_json *j, double value);         /* what is not finite is written as null */
void json_bool(struct cli_json *j, bool value);

int cmd_help(int argc, char **argv);
int cmd_completion(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_prove(int argc, char **argv);
int cmd_model(int argc, char **argv);
int cmd_quiz(int argc, char **argv);
int cmd_play(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_scenario(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_paper(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_keygen(int argc, char **argv);
int cmd_may(int argc, char **argv);
int cmd_passwd(int argc, char **argv);
int cmd_soak(int argc, char **argv);
int cmd_drain(int argc, char **argv);
int cmd_page_token(int argc, char **argv);
int cmd_member(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_lock(int argc, char **argv);
int cmd_try(int argc, char **argv);
int cmd_hold(int argc, char **argv);
int cmd_lead(int argc, char **argv);
int cmd_leader(int argc, char **argv);
int cmd_renew(int argc, char **argv);
int cmd_release(int argc, char **argv);
int cmd_holders(int argc, char **argv);
int cmd_waiters(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_views(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_locks(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_force_unlock(int argc, char **argv);
int cmd_watch(int argc, char **argv);

#endif
