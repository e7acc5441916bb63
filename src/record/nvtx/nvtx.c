/* The NVTX probe: NVTX_INJECTION64_PATH names this library, every binary that uses NVTX calls
 * InitializeInjectionNvtx2 once, and we put our functions into its tables. Source: the NVTX 3
 * headers. */
#include <nvtx3/nvToolsExt.h>

#include "record/record.h"
#include "registry.h"
#include "started.h"

#define NARROW_BYTES 1000

/* The number of an event's message; 0 when it has none. `size` says how much of the struct the
 * caller knows. */
static uint32_t message_name(const nvtxEventAttributes_t *event)
{
    char narrow[NARROW_BYTES];
    if (event == NULL ||
        event->size < offsetof(nvtxEventAttributes_t, message) + sizeof event->message)
        return 0;
    switch (event->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
        return event->message.ascii ? scaleprof_string(event->message.ascii) : 0;
    case NVTX_MESSAGE_TYPE_UNICODE:
        registry_narrow(event->message.unicode, narrow, sizeof narrow);
        return scaleprof_string(narrow);
    case NVTX_MESSAGE_TYPE_REGISTERED:
        return registry_name(event->message.registered);
    default:
        return 0;
    }
}

static uint32_t wide_name(const wchar_t *text)
{
    char narrow[NARROW_BYTES];
    registry_narrow(text, narrow, sizeof narrow);
    return scaleprof_string(narrow);
}

static uint32_t plain_name(const char *text)
{
    return text ? scaleprof_string(text) : 0;
}

/* An interval or instant that is no part of the thread's nesting. */
static void write_event(uint8_t kind, uint32_t name, int64_t begin_ns, int64_t end_ns)
{
    struct record_writer *w = scaleprof_writer();
    union slot *s = w ? record_reserve_event(w, 0) : NULL;
    if (s == NULL)
        return;
    s->event = (struct slot_event){.kind = kind,
                                   .name = name,
                                   .begin_ns = begin_ns,
                                   .duration_ns = end_ns - begin_ns,
                                   .ref = -1,
                                   .bytes = -1};
    record_publish(w);
}

static void mark(uint32_t name)
{
    int64_t now_ns = clock_now_ns();
    write_event(EVENT_mark, name, now_ns, now_ns);
}

/* NVTX wants the depth before the push; a negative number says "no tool", which is not so here. */
static int push(uint32_t name)
{
    scaleprof_range_open(name);
    return 0;
}

static int pop(void)
{
    scaleprof_range_end();
    return 0;
}

static nvtxRangeId_t start(uint32_t name)
{
    return scaleprof_writer() ? started_put(clock_now_ns(), name) : 0;
}

static void end(nvtxRangeId_t id)
{
    int64_t begin_ns;
    uint32_t name;
    if (started_take(id, &begin_ns, &name))
        write_event(EVENT_range, name, begin_ns, clock_now_ns());
}

static void on_mark_ex(const nvtxEventAttributes_t *event)
{
    mark(message_name(event));
}

static void on_mark_a(const char *text)
{
    mark(plain_name(text));
}

static void on_mark_w(const wchar_t *text)
{
    mark(wide_name(text));
}

static nvtxRangeId_t on_start_ex(const nvtxEventAttributes_t *event)
{
    return start(message_name(event));
}

static nvtxRangeId_t on_start_a(const char *text)
{
    return start(plain_name(text));
}

static nvtxRangeId_t on_start_w(const wchar_t *text)
{
    return start(wide_name(text));
}

static int on_push_ex(const nvtxEventAttributes_t *event)
{
    return push(message_name(event));
}

static int on_push_a(const char *text)
{
    return push(plain_name(text));
}

static int on_push_w(const wchar_t *text)
{
    return push(wide_name(text));
}

static void on_domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    (void)domain;
    mark(message_name(event));
}

static nvtxRangeId_t on_domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    (void)domain;
    return start(message_name(event));
}

static void on_domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    (void)domain;
    end(id);
}

static int on_domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    (void)domain;
    return push(message_name(event));
}

static int on_domain_pop(nvtxDomainHandle_t domain)
{
    (void)domain;
    return pop();
}

static nvtxStringHandle_t on_register_a(nvtxDomainHandle_t domain, const char *text)
{
    (void)domain;
    return (nvtxStringHandle_t)registry_put(text);
}

static nvtxStringHandle_t on_register_w(nvtxDomainHandle_t domain, const wchar_t *text)
{
    char narrow[NARROW_BYTES];
    (void)domain;
    registry_narrow(text, narrow, sizeof narrow);
    return (nvtxStringHandle_t)registry_put(narrow);
}

static nvtxDomainHandle_t on_domain_a(const char *name)
{
    return (nvtxDomainHandle_t)registry_put(name);
}

static nvtxDomainHandle_t on_domain_w(const wchar_t *name)
{
    return (nvtxDomainHandle_t)on_register_w(NULL, name);
}

struct hook {
    NvtxCallbackModule module;
    unsigned id;
    NvtxFunctionPointer function;
};

static const struct hook hooks[] = {
#define HOOK(module, id, function)                                                                 \
    {NVTX_CB_MODULE_##module, NVTX_CBID_##module##_##id, (NvtxFunctionPointer)function},
#include "hooks.def"
#undef HOOK
};

/* Called by each binary that uses NVTX, perhaps from several threads. 0 would make NVTX unload us.
 */
SCALEPROF_API int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
    if (callbacks == NULL || callbacks->struct_size < sizeof *callbacks)
        return 0;
    clock_use(scaleprof_clock());
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        NvtxFunctionTable table;
        unsigned size;
        if (callbacks->GetModuleFunctionTable(hooks[i].module, &table, &size) &&
            hooks[i].id < size && table[hooks[i].id] != NULL)
            *table[hooks[i].id] = hooks[i].function;
    }
    return 1;
}
