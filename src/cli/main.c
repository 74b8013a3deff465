/* main.c - dibs: one binary, many commands. */
#include "cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

const struct cli_command cli_commands[] = {
    {"serve", "run the lock daemon of this machine", cmd_serve, "The lock service:"},
    {"lock", "run a command while holding a lock", cmd_lock, NULL},
    {"try", "run a command under a lock if the lock is free", cmd_try, NULL},
    {"hold", "take a lock for a script, by a token, until it is released or a time has passed", cmd_hold, NULL},
    {"renew", "begin the time anew for which a token holds a lock", cmd_renew, NULL},
    {"release", "release a lock that a token holds", cmd_release, NULL},
    {"holders", "list the clients that hold a lock", cmd_holders, NULL},
    {"waiters", "list the clients that wait for a lock", cmd_waiters, NULL},
    {"locks", "list the locks that the members know", cmd_locks, NULL},
    {"status", "show the state of a daemon and its connections to the other members", cmd_status, NULL},
    {"watch", "print each request, grant, release and loss of a lock when it happens", cmd_watch, NULL},
    {"force-unlock", "take a lock away from its holders", cmd_force_unlock, NULL},
    {"page-token", "print an address that opens the web page of a daemon", cmd_page_token, NULL},
    {"drain", "end a daemon when its clients hold no locks any more", cmd_drain, NULL},
    {"member", "list, add or remove the members of a cluster", cmd_member, NULL},
    {"passwd", "make the line of a configuration for a name with a password", cmd_passwd, NULL},
    {"may", "tell whether a client has a right, and by which rule", cmd_may, NULL},
    {"keygen", "make a key for the members of a cluster, or for its clients", cmd_keygen, NULL},
    {"soak", "run simulated clusters of the service under faults", cmd_soak, NULL},
    {"demo", "show a short tour: one algorithm step by step, then all of them checked and measured", cmd_demo,
     "The laboratory:"},
    {"list", "list the algorithms with their rules, needs, messages, costs and papers", cmd_list, NULL},
    {"explain", "explain an algorithm: idea, rules, invariants, costs, mistakes", cmd_explain, NULL},
    {"check", "check every interleaving of a small system", cmd_check, NULL},
    {"prove", "prove again what is proved for any number of requests, or of sites", cmd_prove, NULL},
    {"model", "search all runs of a model of views and leases", cmd_model, NULL},
    {"sim", "run an algorithm in simulated time and measure what it costs", cmd_sim, NULL},
    {"sweep", "run many simulations on all cores and make a table of them", cmd_sweep, NULL},
    {"plot", "draw the tables of dibs sweep", cmd_plot, NULL},
    {"paper", "repeat a published table, figure or theorem and tell whether it holds", cmd_paper, NULL},
    {"scenario", "play a scenario file step by step and compare what happens", cmd_scenario, NULL},
    {"play", "step through an algorithm or a scenario by hand, forward and back", cmd_play, NULL},
    {"quiz", "exercises: find the mistake in an algorithm", cmd_quiz, NULL},
    {"lab", "serve the laboratory as a web page", cmd_lab, NULL},
    {"trace", "draw a scenario as a space-time diagram", cmd_trace, NULL},
    {0},
};

static void main_help(FILE *to)
{
    cli_help_text(to, "dibs - distributed mutual exclusion: a lock service without a central server, and a laboratory "
                      "in which its algorithms are measured and checked");
    for (const struct cli_command *c = cli_commands; c->name; c++) {
        char left[32];

        if (c->section)
            fprintf(to, "\n%s\n", c->section);
        snprintf(left, sizeof left, "dibs %s", c->name);
        cli_help_item(to, left, c->summary);
    }
    cli_help_text(
        to, "\n\"dibs COMMAND --help\" describes the options of a command and shows examples. docs/glossary.md defines "
            "the terms.\n\nExit status: 0 success, 1 the answer is no, 2 the command line is wrong. Some commands have "
            "more.");
}

/* If the caller has closed one of the first three descriptors, the next file or connection would get its number, and a
 * message meant for stderr would be written into it. A descriptor that fails on every use takes the free number. */
static void main_keep_descriptors(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            exit(CLI_USAGE);
}

int main(int argc, char **argv)
{
    const char *names[48] = {0};
    unsigned count = 0;

    main_keep_descriptors();

    if (argc < 2) {
        main_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        main_help(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("dibs %s\n", DIBS_VERSION);
        return CLI_OK;
    }
    for (const struct cli_command *c = cli_commands; c->name; c++) {
        if (strcmp(argv[1], c->name) == 0) {
            int status = c->run(argc - 1, argv + 1);

            /* A full disk or a closed pipe must not look like success. */
            if (fflush(stdout) != 0 || ferror(stdout))
                cli_die("cannot write the output");
            return status;
        }
        names[count++] = c->name;
    }
    cli_unknown("command", argv[1], names, "dibs --help shows all");
}
