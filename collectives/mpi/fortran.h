/* Call sites of Fortran programs: MPI's Fortran functions call its C ones, so the return address of
 * the wrapper lies in MPI's own library. The entries of fortran.S have noted the program's. */
#ifndef MPI_FORTRAN_H
#define MPI_FORTRAN_H

#include <stddef.h>

/* Where the thread has entered a Fortran function of MPI; NULL when that note has been taken. */
extern _Thread_local const void *fortran_caller;

/* Takes the note: the program's address when `address` lies in a library of MPI, else `address`. */
const void *fortran_site(const void *address);

/* What fortran.S keeps per entry: the function behind it once it is known, and its name. */
struct fortran_place {
    void *real;
    const char *name;
};

/* The function behind an entry; NULL when there is none. Called by fortran.S. */
void *fortran_find(struct fortran_place *place);

#endif
