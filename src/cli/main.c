/* main.c - dibs: one binary, many commands. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

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
        cli_help_all(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_help_all(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        cli_version(stdout);
        return CLI_OK;
    }
    for (const struct cli_command *c = cli_commands; c->name; c++) {
        if (strcmp(argv[1], c->name) == 0) {
            int status = c->run(argc - 1, argv + 1);

            /* A full disk or a closed pipe must not look like success. */
            errno = 0;
            if (fflush(stdout) != 0 || ferror(stdout))
                cli_die("cannot write the output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
            return status;
        }
        names[count++] = c->name;
    }
    if (strcmp(argv[1], "unlock") == 0)
        cli_die("unknown command \"unlock\": a lock is released when the command of \"dibs lock\" ends; for a lock of "
                "\"dibs hold\" there is \"dibs release\", and \"dibs force-unlock\" takes any lock away");
    cli_unknown("command", argv[1], names, "dibs --help shows all");
}
