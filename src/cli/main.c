/* main.c - dibs: one binary, many commands. */
#include "cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

const struct cli_command cli_commands[] = {
    {"demo", "a short tour: one algorithm step by step, then all of them checked and measured", cmd_demo},
    {"list", "the algorithms: rules, needs, messages, costs, papers", cmd_list},
    {"sim", "run an algorithm in simulated time and count what it costs", cmd_sim},
    {"sweep", "many simulations on all cores, as a table", cmd_sweep},
    {"plot", "draw the tables of sweep", cmd_plot},
    {"paper", "repeat a published table, figure or theorem, and say whether it holds", cmd_paper},
    {"trace", "draw a scenario: who waits, who is inside, which messages go between them", cmd_trace},
    {"scenario", "play a scenario file step by step", cmd_scenario},
    {"check", "try every interleaving of a small system", cmd_check},
    {"soak", "whole clusters under faults, each from a seed", cmd_soak},
    {"serve", "the lock daemon of this machine", cmd_serve},
    {"keygen", "a key for the members of a cluster, or for its clients", cmd_keygen},
    {"lock", "run a command while holding a lock", cmd_lock},
    {"try", "the same, unless somebody else holds it", cmd_try},
    {"holders", "who holds a lock", cmd_holders},
    {"waiters", "who waits for a lock", cmd_waiters},
    {"locks", "the locks that the daemon knows", cmd_locks},
    {"status", "the daemon and its peers", cmd_status},
    {"watch", "what happens to locks, as it happens", cmd_watch},
    {"member", "the members of the cluster: list, add, remove", cmd_member},
    {"force-unlock", "take a lock away from whoever holds it", cmd_force_unlock},
    {0},
};

static void main_help(FILE *to)
{
    fprintf(to, "dibs - distributed mutual exclusion: the algorithms, measured and checked, and a lock service\n\n");
    for (const struct cli_command *c = cli_commands; c->name; c++)
        fprintf(to, "  dibs %-12s %s\n", c->name, c->summary);
    fprintf(to, "\n\"dibs COMMAND --help\" tells more. Exit status: 0 fine, 1 the answer is no, 2 bad usage.\n");
}

/* Whoever has closed one of the first three descriptors must not find a connection or a key file in its place, into
 * which a message would be written. What takes it is as good as closed: it fails when it is used. */
static void main_keep_descriptors(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            exit(CLI_USAGE);
}

int main(int argc, char **argv)
{
    const char *names[32] = {0};
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
