/* Whatever a daemon says to the client library, in whatever pieces: it is understood, or the connection ends. A lock is
 * held only if it was asked for and granted, and lost once at most. Words of the protocol are among the bytes, else
 * little would be reached. */
#include "fuzz.h"

#include "client/conn.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const fuzz_words[] = {
    "*2\r\n$1\r\nx\r\n:7\r\n",
    "*2\r\n$1\r\ny\r\n:8\r\n",
    "_\r\n",
    "-LOST gone\r\n",
    "-ERR no\r\n",
    ">4\r\n$4\r\nlost\r\n$1\r\nx\r\n:7\r\n$3\r\nwhy\r\n",
    ">2\r\n$9\r\nmeanwhile\r\n:1000000\r\n",
    ">2\r\n$9\r\nmeanwhile\r\n+OK\r\n",
    ">2\r\n$9\r\nmeanwhile\r\n-NOTHELD no\r\n",
    ">2\r\n$9\r\nmeanwhile\r\n-NOQUORUM no\r\n",
    ">4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\nx\r\n$20\r\ngranted a 1 2 slot z\r\n",
    ">3\r\n$10\r\npsubscribe\r\n",
    "%1\r\n",
    "*1\r\n",
    "$3\r\n",
    ":9\r\n",
    "\r\n",
    "*",
    "$",
};

static unsigned fuzz_granted, fuzz_lost;

static void fuzz_on_lost(void *user, const char *name, uint64_t fence, const char *why)
{
    (void)user;
    FUZZ_EXPECT(fence && *why, "%s", name);
    fuzz_lost++;
}

static void fuzz_on_event(void *user, const struct dibs_event *e)
{
    (void)user;
    FUZZ_EXPECT(e->event && e->lock && e->member && e->who && e->mode, "an event without a word");
}

static void fuzz_say(int fd, struct fuzz_input *in)
{
    const char *word = fuzz_words[fuzz_take(in) % (sizeof fuzz_words / sizeof fuzz_words[0])];
    char byte[2] = {(char)fuzz_take(in), 0};

    if ((byte[0] & 0x60) == 0x60)
        word = byte;
    if (send(fd, word, strlen(word), MSG_NOSIGNAL) < 0)
        return;
}

static void fuzz_act(struct dibs *d, unsigned choice)
{
    const char *name = choice & 8 ? "x" : "y";
    uint64_t fence = 0;

    switch (choice % 8) {
    case 0:
        dibs_start_lock(d, name, NULL);
        break;
    case 1:
        dibs_start_unlock(d, name);
        break;
    case 2:
        dibs_start_renew(d, name, 100);
        break;
    case 3:
        FUZZ_EXPECT(d->fd >= 0 || dibs_fence(d, name) == 0, "held without a connection");
        break;
    default:
        if (d->wanted && dibs_lock_result(d, &fence) == DIBS_OK)
            fuzz_granted++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    struct dibs *d = calloc(1, sizeof *d);
    int pair[2];
    char drain[4096];

    fuzz_granted = fuzz_lost = 0;
    if (!d || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0)
        abort();
    d->fd = pair[0];
    dibs_on_lost(d, fuzz_on_lost, NULL);
    d->on_event = fuzz_on_event;
    while (in.at < in.end && d->fd >= 0) {
        unsigned choice = fuzz_take(&in);

        if (choice & 0x80)
            fuzz_act(d, choice);
        else
            fuzz_say(pair[1], &in);
        if (choice & 0x40) {
            dibs_process(d);
            dibs_timeout_ms(d);
        }
        while (read(pair[1], drain, sizeof drain) > 0)
            ;
    }
    close(pair[1]);
    while (d->fd >= 0) /* what was said before; then the end */
        dibs_process(d);
    FUZZ_EXPECT(d->fd < 0 && dibs_fence(d, "x") == 0 && dibs_fence(d, "y") == 0, "something outlives the connection");
    /* One more than was told to be granted may be lost: a grant whose result nobody has fetched. */
    FUZZ_EXPECT(fuzz_lost <= fuzz_granted + 1, "%u lost of %u", fuzz_lost, fuzz_granted);
    dibs_close(d);
    return 0;
}
