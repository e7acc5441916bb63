#include "collectives.h"

#include <string.h>

enum payload { PAYLOAD_SENT, PAYLOAD_RECEIVED, PAYLOAD_LARGER };
enum factor { FACTOR_ONE, FACTOR_RING, FACTOR_RING2 };

static const struct {
    const char *name;
    enum collective_waits waits;
    enum payload payload;
    enum factor factor;
} kinds[] = {
#define COLLECTIVE(name, waits, payload, factor, meaning)                                          \
    {#name, COLLECTIVE_WAITS_##waits, PAYLOAD_##payload, FACTOR_##factor},
#include "trace/collectives.def"
#undef COLLECTIVE
};

static unsigned known(unsigned kind)
{
    return kind < COLLECTIVE_KIND_COUNT ? kind : COLLECTIVE_unknown;
}

const char *collective_name(unsigned kind)
{
    return kinds[known(kind)].name;
}

enum collective_waits collective_waits(unsigned kind)
{
    return kinds[known(kind)].waits;
}

enum collective_kind collective_find(const char *name)
{
    for (unsigned kind = 0; kind < COLLECTIVE_KIND_COUNT; kind++)
        if (strcmp(name, kinds[kind].name) == 0)
            return (enum collective_kind)kind;
    return COLLECTIVE_unknown;
}

int64_t collective_payload(unsigned kind, int64_t sent, int64_t received)
{
    switch (kinds[known(kind)].payload) {
    case PAYLOAD_SENT:
        return sent;
    case PAYLOAD_RECEIVED:
        return received;
    case PAYLOAD_LARGER:
        break;
    }
    return sent > received ? sent : received;
}

double collective_algbw(int64_t payload, int64_t duration_ns)
{
    if (payload <= 0 || duration_ns <= 0)
        return 0;
    return (double)payload * 1e9 / (double)duration_ns;
}

double collective_busbw(unsigned kind, int members, int64_t payload, int64_t duration_ns)
{
    double algbw = collective_algbw(payload, duration_ns);
    if (members < 1)
        return 0;
    switch (kinds[known(kind)].factor) {
    case FACTOR_RING:
        return algbw * (members - 1) / members;
    case FACTOR_RING2:
        return algbw * 2 * (members - 1) / members;
    case FACTOR_ONE:
        break;
    }
    return algbw;
}
