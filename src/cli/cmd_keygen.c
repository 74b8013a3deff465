/* dibs keygen - a key file: for the members of a cluster, or for machines that only have clients. */
#include "cli.h"
#include "tls/key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new file that only its owner can read. */
static FILE *keygen_open(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0 && errno == EEXIST)
        cli_die("%s exists, and a key is never overwritten; remove it if it is no longer used", path);
    if (fd < 0 || fchmod(fd, 0600) < 0)
        cli_die("cannot write %s: %s", path, strerror(errno));
    return fdopen(fd, "w");
}

int cmd_keygen(int argc, char **argv)
{
    const char *cluster = NULL, *name = NULL, *path = NULL;
    const struct cli_option options[] = {
        {"--client-of", CLI_TEXT, &cluster, "FILE",
         "derive the client key of the cluster key in FILE (default: make a new cluster key)", 0, 0, NULL},
        {"--name", CLI_TEXT, &name, "NAME",
         "with --client-of: give the client key a name, by which rules can tell its holders from others (default: no "
         "name)",
         0, 0, NULL},
        {0},
    };
    const struct cli_usage usage = {
        "dibs keygen [FILE] [--client-of FILE [--name NAME]]",
        "Makes a cluster key, 256 random bits, in a new FILE that only its owner can read; without FILE it is "
        "printed. All members use the same key: dibs serve --key FILE.\n\n"
        "With --client-of, makes the client key that belongs to a cluster key, for machines that have only clients. A "
        "program with the client key can use locks and verify that a daemon belongs to the cluster. It can neither "
        "act as a daemon nor change the members. Keys with different names are different: \"allow key:ci lock "
        "build-*\" in the configuration of a daemon is about the key with --name ci. The key without a name is "
        "key:client.",
        options,
        {{"Make the key of a cluster:", "dibs keygen dibs.key"},
         {"Make the key for the clients of that cluster:", "dibs keygen --client-of dibs.key client.key"},
         {"Make a key for one sort of clients:", "dibs keygen --client-of dibs.key --name ci ci.key"}},
    };
    struct key key, client;
    char why[512];
    FILE *to;
    bool written;

    cli_parse(argc, argv, &usage, &path, 1);
    if (name && !cluster)
        cli_die("--name: a cluster key has no name; say of which cluster with --client-of");
    if (name && (!key_is_name(name) || strcmp(name, "client") == 0 || strcmp(name, "cluster") == 0))
        cli_die("--name: \"%s\" cannot be the name of a key; it has 1 to %d letters, digits, dots, dashes and "
                "underscores, and is neither client nor cluster",
                name, KEY_NAME_MAX);
    if (cluster && !key_read(&key, cluster, why, sizeof why))
        cli_die("--client-of: %s", why);
    if (!cluster && !key_make(&key))
        cli_die("cannot read random numbers: %s", strerror(errno));
    if (cluster && key.client)
        cli_die("--client-of: %s is a client key; the cluster's is needed, or a copy of this file", cluster);
    if (cluster && !key_for_clients(&key, name ? name : "", &client))
        cli_die("out of memory");
    to = path ? keygen_open(path) : stdout;
    key_write(cluster ? &client : &key, to);
    written = fflush(to) == 0 && (!path || fsync(fileno(to)) == 0);
    if (path && fclose(to) != 0)
        written = false;
    if (!written && path) {
        unlink(path);
        cli_die("cannot write %s: %s", path, strerror(errno));
    }
    return CLI_OK;
}
