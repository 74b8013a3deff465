/* simgrid.cpp - Ricart and Agrawala's algorithm under full load on SimGrid, with its cheapest network model
 * (constant delay), for comparison. A site is an actor that receives from a mailbox of its own.
 *
 *     simgrid SITES ENTRIES      prints the number of messages and the seconds of processor time */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace s4u = simgrid::s4u;

enum kind { REQUEST, REPLY };

struct message {
    kind what;
    unsigned from;
    unsigned long clock;
};

static unsigned n;
static unsigned long entries, wanted, messages;
static std::vector<s4u::Mailbox *> mailbox;

static void send(kind what, unsigned from, unsigned to, unsigned long clock)
{
    messages++;
    mailbox[to]->put_init(new message{what, from, clock}, 1)->detach();
}

struct site {
    unsigned self, missing = 0;
    unsigned long highest = 0, mine = 0;
    bool asking = false;
    std::vector<char> deferred;

    explicit site(unsigned i) : self(i), deferred(n, 0)
    {
    }

    void receive()
    {
        message *m = mailbox[self]->get<message>();

        if (m->what == REPLY) {
            missing--;
        } else {
            highest = std::max(highest, m->clock);
            if (asking && (mine < m->clock || (mine == m->clock && self < m->from)))
                deferred[m->from] = 1;
            else
                send(REPLY, self, m->from, 0);
        }
        delete m;
    }

    void live()
    {
        while (entries < wanted) {
            asking = true;
            mine = ++highest;
            missing = n - 1;
            for (unsigned j = 0; j < n; j++)
                if (j != self)
                    send(REQUEST, self, j, mine);
            while (missing)
                receive();
            entries++;
            s4u::this_actor::sleep_for(0.1);
            while (mailbox[self]->ready()) // what came meanwhile is deferred
                receive();
            asking = false;
            for (unsigned j = 0; j < n; j++)
                if (deferred[j]) {
                    deferred[j] = 0;
                    send(REPLY, self, j, 0);
                }
        }
        std::printf("%lu %f\n", messages, (double)clock() / CLOCKS_PER_SEC);
        std::fflush(stdout);
        std::_Exit(0);
    }
};

int main(int argc, char **argv)
{
    s4u::Engine engine(&argc, argv);

    if (argc != 3)
        return 2;
    n = (unsigned)std::atoi(argv[1]);
    wanted = std::strtoul(argv[2], nullptr, 10);
    s4u::Engine::set_config("network/model:Constant");
    s4u::Engine::set_config("network/latency-factor:1");
    auto *zone = s4u::create_full_zone("zone");
    for (unsigned i = 0; i < n; i++) {
        zone->create_host("site" + std::to_string(i), 1e9);
        mailbox.push_back(s4u::Mailbox::by_name(std::to_string(i)));
    }
    zone->seal();
    for (unsigned i = 0; i < n; i++)
        s4u::Actor::create("site", s4u::Host::by_name("site" + std::to_string(i)), [i] { site(i).live(); });
    engine.run();
    return 1;
}
