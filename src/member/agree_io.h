/* agree_io.h - libraft's interface to disk, network and clock (struct raft_io): a journal, a callback that sends
 * messages, the time that the caller has told last, and a callback for random numbers. Used by agree.c alone.
 *
 * libraft expects a request to complete after the call that made it has returned. Requests wait in a ring until the
 * call is over (agree_io_confirm_all). A failed write is also reported then, never within the call: libraft 0.15 would free
 * a list of servers that it still uses. At most one write waits at a time: if two failed, libraft would take back too
 * many entries. After a failure, libraft is only closed.
 *
 * libraft is told that a record is durable as soon as the journal has it in memory. This is safe because no message
 * leaves before the disk has all records that were made before it: until then, messages are held back
 * (agree_io_release). */
#ifndef DIBS_MEMBER_AGREE_IO_H
#define DIBS_MEMBER_AGREE_IO_H

#include "agree.h"
#include "base/ring.h"

struct agree_io {
    struct raft_io calls; /* the part that libraft sees */
    struct agree_conf conf;
    struct journal journal;
    struct ring done;  /* requests of libraft that are done and not confirmed yet */
    struct bytes held; /* messages that wait for the disk, oldest first: record, receiver, length, bytes */
    uint64_t now_ms, tick_ms, next_tick_ms;
    raft_io_tick_cb tick; /* null: libraft has not begun */
    raft_io_recv_cb recv;

    /* Up to `matched`, this log is known to be the same as that of the leader of term `matched_term`; see io_answer. */
    raft_term matched_term;
    raft_index matched, asked; /* asked: the last entry of the message that is being received; or 0 */
    bool stored;               /* the message that is being received has led to a write */
};

void agree_io_init(struct agree_io *io, const struct agree_conf *conf);
/* Confirms all requests of libraft. To be called after each call of libraft. */
void agree_io_confirm_all(struct agree_io *io, int status);
/* Sends the messages that need not wait for the disk any more. */
void agree_io_release(struct agree_io *io);
/* Sends a message to m->server_id, when the disk has all records that were made before. */
void agree_io_send(struct agree_io *io, const struct raft_message *m);
/* Delivers a message; m->server_id is its sender. */
void agree_io_receive(struct agree_io *io, struct raft_message *m);
/* A copy of `b` that libraft will own. */
void *agree_io_copy(const struct bytes *b);

#endif
