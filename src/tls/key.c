/* key.c - see key.h. */
#include "key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int key_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "dibs-key cluster 0123...": false if it is not such a line. */
static bool key_parse(struct key *k, const char *line)
{
    static const char *const starts[] = {"dibs-key cluster ", "dibs-key client "};
    size_t start;

    k->client = strncmp(line, starts[1], strlen(starts[1])) == 0;
    start = strlen(starts[k->client]);
    if (strncmp(line, starts[k->client], start) != 0)
        return false;
    line += start;
    for (unsigned b = 0; b < KEY_LEN; b++, line += 2) {
        int high = key_digit(line[0]), low = high < 0 ? -1 : key_digit(line[1]);

        if (low < 0)
            return false;
        k->bytes[b] = (uint8_t)(high << 4 | low);
    }
    return line[strspn(line, " \t\r\n")] == '\0';
}

static bool key_read_lines(struct key *k, FILE *from)
{
    char line[256];
    bool found = false, wrong = false;

    while (!wrong && fgets(line, sizeof line, from)) {
        if (line[0] == '#' || line[strspn(line, " \t\r\n")] == '\0')
            continue;
        wrong = found || !key_parse(k, line); /* one, and nothing else */
        found = true;
    }
    OPENSSL_cleanse(line, sizeof line);
    return found && !wrong;
}

bool key_read(struct key *k, const char *path, char *why, size_t size)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* it may be a pipe, on which one would wait */
    FILE *from = fd < 0 ? NULL : fdopen(fd, "r");
    struct stat file;
    bool good = false;

    if (!from || fstat(fileno(from), &file) < 0)
        snprintf(why, size, "cannot read %s: %s", path, strerror(errno));
    else if (!S_ISREG(file.st_mode))
        snprintf(why, size, "%s is not a file", path);
    else if (file.st_mode & 077)
        snprintf(why, size,
                 "others can read or write %s; take that away with chmod 600, and make a new key if they did", path);
    else if (file.st_uid != geteuid() && file.st_uid != 0)
        snprintf(why, size, "%s belongs to another user, who can read it", path);
    else if (!(good = key_read_lines(k, from)))
        snprintf(why, size, "%s is not a key file; make one with dibs keygen", path);
    if (from)
        fclose(from);
    return good;
}

bool key_make(struct key *k)
{
    k->client = false;
    return RAND_priv_bytes(k->bytes, KEY_LEN) == 1;
}

void key_write(const struct key *k, FILE *to)
{
    fprintf(to, "# A dibs %s key, made by dibs keygen: whoever can read it can %s.\ndibs-key %s ",
            k->client ? "client" : "cluster",
            k->client ? "take and release locks" : "be a member of the cluster, and a client",
            k->client ? "client" : "cluster");
    for (unsigned b = 0; b < KEY_LEN; b++)
        fprintf(to, "%02x", k->bytes[b]);
    fprintf(to, "\n");
}

/* Keys of different purposes tell nothing of each other, nor of the one they are made from. */
static struct key key_derive(const struct key *k, const char *purpose, bool client)
{
    struct key derived = {.client = client};
    unsigned len = KEY_LEN;

    HMAC(EVP_sha256(), k->bytes, KEY_LEN, (const uint8_t *)purpose, strlen(purpose), derived.bytes, &len);
    return derived;
}

struct key key_for_clients(const struct key *k)
{
    return k->client ? *k : key_derive(k, "dibs key of clients", true);
}

struct key key_for_members(const struct key *k)
{
    return key_derive(k, "dibs key of members", false);
}
