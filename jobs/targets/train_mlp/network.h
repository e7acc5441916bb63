/* A multilayer perceptron with tanh hidden layers and a linear output, its gradients by
 * backpropagation. Parameters and gradients are flat arrays, layer after layer, so that the
 * gradients of all layers from l on are one contiguous tail that is complete once backward has
 * passed layer l. */
#ifndef TRAIN_MLP_NETWORK_H
#define TRAIN_MLP_NETWORK_H

#include <stddef.h>
#include <stdint.h>

enum { NETWORK_MAX_LAYERS = 16 };

struct network {
    int layers;                           /* of weights; widths has one more */
    int widths[NETWORK_MAX_LAYERS + 1];   /* input, hidden..., output */
    int batch;                            /* samples in one pass */
    size_t begin[NETWORK_MAX_LAYERS + 1]; /* layer l owns parameters [begin[l], begin[l + 1]) */
    float *parameters, *gradients;        /* begin[layers] each: weights [in][out], then biases */
    float *activation[NETWORK_MAX_LAYERS + 1]; /* [batch][width]; [0] is the input */
    float *delta[NETWORK_MAX_LAYERS + 1];      /* d loss / d activation */
};

/* Makes a network with random weights that keep activations near variance 1; the caller closes it.
 * Returns 0, or -1 when memory is short. */
int network_open(struct network **out, const int *widths, int layers, int batch, uint64_t seed);
void network_close(struct network *n);

size_t network_parameter_count(const struct network *n);

void network_set_input(struct network *n, const float *input);
void network_forward_layer(struct network *n, int layer);
const float *network_output(const struct network *n);

/* Half the mean squared error of the last forward pass; begins the backward pass. */
double network_loss(struct network *n, const float *target);
/* From the last layer to the first; fills that layer's gradients, summed over the batch and divided
 * by it. */
void network_backward_layer(struct network *n, int layer);

/* parameters -= rate * gradients */
void network_update(struct network *n, float rate);

/* Differs, but for chance, when any bit of any parameter differs. */
uint64_t network_checksum(const struct network *n);

#endif
