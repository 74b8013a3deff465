/* Frames. Whatever bytes come, in whatever pieces, an end of the connection takes them or says what is wrong, and keeps no more than its
 * bounds. And between two honest ends, with pieces and choices by the input, each channel delivers its own bytes, in order.
 * Invariant: I19. */
#include "fuzz.h"

#include "relay/mux.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------------- any bytes at all */

static void fuzz_any(struct fuzz_input in, bool opens)
{
    struct mux m;
    struct mux_event e;

    mux_init(&m, opens);
    for (unsigned k = 0; opens && k < 3; k++)
        mux_open(&m, "x", 1, &m);
    while (in.at < in.end && !m.wrong) {
        uint8_t piece[32];
        size_t len = 0, most = 1 + fuzz_take(&in) % sizeof piece;
        uint8_t type = fuzz_take(&in);

        if (type < 0xe0) { /* a likely head */
            const uint8_t head[MUX_HEAD] = {1 + type % 6, 0, 0, fuzz_take(&in) % 8, 0, 0, 0, fuzz_take(&in) % 4};

            mux_input(&m, head, sizeof head);
        }
        while (len < most && in.at < in.end)
            piece[len++] = fuzz_take(&in);
        mux_input(&m, piece, len);
        while (mux_next(&m, &e) != MUX_NOTHING && e.type != MUX_WRONG) {
            if (e.type == MUX_BYTES && fuzz_take(&in) % 2)
                mux_took(&m, e.channel, e.len);
            if (e.type == MUX_CLOSED || (e.type == MUX_BYTES && fuzz_take(&in) % 8 == 0))
                mux_close(&m, e.channel, MUX_BROKEN);
            if (e.type == MUX_PINGED)
                mux_pong(&m, MUX_GRANTS);
        }
        FUZZ_EXPECT(m.count <= MUX_CHANNELS_MAX, "%u channels", m.count);
        FUZZ_EXPECT(bytes_len(&m.in) <= MUX_HEAD + MUX_PIECE + sizeof piece, "%zu bytes", bytes_len(&m.in));
        bytes_consume(&m.out, bytes_len(&m.out));
    }
    mux_free(&m);
}

/* --------------------------------------------------------------------------------------------------- two honest ends */

enum { CHANNELS = 4 };

/* One end of a channel. Byte number k of a channel, in one direction, follows from k and the channel's serial number. */
struct fuzz_end {
    struct mux_channel *mux;
    uint32_t serial, sent, got, taken;
    bool finished;
};

static struct mux side[2];
static struct fuzz_end end_of[2][CHANNELS];
static uint32_t serials, ended_at[256]; /* of a channel: how many bytes the member has sent when it closed it */

static uint8_t fuzz_byte(uint32_t serial, unsigned from, uint32_t k)
{
    return (uint8_t)(serial * 31 + from * 7 + k);
}

static struct fuzz_end *fuzz_end_of(unsigned s, const struct mux_channel *mux)
{
    for (unsigned k = 0; k < CHANNELS; k++)
        if (end_of[s][k].mux == mux)
            return &end_of[s][k];
    FUZZ_EXPECT(false, "side %u has no such channel", s);
    return NULL;
}

static void fuzz_end(unsigned s, const struct fuzz_end *x, enum mux_how how)
{
    if (s == 1)
        ended_at[x->serial] = x->sent;
    mux_close(&side[s], x->mux, how);
}

static void fuzz_hear(unsigned s, const struct mux_event *e)
{
    struct fuzz_end *x;

    if (e->type == MUX_OPENED) {
        unsigned k = 0;

        while (end_of[1][k].mux)
            k++;
        FUZZ_EXPECT(k < CHANNELS && e->len == 1, "%u channels", k);
        /* The serial number of the channel is its name. */
        end_of[1][k] = (struct fuzz_end){.mux = e->channel, .serial = e->bytes[0]};
        return;
    }
    x = fuzz_end_of(s, e->channel);
    for (size_t k = 0; e->type == MUX_BYTES && k < e->len; k++)
        FUZZ_EXPECT(e->bytes[k] == fuzz_byte(x->serial, !s, x->got++), "byte %u of channel %u", x->got, x->serial);
    FUZZ_EXPECT(x->got - x->taken <= MUX_WINDOW, "%u bytes are kept", x->got - x->taken);
    if (e->type == MUX_CLOSED) {
        if (x->finished) /* all that was sent before the other side's end has come */
            FUZZ_EXPECT(x->got == ended_at[x->serial], "%u bytes of channel %u", x->got, x->serial);
        else
            fuzz_end(s, x, MUX_BROKEN);
        *x = (struct fuzz_end){0};
    }
}

static void fuzz_carry(unsigned s, size_t most)
{
    struct bytes *out = &side[s].out;
    size_t len = bytes_len(out) < most ? bytes_len(out) : most;
    struct mux_event e;

    if (len)
        mux_input(&side[!s], out->at + out->start, len);
    bytes_consume(out, len);
    while (mux_next(&side[!s], &e) != MUX_NOTHING) {
        FUZZ_EXPECT(e.type != MUX_WRONG, "%s", side[!s].wrong);
        fuzz_hear(!s, &e);
    }
}

static void fuzz_send(unsigned s, struct fuzz_end *x, size_t len)
{
    static uint8_t bytes[1 << 15];

    for (size_t k = 0; k < len; k++)
        bytes[k] = fuzz_byte(x->serial, s, x->sent + (uint32_t)k);
    x->sent += (uint32_t)mux_send(&side[s], x->mux, bytes, len);
}

static void fuzz_pair(struct fuzz_input in)
{
    mux_init(&side[0], true);
    mux_init(&side[1], false);
    memset(end_of, 0, sizeof end_of);
    serials = 0;
    while (in.at < in.end) {
        uint8_t what = fuzz_take(&in), how = fuzz_take(&in);
        unsigned s = what & 1;
        struct fuzz_end *x = &end_of[s][(what >> 1) % CHANNELS];

        switch (what >> 5) {
        case 0:
        case 1:
            if (!x->mux && s == 0 && side[0].count < CHANNELS && side[1].count < CHANNELS) {
                char name = (char)++serials;

                *x = (struct fuzz_end){.serial = (uint8_t)serials};
                x->mux = mux_open(&side[0], &name, 1, x);
            }
            break;
        case 2:
        case 3:
            if (x->mux && !x->finished)
                fuzz_send(s, x, 1 + (size_t)how * how / 2);
            break;
        case 4:
            if (x->mux && !x->finished && x->got > x->taken) {
                mux_took(&side[s], x->mux, x->got - x->taken);
                x->taken = x->got;
            }
            break;
        case 5:
            if (x->mux && how < 32 && s == 0 && !x->finished) {
                mux_finish(&side[s], x->mux, MUX_LEFT);
                x->finished = true;
            } else if (x->mux && x->finished && how < 48) { /* it does not want the rest any more */
                x->mux->user = NULL;
                *x = (struct fuzz_end){0};
            } else if (x->mux && !x->finished && how < 64) {
                fuzz_end(s, x, MUX_LEFT);
                *x = (struct fuzz_end){0};
            }
            break;
        default:
            fuzz_carry(s, 1 + (size_t)how * how);
        }
    }
    for (unsigned k = 0; k < 8; k++)
        fuzz_carry(k & 1, SIZE_MAX);
    FUZZ_EXPECT(side[0].count == side[1].count, "%u and %u channels", side[0].count, side[1].count);
    mux_free(&side[0]);
    mux_free(&side[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};

    switch (fuzz_take(&in) % 4) {
    case 0:
        fuzz_any(in, false);
        break;
    case 1:
        fuzz_any(in, true);
        break;
    default:
        fuzz_pair(in);
    }
    return 0;
}
