/* dibs passwd - the line of a configuration by which a name can log in with a password. */
#include "cli.h"
#include "rights/rights.h"
#include "tls/password.h"

#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Reads one line; at a terminal it is asked for, and not shown. */
static size_t passwd_read(char *text, size_t room)
{
    struct termios before, silent;
    bool terminal = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &before) == 0;
    bool got;

    if (terminal) {
        silent = before;
        silent.c_lflag &= ~(tcflag_t)ECHO;
        fprintf(stderr, "Password: ");
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    got = fgets(text, (int)room, stdin) != NULL;
    if (terminal) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        fprintf(stderr, "\n");
    }
    if (!got)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return strlen(text);
}

int cmd_passwd(int argc, char **argv)
{
    const char *name = NULL;
    const struct cli_option options[] = {{0}};
    const struct cli_usage usage = {
        "dibs passwd LOGIN",
        "Reads a password from standard input, or from the terminal, and prints a line for the configuration of a "
        "daemon. By that line clients of Redis can log in: AUTH LOGIN password. The rules of the configuration call "
        "them auth:LOGIN.\n\n"
        "The line has a hash of the password, with a new salt each time. A password for programs should be long and "
        "random: the hash is quick to compute, since the daemon waits for it before it goes on with other work.",
        options,
        {{"Type a password:", "dibs passwd web"},
         {"Take a password from a file, and add the line to a configuration:",
          "dibs passwd web < web.password >> dibs.conf"}},
    };
    char text[PASSWORD_MAX + 2], hash[PASSWORD_TEXT];
    size_t len;

    cli_parse(argc, argv, &usage, &name, 1);
    if (!name || !rights_is_name(name, strlen(name)))
        cli_die("%s (usage: %s)",
                name ? "a login has letters, digits, dots, dashes and underscores only" : "no login is named",
                usage.line);
    len = passwd_read(text, sizeof text);
    if (len == 0 || len > PASSWORD_MAX)
        cli_die("a password has 1 to %d bytes; it is read from standard input", PASSWORD_MAX);
    if (!password_hash(text, len, hash))
        cli_die("passwords need OpenSSL 3: install the package libssl3");
    explicit_bzero(text, sizeof text);
    printf("login %s %s\n", name, hash);
    return CLI_OK;
}
