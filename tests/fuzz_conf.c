/* Whatever is in a configuration file: it is understood, or every line on the way out names a mistake. A
 * configuration that was understood can be printed, and means the same when it is read again. */
#include "fuzz.h"

#include "serve/conf.h"

#include <string.h>

static const char *const fuzz_words[] = {
    "\n",
    "name ",
    "ant",
    "member ",
    "ant=127.0.0.1:7401\n",
    "member ant=127.0.0.1:1\nname ant\n",
    "bee=[::1]:7402\n",
    "listen ",
    "127.0.0.1:",
    "7400",
    "lease ",
    "1000\n",
    "99",
    "algorithm ",
    "lamport",
    "slots-algorithm ",
    "central",
    "policy ",
    "* ",
    "build-* ",
    "slots=",
    "none ",
    "3 ",
    "algorithm=",
    "slots-algorithm=",
    "raymond-k ",
    " # ",
    "\t",
    "\r\n",
    "socket ",
    "data ",
    "=",
    ":",
    "[",
    "]",
    "member bee=127.0.0.1:2\n",
    "policy a?c slots=none\n",
    "lease 500\n",
    "algorithm naimi-trehel\n",
    "policy x slots=2 algorithm=raymond\n",
};

static size_t fuzz_text(struct fuzz_input in, char *text, size_t room)
{
    size_t len = 0;
    unsigned words = fuzz_take(&in);

    words = words % 4 ? words % 8 : 255; /* short ones may well be right */

    while (in.at < in.end && words--) {
        const char *word = fuzz_words[fuzz_take(&in) % (sizeof fuzz_words / sizeof fuzz_words[0])];
        char byte[2] = {(char)fuzz_take(&in), 0};

        if ((byte[0] & 0x60) == 0x60)
            word = byte;
        if (room - len <= strlen(word))
            break;
        memcpy(text + len, word, strlen(word));
        len += strlen(word);
    }
    text[len] = '\0';
    return len;
}

/* The mistakes, or "". */
static char *fuzz_understand(char *text, struct serve_conf *conf)
{
    static struct conf_draft draft;
    char *said = NULL;
    size_t len;
    FILE *to = open_memstream(&said, &len);
    bool fine;

    conf_begin(&draft);
    draft.set[CONF_SOCKET].text = "s"; /* as on the command line */
    conf_read(&draft, "conf", text);
    fine = conf_understand(&draft, conf);
    conf_tell(&draft, to);
    fclose(to);
    FUZZ_EXPECT(fine == (len == 0), "%s", said);
    return said;
}

/* A daemon's own words: the summary, as lines of a file. */
static void fuzz_again(const struct serve_conf *conf)
{
    static struct serve_conf again;
    char *text = NULL, *said;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    fprintf(to, "name %s\nalgorithm %s\nslots-algorithm %s\nlease %d\n", conf->member[conf->self].name,
            conf->algorithm->name, conf->slots_algorithm->name, (int)conf->lease_ms);
    for (uint32_t j = 0; j < conf->n && conf->member[0].port; j++)
        fprintf(to, "member %s=%s:%d\n", conf->member[j].name, conf->member[j].host, conf->member[j].port);
    for (uint32_t k = 0; k < conf->policies; k++) {
        const struct lock_policy *p = &conf->policy[k];

        fprintf(to, "policy %s algorithm=%s slots-algorithm=%s", p->pattern, p->algorithm->name,
                p->slots_algorithm->name);
        if (p->kind != LOCK_ANY_KIND)
            fprintf(to, p->kind ? " slots=%d" : " slots=none", p->kind);
        fprintf(to, "\n");
    }
    fclose(to);
    said = fuzz_understand(text, &again);
    FUZZ_EXPECT(!*said, "%s", said);
    FUZZ_EXPECT(strcmp(conf->summary, again.summary) == 0, "%s is not %s", conf->summary, again.summary);
    conf_free(&again);
    free(said);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct serve_conf conf;
    static char text[8192];
    struct fuzz_input in = {data, data + size};
    char *said;

    fuzz_text(in, text, sizeof text);
    said = fuzz_understand(text, &conf);
    if (*said) {
        for (const char *line = said; *line; line = strchr(line, '\n') + 1)
            FUZZ_EXPECT(strncmp(line, "dibs: ", 6) == 0 && strchr(line, '\n'), "%s", line);
    } else {
        FILE *nowhere = fopen("/dev/null", "w");

        conf_print(&conf, nowhere);
        fclose(nowhere);
        fuzz_again(&conf);
        conf_free(&conf);
    }
    free(said);
    return 0;
}
