/* What the passes of one reduction share. Filled in the order of reduce.c. */
#ifndef REDUCE_STATE_H
#define REDUCE_STATE_H

#include "collectives/collectives.h"
#include "reduce/reduce.h"
#include "trace/vocabulary.h"

/* A step as one rank marks it. */
struct rank_step {
    int64_t number, begin_ns, end_ns;
};

/* One rank's part in a collective, or one side of a message. */
struct operation {
    int64_t begin_ns, end_ns; /* arrival, and end of its completion */
    int64_t wait_end_ns;      /* until then it waits for a peer; begin_ns when it does not */
    int64_t exposed_wait_ns, exposed_transfer_ns, hidden_ns; /* found by partition */
    int64_t bytes;
    uint64_t key;    /* sequence of a collective; digest of a message's ends, tag and order */
    int32_t culprit; /* rank waited for; -1 nobody that can be named */
    uint32_t communicator, site;
    uint32_t
        instance; /* row of /analysis/instances; of a message: the matching operation + 1, 0 none */
    int32_t root, peer; /* ranks in the job; -1 */
    uint8_t kind;       /* enum collective_kind */
    uint8_t scope, is_message, direction;
};

struct rank_state {
    struct rank_step *steps; /* sorted by begin */
    size_t step_count, step_room;
    size_t first_partition;                  /* its first row of /analysis/partition */
    size_t first_operation, operation_count; /* in state.operations, sorted by begin */
    int64_t begin_ns, end_ns;                /* of its record */
    int64_t open_events, unmatched_collectives, mismatched_collectives, unmatched_messages;
    int64_t collectives, messages;
};

/* Sums over one instance that partition finds. */
struct instance_sums {
    int64_t wait_ns, exposed_ns, hidden_ns; /* wait: the exposed part */
};

struct state {
    const struct reduce_source *source;
    const struct reduce_options *options;
    struct analysis_tables *out;
    struct strings *strings;
    const char *steps_from;
    int none_kept; /* no step is fit for sums and means: then all are used */
    size_t rank_count;
    struct rank_state *ranks; /* row of /ranks */
    struct operation *operations;
    size_t operation_count, operation_room;
    struct instance_sums *instance_sums; /* per row of instances */
    int64_t *caused_ns;      /* per row of partition: exposed waits of others that name its rank */
    uint32_t usage_names[3]; /* numbers of the samples' names: CPU time, involuntary, voluntary
                                switches */
    const size_t *member_first; /* per communicator: its first row of /comm_members, and the end */
};

/* Row of /ranks of a rank in the job; rank_count when there is none. */
size_t state_rank_row(const struct state *s, int32_t rank);

/* Error of the order of two ranks' times: one reading each on one clock, else the sum of their
 * bounds; -1 unbounded. */
int64_t state_bound_ns(const struct state *s, size_t row_a, size_t row_b);
int64_t state_estimate_ns(const struct state *s, size_t row_a, size_t row_b);

/* Rank in the job of a member of a communicator; -1 unknown or not unique. */
int32_t state_member_rank(const struct state *s, uint32_t communicator, int32_t member);

#endif
