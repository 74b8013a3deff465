/* owner.c - see owner.h. */
#include "owner.h"

uint64_t owner_choose(const struct view *v, uint64_t session)
{
    uint64_t nth = session % view_taking_part(v);
    uint32_t k = 0;

    for (;; k++)
        if (v->member[k].incarnation && nth-- == 0)
            return v->member[k].id;
}

bool owner_hears(bool tells, bool passed, bool marked)
{
    if (tells) /* what this member tells is what it knew when the view began */
        return false;
    return passed || !marked; /* else it may be about an owner that is not known here yet */
}

uint64_t owner_acked(uint64_t made, const uint64_t *acked, uint32_t others)
{
    uint64_t known = made;

    for (uint32_t k = 0; k < others; k++)
        known = acked[k] < known ? acked[k] : known;
    return known;
}

bool owner_is_unsure(uint64_t unsure_in, uint64_t opened)
{
    return unsure_in > opened;
}

bool owner_heeds(const struct owner_report *r, const struct owner_known *k)
{
    return (r->ownerless || k->passed < r->chosen) && (!k->own || k->leaves);
}

bool owner_is_newer(const struct owner_report *r, const struct owner_known *k)
{
    return !k->known || (!r->ownerless && r->chosen >= k->chosen + k->own);
}

bool owner_is_outdated(uint64_t reported, bool ownerless, uint64_t chosen, uint64_t owner_opened)
{
    return reported && !ownerless && (reported < chosen || owner_opened >= chosen);
}

uint64_t owner_names(uint64_t reported, uint64_t named)
{
    return reported && named > reported ? named : named ? reported : 0;
}

bool owner_forgets_follower(bool own, bool recorded, bool outdated)
{
    return own || (recorded && !outdated);
}

bool owner_amends(bool reported, uint64_t named, bool ownerless, uint64_t passed)
{
    return reported || !named || ownerless || passed;
}

bool owner_changes(bool ownerless, bool moves, bool own, bool leaves)
{
    return ownerless || (moves && (!own || leaves));
}
