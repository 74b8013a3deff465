/* dibs serve - the daemon of one machine. */
#include "alg/list.h"
#include "cli.h"
#include "client/dibs.h"
#include "core/text.h"
#include "serve/serve.h"

#include <string.h>

static const struct dme_alg *serve_algorithm(const char *name, bool slots, uint32_t n)
{
    const struct dme_alg *alg = cli_algorithm(name);
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    if (!locks_can_run(alg, slots, n, &why))
        cli_die("%s; choose another one with --%s (dibs list shows all)", line,
                slots ? "slots-algorithm" : "algorithm");
    return alg;
}

int cmd_serve(int argc, char **argv)
{
    static struct serve_conf conf;
    const char *name = "alone", *members = NULL, *listen = NULL, *path = NULL, *modes = "swaroop-singh",
               *slots = "central";
    const struct cli_option options[] = {
        {"--name", CLI_TEXT, &name, "NAME", "which of the members this is", 0, 0, NULL},
        {"--members", CLI_TEXT, &members, "LIST", "all members: NAME=ADDRESS:PORT,...; the same list on each", 0, 0,
         NULL},
        {"--listen", CLI_TEXT, &listen, "ADDRESS:PORT", "where to listen, if not at the address in the list", 0, 0,
         NULL},
        {"--socket", CLI_TEXT, &path, "PATH", "where clients of this machine come in", 0, 0, NULL},
        {"--algorithm", CLI_TEXT, &modes, "NAME", "of exclusive, shared and group locks (swaroop-singh)", 0, 0, NULL},
        {"--slots-algorithm", CLI_TEXT, &slots, "NAME", "of locks with slots (central)", 0, 0, NULL},
        {0},
    };
    const struct cli_usage usage = {
        "dibs serve [--name NAME --members LIST] [OPTION...]",
        "The daemon of one machine. Without options it is a cluster of one. Clients find it by its socket: --socket,\n"
        "$DIBS_SOCKET, $XDG_RUNTIME_DIR/dibs.sock or /run/dibs.sock; only its owner may use it. Members are on "
        "loopback\n"
        "only, as their links are not encrypted. All members must be started before a lock is granted, and if one of\n"
        "them has ended, all must be restarted. SIGTERM and SIGINT end it.",
        options,
    };
    char line[256];
    struct dme_text why;

    cli_parse(argc, argv, &usage, NULL, 0);
    dme_text_init(&why, line, sizeof line);
    conf.socket = path ? path : dibs_socket_path();
    if (!members) {
        conf.n = 1;
        snprintf(conf.member[0].name, sizeof conf.member[0].name, "%.*s", LINK_NAME_MAX, name);
    } else if (!serve_read_members(&conf, members, name, &why)) {
        cli_die("--members: %s", line);
    }
    if (listen && !serve_read_listen(&conf, listen, &why))
        cli_die("--listen: %s", line);
    conf.modes = serve_algorithm(modes, false, conf.n);
    conf.slots = serve_algorithm(slots, true, conf.n);
    serve_summarize(&conf);
    return serve_run(&conf);
}
