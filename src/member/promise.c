/* promise.c - see promise.h. */
#include "promise.h"

uint64_t promise_stretch_ms(uint64_t ms)
{
    return (ms * 21 + 18) / 19 + 1;
}

bool promise_is_given(bool takes_part, bool sender_takes_part, bool dropped_sender)
{
    return takes_part && sender_takes_part && !dropped_sender;
}

uint64_t promise_lease_from(const struct view *v, uint32_t self, const uint64_t *acked_ms)
{
    uint64_t sorted[VIEW_MEMBERS_MAX];
    uint32_t count = 0, majority = view_majority(v);

    for (uint32_t k = 0; k < v->count; k++) {
        uint64_t acked = k == self ? UINT64_MAX : acked_ms[k];
        uint32_t at = count;

        if (!view_counts(v, k))
            continue;
        for (count++; at > 0 && sorted[at - 1] < acked; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = acked;
    }
    return count >= majority ? sorted[majority - 1] : 0;
}

uint64_t promise_lease_end(uint64_t from_ms, uint64_t now_ms, uint64_t lease_ms)
{
    uint64_t from = from_ms < now_ms ? from_ms : now_ms;

    return from ? from + lease_ms : 0;
}

bool promise_owes_nothing(const struct promise_debt *d, uint64_t now_ms)
{
    return (!d->takes_part || d->dropped) && now_ms >= d->promised_ms;
}

bool promise_reports_itself(bool takes_part, bool dropped_and_gave_up, uint64_t began_ms, uint64_t promise_ms,
                            uint64_t now_ms)
{
    return dropped_and_gave_up || (!takes_part && now_ms >= began_ms + promise_ms);
}

bool promise_old_leases_are_over(uint64_t counted_ms, uint64_t promise_ms, uint64_t now_ms)
{
    return now_ms - counted_ms >= promise_ms;
}
