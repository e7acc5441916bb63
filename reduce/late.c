#include "late.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"

enum {
#define LATE(name, value, why) LATE_INDEX_##name,
#include "late.def"
#undef LATE
};
static const double rule[] = {
#define LATE(name, value, why) value,
#include "late.def"
#undef LATE
};

/* Kept steps as columns: matrix[step * ranks + rank]; ranks are those that have all kept steps. */
struct matrix {
    size_t steps, ranks;
    size_t *rank_rows;   /* of /ranks */
    uint32_t *step_rows; /* of /analysis/steps */
    int64_t *compute_ns, *mpi_ns, *cpu_ns, *voluntary, *caused_ns;
    int64_t *late_ns; /* compute beyond the median rank's in the step */
    int64_t *scratch;
    int64_t step_ns; /* median over kept steps */
};

static void free_matrix(struct matrix *m)
{
    free(m->rank_rows);
    free(m->step_rows);
    free(m->compute_ns);
    free(m->mpi_ns);
    free(m->cpu_ns);
    free(m->voluntary);
    free(m->caused_ns);
    free(m->late_ns);
    free(m->scratch);
}

static enum err list_steps(const struct state *s, struct matrix *m)
{
    const struct steps_rows *steps = &s->out->steps;
    m->step_rows = malloc((steps->count + 1) * sizeof *m->step_rows);
    m->rank_rows = malloc((s->rank_count + 1) * sizeof *m->rank_rows);
    if (m->step_rows == NULL || m->rank_rows == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < steps->count; i++)
        if (steps->flags[i] & STEP_KEPT)
            m->step_rows[m->steps++] = (uint32_t)i;
    for (size_t i = 0; i < s->rank_count; i++)
        if (s->ranks[i].step_count > 0)
            m->rank_rows[m->ranks++] = i;
    return ERR_OK;
}

static int64_t *make_cells(const struct matrix *m)
{
    int64_t *cells = malloc((m->steps * m->ranks + 1) * sizeof *cells);
    for (size_t i = 0; cells != NULL && i < m->steps * m->ranks; i++)
        cells[i] = -1;
    return cells;
}

/* Place of each step among the kept ones; SIZE_MAX where it is not. */
static size_t *place_steps(const struct state *s, const struct matrix *m)
{
    size_t *place = malloc((s->out->steps.count + 1) * sizeof *place);
    for (size_t i = 0; place != NULL && i < s->out->steps.count; i++)
        place[i] = SIZE_MAX;
    for (size_t i = 0; place != NULL && i < m->steps; i++)
        place[m->step_rows[i]] = i;
    return place;
}

static enum err fill_cells(const struct state *s, struct matrix *m)
{
    const struct partition_rows *p = &s->out->partition;
    size_t *place = place_steps(s, m), column = 0;
    if (place == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < p->count; i++) {
        if (i > 0 && p->rank[i] != p->rank[i - 1])
            column++;
        size_t step = p->step[i] < s->out->steps.count ? place[p->step[i]] : SIZE_MAX;
        if (step == SIZE_MAX)
            continue;
        size_t cell = step * m->ranks + column;
        m->compute_ns[cell] = p->compute_ns[i];
        m->mpi_ns[cell] = p->wait_ns[i] + p->transfer_ns[i] + p->mpi_call_ns[i];
        m->cpu_ns[cell] = p->cpu_ns[i];
        m->voluntary[cell] = p->voluntary[i];
        m->caused_ns[cell] = p->caused_wait_ns[i];
    }
    free(place);
    return ERR_OK;
}

/* The median of a row of cells. */
static int64_t median_of_step(struct matrix *m, const int64_t *cells, size_t step)
{
    memcpy(m->scratch, cells + step * m->ranks, m->ranks * sizeof *m->scratch);
    return lists_median(m->scratch, m->ranks);
}

static void find_lateness(const struct state *s, struct matrix *m)
{
    for (size_t i = 0; i < m->steps; i++) {
        int64_t median_ns = median_of_step(m, m->compute_ns, i);
        for (size_t r = 0; r < m->ranks; r++)
            m->late_ns[i * m->ranks + r] = m->compute_ns[i * m->ranks + r] - median_ns;
    }
    for (size_t i = 0; i < m->steps; i++)
        m->scratch[i] =
            s->out->steps.end_ns[m->step_rows[i]] - s->out->steps.begin_ns[m->step_rows[i]];
    m->step_ns = lists_median(m->scratch, m->steps);
}

static enum err make_matrix(const struct state *s, struct matrix *m)
{
    enum err e = list_steps(s, m);
    if (e || m->steps == 0 || m->ranks < 2)
        return e;
    m->compute_ns = make_cells(m);
    m->mpi_ns = make_cells(m);
    m->cpu_ns = make_cells(m);
    m->voluntary = make_cells(m);
    m->caused_ns = make_cells(m);
    m->late_ns = make_cells(m);
    m->scratch = malloc((m->steps > m->ranks ? m->steps : m->ranks) * sizeof *m->scratch);
    if (!m->compute_ns || !m->mpi_ns || !m->cpu_ns || !m->voluntary || !m->caused_ns ||
        !m->late_ns || !m->scratch)
        return ERR_NO_MEMORY;
    e = fill_cells(s, m);
    if (!e)
        find_lateness(s, m);
    return e;
}

/* The median over steps from `first` on of a rank's cells, less the median rank's where `against`
 * is set. */
static int64_t median_over_steps(struct matrix *m, const int64_t *cells, size_t rank, size_t first,
                                 int against)
{
    int64_t *values = malloc((m->steps - first + 1) * sizeof *values);
    size_t count = 0;
    for (size_t i = first; values != NULL && i < m->steps; i++) {
        int64_t own = cells[i * m->ranks + rank];
        values[count++] = against ? own - median_of_step(m, cells, i) : own;
    }
    int64_t median = values ? lists_median(values, count) : 0;
    free(values);
    return median;
}

/* Where a rank's lateness changes most: the split of the steps that makes the means before and
 * after differ most, weighted by their lengths. 0: it does not change. */
static size_t find_change(const struct matrix *m, size_t rank)
{
    double total = 0, before = 0, best = 0;
    size_t at = 0;
    for (size_t i = 0; i < m->steps; i++)
        total += (double)m->late_ns[i * m->ranks + rank];
    for (size_t i = 1; i < m->steps; i++) {
        before += (double)m->late_ns[(i - 1) * m->ranks + rank];
        size_t after = m->steps - i;
        double difference = (total - before) / (double)after - before / (double)i;
        double score = difference * difference * (double)i * (double)after;
        if (difference > 0 && score > best) {
            best = score;
            at = i;
        }
    }
    return at;
}

/* In how many of the steps from `first` on the rank is the latest. */
static size_t count_latest(const struct matrix *m, size_t rank, size_t first)
{
    size_t latest = 0;
    for (size_t i = first; i < m->steps; i++) {
        const int64_t *row = m->late_ns + i * m->ranks;
        int is_latest = 1;
        for (size_t r = 0; r < m->ranks; r++)
            is_latest &= r == rank || row[r] < row[rank];
        latest += (size_t)is_latest;
    }
    return latest;
}

/* How far the other ranks usually stray from the median rank: the median over steps of the median
 * distance. */
static int64_t spread_of_others(struct matrix *m, size_t rank, size_t first)
{
    int64_t *steps = malloc((m->steps - first + 1) * sizeof *steps), spread;
    size_t count = 0;
    for (size_t i = first; steps != NULL && i < m->steps; i++) {
        size_t others = 0;
        for (size_t r = 0; r < m->ranks; r++)
            if (r != rank)
                m->scratch[others++] = llabs(m->late_ns[i * m->ranks + r]);
        steps[count++] = lists_median(m->scratch, others);
    }
    spread = steps ? lists_median(steps, count) : 0;
    free(steps);
    return spread;
}

/* Median distance of a rank's lateness from its median, over steps from `first` on. */
static int64_t scatter_of(const struct matrix *m, size_t rank, size_t first, int64_t median_ns)
{
    int64_t *values = malloc((m->steps - first + 1) * sizeof *values), scatter;
    size_t count = 0;
    for (size_t i = first; values != NULL && i < m->steps; i++)
        values[count++] = llabs(m->late_ns[i * m->ranks + rank] - median_ns);
    scatter = values ? lists_median(values, count) : INT64_MAX;
    free(values);
    return scatter;
}

struct verdict {
    size_t rank, first, latest;
    int64_t late_ns;
    int pattern;
};

/* Somebody is the latest in every step: to be it again and again must be more than chance, or plain
 * to see. */
static int is_no_chance(const struct matrix *m, const struct verdict *v)
{
    double steps = (double)(m->steps - v->first), chance = 1 / (double)m->ranks;
    double beyond = (double)v->latest - steps * chance;
    return beyond >= rule[LATE_INDEX_LEAST_SIGMAS] * sqrt(steps * chance * (1 - chance)) ||
           (double)v->late_ns >=
               rule[LATE_INDEX_CLEAR_FACTOR] * (double)scatter_of(m, v->rank, v->first, v->late_ns);
}

static int stands_out(struct matrix *m, struct verdict *v)
{
    size_t steps = m->steps - v->first;
    v->late_ns = median_over_steps(m, m->late_ns, v->rank, v->first, 0);
    v->latest = count_latest(m, v->rank, v->first);
    return steps >= (size_t)rule[LATE_INDEX_LEAST_STEPS] && is_no_chance(m, v) &&
           (double)v->late_ns >= rule[LATE_INDEX_LEAST_SHARE_OF_STEP] * (double)m->step_ns &&
           (double)v->latest >= rule[LATE_INDEX_LEAST_SHARE_OF_STEPS] * (double)steps &&
           (double)v->late_ns >=
               rule[LATE_INDEX_LEAST_NOISE_FACTOR] * (double)spread_of_others(m, v->rank, v->first);
}

/* Late from a step on, if before that step it was not; else late all along. */
static int judge(struct matrix *m, struct verdict *v)
{
    size_t change = find_change(m, v->rank);
    if (change > 0 && change >= (size_t)rule[LATE_INDEX_LEAST_STEPS]) {
        struct verdict from = {.rank = v->rank, .first = change, .pattern = LATE_FROM_STEP};
        int64_t before_sum = 0;
        for (size_t i = 0; i < change; i++)
            before_sum += m->late_ns[i * m->ranks + v->rank];
        if (stands_out(m, &from) && before_sum / (int64_t)change < from.late_ns / 3) {
            *v = from;
            return 1;
        }
    }
    v->first = 0;
    v->pattern = LATE_CHRONIC;
    return stands_out(m, v);
}

static int is_sampled(const struct matrix *m, const int64_t *cells, size_t rank)
{
    for (size_t i = 0; i < m->steps; i++)
        for (size_t r = 0; r < m->ranks; r++)
            if (cells[i * m->ranks + r] < 0)
                return 0;
    return rank < m->ranks;
}

/* More bytes than the median rank's: counted over all its operations. */
static int has_more_data(const struct state *s, size_t rank_row)
{
    int64_t *bytes = calloc(s->rank_count + 1, sizeof *bytes), own, median;
    if (bytes == NULL)
        return 0;
    for (size_t i = 0; i < s->rank_count; i++)
        for (size_t k = 0; k < s->ranks[i].operation_count; k++) {
            const struct operation *o = &s->operations[s->ranks[i].first_operation + k];
            bytes[i] += o->bytes > 0 ? o->bytes : 0;
        }
    own = bytes[rank_row];
    median = lists_median(bytes, s->rank_count);
    free(bytes);
    return own > median + median / 5;
}

/* Between which bounds a time lies. */
struct range {
    int64_t least_ns, most_ns;
};

/* Time outside MPI in which the rank did not have a CPU, median over the steps from `first` on. Its
 * CPU time is known of whole steps only, and who waits in MPI may spin or not. */
static struct range off_cpu_of(const struct matrix *m, size_t rank, size_t first)
{
    size_t steps = m->steps - first, count = 0;
    int64_t *least = malloc((2 * steps + 1) * sizeof *least), *most = least ? least + steps : NULL;
    struct range range = {0, 0};
    if (least == NULL)
        return range;
    for (size_t i = first; i < m->steps; i++, count++) {
        size_t cell = i * m->ranks + rank;
        int64_t spun_ns = m->mpi_ns[cell] < m->cpu_ns[cell] ? m->mpi_ns[cell] : m->cpu_ns[cell];
        int64_t off_ns = m->compute_ns[cell] - m->cpu_ns[cell];
        least[count] = off_ns > 0 ? off_ns : 0;
        most[count] = off_ns + spun_ns > 0 ? off_ns + spun_ns : 0;
    }
    range.least_ns = lists_median(least, steps);
    range.most_ns = lists_median(most, steps);
    free(least);
    return range;
}

/* What of it the median rank does not have too: ranks may all sleep for their work. */
static struct range off_cpu(const struct matrix *m, const struct verdict *v)
{
    int64_t *least = malloc(2 * m->ranks * sizeof *least), *most = least ? least + m->ranks : NULL;
    struct range own = {0, 0}, usual = {0, 0};
    if (least == NULL)
        return own;
    for (size_t r = 0; r < m->ranks; r++) {
        struct range range = off_cpu_of(m, r, v->first);
        own = r == v->rank ? range : own;
        least[r] = range.least_ns;
        most[r] = range.most_ns;
    }
    usual.least_ns = lists_median(least, m->ranks);
    usual.most_ns = lists_median(most, m->ranks);
    free(least);
    return (struct range){
        own.least_ns > usual.most_ns ? own.least_ns - usual.most_ns : 0,
        own.most_ns > usual.least_ns ? own.most_ns - usual.least_ns : 0,
    };
}

static uint8_t find_cause(const struct state *s, struct matrix *m, const struct verdict *v,
                          struct range off, int sampled)
{
    double share_ns = rule[LATE_INDEX_OFF_CPU_SHARE] * (double)v->late_ns;
    if (!sampled)
        return LATE_UNKNOWN;
    if ((double)off.most_ns < share_ns)
        return has_more_data(s, m->rank_rows[v->rank]) ? LATE_MORE_DATA : LATE_CPU_WORK;
    if (!is_sampled(m, m->voluntary, v->rank))
        return LATE_UNKNOWN;
    if ((double)median_over_steps(m, m->voluntary, v->rank, v->first, 1) >=
        rule[LATE_INDEX_SLEEPS_PER_STEP])
        return LATE_OFF_CPU;
    return (double)off.least_ns >= share_ns ? LATE_DESCHEDULED : LATE_UNKNOWN;
}

/* What the mean step would lose if this rank needed no more than the slowest of the others, and the
 * median rank. */
static int64_t cost_of(const struct matrix *m, size_t rank)
{
    double sum = 0;
    for (size_t i = 0; i < m->steps; i++) {
        const int64_t *row = m->late_ns + i * m->ranks;
        int64_t next = 0;
        for (size_t r = 0; r < m->ranks; r++)
            if (r != rank && row[r] > next)
                next = row[r];
        sum += row[rank] > next ? (double)(row[rank] - next) : 0;
    }
    return (int64_t)(sum / (double)m->steps);
}

/* Waits that name the rank, per step concerned and rank that may wait. */
static int64_t caused_by(const struct matrix *m, const struct verdict *v)
{
    double sum = 0;
    for (size_t i = v->first; i < m->steps; i++)
        sum += (double)m->caused_ns[i * m->ranks + v->rank];
    return (int64_t)(sum / (double)(m->steps - v->first) / (double)(m->ranks - 1));
}

static int64_t bound_of(const struct state *s, const struct matrix *m, size_t rank)
{
    int64_t most = 0;
    for (size_t r = 0; r < m->ranks; r++) {
        int64_t bound_ns = state_bound_ns(s, m->rank_rows[r], m->rank_rows[rank]);
        if (bound_ns < 0)
            return -1;
        most = r != rank && bound_ns > most ? bound_ns : most;
    }
    return most;
}

static enum err put_late(struct state *s, struct matrix *m, const struct verdict *v)
{
    struct late_ranks_rows *out = &s->out->late_ranks;
    size_t at;
    enum err e = rows_append(out, table_late_ranks, 1, &at);
    if (e)
        return e;
    int sampled = is_sampled(m, m->cpu_ns, v->rank);
    struct range off = sampled ? off_cpu(m, v) : (struct range){0, 0};
    int64_t cpu_excess_ns = v->late_ns > off.least_ns ? v->late_ns - off.least_ns : 0;
    out->rank[at] = s->source->tables->ranks.rank[m->rank_rows[v->rank]];
    out->pattern[at] = (uint8_t)v->pattern;
    out->cause[at] = find_cause(s, m, v, off, sampled);
    out->first_step[at] = s->out->steps.number[m->step_rows[v->first]];
    out->steps[at] = (int64_t)v->latest;
    out->kept_steps[at] = (int64_t)(m->steps - v->first);
    out->lateness_ns[at] = v->late_ns;
    out->caused_wait_ns[at] = caused_by(m, v);
    out->cost_ns[at] = cost_of(m, v->rank);
    out->cpu_excess_ns[at] = sampled ? cpu_excess_ns : -1;
    out->bound_ns[at] = bound_of(s, m, v->rank);
    return ERR_OK;
}

static enum err sort_worst_first(struct late_ranks_rows *out)
{
    size_t *order = malloc((out->count + 1) * sizeof *order);
    if (order == NULL)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < out->count; i++) {
        size_t at = i;
        for (; at > 0 && out->cost_ns[order[at - 1]] < out->cost_ns[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    enum err e = rows_permute(out, table_late_ranks, order);
    free(order);
    return e;
}

enum err late_find(struct state *s)
{
    struct matrix m = {0};
    enum err e = make_matrix(s, &m);
    for (size_t r = 0; r < m.ranks && !e && m.ranks >= 2 && m.steps > 0; r++) {
        struct verdict v = {.rank = r};
        if (judge(&m, &v))
            e = put_late(s, &m, &v);
    }
    free_matrix(&m);
    return e ? e : sort_worst_first(&s->out->late_ranks);
}
