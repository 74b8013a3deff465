/* key.c - see key.h. */
#include "key.h"

#include "openssl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int key_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads KEY_LEN bytes as hexadecimal digits. Returns the rest of the line, or null if they are malformed. */
static const char *key_parse_bytes(uint8_t *bytes, const char *line)
{
    for (unsigned b = 0; b < KEY_LEN; b++, line += 2) {
        int high = key_digit(line[0]), low = high < 0 ? -1 : key_digit(line[1]);

        if (low < 0)
            return NULL;
        bytes[b] = (uint8_t)(high << 4 | low);
    }
    return line;
}

bool key_is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

    return *name && strlen(name) <= KEY_NAME_MAX && name[strspn(name, allowed)] == '\0';
}

static bool key_is_end(const char *line)
{
    return line[strspn(line, " \t\r\n")] == '\0';
}

/* What a line of a key file is; KEY_IS_OLD: a client key of an earlier form, without the daemons' public key. */
enum key_line { KEY_IS_GOOD, KEY_IS_NONE, KEY_IS_OLD };

/* Reads the line of a key file; key.h has its forms. */
static enum key_line key_parse(struct key *k, const char *line)
{
    static const char cluster[] = "dibs-key cluster ", client[] = "dibs-key client ", daemon[] = " daemon ",
                      named[] = " name ";

    k->client = strncmp(line, client, strlen(client)) == 0;
    if (!k->client && strncmp(line, cluster, strlen(cluster)) != 0)
        return KEY_IS_NONE;
    line = key_parse_bytes(k->bytes, line + strlen(k->client ? client : cluster));
    if (!line || !k->client)
        return line && key_is_end(line) ? KEY_IS_GOOD : KEY_IS_NONE;
    if (key_is_end(line)) /* in that form, daemons and clients had the same key: a client could pose as a daemon */
        return KEY_IS_OLD;
    if (strncmp(line, daemon, strlen(daemon)) != 0)
        return KEY_IS_NONE;
    line = key_parse_bytes(k->daemon, line + strlen(daemon));
    if (line && strncmp(line, named, strlen(named)) == 0) {
        size_t len = strcspn(line += strlen(named), " \t\r\n");

        if (len > KEY_NAME_MAX)
            return KEY_IS_NONE;
        memcpy(k->name, line, len);
        line = key_is_name(k->name) ? line + len : NULL;
    }
    return line && key_is_end(line) ? KEY_IS_GOOD : KEY_IS_NONE;
}

static enum key_line key_read_lines(struct key *k, FILE *from)
{
    enum key_line is = KEY_IS_NONE;
    bool found = false;
    char line[256];

    while (fgets(line, sizeof line, from)) {
        if (line[0] == '#' || key_is_end(line))
            continue;
        is = found ? KEY_IS_NONE : key_parse(k, line); /* a file with two keys is refused */
        if (is != KEY_IS_GOOD)
            break;
        found = true;
    }
    explicit_bzero(line, sizeof line);
    return is;
}

static bool key_is_our_group(gid_t group)
{
    gid_t groups[256];
    int count = getgroups(256, groups);

    for (int k = 0; k < count; k++)
        if (groups[k] == group)
            return true;
    return group == getegid();
}

/* Only the owner may have access. One exception: a process that is not root's may read a file of root that one of its groups may
 * read, as root:dibs 0640. Many daemons have their keys in such files. */
static bool key_is_secret(const struct stat *file)
{
    if (file->st_mode & 037)
        return false;
    return !(file->st_mode & 040) || (file->st_uid == 0 && geteuid() != 0 && key_is_our_group(file->st_gid));
}

bool key_read(struct key *k, const char *path, char *why, size_t size)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* if it is a pipe, open must not wait for a writer */
    FILE *from = fd < 0 ? NULL : fdopen(fd, "r");
    enum key_line is = KEY_IS_NONE;
    struct stat file;

    *k = (struct key){.client = false};
    if (!openssl_load()) /* without it, the key would be of no use */
        snprintf(why, size, OPENSSL_MISSING);
    else if (!from || fstat(fileno(from), &file) < 0)
        snprintf(why, size, "cannot read %s: %s", path, strerror(errno));
    else if (!S_ISREG(file.st_mode))
        snprintf(why, size, "%s is not a file", path);
    else if (!key_is_secret(&file))
        snprintf(why, size, "others can read or write %s; change that with chmod 600, and make a new key if they did",
                 path);
    else if (file.st_uid != geteuid() && file.st_uid != 0)
        snprintf(why, size, "%s belongs to another user, who can read it", path);
    else if ((is = key_read_lines(k, from)) == KEY_IS_NONE)
        snprintf(why, size, "%s is not a key file; make one with dibs keygen", path);
    else if (is == KEY_IS_OLD)
        snprintf(why, size,
                 "%s is a client key of an older form, with which its holder could pose as a daemon; make a new one "
                 "with dibs keygen --client-of",
                 path);
    if (from)
        fclose(from);
    return is == KEY_IS_GOOD;
}

bool key_make(struct key *k)
{
    *k = (struct key){.client = false};
    return openssl_load() && RAND_priv_bytes(k->bytes, KEY_LEN) == 1;
}

static void key_write_bytes(const uint8_t *bytes, FILE *to)
{
    for (unsigned b = 0; b < KEY_LEN; b++)
        fprintf(to, "%02x", bytes[b]);
}

void key_write(const struct key *k, FILE *to)
{
    fprintf(to, "# A dibs %s key, made by dibs keygen: a user that can read it can %s.\ndibs-key %s ",
            k->client ? "client" : "cluster",
            k->client ? "take and release locks" : "be a member of the cluster, its operator, and a client",
            k->client ? "client" : "cluster");
    key_write_bytes(k->bytes, to);
    if (k->client) {
        fprintf(to, " daemon ");
        key_write_bytes(k->daemon, to);
        if (k->name[0])
            fprintf(to, " name %s", k->name);
    }
    fprintf(to, "\n");
}

struct key key_derive(const struct key *cluster, enum key_purpose purpose)
{
    static const char *const purposes[] = {"dibs key of members", "dibs signing key of daemons",
                                           "dibs signing key of operators", "dibs signing key of clients",
                                           "dibs naming key of clients"};
    struct key derived = {.client = false};
    unsigned len = KEY_LEN;

    HMAC(EVP_sha256(), cluster->bytes, KEY_LEN, (const uint8_t *)purposes[purpose], strlen(purposes[purpose]),
         derived.bytes, &len);
    return derived;
}

struct key key_of_name(const struct key *names, const char *name)
{
    struct key derived = {.client = false};
    unsigned len = KEY_LEN;

    HMAC(EVP_sha256(), names->bytes, KEY_LEN, (const uint8_t *)name, strlen(name), derived.bytes, &len);
    return derived;
}

bool key_public(const struct key *k, uint8_t *public_key)
{
    EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, k->bytes, KEY_LEN);
    size_t len = KEY_LEN;
    bool good = pair && EVP_PKEY_get_raw_public_key(pair, public_key, &len) == 1 && len == KEY_LEN;

    EVP_PKEY_free(pair);
    return good;
}

bool key_for_clients(const struct key *cluster, const char *name, struct key *client)
{
    struct key daemon = key_derive(cluster, KEY_DAEMONS);
    bool good;

    *client = key_derive(cluster, *name ? KEY_NAMES : KEY_CLIENTS);
    if (*name)
        *client = key_of_name(client, name);
    client->client = true;
    strncpy(client->name, name, KEY_NAME_MAX);
    good = key_public(&daemon, client->daemon);
    explicit_bzero(&daemon, sizeof daemon);
    return good;
}
