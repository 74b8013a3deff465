/* dibs page-token - an address that opens the web page of a daemon, and logs in once. */
#include "ask.h"

#include <string.h>

int cmd_page_token(int argc, char **argv)
{
    static const char *const words[] = {"PAGE-TOKEN"};
    const char *const formats[] = {"text", "json", NULL};
    struct ask_place place = {0};
    unsigned format = 0;
    const struct cli_option options[] = {
        ASK_PLACE_OPTIONS(place),
        {"--format", CLI_CHOICE, &format, "F", "print in format F (default text)", 0, 0, formats},
        {0},
    };
    const struct cli_usage usage = {
        "dibs page-token [OPTION...]",
        "Prints an address that opens the web page of a daemon (dibs serve --http) with the names of locks, their "
        "clients and what happens to them. The address works once, within two minutes; the browser is logged in for "
        "eight hours, or until the daemon ends. The page may do what this command may do: the owner of the daemon's "
        "socket, root and holders of the cluster key can take locks away from their holders there; others can only "
        "look.\n\n"
        "HTTP is not encrypted, so this works for a page on loopback only. To look from another machine, forward the "
        "port: ssh -L 7480:127.0.0.1:7480 ant.",
        options,
        {{"Print an address for the browser of this machine:", "dibs page-token"},
         {"Print one for the browser, as JSON, from the daemon at this socket:",
          "dibs page-token --socket /run/dibs/dibs.sock --format json"}},
    };
    struct dibs_reply *r;
    struct dibs *d;

    cli_parse(argc, argv, &usage, NULL, 0);
    d = ask_connect(&place, NULL, CLI_FAILED);
    if (dibs_ask(d, words, 1, &r) != DIBS_OK) {
        fprintf(stderr, "dibs: %s\n", dibs_message(d));
        dibs_close(d);
        return CLI_FAILED;
    }
    if (format)
        ask_show(r, true);
    else
        printf("%s\n", ask_clean(ask_field(r, "url")->text));
    dibs_free(r);
    dibs_close(d);
    return CLI_OK;
}
