/* explained.c - made by docs/make-explain from the heads of src/alg; see explained.h. */
#include "explained.h"

#include <stddef.h>

/* clang-format off */
const struct explained explained[] = {
    {"agrawal-el-abbadi",
     "The sites form a rooted tree. A quorum is a path from the root to a leaf: any two share at least the root. A site that is down is replaced by paths through *all* of its children, which then meet every path through one of them; so sites need not even agree on who is down. The arbitration is that of quorum.c, Maekawa's.\n"
     "A site asks only its quorum. Any two quorums share a site, and each site, as arbiter, gives its grant to one claim at a time. Claims that hold some grants and wait for each other's would block for ever, so an arbiter that receives an older claim asks its grant back (INQUIRE). A site that has been told to expect a delay (FAILED) gives it back (YIELD), and is granted again later.\n",
     "3 for each member of the quorum but oneself at light load, 4 at full load; a quorum has log n members, or up to (n+1)/2 if the wrong sites are down. The root arbitrates every claim.\n",
     "request\tnumber my claim; send REQUEST(claim) to all arbiters of my quorum; enter once all have granted\n"
     "on REQUEST(c)\tif my grant is free: send GRANT to c. Else c waits; if it is older than the granted claim and all that wait, send INQUIRE to the granted claim, if that was not done; else send FAILED to c. A waiting claim that c overtakes is told FAILED, too\n"
     "on GRANT\tthe sender has granted; enter if all arbiters have. An INQUIRE of it that came before is answered now: YIELD if I have failed somewhere\n"
     "on FAILED\tI have failed there: send YIELD to each arbiter that has inquired\n"
     "on INQUIRE\tif I have failed somewhere and am not inside: send YIELD to the arbiter; else remember it until I fail, or leave\n"
     "on YIELD\tthe claim waits again; send GRANT to the oldest waiting claim, and FAILED to the one that yielded if it does not know\n"
     "release\tsend RELEASE to all arbiters of my quorum\n"
     "on RELEASE\tmy grant is free; send GRANT to the oldest waiting claim\n",
     "Invariant AE1. Any two quorums meet, whichever sites were taken to be down when they were formed.\n",
     "The paper's trees are complete. In others a site may have one child only; a path may not end there, or it would not meet the path that replaces this site by its child. In agrawal-el-abbadi no site crashes during a run: `--set down=3` makes site 3 one that has crashed before, which all sites know. In agrawal-el-abbadi-robust sites may crash at any moment, for good: a claim whose quorum loses a member goes on with another quorum. If no quorum is left, claims wait for ever; the paper reports that. Clocks move on GRANT too; otherwise the leaves, which hear of few claims, would stay behind, and win four times as often as others.\n",
     "So in a circle of waiting claims one holds a grant, has failed elsewhere, and is asked for the grant: it yields.\n"
     "Where sites may stop (quorum_lost), a claim whose quorum changes keeps its time, asks only who was not asked before, and takes nothing back before its RELEASE; so an arbiter may hear of claims that are over, and of ones that it never granted.\n"
     "The mistakes are those of summaries of Maekawa's paper, and tempting ones; the paper itself was not at hand.\n"},
    {"agrawal-el-abbadi-robust",
     "The sites form a rooted tree. A quorum is a path from the root to a leaf: any two share at least the root. A site that is down is replaced by paths through *all* of its children, which then meet every path through one of them; so sites need not even agree on who is down. The arbitration is that of quorum.c, Maekawa's.\n"
     "A site asks only its quorum. Any two quorums share a site, and each site, as arbiter, gives its grant to one claim at a time. Claims that hold some grants and wait for each other's would block for ever, so an arbiter that receives an older claim asks its grant back (INQUIRE). A site that has been told to expect a delay (FAILED) gives it back (YIELD), and is granted again later.\n",
     "3 for each member of the quorum but oneself at light load, 4 at full load; a quorum has log n members, or up to (n+1)/2 if the wrong sites are down. The root arbitrates every claim.\n",
     "request\tnumber my claim; send REQUEST(claim) to all arbiters of my quorum; enter once all have granted\n"
     "on REQUEST(c)\tif my grant is free: send GRANT to c. Else c waits; if it is older than the granted claim and all that wait, send INQUIRE to the granted claim, if that was not done; else send FAILED to c. A waiting claim that c overtakes is told FAILED, too\n"
     "on GRANT\tthe sender has granted; enter if all arbiters have. An INQUIRE of it that came before is answered now: YIELD if I have failed somewhere\n"
     "on FAILED\tI have failed there: send YIELD to each arbiter that has inquired\n"
     "on INQUIRE\tif I have failed somewhere and am not inside: send YIELD to the arbiter; else remember it until I fail, or leave\n"
     "on YIELD\tthe claim waits again; send GRANT to the oldest waiting claim, and FAILED to the one that yielded if it does not know\n"
     "release\tsend RELEASE to all arbiters of my quorum\n"
     "on RELEASE\tmy grant is free; send GRANT to the oldest waiting claim\n",
     "Invariant AE1. Any two quorums meet, whichever sites were taken to be down when they were formed.\n",
     "The paper's trees are complete. In others a site may have one child only; a path may not end there, or it would not meet the path that replaces this site by its child. In agrawal-el-abbadi no site crashes during a run: `--set down=3` makes site 3 one that has crashed before, which all sites know. In agrawal-el-abbadi-robust sites may crash at any moment, for good: a claim whose quorum loses a member goes on with another quorum. If no quorum is left, claims wait for ever; the paper reports that. Clocks move on GRANT too; otherwise the leaves, which hear of few claims, would stay behind, and win four times as often as others.\n",
     "So in a circle of waiting claims one holds a grant, has failed elsewhere, and is asked for the grant: it yields.\n"
     "Where sites may stop (quorum_lost), a claim whose quorum changes keeps its time, asks only who was not asked before, and takes nothing back before its RELEASE; so an arbiter may hear of claims that are over, and of ones that it never granted.\n"
     "The mistakes are those of summaries of Maekawa's paper, and tempting ones; the paper itself was not at hand.\n"},
    {"banta-first-draft",
     "The token carries the queue of sites to serve; the three drafts differ in who is asked for it, and in what becomes of a request that finds the token elsewhere.\n",
     "First draft: n, of which n-1 are REQUESTs. Basic and preliminary: REQUEST, n-2 UPDATE, TOKEN at light load, 2 at full load, and in the latter one more for each time that a request is passed on.\n",NULL,
     "Invariant BD1. There is one token, held or in flight, and its holder is not on its queue.\n",
     "The idle holder enters at once, and UPDATEs have versions, as in banta_simple.c, so that what is seen is the doing of the rule above alone. With `updates=printed` they have none; then a site whose own request comes back passes it on. Without versions nothing grows, and the checker can go round: `dibs check banta-preliminary --set updates=printed --sites 4 --order fifo --requests unlimited --in-flight 2` finds the endless chase.\n",
     "banta-first-draft (section 3.4, pages 25-30). A request goes to all others. A site that holds the idle token sends it to the one who asks; any other site ignores the request. A request that finds the token in use or on its way is lost. banta-basic (section 3.4, pages 25-30). A request goes to one site, the last of the token's queue as far as its sender knows, and is held there until the token comes. The site then adds what it holds to the queue, and tells all who are not on it who is last now. A request that comes after the token has left is held until the token comes again, which may be never. banta-preliminary (section 4.3, pages 34-38). A site that neither has the token nor waits for it passes the request on to the last of the queue. The request may run after the token for ever (section 4.5.2, page 39).\n"},
    {"banta-basic",
     "The token carries the queue of sites to serve; the three drafts differ in who is asked for it, and in what becomes of a request that finds the token elsewhere.\n",
     "First draft: n, of which n-1 are REQUESTs. Basic and preliminary: REQUEST, n-2 UPDATE, TOKEN at light load, 2 at full load, and in the latter one more for each time that a request is passed on.\n",NULL,
     "Invariant BD1. There is one token, held or in flight, and its holder is not on its queue.\n",
     "The idle holder enters at once, and UPDATEs have versions, as in banta_simple.c, so that what is seen is the doing of the rule above alone. With `updates=printed` they have none; then a site whose own request comes back passes it on. Without versions nothing grows, and the checker can go round: `dibs check banta-preliminary --set updates=printed --sites 4 --order fifo --requests unlimited --in-flight 2` finds the endless chase.\n",
     "banta-first-draft (section 3.4, pages 25-30). A request goes to all others. A site that holds the idle token sends it to the one who asks; any other site ignores the request. A request that finds the token in use or on its way is lost. banta-basic (section 3.4, pages 25-30). A request goes to one site, the last of the token's queue as far as its sender knows, and is held there until the token comes. The site then adds what it holds to the queue, and tells all who are not on it who is last now. A request that comes after the token has left is held until the token comes again, which may be never. banta-preliminary (section 4.3, pages 34-38). A site that neither has the token nor waits for it passes the request on to the last of the queue. The request may run after the token for ever (section 4.5.2, page 39).\n"},
    {"banta-preliminary",
     "The token carries the queue of sites to serve; the three drafts differ in who is asked for it, and in what becomes of a request that finds the token elsewhere.\n",
     "First draft: n, of which n-1 are REQUESTs. Basic and preliminary: REQUEST, n-2 UPDATE, TOKEN at light load, 2 at full load, and in the latter one more for each time that a request is passed on.\n",NULL,
     "Invariant BD1. There is one token, held or in flight, and its holder is not on its queue.\n",
     "The idle holder enters at once, and UPDATEs have versions, as in banta_simple.c, so that what is seen is the doing of the rule above alone. With `updates=printed` they have none; then a site whose own request comes back passes it on. Without versions nothing grows, and the checker can go round: `dibs check banta-preliminary --set updates=printed --sites 4 --order fifo --requests unlimited --in-flight 2` finds the endless chase.\n",
     "banta-first-draft (section 3.4, pages 25-30). A request goes to all others. A site that holds the idle token sends it to the one who asks; any other site ignores the request. A request that finds the token in use or on its way is lost. banta-basic (section 3.4, pages 25-30). A request goes to one site, the last of the token's queue as far as its sender knows, and is held there until the token comes. The site then adds what it holds to the queue, and tells all who are not on it who is last now. A request that comes after the token has left is held until the token comes again, which may be never. banta-preliminary (section 4.3, pages 34-38). A site that neither has the token nor waits for it passes the request on to the last of the queue. The request may run after the token for ever (section 4.5.2, page 39).\n"},
    {"banta-efficient",
     "The token carries the queue of sites to serve, in cycles. One site of the queue is the good site of the cycle: all requests go to it. When the token has come to it and it has been inside, it starts the next cycle: it appends what it has collected, names the last of the queue good, tells all sites that are not on the queue, and keeps the token for a window of more than 2T. In the first T they all learn of it; what they sent to the old good site before arrives in the second. Such late requests go on the queue, behind the good site: they are the first of the cycle after this. So no request is ever passed on, and each is queued once.\n",
     "REQUEST to the good site, UPDATE(good) to n-1-m sites in a cycle that serves m, TOKEN(good, queue): with m served in every cycle (n-1)/m + 1 per entry, from n at light load (0 if the token is here already) to 2 at full load. The price is the window: the token rests for more than 2T in every cycle. With `--set hurry=yes` it goes at once if there is no site to tell, since then no request can be late.\n",
     "request\tif the token is here and no window is open: enter; else send REQUEST to the good site\n"
     "on REQUEST\tif my window is open: append it to the token's queue; else collect it, and if I hold the idle token, start a cycle: send UPDATE as below\n"
     "on UPDATE(good)\trequests go to the good site from now on\n"
     "on TOKEN(good, queue)\tenter\n"
     "release\tif I am not the good site: send TOKEN to the first of the queue; else if there are requests, start a cycle: append what was collected to the queue; the good site is its last; send UPDATE(good) to all that are not on it; open a window of 2T\n"
     "timer\tthe window is over: send TOKEN to the first of the queue\n",
     "Invariant BE1. There is one token, held or in flight. Its queue holds no site twice, and never the holder.\n"
     "Invariant BE2. No UPDATE is in flight but from a site with an open window. So with the token, good is the good site of its cycle, and it stands in the queue or is this site. Invariant BE3. A REQUEST arrives only where the token is, or where it is waited for.\n",
     "The idle holder enters at once (as printed it sends a REQUEST to itself, and later to site -1). While it is inside, requests are only collected. Appending empties the queue of collected requests. The window is longer than 2T, not 2T long. The printed version can be watched in banta-efficient-as-published; that a shorter window does not do, as the thesis says, in banta-efficient-tempting. With m requests in each cycle the thesis counts n/m + 1 messages; it includes an UPDATE of the good site to itself, which the printed loop sends and this one does not. Without a bound on delays BE3 breaks: the late REQUEST is a fault here, as it would be lost.\n",NULL},
    {"banta-k",
     "Cycles, good site and window as in banta-efficient. But the token also counts free slots, and a site that is not good passes the token on before it enters. The first k of the queue take a slot each. Every other one is let in by the RELEASE of the site k places before it, and so on to the good site: it keeps the token, gathers a RELEASE for every slot that was taken, enters, and starts the next cycle when it leaves, with all slots free.\n",
     "REQUEST to the good site, UPDATE(good) to n-1-m sites in a cycle that serves m, TOKEN(good, free slots, queue), RELEASE from all but the good site: (n-2)/m + 2 per entry, from n at light load (0 if the token is here already) to 3 - 1/(n-1) at full load.\n",
     "request\tif the token is here and no window is open: enter; else send REQUEST to the good site\n"
     "on REQUEST\tif my window is open: append it to the token's queue; else collect it, and if I hold the idle token, start a cycle: send UPDATE(good) to all that are not on the queue; open a window of 2T\n"
     "on UPDATE(good)\trequests go to the good site from now on\n"
     "on TOKEN(good, free, queue)\tthe good site: keep it, and enter when all slots are free. Another site: note the k-th site behind me, but no site beyond the good one; take a slot if one is free; send TOKEN to the first of the queue; enter if I have a slot, or one was released to me already\n"
     "on RELEASE\tenter if the token has passed by, or, at the good site, if all slots are free\n"
     "release\tsend RELEASE to the site that I noted; the good site: if there are requests, start a cycle: send UPDATE, as above\n"
     "timer\tthe window is over: send TOKEN to the first of the queue\n",
     "Invariant BK1. There is one token, held or in flight. Its queue holds no site twice, and never the holder.\n"
     "Invariant BK2. Free slots, sites inside that do not have the token, and RELEASEs in flight or not used yet are k together. When the good site enters, all slots are free: it is alone.\n"
     "Invariant BK3. No UPDATE is in flight but from a site with an open window. A REQUEST arrives only where the token is, or where it is waited for.\n",
     "The good site awaits a RELEASE for every slot taken (in the text always k, which never come if fewer than k sites stand before it), and frees them all (as printed it never does). RELEASE goes to the k-th behind or the good site, whichever comes first in the queue, as the text says (the procedure writes min, which can be read as the lower number: banta-k-tempting). The first two can be watched in banta-k-as-published; those of banta-efficient are repaired here, too. The claim is weaker than it seems: the good site enters alone. So at most min(k, n-2) sites are inside together, or one where that is 0, and one at light load. The thesis counts n/m + 2 messages, with an UPDATE to oneself and a RELEASE of the good site in each cycle that are not sent.\n",NULL},
    {"banta-simple",
     "The token carries the queue of sites to serve. A site that adds to the queue tells all sites that are not on it which site is last: that is the good site, to which they send their requests, and which will add them when the token has come to it. A site that is asked when it is good no longer passes the request on, and keeps a copy: should the request run after the token for ever, each site that it has passed will queue it as soon as the token comes by. The token remembers what has been queued, so copies do no harm.\n",
     "REQUEST(origin, number) to the good site, UPDATE(good, version) to the n-2 sites that are neither served next nor the sender, TOKEN(queue, version, numbers queued): n at light load, 0 if the token is here already. At full load all others are on the queue and no site is told anything: 2, or a few more where delays vary. A request is passed on at most n-1 times.\n",
     "request\tif the token is here: enter; else number my request; send REQUEST(origin, number, hops) to the good site\n"
     "on REQUEST(origin, number, hops)\tif it is old: ignore it; else keep it. If I neither wait nor have the token: send the REQUEST on to my good site. If I hold the idle token: queue what was kept; send UPDATE(last of the queue, version) to all that are not on the queue; send TOKEN to its first site\n"
     "on UPDATE(good, version)\tif the version is newer: the good site is good\n"
     "on TOKEN(queue, version, taken)\tenter\n"
     "release\tqueue what was kept and not queued elsewhere; if there was any: send UPDATE to all that are not on the queue; if the queue is not empty: send TOKEN to its first site\n",
     "Invariant BS1. There is one token, held or in flight. Its queue holds no site twice, and never the holder.\n"
     "Invariant BS2. An idle site's good site is another one. A request that is passed on or waits for a waiting site moves to strictly higher versions, so no circle of sites wait for each other.\n"
     "Invariant BS4. A request is passed on at most n-1 times.\n"
     "Invariant BS3. No site and no token knows of a number above that of the latest request made.\n",
     "The idle holder enters at once (as printed it asks itself and waits for ever). UPDATEs have a version, and an older one is ignored (without it a slow UPDATE can undo a newer one, and lead a request back to its own site). The token remembers what was queued, not what was served (else a copy of a queued request is queued again). The end of an empty queue is never announced. A request that returns to its origin, or comes twice, is dropped. Each of the first four can be watched in banta-simple-as-published. The version before section 4.6, which keeps no copies and starves, is in banta_drafts.c.\n",NULL},
    {"carvalho-roucairol",
     "A REPLY is a permission that lasts: a site that has received it may enter again and again without asking, until it answers a REQUEST of the site that gave it. So a site asks only the sites whose permission it does not hold.\n",
     "REQUEST(claim) and REPLY: from 0, if no other site has asked since, to 2(n-1), if every site has; n-1 on the average at light load. With `--set start=staircase` every site begins with the permissions of all sites above it, which saves the first messages.\n",
     "request\tnumber my claim; send REQUEST(number, i) to all whose permission I do not have; enter if there are none\n"
     "on REQUEST(k, j)\thighest := max(highest, k); if I am inside, or wait with an older claim: defer j; else I lose the permission of j: send REPLY to j, and if I wait and had it, send my REQUEST to j\n"
     "on REPLY\tI have the permission of the sender; enter if I have all permissions\n"
     "release\tI lose the permission of all that are deferred; send REPLY to them\n",
     "Invariant CR1. Two sites never hold each other's permission.\n"
     "Invariant CR2. While a site waits for a permission, its REQUEST or the REPLY is in flight, or it is deferred.\n"
     "Invariant CR3. For one entry a site sends another at most one REQUEST: a site that has answered it has a later claim from then on.\n",
     "None known. The heart of it is what a waiting site does that answers an older claim: by that answer it loses the permission of that site, so if it held it, it must ask for it now, with the number that its claim has. The two messages may arrive in either order. Five ways to get this wrong are in carvalho-roucairol-as-retold (two, as Banta retells it) and carvalho-roucairol-tempting.\n",NULL},
    {"central",
     "Site 0 is the coordinator. A site that wants to enter asks it, and tells it when it leaves. The coordinator grants claims strictly in the order in which they arrive: as many as may be inside together, but none before an earlier one that has to wait.\n",
     "REQUEST(mode), GRANT, RELEASE: 3 per entry, none where site 0 itself goes in; 3(n-1)/n on the average.\n",
     "request\tsend REQUEST(mode) to site 0\n"
     "on REQUEST(mode)\tsite 0: append it to the queue; while the first of the queue may join those that are out, send it a GRANT and count it as out\n"
     "on GRANT\tenter\n"
     "release\tsend RELEASE to site 0\n"
     "on RELEASE\tsite 0: the sender is out no more; send a GRANT to the first of the queue while it may join those that are out\n",
     "Invariant C1. All grants that are out may be inside together. A grant is out until its RELEASE has arrived.\n"
     "Invariant C2. If a claim queues, the first in the queue may not join those that are out.\n",NULL,
     "A site that leaves and asks again at once may have its REQUEST overtake its RELEASE. The coordinator then queues a site whose grant is still out, or gives it a second one where the rule lets it join itself; hence grants are counted. Nothing is lost: the RELEASE comes, and to count a site that has left is merely cautious.\n"},
    {"chang-singhal-liu",
     "As in suzuki-kasami, but a request goes only to the sites that may have the token, or get it first: those that are known to have asked since this site had the token, its request set. A site that waits and hears of a site that it has not asked asks that one too.\n",
     "REQUEST(number) to the known sites and TOKEN(queue, served) once: 0 if the token is here, (n-1)/2 + (n-1)/n on average at light load, never more than n.\n",
     "request\tif the token is here: enter; else number my request; send REQUEST(number) to the request set\n"
     "on REQUEST(k) from j\tasked[j] := max(asked[j], k); put j into the request set; if I hold the idle token and the request is fresh: send TOKEN to j. If I wait, or the request is old, and j does not know of me: send my REQUEST to j\n"
     "on TOKEN(served, queue)\tenter\n"
     "release\tmy request is served; append all sites with fresh requests to the queue; if it is not empty: send TOKEN to its first site\n",
     "Invariant CSL1. There is one token, held or in flight.\n"
     "Invariant CSL2. Of any two sites i and j: i knows j, or j knows i, or a REQUEST between them is in flight.\n"
     "Invariant CSL3. For a site i with the token and any j: j knows i, or a REQUEST between them is in flight, or i has heard of a request of j that is not served.\n",NULL,
     "Departures from the paper, which was known to us from the description by Swaroop and Singh (2007). A request that was served meanwhile is not discarded: it comes from a site that may not know this one, and by now no other site may tell it. So its sender is remembered, or told of this site by a REQUEST, be it an old one. Requests that arrive where the token is not are remembered until it comes, and the token says what was served. Each of these taken away, it is chang-singhal-liu-tempting; whether the publication takes them away is not known to us. With `--set start=staircase` a site knows only the lower numbered ones at first.\n"},
    {"joung-ra2",
     "As in Ricart and Agrawala's algorithm, a site that has all replies enters; it is then a captain. It takes along as followers the sites that asked for the same group after it, also those that would have to wait for an older claim of another group. A captain defers other groups until its followers have left as well.\n",
     "REQUEST(claim) to all, REPLY(number of the claim) from all, and for a follower START(its claim) and COMPLETE: 2(n-1) as a captain. A follower costs two more for each captain that takes it along, at most 4(n-1).\n",
     "request\tnumber my claim above all numbers sent or received; send REQUEST(claim) to all others; await all of them; enter as a captain if there are none\n"
     "on REQUEST(c)\tif c is for another group, and my claim is older or I await followers: defer it; else send REPLY(number of c). If I wait for the same group with an older claim, remember c as younger\n"
     "on REPLY(k)\tif k is the number of my claim, the sender is awaited no more; if no site is awaited, and I await no followers of another group: enter as a captain, and send START to each younger claim that would have to wait for a deferred one\n"
     "on START(c)\tif I still wait with claim c: enter as a follower of the sender; else send COMPLETE to it\n"
     "release\ta follower: send COMPLETE to its captain. Send REPLY to all that there is no reason to defer any more\n"
     "on COMPLETE\tone follower less; if it was the last: send REPLY to all that there is no reason to defer any more; enter as a captain if no site is awaited, as on the last reply\n",
     "Invariant JR1. A captain counts every START from it and COMPLETE to it in flight, and every site inside that it took along.\n"
     "Invariant JR2. Two sites that are captains, inside or awaiting followers, are so for the same group.\n"
     "Invariant JR3. A site awaits another one exactly while its REQUEST, or the REPLY to that claim, is in flight between them, or the other site defers that claim.\n",NULL,
     "Based on the abstract of the paper alone. It tells that the second algorithm is more efficient than the first one (joung-ra1), and highly concurrent. Reconstructed: captains and followers, which Swaroop and Singh have too, and their messages. A captain takes along the sites that have asked by the time it enters, and none later, so that no group can stay inside for ever. A claim for the same group that is older than the captain's needs no START: the captain has waited for every claim that such a claim waits for.\n"
     "A follower enters without all replies, and may ask again before the last of them arrives. So a REPLY names the claim that it answers, and of two claims of a site the older one is void, in whatever order they arrive.\n"},
    {"lamport",
     "Every site keeps the same queue of claims, ordered by logical time. A site goes in when its claim is the first of its queue (L2) and it has heard something later than its claim from every other site (L1): on channels that keep the order, no older claim can still be on its way.\n",
     "REQUEST to all, REPLY from all, RELEASE to all: 3(n-1) per entry. With `--set omit=lecture` a site whose own claim is pending and later than the one it receives does not reply, because its own REQUEST serves for L1: between 2(n-1) and 3(n-1). With `--set omit=all` it does not reply while any claim of its own is pending: where its claim is the earlier one, its RELEASE serves for L1.\n",
     "request\tclock := clock + 1; put (clock, i) into the queue; send REQUEST(clock, i) to all others; enter if there are none\n"
     "on REQUEST(t, j)\tclock := max(clock, t) + 1; put (t, j) into the queue; send REPLY(clock) to j; if the time is later than my claim, j has been heard; enter if L1 and L2 hold\n"
     "on REPLY(t)\tclock := max(clock, t) + 1; if the sender's time is later than my claim, it has been heard; enter if all have been heard (L1) and my claim is the first of the queue (L2)\n"
     "release\ttake my claim out of the queue; send RELEASE(clock) to all others\n"
     "on RELEASE(t)\ttake the sender's claim out of the queue; it has been heard; enter if L1 and L2 hold\n",
     "Invariant L. Sites enter in the order of their claims (time, site).\n",
     "The largest time received from a site need not be kept: what was received before the claim is smaller than the claim, so one flag per site, \"heard something later than my claim\", says the same. A receipt moves the clock past the time received (the paper's rule IR2), but is no tick of its own; only *up to* that time would not do, for then a reply could carry the claim's own time and never be later. Summaries that say max(clock, time) make that mistake: lamport-as-retold.\n",NULL},
    {"le-lann",
     "The sites form a ring. One token goes round for ever. A site that wants in waits for the token, keeps it while it is inside, and passes it on when it leaves. A site that does not want in passes the token on at once.\n",
     "TOKEN, from each site to the next: 1 per entry at full load, without bound at light load, since the token also travels while no site asks. A request waits for n/2 hops on average when the ring is idle.\n",
     "request\twait for the token; enter if there is no other site\n"
     "on TOKEN\tif I wait: enter; else send TOKEN to the next site\n"
     "release\tsend TOKEN to the next site\n",
     "Invariant LL1. There is one token, and no other message. A site has it exactly while it is inside; else the token is in flight.\n",NULL,
     "Based on the paper's abstract and on how textbooks tell it. What the paper says of a lost token and of sites that stop (time-outs, and an election of the site that makes the new token) is left out: this algorithm needs reliable channels and sites that do not stop.\n"
     "A site keeps nothing in its state: its phase says where the token is. The algorithm never comes to rest (`restless`), which simulator, checker and service have to know.\n"},
    {"maekawa",
     "Quorums of about sqrt(n) sites, of which any two meet and in which all sites stand equally often: the lines of a finite projective plane, which exist for few n, or a row and a column of a square grid. The arbitration among them, its invariants and its departures from the paper are in quorum.c.\n"
     "A site asks only its quorum. Any two quorums share a site, and each site, as arbiter, gives its grant to one claim at a time. Claims that hold some grants and wait for each other's would block for ever, so an arbiter that receives an older claim asks its grant back (INQUIRE). A site that has been told to expect a delay (FAILED) gives it back (YIELD), and is granted again later.\n",
     "3(K-1) at light load, 4(K-1) at full load. On a plane n = K(K-1)+1; on a grid K = 2 sqrt(n) - 1.\n",
     "request\tnumber my claim; send REQUEST(claim) to all arbiters of my quorum; enter once all have granted\n"
     "on REQUEST(c)\tif my grant is free: send GRANT to c. Else c waits; if it is older than the granted claim and all that wait, send INQUIRE to the granted claim, if that was not done; else send FAILED to c. A waiting claim that c overtakes is told FAILED, too\n"
     "on GRANT\tthe sender has granted; enter if all arbiters have. An INQUIRE of it that came before is answered now: YIELD if I have failed somewhere\n"
     "on FAILED\tI have failed there: send YIELD to each arbiter that has inquired\n"
     "on INQUIRE\tif I have failed somewhere and am not inside: send YIELD to the arbiter; else remember it until I fail, or leave\n"
     "on YIELD\tthe claim waits again; send GRANT to the oldest waiting claim, and FAILED to the one that yielded if it does not know\n"
     "release\tsend RELEASE to all arbiters of my quorum\n"
     "on RELEASE\tmy grant is free; send GRANT to the oldest waiting claim\n",
     "Invariant M1. An arbiter's grant is with one claim; no claim waits at an arbiter that has not granted.\n"
     "Invariant M2. If the first of the waiting claims is older than the granted one, INQUIRE is out for it.\n"
     "Invariant M3. Every claim that waits at an arbiter, but one that is older than the granted and all other waiting ones, knows that it failed there, or a FAILED is on its way.\n",
     "FAILED goes also to a waiting claim that a newcomer overtakes (Sanders): as published the algorithm deadlocks. Every message names the claim that it is about, and an INQUIRE that overtakes its GRANT is kept, so FIFO channels are not needed. GRANT carries the arbiter's clock, so that sites that arbitrate little do not stay behind and win. With `--set yield=at-once` there is no FAILED: a site that is inquired and not inside yields.\n",
     "The mistakes of maekawa-as-retold and maekawa-tempting are told in quorum.c.\n"},
    {"naimi-trehel",
     "Two structures. Every site points to the last requester it knows of, its father; a request follows these pointers to the last requester of all, and turns each of them round to itself on the way. Every requester points to the one after it, its next; the token follows these.\n",
     "REQUEST(origin), forwarded, and TOKEN: H(n-1) = 1 + 1/2 + .. + 1/(n-1) per entry on average at light load, O(log n) amortised for any load, n at worst.\n",
     "request\tif I have no father: enter; else send REQUEST(i) to my father; father := none\n"
     "on REQUEST(origin)\tif I have a father: send the REQUEST on to it; else if I hold the idle token: send TOKEN to the origin; else next := origin. father := origin\n"
     "on TOKEN\tenter\n"
     "release\tif next is a site: send TOKEN to it; next := none\n",
     "Invariant NT1. There is one token, held or in flight.\n"
     "Invariant NT2. Fathers form no cycle. A site without a father that does not request holds the token.\n"
     "Invariant NT3. While a site requests, it has a father exactly if it has a next.\n",
     "None. naimi-trehel-as-retold and naimi-trehel-tempting make one of these mistakes:\n"
     "holder-forwards\tthe survey by Banta: a site that does not request passes a request on. The idle holder of the token has no site to pass it to.\n"
     "overwrites-next\ta site that requests makes any asking site its next, even if it has one.\n",NULL},
    {"naimi-trehel-queue",
     "As in naimi-trehel, every site points to where it believes the last requester to be, and a request follows these pointers and turns them round. But a site that waits or is inside does not pass requests on: it keeps them, and when it leaves it adds them to the queue that the token carries. So a request comes to rest at the first site that is busy itself, and at full load that is the first site it meets.\n",
     "REQUEST(origin), forwarded, and TOKEN(queue): H(n-1) = 1 + 1/2 + .. + 1/(n-1) per entry on average at light load, 2 at full load.\n",
     "request\tif I hold the token: enter; else send REQUEST(i) to the root; root := me\n"
     "on REQUEST(origin)\tif I wait or am inside: keep it; else if I hold the idle token: send TOKEN to the origin; else send the REQUEST on to the root; root := origin\n"
     "on TOKEN(queue)\tenter\n"
     "release\tappend what was kept to the queue; if it is not empty: root := its last site; send TOKEN(rest of the queue) to its first site\n",
     "Invariant NQ1. There is one token, held or in flight.\n"
     "Invariant NQ2. Every waiting site is in exactly one place: in the queue of one site, in that of the token, in a REQUEST in flight, or the destination of the TOKEN in flight.\n",NULL,
     "Departures from the paper, which was known to us from surveys. They leave out what idle sites do with a request: the one with the token gives it away, the others pass the request on. A site that has the token, or asks for it, points nowhere: its pointer would never be read.\n"},
    {"neilsen-mizuno",
     "The sites form a tree, and every edge points towards the site that asked last, the *sink*. A request goes along the edges, and turns each of them round on its way: so the requester becomes the new sink. The old sink remembers it as the one that follows, and sends the token there directly. Thus the sites that wait form a queue of which each knows its successor only. Naimi and Trehel's algorithm is the same with edges to any site: there, a request makes all whom it passes point to the requester at once.\n",
     "REQUEST(site) from neighbour to neighbour, TOKEN directly: at most D + 1 per entry on a tree of diameter D, 3 on a star; 0 where the token is.\n",
     "request\tif I hold the token: enter; else send REQUEST(i) to LAST; LAST := none\n"
     "on REQUEST(origin) from j\tif LAST is a site: send the REQUEST on to it; else if I hold the idle token: send TOKEN to the origin; else FOLLOW := origin. LAST := j\n"
     "on TOKEN\tenter\n"
     "release\tif FOLLOW is a site: send TOKEN to it; FOLLOW := none\n",
     "Invariant NM1. There is one token, held or in flight.\n"
     "Invariant NM2. An edge points one way, or a REQUEST is under way on it: of two neighbours not both point to each other.\n",
     "None known.\n",NULL},
    {"raymond",
     "The sites form a tree; messages go along its edges only. Every site knows which neighbour the token lies behind, and keeps a queue of the neighbours (and itself) that want it from there. It asks for the token once, however many want it, and passes it to the first in its queue; if others are left it asks for it back at once.\n",
     "REQUEST and TOKEN along the way: at light load twice the distance to the token, at full load 4(n-1)/n.\n",
     "request\tput myself into the queue; if I hold the idle token: enter; else if I have not asked: send REQUEST to the holder side\n"
     "on REQUEST from j\tput j into the queue; if I hold the idle token: send TOKEN to the first of the queue, else if I have not asked: send REQUEST to the holder side\n"
     "on TOKEN\ttake the first off the queue: if it is me, enter; else send TOKEN to it, and REQUEST behind it if others are left in the queue\n"
     "release\tif the queue is not empty: send TOKEN to its first, and REQUEST behind it if others are left\n",
     "Invariant RT1. There is one token, held or in flight.\n"
     "Invariant RT2. A queue holds no site twice, so degree + 1 slots are enough.\n"
     "Invariant RT3. Where the token is not: `asked` holds exactly if this site stands in the queue of `holder`, or its REQUEST to it or the TOKEN from it is in flight.\n",
     "None. The REQUEST behind a TOKEN may overtake it: the receiver then queues a site that it still takes for the holder, which is right. raymond-tempting leaves out one of the two halves of \"asks once\":\n"
     "forgets-to-ask\tthe token is passed on, and others are left in the queue, but it is not asked back.\n"
     "asks-every-time\ta site asks for each that wants the token, although it has asked already.\n",NULL},
    {"raymond-k",
     "Ricart and Agrawala's algorithm, but k sites may be inside together, so n-k replies will do. The other k-1 replies come late, perhaps after the next claim; they are counted site by site, so that a late reply is never taken for an answer to a newer claim.\n",
     "REQUEST(claim) to all; REPLY(count), which answers `count` REQUESTs at once: 2n-k-1 to 2(n-1) per entry.\n",
     "request\tnumber my claim; each other site owes one more reply; send REQUEST(number, i) to all others; enter if k > n-1\n"
     "on REQUEST(t, j)\thighest := max(highest, t); if I am inside, or wait with an older claim: defer j, and count how often; else send REPLY(1) to j\n"
     "on REPLY(count)\tthe sender owes count replies less; enter if I wait and at most k-1 sites owe me replies\n"
     "release\tsend REPLY(count) to all that are deferred\n",
     "Invariant RK1. owed_i[j] = REQUESTs i->j in flight + deferred_j[i] + the counts of REPLYs j->i in flight.\n",
     "None known: replies owed and deferred are both counted, site by site. Reproductions simplify that, and raymond-k-as-retold shows what comes of it:\n"
     "one-counter\tone count of replies for each claim: late replies to the last claim count for this one.\n"
     "one-deferred-bit\ta deferred site is remembered, but not how often: it is owed a reply for ever.\n",NULL},
    {"ricart-agrawala",
     "To enter, a site numbers its claim above every number that it has seen, and asks all sites. A site answers at once unless its own claim is older, or it is inside with it; then it answers when it leaves. When all sites have answered, no older claim is left.\n",
     "REQUEST(claim) to all, REPLY from all: 2(n-1) per entry, always.\n",
     "request\tnumber my claim above all numbers sent or received; send REQUEST(number, i) to all others; await all of them; enter if there are none\n"
     "on REQUEST(k, j)\thighest := max(highest, k); if I wait or am inside, my claim is older and the modes are incompatible: defer j; else send REPLY to j\n"
     "on REPLY\tthe sender is awaited no more; enter if no site is awaited\n"
     "release\tsend REPLY to all that are deferred\n",
     "Invariant RA1. Two sites never defer each other. Of two sites that claim in incompatible modes, one awaits the other.\n"
     "Invariant RA2. Site i awaits site j exactly while a REQUEST i->j or a REPLY j->i is in flight, or j defers i.\n",
     "Handlers are atomic: the report's three processes share one semaphore, and what is decided under it may be recorded too late (records-late). The highest number seen covers the site's own claims. The paper's declaration says so but its code does not; without it a site may overtake another for ever where messages overtake each other, and bounded numbers are unsafe. Readers and writers and groups are one rule: compatible claims never defer each other. They need unbounded numbers, which the paper does not say: a reader may stay inside while others come and go and their numbers leave its own far behind. Options of numbers: ricart_agrawala.h.\n",
     "joung-ra1 is the same code under another name: the first algorithm, RA1, of Joung, \"The Congenial Talking Philosophers Problem in Computer Networks\", Distributed Computing 15, 2002, for groups. Based on the abstract of that paper, which calls it a straightforward adaptation of Ricart and Agrawala's, and says what is wrong with it: claims for two groups that alternate in age let only one process in at a time, as if there were no groups.\n"},
    {"joung-ra1",
     "To enter, a site numbers its claim above every number that it has seen, and asks all sites. A site answers at once unless its own claim is older, or it is inside with it; then it answers when it leaves. When all sites have answered, no older claim is left.\n",
     "REQUEST(claim) to all, REPLY from all: 2(n-1) per entry, always.\n",
     "request\tnumber my claim above all numbers sent or received; send REQUEST(number, i) to all others; await all of them; enter if there are none\n"
     "on REQUEST(k, j)\thighest := max(highest, k); if I wait or am inside, my claim is older and the modes are incompatible: defer j; else send REPLY to j\n"
     "on REPLY\tthe sender is awaited no more; enter if no site is awaited\n"
     "release\tsend REPLY to all that are deferred\n",
     "Invariant RA1. Two sites never defer each other. Of two sites that claim in incompatible modes, one awaits the other.\n"
     "Invariant RA2. Site i awaits site j exactly while a REQUEST i->j or a REPLY j->i is in flight, or j defers i.\n",
     "Handlers are atomic: the report's three processes share one semaphore, and what is decided under it may be recorded too late (records-late). The highest number seen covers the site's own claims. The paper's declaration says so but its code does not; without it a site may overtake another for ever where messages overtake each other, and bounded numbers are unsafe. Readers and writers and groups are one rule: compatible claims never defer each other. They need unbounded numbers, which the paper does not say: a reader may stay inside while others come and go and their numbers leave its own far behind. Options of numbers: ricart_agrawala.h.\n",
     "joung-ra1 is the same code under another name: the first algorithm, RA1, of Joung, \"The Congenial Talking Philosophers Problem in Computer Networks\", Distributed Computing 15, 2002, for groups. Based on the abstract of that paper, which calls it a straightforward adaptation of Ricart and Agrawala's, and says what is wrong with it: claims for two groups that alternate in age let only one process in at a time, as if there were no groups.\n"},
    {"ricart-agrawala-broadcast",
     "The algorithm of the same authors, but one transmission takes a REQUEST to all sites. A site that leaves answers all claims that it has deferred by one transmission too, which lists their sites: a site that is not in the list must not take it for an answer, even if it waits for one.\n",
     "A broadcast counts as one. REQUEST(claim) to all, a REPLY from each that answers at once, and at the exit one REPLIES(list) if any claim was deferred: n per entry at light load, 2 at full load. With `--set replies=each` the deferred get a REPLY each: n at any load.\n",
     "request\tnumber my claim; broadcast REQUEST(number, i); await all others; enter if there are none\n"
     "on REQUEST(k, j)\thighest := max(highest, k); if my claim is older: defer j; else send REPLY to j\n"
     "on REPLY\tthe sender is awaited no more; enter if no site is awaited\n"
     "on REPLIES(list)\tif I am on the list: the sender is awaited no more; enter if no site is awaited\n"
     "release\tif sites are deferred: broadcast REPLIES(their list)\n",
     "Invariant RB. Site i awaits site j exactly while a REQUEST i->j or a REPLY j->i is in flight, be it a name in a list, or j defers i.\n",
     "The highest number seen covers the site's own claims. Numbers: ricart_agrawala.h.\n",NULL},
    {"ricart-agrawala-implicit",
     "If no message takes longer than T, silence means consent. A site that would reply at once says nothing; one that defers says so. A site that has waited for more than 2T, time for a REQUEST to arrive and for an answer to come back, and has heard nothing from another site, has its consent. It waits for a REPLY from each site that has deferred, as ever.\n",
     "REQUEST(claim) to all, then DEFERRED and later REPLY from each of the d sites that defer: (n-1) + 2d per entry, n-1 at light and 3(n-1) at full load. With broadcasts one REQUEST, d times DEFERRED, and at the exit one REPLIES(list) if any claim was deferred: 1 at light and n+1 at full load.\n",
     "request\tnumber my claim; start a timer of 2T; send REQUEST(number, i) to all others; enter if there are none\n"
     "on REQUEST(k, j)\thighest := max(highest, k); if my claim is older: defer j and send DEFERRED to j; else say nothing\n"
     "on DEFERRED\tawait a reply of the sender, unless it has come already\n"
     "on REPLY or REPLIES(list)\tthe sender is awaited no more; enter if the timer is over and no site is awaited\n"
     "timer\tenter if no site is awaited\n"
     "release\tsend REPLY to all that are deferred, or broadcast REPLIES(their list)\n",
     "Invariant RI1. When the timer fires, every site that has deferred the claim has been heard.\n"
     "Invariant RI2. A site that waits for j, or will when a DEFERRED in flight arrives, is deferred by j or has its REPLY in flight, or has had it early.\n",
     "A REPLY may overtake its DEFERRED, which is then ignored; the paper is silent on this. The paper counts 2(n-1) messages at most, but a site that says DEFERRED must REPLY too. Numbers: ricart_agrawala.h.\n",NULL},
    {"ricart-agrawala-implicit-broadcast",
     "If no message takes longer than T, silence means consent. A site that would reply at once says nothing; one that defers says so. A site that has waited for more than 2T, time for a REQUEST to arrive and for an answer to come back, and has heard nothing from another site, has its consent. It waits for a REPLY from each site that has deferred, as ever.\n",
     "REQUEST(claim) to all, then DEFERRED and later REPLY from each of the d sites that defer: (n-1) + 2d per entry, n-1 at light and 3(n-1) at full load. With broadcasts one REQUEST, d times DEFERRED, and at the exit one REPLIES(list) if any claim was deferred: 1 at light and n+1 at full load.\n",
     "request\tnumber my claim; start a timer of 2T; send REQUEST(number, i) to all others; enter if there are none\n"
     "on REQUEST(k, j)\thighest := max(highest, k); if my claim is older: defer j and send DEFERRED to j; else say nothing\n"
     "on DEFERRED\tawait a reply of the sender, unless it has come already\n"
     "on REPLY or REPLIES(list)\tthe sender is awaited no more; enter if the timer is over and no site is awaited\n"
     "timer\tenter if no site is awaited\n"
     "release\tsend REPLY to all that are deferred, or broadcast REPLIES(their list)\n",
     "Invariant RI1. When the timer fires, every site that has deferred the claim has been heard.\n"
     "Invariant RI2. A site that waits for j, or will when a DEFERRED in flight arrives, is deferred by j or has its REPLY in flight, or has had it early.\n",
     "A REPLY may overtake its DEFERRED, which is then ignored; the paper is silent on this. The paper counts 2(n-1) messages at most, but a site that says DEFERRED must REPLY too. Numbers: ricart_agrawala.h.\n",NULL},
    {"ricart-agrawala-pile",
     "A site of high priority adds little to the highest number that it has noted, and sees to it that this is low: it sets the claims of others aside, on a pile, and takes no note of their numbers. So its next claim goes before theirs as well, and it enters several times in a row. High are the last K sites (priority=K); the others add C (increment=C).\n",
     "REQUEST(claim) to all, REPLY from all: 2(n-1) per entry, always.\n",
     "request\tif claims were set aside and my new number would not be below them: treat them as REQUESTs now, and send REPLY where I do not defer. Number my claim; send REQUEST(number, i) to all others; enter if there are none\n"
     "on REQUEST(k, j)\tif I have priority over j and j's claim is younger: set it aside; else if my claim is older: defer j; else send REPLY to j\n"
     "on REPLY\tthe sender is awaited no more; enter if no site is awaited\n"
     "release\tsend REPLY to all that are deferred; if claims are set aside, start the timer\n"
     "timer\ttreat the claims that were set aside as REQUESTs: send REPLY to each\n",
     "Invariant RP. A claim on the pile is younger than the claim of the site that set it aside, or that site is idle and its timer runs.\n",
     "As printed this blocks: a claim that is set aside may be older than the own one, so that each waits for the other, or the site may never look at its pile again. Here (1) only what would be deferred anyway is set aside; (2) a site whose next claim would not go before all of its pile acts on the pile first; (3) so does a site that has not asked again some time after leaving. Hence a site enters at most (k - own) + 1 times more before a claim k that it has set aside. Numbers are unbounded, for those on the pile lag behind.\n",NULL},
    {"ricart-agrawala-ring",
     "The REQUEST goes round, from each site to the next. A site that would reply passes it on; a site that would defer holds it until it leaves. When the REQUEST comes back, every site has agreed.\n",
     "REQUEST(claim), n times: n per entry, always. But a REQUEST that was held has the rest of its way to go: the synchronization delay is T times the distance from the site that leaves to the one that enters next.\n",
     "request\tnumber my claim; send REQUEST(claim) to the next site\n"
     "on REQUEST(claim)\tif it is mine: enter; else if my claim is older: keep it; else send the REQUEST on to the next site\n"
     "release\tsend each REQUEST that was kept on to the next site, the oldest claim first\n",
     "Invariant RR. A claim that waits has one REQUEST, in flight or held; no other claim has any.\n",
     "The highest number seen covers the site's own claims. Numbers: ricart_agrawala.h.\n",NULL},
    {"ricart-agrawala-ring-notes",
     "As on the ring, but no site holds a REQUEST: a site that defers it makes a note on it and passes it on, and replies directly when it leaves. When the REQUEST is back, its notes say how many replies are to come.\n",
     "REQUEST(claim, notes), n times, and a REPLY for every note: n per entry at light load, 2n-1 at full load.\n",
     "request\tnumber my claim; send REQUEST(claim) without notes to the next site\n"
     "on REQUEST(claim, notes)\tif it is mine: the notes tell who owes a reply; enter if all of those have come. Else, if my claim is older, defer it and add a note; send the REQUEST on to the next site\n"
     "on REPLY\tone reply less is owed; enter if my claim is back and none is owed\n"
     "release\tsend REPLY to all that are deferred\n",
     "Invariant RN. The replies owed to a site and the notes on its REQUEST, if that is not back yet, add up to the sites that defer it and the REPLYs in flight to it.\n",
     "A REPLY may be faster than the REQUEST with the note that announces it, so the notes are added to the count of replies when the REQUEST is back. The paper sets the count then, and loses such a reply. The highest number seen covers the site's own claims. Numbers: ricart_agrawala.h.\n",NULL},
    {"ricart-agrawala-robust",
     "A site needs the permission of all members of the present group, as in ricart_agrawala.c. A *name* is a site and its incarnation, so a site that has failed and is back has another name. Every message says from which name to which it goes. A message for an earlier incarnation is discarded. Join. A newcomer asks a member to be its sponsor. The sponsor enters the critical section itself, tells all members the new name, waits for all acknowledgements, and hands the newcomer the list of names and the highest number. Leave. LEAVE to all, LEAVE_ACK from all; until then the site answers, but asks for nothing. Failure. An answer that is late is asked for again: ARE_YOU_THERE is a repeated REQUEST, and its answer YES_I_AM_HERE says \"wait\". A site that does not answer that within 2T has failed: FAILED tells all, and its replies count as given. Return. A site that is back joins like a newcomer, after a restart interval if that is wanted. A site that is up and was forgotten is told so by RESTART, the answer to what it sends, and begins a new incarnation.\n",
     "2(n-1) per entry as before. Join: 4(n-1) + 2. Leave: 2(n-1). A failure: at most 3(n-1) + 2 for each site that waits.\n",NULL,NULL,NULL,
     "Why it is safe. A site that is inside was answered by every name that was a member when it asked and has not left or failed. When a newcomer asks for the first time, every member counts it as one, and no number that a member has sent or received by then is above the newcomer's own. (These speak of the past, so no state can be checked for them; what is checked is that no two sites are inside, in every interleaving.)\n"
     "Departures from the paper (ricart-agrawala-robust-as-published has the first three, and a broadcast without acknowledgements, as printed). A REPLY names the request that it answers, for there may be two of them; ARE_YOU_THERE carries the request, which may have been lost or be late; new names are acknowledged before the sponsor leaves, or two members that do not know of each other go in together; a leaver takes leave of names that it learns on the way. The five ways of the paper to find the highest number are there (`--set highest=..`): with acknowledged names none is needed, for the sponsor collects it. A newcomer that listens for it may hear nothing for ever, so it asks when its patience ends. Sets of names take the place of counters. A newcomer that fails while it is let in, and returns, is another name, and all have to acknowledge that one. If a bound is not kept and a site that is up is declared failed, exclusion is lost: nothing can be done about that without votes. The report restarts the timer at every REPLY: that is `--set timer=restarted`. Its second way to join is `--set join=broadcast`: the newcomer takes a list from a member and asks all others to include it. Here each acknowledges that with its own list, and the newcomer awaits all of whom it learns: so of two newcomers that come at once one awaits the other.\n"},
    {"ricart-agrawala-sequenced",
     "If all sites, the sender too, see all transmissions in one order, that order is the queue, and no numbers are needed: the site whose REQUEST is seen first enters first, and the next one when the first one's REPLY, sent on leaving, is seen.\n",
     "REQUEST and REPLY, both to all: 2 per entry. A broadcast counts as one.\n",
     "request\tbroadcast REQUEST\n"
     "on REQUEST\tappend the sender, which may be me, to the queue; enter if I am the first and it is my own\n"
     "on REPLY\ttake the sender off the head of the queue; enter if I am the first now\n"
     "release\tbroadcast REPLY\n",
     "Invariant RS. The lines of two sites that have seen equally many transmissions are equal.\n",
     "The paper can be read as if no site need REPLY when no site waits. The REPLY is needed always: sites that ask later have seen the REQUEST, and wait for the REPLY to it.\n",NULL},
    {"ricart-agrawala-token",
     "Only the holder of the token enters. A site that wants the token numbers its request and tells all sites. The token carries, for every site, the number of its request that was served last. A holder that leaves looks round, from its right-hand neighbour onwards, for a site that has asked more often than it was served. There is no queue: the order of the sites is the order of service.\n",
     "REQUEST(number) to all and TOKEN(served) once: n per entry, or 0 if the token is here already.\n",
     "request\tif the token is here: enter; else number my request; send REQUEST(number) to all others\n"
     "on REQUEST(k) from j\trequested[j] := max(requested[j], k); if I hold the idle token and requested[j] > granted[j]: send TOKEN to j\n"
     "on TOKEN(granted)\tenter\n"
     "release\tgranted[i] := requested[i]; going round from i+1, send TOKEN to the first j with requested[j] > granted[j], if there is one\n",
     "Invariant RAT1. There is one token, held or in flight.\n"
     "Invariant RAT2. The number of a site's latest request is the one served last, or the next.\n",
     "None. Surveys let the holder choose the lowest numbered site that has asked instead of looking round, and call it unfair. It is worse: ricart-agrawala-token-as-retold does so, and starves.\n",NULL},
    {"singhal-dynamic",
     "Every site keeps a set of the sites that it must ask and a set of those that it must answer on leaving. At first the sets form a staircase: site i asks all sites below it, so of any two sites exactly one asks the other. Later the sets follow how often each site asks. A site that seldom asks is soon asked by no other.\n",
     "REQUEST(claim) and REPLY: n-1 on the average at light load, 2(n-1) at full load. (The author estimates 3(n-1)/2 there, but if all sites ask all the time, every other site has asked in between.)\n",
     "request\tclock := clock + 1; send REQUEST(clock, i) to the request set; enter if it is empty\n"
     "on REQUEST(t, j)\tclock := max(clock, t); if I am inside, or wait with an older claim: put j into the inform set; else send REPLY to j, and if I wait and have not asked j, send my REQUEST to j; put j into the request set\n"
     "on REPLY\ttake the sender out of the request set; enter if it is empty\n"
     "release\tsend REPLY to the inform set, and move it into the request set\n",
     "Invariant SD1. Of two sites at least one must ask the other; both only while a REPLY between them is in flight.\n"
     "Invariant SD2. An idle site owes no answer.\n",
     "Sites do not stand in their own sets, which only serves the drawing of the staircase. The REQUEST that a waiting site sends behind its REPLY carries the time of its claim; the printed REQUEST(C, i) carries a clock that has just moved past it. See singhal-dynamic-as-retold.\n",
     "Started from the same staircase, Carvalho and Roucairol's algorithm sends the same messages: a site does not ask those whose permission it holds. A test runs the two side by side.\n"},
    {"singhal-heuristic",
     "There is a token. A site guesses of every other whether it may be requesting, and sends its own request only to those: one of them has the token, or will have it first. The token carries such guesses too, with the number of the request that each rests on; a holder that leaves merges its own with those of the token, by the higher number, and then knows who really waits.\n",
     "REQUEST(number) to the sites counted as requesting and TOKEN(numbers, who waits) once: 0 if the token is here, (n-1)/2 + (n-1)/n on average at light load, n at full load and never more.\n",
     "request\tif the token is here: enter; else SN[i] := SN[i] + 1; send REQUEST(SN[i]) to each j with SV[j] = R\n"
     "on REQUEST(k) from j\tSN[j] := max(SN[j], k). Not requesting: SV[j] := R. Requesting: if SV[j] was not R, send my REQUEST to j; SV[j] := R. Inside: SV[j] := R. Holding the idle token: send TOKEN to j, or, if the request is old, tell j of me by a REQUEST\n"
     "on TOKEN(TSN, TSV)\tenter\n"
     "release\tmerge SN, SV with TSN, TSV by the higher number; send TOKEN to the nearest j with SV[j] = R; if there is none, hold it\n",
     "Invariant SH1. There is one token, held or in flight, and it is sent only to sites that wait.\n"
     "Invariant SH2. Of any two sites one counts the other, or a REQUEST between them is in flight, or one is inside and its token counts the other. (As published, theorem 2 claims more, a staircase of guesses, which does not hold.)\n"
     "Invariant SH3. The holder of an idle token counts no site; so by SH2 all others count it, or will.\n",
     "As published, an outdated request is discarded. By then its sender may have ceased to count the receiver, which does not count the sender either: the two have lost each other, and one may wait for ever while the other holds the idle token. So an outdated request makes its receiver count the sender, or tell it of itself; `told` keeps this to one REQUEST for each number and site. FIFO channels are then not needed. Guesses are merged by one short rule on release, and only then; the paper's long form does not cover `count-every-entry`.\n",NULL},
    {"singhal-heuristic-robust",
     "The algorithm of singhal_heuristic.c among the sites that can be reached. A site fails (VI.B). The others cease to count it, and so does the token. A site that had asked only that one asks all (case IV). Whether the token is lost, and who makes a new one, is found out in one of two ways: singhal-heuristic-robust by a census at every failure (census.h), which needs no bound on delays; singhal-heuristic-time-outs by a site that has waited too long, for which the others are consulted (consult.h, VI.A): that also finds lost messages, and needs a bound. It recovers. RECOVERING to all; they answer with the number of its last request, or it would count from 1 again, and be taken for outdated. It counts all sites; no site needs to count it. A token that was sent to it before is lost, also if it arrives now: others may have counted it as lost. The network is cut (VI.C). The side with the token is active, and goes on by itself. The other waits: it must not make a token, for it cannot know that there is none. When the cut heals, a census tells all where the token is. Sites of the inactive side then count all of the active one, and each other (`--set reintegration=..`): all; or, in a fixed order, each those behind it, at once (`order`, the second method of the paper) or when RECOVERING_PART has come along the line to them (`part`, the first). They take a new number if they wait, and send it. By time-outs, a site that waits is late and is told where the token is.\n",
     "As before, while nothing fails. A failure costs at most n(n-1) FLUSH, n-1 STATUS, n-1 VERDICT, and n-1 REQUESTs if the token was lost; a recovery 2(n-1) and such a census. A site that is late costs a LATE, 2(n-1) messages of a consultation, or 4(n-1) if the token was not found at once, n-1 RESUME, and a REQUEST of each that waits.\n",NULL,
     "Invariant SR1. Among sites that are up there is at most one token, held or in flight.\n",
     "The -as-published versions have it as printed. A failed site is taken out of the token, too, or the next merge would count it again and send the token there. The number of a recovering site is not reset. A token that comes to a site which does not wait, because the token knew of a request from before a crash, is passed on; the paper has no rule for that. What a new token contains and how others learn of it is not said in the paper. Sites that wait on the inactive side send their request again, under a new number. RECOVERING_PART makes its receiver cease to count its sender; here the sender counts the receiver from then on, or the two may lose each other. consult.h says which site consults, and why a token on its way is not lost. A site of the inactive side that gets the token before it hears the verdict makes itself known by requests instead.\n",NULL},
    {"singhal-heuristic-time-outs",
     "The algorithm of singhal_heuristic.c among the sites that can be reached. A site fails (VI.B). The others cease to count it, and so does the token. A site that had asked only that one asks all (case IV). Whether the token is lost, and who makes a new one, is found out in one of two ways: singhal-heuristic-robust by a census at every failure (census.h), which needs no bound on delays; singhal-heuristic-time-outs by a site that has waited too long, for which the others are consulted (consult.h, VI.A): that also finds lost messages, and needs a bound. It recovers. RECOVERING to all; they answer with the number of its last request, or it would count from 1 again, and be taken for outdated. It counts all sites; no site needs to count it. A token that was sent to it before is lost, also if it arrives now: others may have counted it as lost. The network is cut (VI.C). The side with the token is active, and goes on by itself. The other waits: it must not make a token, for it cannot know that there is none. When the cut heals, a census tells all where the token is. Sites of the inactive side then count all of the active one, and each other (`--set reintegration=..`): all; or, in a fixed order, each those behind it, at once (`order`, the second method of the paper) or when RECOVERING_PART has come along the line to them (`part`, the first). They take a new number if they wait, and send it. By time-outs, a site that waits is late and is told where the token is.\n",
     "As before, while nothing fails. A failure costs at most n(n-1) FLUSH, n-1 STATUS, n-1 VERDICT, and n-1 REQUESTs if the token was lost; a recovery 2(n-1) and such a census. A site that is late costs a LATE, 2(n-1) messages of a consultation, or 4(n-1) if the token was not found at once, n-1 RESUME, and a REQUEST of each that waits.\n",NULL,
     "Invariant SR1. Among sites that are up there is at most one token, held or in flight.\n",
     "The -as-published versions have it as printed. A failed site is taken out of the token, too, or the next merge would count it again and send the token there. The number of a recovering site is not reset. A token that comes to a site which does not wait, because the token knew of a request from before a crash, is passed on; the paper has no rule for that. What a new token contains and how others learn of it is not said in the paper. Sites that wait on the inactive side send their request again, under a new number. RECOVERING_PART makes its receiver cease to count its sender; here the sender counts the receiver from then on, or the two may lose each other. consult.h says which site consults, and why a token on its way is not lost. A site of the inactive side that gets the token before it hears the verdict makes itself known by requests instead.\n",NULL},
    {"suzuki-kasami",
     "Only the holder of the token enters. A site that wants the token numbers its request and tells all sites. The token carries a queue of sites to serve and, for every site, the number of its request that was served last: that is how the holder tells a fresh request from one that was merely slow.\n",
     "REQUEST(number) to all and TOKEN(queue, served) once: n per entry, or 0 if the token is here already.\n",
     "request\tif the token is here: enter; else RN[i] := RN[i] + 1; send REQUEST(RN[i]) to all others\n"
     "on REQUEST(k) from j\tRN[j] := max(RN[j], k); if I hold the idle token and RN[j] > LN[j]: send TOKEN to j\n"
     "on TOKEN(LN, Q)\tenter\n"
     "release\tLN[i] := RN[i]; append each j with RN[j] > LN[j] that is not in Q; if Q is not empty: send TOKEN(LN, Q) to its first site\n",
     "Invariant SK1. There is one token, held or in flight.\n"
     "Invariant SK2. A site is at most once in the token's queue; the queue of an idle holder is empty.\n"
     "Invariant SK3. The number of a site's latest request is the one served last, or the next.\n",
     "A leaving holder looks for new requests from its right-hand neighbour onwards instead of from site 0, which is as good and gives a definite order. Numbers are not bounded; the paper's second half, which bounds them with more messages, is not here. suzuki-kasami-as-retold and suzuki-kasami-tempting make one of these mistakes:\n"
     "numbers-wrap\tthe survey by Banta lets numbers run from 1 to n: a wrapped one looks old and is not served.\n"
     "gives-uncompared\tan idle holder gives the token to any site that asks, without a look at what was served.\n"
     "queues-twice\ta leaving holder does not look whether a site is in the queue already.\n",NULL},
    {"suzuki-kasami-robust",
     "Whether the token is lost, a census tells (census.h). A new token is made from what all report: of each site the request that was served last is its latest one, or the one before if it waits. After every census, a site that waits asks again, under the same number: that reaches the sites that did not get its first request, and is no news to others. A site that is back learns the number of its own last request from the others. The queue of the token is only what the holder will do next, so a site that cannot be reached is simply left out when its turn comes.\n",
     "As before, n or 0, while nothing fails. A failure costs at most n(n-1) FLUSH, n-1 STATUS, n-1 VERDICT and n-1 REQUESTs of each that waits; a recovery 2(n-1) and such a census.\n",NULL,
     "Invariant KR1. Among sites that are up there is at most one token, held or in flight.\n",NULL,NULL},
    {"swaroop-singh",
     "Sites that ask for the same session may be inside together. The holder of the token is the captain of a session. A site that asks the captain for that session follows it in at once (START) and reports when it leaves (COMPLETE), until a site wants another session: that request is queued, and from then on no site enters before it. When captain and followers have left, the token goes to the first site of the next session in its queue, the new captain, and START to the others.\n",
     "REQUEST(number, session) to the sites known to have asked; then TOKEN, or START and COMPLETE: 0 where the token is and for another entry to the open session, (n-1)(n+2)/2n on average at light load, never more than n+1.\n",
     "request\tif the token is here and idle, or the queue is empty and the session is mine: enter as captain; else number my request, and send REQUEST(number, session) to the request set, or put it into the queue if the token is here\n"
     "on REQUEST(k, X) from j\tif it is old, ignore it, but tell j of me by a REQUEST if it may not know. If I wait and have not told j: send my REQUEST to j. With the token: idle: send TOKEN to j; the session is X and the queue is empty: send START to j; else queue it\n"
     "on TOKEN(session, followers, queue)\tenter as captain; queue the requests that came before it, and send START to those that may join\n"
     "on START(captain)\tenter as a follower\n"
     "release\ta follower: send COMPLETE to its captain. A captain: if no followers are left and the queue is not empty, open the next session: send TOKEN to the first of the queue, and START to those behind it that want the same session\n"
     "on COMPLETE\tone follower less; if it was the last, I have left and the queue is not empty: open the next session, as above: send TOKEN and START, or enter if I am its captain\n",
     "Invariant SS1. There is one token, held or in flight.\n"
     "Invariant SS2. Of two sites without the token one knows the other, or a REQUEST between them is in flight that is news.\n"
     "Invariant SS3. Every site knows the holder, or a REQUEST of the holder to it is in flight that is news, or one of it to the holder, and the holder does not know it. (The site to which the token is in flight counts as the holder.)\n",
     "As printed it breaks its rule and deadlocks, in seven ways: swaroop-singh-as-published has each of them alone. Repaired: the giver of an idle token ceases to be its holder; the session of an idle token is set when it is given away, and is none while it is idle; a captain that leaves asks for its own followers, not those of the session it has just opened; no site sends TOKEN or START to itself; the token says which requests were granted; requests that come before the token are kept until it comes, and so are COMPLETEs; a captain still knows which sites it has told, and a request that was granted long ago makes it tell its sender of itself.\n",
     "A session is a mode. Mode 0 shares with no claim, so every claim in mode 0 is a session of its own, and `exclusive` is the case in which all of them are. The token's queue is kept flat: neighbours of the same mode other than 0 are one session.\n"},
    {"thiare-gueroui-naimi",
     "Every session has a server. A process that wants a session is a client of its server: it asks the server, is told when it may enter, and tells the server when it leaves. The servers pass one token among themselves. The server that has it may open its session: it lets in all its clients, and later ones too until another server asks for the token. When all clients have left, the token goes on.\n",
     "REQUEST(mode), START, COMPLETE between client and server: 3 per entry, none where both are one site. ASK(server), forwarded, and TOKEN between servers, once for every session that is opened: from 0, where the token is already, to m; O(log m) on average, for m servers.\n",
     "request\tsend REQUEST(session) to the server of the session\n"
     "on REQUEST(session)\tserver: queue it. If its session is open and no other server or session waits: send START to the client. If the server does not want the token: want it, and send ASK(server) to the father, or open the session if the token is here\n"
     "on START\tenter\n"
     "release\tsend COMPLETE to the server\n"
     "on COMPLETE\tserver: one client less; if it was the last: send TOKEN to the next server, if there is one, and ASK for it again if clients wait; else open the next session: send START to its clients\n"
     "on ASK(origin)\tsend the ASK on to the father; without a father: send TOKEN to the origin if it is idle here, else next := origin. father := origin\n"
     "on TOKEN\topen the session of the first client that waits: send START to all clients of that session\n",
     "Invariant TG1. There is one token, held or in flight.\n"
     "Invariant TG2. A server counts those of its clients that are inside, and every START to and COMPLETE from them in flight. It counts some only while it has the token, and they share one session.\n"
     "Invariant TG3. A server that has clients, waiting or let in, wants the token; else it does not.\n"
     "Invariant TG4. While a server wants the token, it has a father exactly if it has a next.\n",NULL,
     "Based on the abstract of the paper alone, which tells of clients, servers and dynamic data structures, that at most one session is open at any time, that opening one costs 0 to m messages and O(log m) on average, and that n processes may be inside together. Reconstructed: the servers' structure (path reversal as in naimi-trehel, which has these costs and an author in common), the messages of the clients, and when a session closes.\n"
     "Session m is served by site (m-1) mod n; with more sessions than sites a server has several, and opens one at a time. A claim in mode 0 is a session of its own, served by the site that makes it: with the rule `exclusive` this is naimi-trehel.\n"},
    {0},
};
