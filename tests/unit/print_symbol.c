/* print_symbol OFFSET BUILD_ID MODULE...: what is found of the return address in each, a line each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "symbols/symbols.h"

int main(int argc, char **argv)
{
    struct symbols *symbols;
    if (argc < 4 || symbols_open(&symbols))
        return 2;
    int64_t offset = strtoll(argv[1], NULL, 0);
    for (int i = 3; i < argc; i++) {
        struct symbol s = symbols_find(symbols, argv[i], argv[2], offset);
        printf("%s|%s|%d\n", s.function, s.file, s.line);
    }
    symbols_close(symbols);
    return 0;
}
