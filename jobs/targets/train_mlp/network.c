#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

static float *new_floats(size_t count)
{
    return calloc(count, sizeof(float));
}

static void set_random_weights(struct network *n, uint64_t seed)
{
    struct random r = random_begin(seed, 0);
    for (int l = 0; l < n->layers; l++) {
        float scale = 1.0f / sqrtf((float)n->widths[l]);
        float *weights = n->parameters + n->begin[l];
        size_t count = (size_t)n->widths[l] * (size_t)n->widths[l + 1];
        for (size_t i = 0; i < count; i++)
            weights[i] = scale * random_normal(&r);
    }
}

int network_open(struct network **out, const int *widths, int layers, int batch, uint64_t seed)
{
    struct network *n = calloc(1, sizeof *n);
    if (n == NULL)
        return -1;
    n->layers = layers;
    n->batch = batch;
    memcpy(n->widths, widths, ((size_t)layers + 1) * sizeof *widths);
    for (int l = 0; l < layers; l++)
        n->begin[l + 1] = n->begin[l] + ((size_t)widths[l] + 1) * (size_t)widths[l + 1];
    n->parameters = new_floats(n->begin[layers]);
    n->gradients = new_floats(n->begin[layers]);
    if (n->parameters == NULL || n->gradients == NULL)
        goto close_network;
    for (int l = 0; l <= layers; l++) {
        n->activation[l] = new_floats((size_t)batch * (size_t)widths[l]);
        n->delta[l] = new_floats((size_t)batch * (size_t)widths[l]);
        if (n->activation[l] == NULL || n->delta[l] == NULL)
            goto close_network;
    }
    set_random_weights(n, seed);
    *out = n;
    return 0;

close_network:
    network_close(n);
    return -1;
}

void network_close(struct network *n)
{
    if (n == NULL)
        return;
    for (int l = 0; l <= n->layers; l++) {
        free(n->activation[l]);
        free(n->delta[l]);
    }
    free(n->parameters);
    free(n->gradients);
    free(n);
}

size_t network_parameter_count(const struct network *n)
{
    return n->begin[n->layers];
}

void network_set_input(struct network *n, const float *input)
{
    memcpy(n->activation[0], input, (size_t)n->batch * (size_t)n->widths[0] * sizeof *input);
}

const float *network_output(const struct network *n)
{
    return n->activation[n->layers];
}

void network_forward_layer(struct network *n, int layer)
{
    int in = n->widths[layer], out = n->widths[layer + 1];
    const float *weights = n->parameters + n->begin[layer];
    const float *biases = weights + (size_t)in * (size_t)out;
    for (int s = 0; s < n->batch; s++) {
        const float *from = n->activation[layer] + (size_t)s * (size_t)in;
        float *to = n->activation[layer + 1] + (size_t)s * (size_t)out;
        memcpy(to, biases, (size_t)out * sizeof *to);
        for (int i = 0; i < in; i++)
            for (int o = 0; o < out; o++)
                to[o] += from[i] * weights[(size_t)i * (size_t)out + (size_t)o];
        if (layer + 1 < n->layers)
            for (int o = 0; o < out; o++)
                to[o] = tanhf(to[o]);
    }
}

double network_loss(struct network *n, const float *target)
{
    size_t count = (size_t)n->batch * (size_t)n->widths[n->layers];
    const float *output = n->activation[n->layers];
    float *delta = n->delta[n->layers];
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        delta[i] = (output[i] - target[i]) / (float)n->widths[n->layers];
        sum += 0.5 * (double)(output[i] - target[i]) * (double)(output[i] - target[i]);
    }
    return sum / (double)count;
}

void network_backward_layer(struct network *n, int layer)
{
    int in = n->widths[layer], out = n->widths[layer + 1];
    const float *weights = n->parameters + n->begin[layer];
    float *gradient = n->gradients + n->begin[layer];
    float *bias_gradient = gradient + (size_t)in * (size_t)out;
    float share = 1.0f / (float)n->batch;
    memset(gradient, 0, (n->begin[layer + 1] - n->begin[layer]) * sizeof *gradient);
    for (int s = 0; s < n->batch; s++) {
        const float *from = n->activation[layer] + (size_t)s * (size_t)in;
        const float *delta = n->delta[layer + 1] + (size_t)s * (size_t)out;
        float *delta_in = n->delta[layer] + (size_t)s * (size_t)in;
        for (int o = 0; o < out; o++)
            bias_gradient[o] += share * delta[o];
        for (int i = 0; i < in; i++) {
            const float *row = weights + (size_t)i * (size_t)out;
            float *gradient_row = gradient + (size_t)i * (size_t)out;
            float sum = 0;
            for (int o = 0; o < out; o++) {
                gradient_row[o] += share * from[i] * delta[o];
                sum += row[o] * delta[o];
            }
            /* tanh' of the layer below, by its own output; the input layer's delta is not used */
            delta_in[i] = sum * (1 - from[i] * from[i]);
        }
    }
}

void network_update(struct network *n, float rate)
{
    for (size_t i = 0; i < n->begin[n->layers]; i++)
        n->parameters[i] -= rate * n->gradients[i];
}

uint64_t network_checksum(const struct network *n)
{
    uint64_t sum = 0xCBF29CE484222325u;
    for (size_t i = 0; i < n->begin[n->layers]; i++) {
        uint32_t bits;
        memcpy(&bits, &n->parameters[i], sizeof bits);
        sum = (sum ^ bits) * 0x100000001B3u;
        sum ^= sum >> 29;
    }
    return sum;
}
