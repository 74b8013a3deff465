/* dibs prove - what is proved, proved again: every row of prove_rows.c is a command, and this runs it. */
#include "base/bytes.h"
#include "base/memory.h"
#include "base/pool.h"
#include "cli.h"
#include "interrupt.h"
#include "progress.h"
#include "prove.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A row, and what its command said. */
struct proof {
    const struct prove_row *row;
    int status;      /* of the command; -1: it did not end by itself, or was not run */
    uint64_t states; /* that it told */
    double seconds;
};

struct proofs {
    struct proof *proof;
    size_t count;
    bool mutants;                      /* run the mutants instead */
    const volatile sig_atomic_t *stop; /* Ctrl-C */
};

static const char prove_marker[] = "mutant: ";

static bool prove_is_outside(const struct prove_row *row)
{
    return row->command[0] == '.';
}

static bool prove_is_built(const struct prove_row *row)
{
    return strncmp(row->mutant, prove_marker, strlen(prove_marker)) == 0;
}

/* Starts a command of this very program. Returns its number, and where it writes. */
static pid_t prove_start(const char *words, int *from)
{
    char name[] = "sh", option[] = "-c", line[1024];
    char *const shell[] = {name, option, line, NULL};
    posix_spawn_file_actions_t files;
    int ends[2];
    pid_t pid;

    /* The shell is replaced, so /proc/self is not this program; its parent's link is. */
    snprintf(line, sizeof line, "exec /proc/%ld/exe %s --format json 2>/dev/null", (long)getpid(), words);
    if (pipe2(ends, O_CLOEXEC) < 0)
        cli_die("cannot run \"dibs %s\": %s", words, strerror(errno));
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    errno = posix_spawn(&pid, "/bin/sh", &files, NULL, shell, environ);
    if (errno)
        cli_die("cannot run \"dibs %s\": %s", words, strerror(errno));
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    *from = ends[0];
    return pid;
}

/* All that the command writes, until it ends. Ctrl-C at a terminal goes to the command, too; a signal to this process alone does not, and is passed on. */
static void prove_read(const volatile sig_atomic_t *stop, pid_t pid, int from, struct bytes *said)
{
    enum { PROVE_ROOM = 4096, PROVE_LOOK_MS = 100 };
    bool told = false;
    ssize_t got;

    do {
        struct pollfd polled = {.fd = from, .events = POLLIN};

        if (*stop && !told) {
            kill(pid, SIGINT);
            told = true;
        }
        if (poll(&polled, 1, PROVE_LOOK_MS) <= 0) {
            got = 1;
            continue;
        }
        bytes_make_room(said, PROVE_ROOM);
        got = read(from, said->at + said->end, PROVE_ROOM);
        said->end += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
}

static void prove_command(struct proof *p, const char *words, const volatile sig_atomic_t *stop)
{
    struct bytes said = {0};
    struct timespec began, now;
    pid_t pid;
    int from, status;

    if (*stop)
        return;
    clock_gettime(CLOCK_MONOTONIC, &began);
    pid = prove_start(words, &from);
    prove_read(stop, pid, from, &said);
    close(from);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    p->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    *bytes_add(&said, 1) = '\0';
    for (const char *at = (char *)said.at; (at = strstr(at, "\"states\": ")) != NULL;) {
        at += strlen("\"states\": ");
        p->states = strtoull(at, NULL, 10);
    }
    free(said.at);
    clock_gettime(CLOCK_MONOTONIC, &now);
    p->seconds = (double)(now.tv_sec - began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) * 1e-9;
}

static void prove_job(void *context, size_t k)
{
    struct proofs *proofs = context;
    struct proof *p = &proofs->proof[k];

    prove_command(p, proofs->mutants ? p->row->mutant : p->row->command, proofs->stop);
}

static bool prove_holds(const struct proofs *proofs, const struct proof *p)
{
    if (proofs->mutants)
        return p->status == CLI_FAILED;
    return p->status == CLI_OK && (!p->row->states || p->row->states == p->states);
}

/* Does the row have all of these words? */
static bool prove_is_meant(const struct prove_row *row, const char **words, int count)
{
    for (int k = 0; k < count; k++)
        if (!strstr(row->command, words[k]) && !strstr(row->subject, words[k]) && !strstr(row->claim, words[k]))
            return false;
    return true;
}

/* Ctrl-C came before the command had a result. */
static bool prove_is_open(const struct proofs *proofs, const struct proof *p)
{
    return *proofs->stop && p->status != CLI_OK && p->status != CLI_FAILED;
}

static const char *prove_verdict(const struct proofs *proofs, const struct proof *p)
{
    if (prove_is_open(proofs, p))
        return "interrupted";
    if (proofs->mutants)
        return prove_holds(proofs, p) ? "refuted" : "NOT REFUTED";
    return prove_holds(proofs, p) ? "proved" : p->status == CLI_OK ? "ANOTHER FIGURE" : "NOT PROVED";
}

static void prove_print(const struct proofs *proofs, const struct proof *p)
{
    const char *colour = colour_of(prove_is_open(proofs, p) ? VERDICT_OPEN
                                   : prove_holds(proofs, p) ? VERDICT_GOOD
                                                            : VERDICT_BAD);

    if (proofs->mutants)
        printf("| `dibs %s` | %s%s%s |\n", p->row->mutant, colour, prove_verdict(proofs, p), colour_end());
    else
        printf("| %s | %s | %s | %s | %llu | %.1f s | %s%s%s | `dibs %s` |\n", p->row->subject, p->row->claim,
               p->row->bounds, p->row->how, (unsigned long long)p->states, p->seconds, colour, prove_verdict(proofs, p),
               colour_end(), p->row->command);
}

/* One table for each part that has rows. Returns the exit status. */
static int prove_print_all(const struct proofs *proofs)
{
    static const char *const heads[PROVE_PARTS] = {
        [PROVE_REQUESTS] = "Any number of requests",
        [PROVE_SITES] = "Any number of sites",
        [PROVE_SERVICE] = "The service",
        [PROVE_MEMORY] = "Memory safety",
    };
    int status = CLI_OK, last = -1;

    for (size_t k = 0; k < proofs->count; k++) {
        const struct proof *p = &proofs->proof[k];

        if ((int)p->row->part != last)
            printf("%s## %s\n\n%s\n", last < 0 ? "" : "\n", heads[p->row->part],
                   proofs->mutants ? "| mutant | |\n|---|---|"
                                   : "| what | is proved | for | how | states | time | | command |\n"
                                     "|---|---|---|---|---|---|---|---|");
        last = (int)p->row->part;
        prove_print(proofs, p);
        if (!prove_holds(proofs, p) && !prove_is_open(proofs, p))
            status = CLI_FAILED;
    }
    return status == CLI_OK && *proofs->stop ? CLI_UNFINISHED : status;
}

/* For tests: the command and the mutant of each row. */
static void prove_list(const struct proofs *proofs)
{
    for (size_t k = 0; k < proofs->count; k++)
        printf("%s\t%s\n", proofs->proof[k].row->command, proofs->proof[k].row->mutant);
}

int cmd_prove(int argc, char **argv)
{
    static bool all, list, mutants;
    static const struct cli_option options[] = {
        {.name = "--all",
         .type = CLI_FLAG,
         .value = &all,
         .help = "prove all rows, also those that take longer than some seconds"},
        {.name = "--mutants",
         .type = CLI_FLAG,
         .value = &mutants,
         .help = "run the broken variant of each row instead, and expect that it is refuted"},
        {.name = "--list", .type = CLI_FLAG, .value = &list, .help = "run nothing: print each command and its mutant"},
        {0},
    };
    static const struct cli_usage usage = {
        .line = "dibs prove [WORD...] [OPTION...]",
        .about =
            "Proves again what is proved about the algorithms and the service, and prints a table of it. Each row is a "
            "command that can be typed, the number of states that it must have, and how long it took. With words, only "
            "rows that have all of them.\n"
            "\n"
            "Rows that another program proves (memory safety) are run by \"./run prove\".\n"
            "\n"
            "Ctrl-C ends it with the rows that were proved by then.\n"
            "\n"
            "Exit status: 0 every row is proved, 1 a row is not, 2 the command line is wrong, 3 it was interrupted.",
        .options = options,
        .examples = {{"Prove what takes a few seconds:", "dibs prove"},
                     {"Prove everything about one algorithm:", "dibs prove ricart-agrawala --all"}},
    };
    const char *words[8];
    int count = cli_parse(argc, argv, &usage, words, 8), status = CLI_OK;
    struct proofs proofs = {.mutants = mutants};

    for (const struct prove_row *row = prove_rows; row->subject; row++) {
        bool runs = list || !(prove_is_outside(row) || (mutants && prove_is_built(row)));

        if (!runs || !prove_is_meant(row, words, count) || (row->takes_long && !all))
            continue;
        proofs.proof = mem_grow(proofs.proof, (proofs.count + 1) * sizeof *proofs.proof);
        proofs.proof[proofs.count++] = (struct proof){.row = row, .status = -1};
    }
    if (!proofs.count)
        cli_die("no row of the table has these words; \"dibs prove --list --all\" shows all rows");
    if (list) {
        prove_list(&proofs);
    } else {
        proofs.stop = interrupt_catch();
        progress_pool(pool_cores(), proofs.count, prove_job, &proofs, "proofs");
        status = prove_print_all(&proofs);
    }
    free(proofs.proof);
    return status;
}
