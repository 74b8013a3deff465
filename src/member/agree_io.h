/* agree_io.h - what libraft asks of its surroundings (struct raft_io): here it is a journal, the time as last told, dice, and
 * somebody who carries messages. Used by agree.c alone.
 *
 * libraft expects requests to complete later, never within the call; they wait in a ring until the call is over
 * (agree_io_settle). That an entry could not be written is said then, too, never at once: libraft 0.15 would free a list of
 * servers that it goes on to use. No more than one write waits at a time: of two that fail, libraft would take back too
 * much. After that, it is only closed.
 *
 * libraft is told that a record is durable as soon as the journal has it in memory. So that this is no lie, no message leaves
 * before the disk has all records that were made before it: until then, messages are held back (agree_io_release). */
#ifndef DIBS_MEMBER_AGREE_IO_H
#define DIBS_MEMBER_AGREE_IO_H

#include "agree.h"
#include "base/ring.h"

struct agree_io {
    struct raft_io calls; /* what libraft sees of it */
    struct agree_conf conf;
    struct journal journal;
    struct ring done;  /* requests of libraft that have been done, and not yet confirmed */
    struct bytes held; /* messages that wait for the disk, oldest first: for which record, to whom, length, bytes */
    uint64_t now_ms, tick_ms, next_tick_ms;
    raft_io_tick_cb tick; /* null: libraft has not begun */
    raft_io_recv_cb recv;

    /* What is known to agree with the log of who leads in this term; see io_answer. */
    raft_term matched_term;
    raft_index matched, asked; /* asked: up to where the entries go of the message that is being received; or 0 */
    bool stored;               /* the message that is being received has led to a write */
};

void agree_io_init(struct agree_io *io, const struct agree_conf *conf);
/* After each call of libraft: it hears what has become of its requests. */
void agree_io_settle(struct agree_io *io, int status);
/* Messages that need not wait for the disk any more are sent. */
void agree_io_release(struct agree_io *io);
/* A message, with its sender. */
void agree_io_receive(struct agree_io *io, struct raft_message *m);
/* Bytes that libraft will own. */
void *agree_io_copy(const struct bytes *b);

#endif
