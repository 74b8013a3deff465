/* promise.h - promises and leases: what README.md's protocol 2, 3, 5 and 8 compute, as functions without state (I18, I28).
 *
 * A process gives a promise with each acknowledgement of a heartbeat, and has a lease while a majority has acknowledged
 * its own. These functions say when it may acknowledge, how long a lease lasts, when a promise has run out, and when the
 * set of counted members may change again. The daemon calls them (node/lease.c), and so does the model of this protocol
 * that `dibs model leases` searches exhaustively (src/model). All times are by the clock of the process that asks. */
#ifndef DIBS_MEMBER_PROMISE_H
#define DIBS_MEMBER_PROMISE_H

#include "view.h"

/* Returns a duration that is at least `ms` on every other clock, given that a clock may be too fast or too slow by a
 * twentieth: 1.05 / 0.95 is 21 / 19. The extra millisecond is for clocks that count whole ones (I18, I20). */
uint64_t promise_stretch_ms(uint64_t ms);

/* Protocol 2: does a process acknowledge a heartbeat, and so give a promise? It takes part, the sender's incarnation
 * takes part, and the process has not dropped the sender in this view. */
bool promise_is_given(bool takes_part, bool sender_takes_part, bool dropped_sender);

/* Protocol 3. Returns the latest time T such that a majority has acknowledged heartbeats that the member at place `self`
 * sent at T or later; 0 if there is none. `acked_ms[k]` is the sending time of the newest heartbeat that the member at
 * place k has acknowledged, or 0. The member itself, if it is counted, needs no acknowledgement. An acknowledgement
 * counts even if the member that gave it no longer takes part: that member keeps its promise. So, in a rolling restart,
 * a member does not lose its lease because members that acknowledged its heartbeats have just left. */
uint64_t promise_lease_from(const struct view *v, uint32_t self, const uint64_t *acked_ms);
/* The end of the lease that counts from `from_ms`; 0 if there is no lease. */
uint64_t promise_lease_end(uint64_t from_ms, uint64_t now_ms, uint64_t lease_ms);

/* Protocol 5: what a process knows of its promise to another member. */
struct promise_debt {
    bool takes_part;      /* this process takes part */
    bool dropped;         /* it has dropped the other member in this view */
    uint64_t promised_ms; /* its promise to the other member lasts until then */
};
/* Does this process owe the other member nothing: has its promise run out, and does it give no new one? */
bool promise_owes_nothing(const struct promise_debt *d, uint64_t now_ms);
/* Does this process report itself? Either it was dropped and has given up its locks. Or it does not take part, and the time
 * of a promise of the member's earlier processes, `promise_ms`, has passed since this process began: their leases are over. */
bool promise_reports_itself(bool takes_part, bool dropped_and_gave_up, uint64_t began_ms, uint64_t promise_ms,
                            uint64_t now_ms);

/* Protocol 8: has every lease run out that was given before the set of counted members changed last? Since `counted_ms`
 * the leader knows that every member that takes part measures its lease by the new set. The time of a promise has passed
 * since, which is longer than a lease on every other clock (I28). */
bool promise_old_leases_are_over(uint64_t counted_ms, uint64_t promise_ms, uint64_t now_ms);

#endif
